# SPDX-License-Identifier: GPL-3.0-or-later
"""Hands stay on the character's own bones while the other hand reaches and takes trunk and legs along."""

import bpy
import numpy as np
import pytest
from mathutils import Quaternion, Vector

from ik_triangulation.jobs.bake import bake_body
from ik_triangulation.jobs.edits.edit import pull
from ik_triangulation.jobs.edits.mirror import mirror_motion
from ik_triangulation.jobs.edits.retime import retime
from ik_triangulation.jobs.shots.keys import BodyKeySettings
from ik_triangulation.jobs.shots.problem import body_of
from ik_triangulation.rig.body import Contact, store_contacts

from ...bodies import FEET, human_rig, keyed_target

pytestmark = pytest.mark.usefixtures("empty_scene")
LAST, HELD = 24, (6, 19)
NEAR, FAR = (-0.05, -0.1, 0.05), (-0.2, -0.5, -0.3)


def leaning(way, held=FEET):
    """A human with its left hand in contact with its left thigh, whose right hand goes a way [m] and returns."""
    rig, scene = human_rig(), bpy.context.scene
    scene.frame_start, scene.frame_end = 1, LAST
    bones = rig.pose.bones
    for frame, share in ((1, 0.0), (LAST // 2, 1.0), (LAST, 0.0)):
        for name, turn in {"thigh.L": -0.25, "shin.L": 0.25, "upper_arm.L": 0.25, "forearm.L": -0.3}.items():
            turn = turn * share - (0.3 if name == "forearm.L" else 0.0)
            bones[name].rotation_quaternion = Quaternion((1, 0, 0), turn)
            bones[name].keyframe_insert("rotation_quaternion", frame=frame)
    scene.frame_set(1)
    for name in ("hand.L", *held):
        stored = bones[name].ik_triangulation
        stored.hold, stored.chain_count = True, 3
    bones["hand.R"].ik_triangulation.target = keyed_target(
        rig, "hand.R", {1: (0, 0, 0), LAST // 2: way, LAST: (0, 0, 0)}
    )
    bones["hand.R"].ik_triangulation.chain_count = 0
    store_contacts(rig, [Contact("hand.L", *HELD, rig, "thigh.L"), *(Contact(foot, 1, LAST) for foot in held)])
    return rig


def slip(rig, side="L"):
    """The farthest that a hand is from its middle place on its thigh in the contact [m], at half frames as well."""
    found = []
    for time in np.arange(HELD[0], HELD[1] + 0.25, 0.5).tolist():
        bpy.context.scene.frame_set(int(time), subframe=time % 1)
        bones = rig.pose.bones
        found.append(bones[f"thigh.{side}"].matrix.inverted() @ bones[f"hand.{side}"].tail)
    return float(np.linalg.norm(found - np.median(found, axis=0), axis=1).max())


@pytest.mark.parametrize("reduced", [False, True])
@pytest.mark.parametrize(("way", "held"), [(NEAR, FEET), (NEAR, FEET[1:]), (FAR, FEET[1:])])
def test_a_hand_stays_on_its_thigh_while_the_other_one_reaches(way, held, reduced):
    rig = leaning(way, held)
    assert slip(rig) > 0.015
    report = bake_body(body_of(rig, "hand.R"), 1, LAST, settings=BodyKeySettings(reduce=reduced))
    assert report.reached
    assert slip(rig) < 1e-3


def test_edits_of_the_other_hand_keep_it_there():
    rig = leaning(NEAR)
    bake_body(body_of(rig, "hand.R"), 1, LAST, settings=BodyKeySettings(reduce=True))
    pull(rig, "hand.R", 12, Vector((0.0, -0.05, 0.1)), 6)
    assert slip(rig) < 1e-3
    retime(rig, "hand.R", 12, 2, 6)
    assert slip(rig) < 1e-3
    mirror_motion(rig, ["hand.R"])
    assert slip(rig, "R") < 1e-3


def test_the_hand_goes_on_to_its_animation_without_a_jump():
    rig = leaning(FAR)
    bake_body(body_of(rig, "hand.R"), 1, LAST)
    places = []
    for frame in range(1, LAST + 1):
        bpy.context.scene.frame_set(frame)
        places.append(rig.pose.bones["hand.L"].tail.copy())
    steps = np.linalg.norm(np.diff(places, axis=0), axis=1)
    assert np.abs(np.diff(steps)).max() < 0.5 * steps.max()

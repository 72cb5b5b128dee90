# SPDX-License-Identifier: GPL-3.0-or-later
"""A pull is small where its falloff ends, keeps the types of keys, and does not wear a shot out."""

from itertools import pairwise

import bpy
import numpy as np
import pytest
from mathutils import Euler, Matrix, Quaternion

from ik_triangulation.errors import AnimationError, SettingError
from ik_triangulation.jobs.bake import bake, delete_generated
from ik_triangulation.jobs.edits.edit import pull
from ik_triangulation.rig.limb import Limb

from ...bodies import followed_rig, tails
from ...interrupted import writes_that_undo_all
from ...rigs import curve_of, empty, nothing_lost

pytestmark = pytest.mark.usefixtures("empty_scene", "addon")
LAST = 60


@pytest.fixture
def rig():
    """An arm that is baked from frame 1 to LAST, and follows a target."""
    return followed_rig(LAST)


def limb(rig, **settings):
    target = rig.pose.bones["hand.L"].ik_triangulation.target
    return Limb.from_tip(rig, "hand.L", target, 3, **settings)


def turns(rig, frames):
    """Largest turn of a bone of the arm from each frame to the next [rad]."""
    found = []
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        found.append([rig.pose.bones[name].matrix.to_quaternion() for name in ("upper_arm.L", "forearm.L")])
    return np.array([max(a.rotation_difference(b).angle for a, b in zip(*two, strict=True)) for two in pairwise(found)])


@pytest.mark.parametrize("settings", [{}, {"reduce": True}])
def test_a_pull_and_the_same_back_gives_the_shot_without_pops(rig, settings):
    bake(limb(rig, **settings), 1, LAST)
    frames = range(1, LAST + 1)
    before, calm = tails(rig, "hand.L", frames), turns(rig, frames).max()
    pull(rig, "hand.L", 30, (0.02, -0.03, 0.05))
    assert turns(rig, frames).max() < 1.5 * calm
    pull(rig, "hand.L", 30, (-0.02, 0.03, -0.05))
    assert (
        max((now - old).length for now, old in zip(tails(rig, "hand.L", frames), before, strict=True)) < 4e-3
    )  # a bake with few keys is so near


@pytest.mark.parametrize("frame", [1, LAST - 4, LAST])
def test_a_pull_reaches_to_the_first_and_last_frame_of_a_bake(rig, frame):
    bake(limb(rig), 1, LAST)
    report = pull(rig, "hand.L", frame, (0.02, -0.03, 0.05))
    assert report.all_reached
    target = rig.pose.bones["hand.L"].ik_triangulation.target
    for at in (1, LAST):
        (hand,) = tails(rig, "hand.L", [at])
        assert (hand - target.matrix_world.translation).length < 1e-4, at


def test_a_correction_by_hand_stays_one(rig):
    bake(limb(rig), 1, LAST)
    for index in range(4):
        curve_of(rig, "forearm.L", index).keyframe_points[32].type = "KEYFRAME"
    pull(rig, "hand.L", 30, (0.0, 0.0, 0.04))
    kinds = {key.co.x: key.type for key in curve_of(rig, "forearm.L", 1).keyframe_points}
    assert (kinds[32.0], kinds[33.0]) == ("GENERATED", "KEYFRAME")


def test_keys_made_by_hand_that_a_pull_replaced_come_back(rig):
    rig.pose.bones["hand.L"].ik_triangulation.target = None
    for frame, turn in ((1, 0.0), (30, 0.5), (60, 0.2)):
        rig.pose.bones["forearm.L"].rotation_quaternion = (1.0, turn, 0.0, 0.0)
        rig.pose.bones["forearm.L"].keyframe_insert("rotation_quaternion", frame=frame)
    frames = range(1, LAST + 1)
    before = tails(rig, "hand.L", frames)
    pull(rig, "hand.L", 30, (0.0, 0.0, 0.04), 10)
    assert delete_generated(rig, ["upper_arm.L", "forearm.L", "hand.L"])
    assert max((now - old).length for now, old in zip(tails(rig, "hand.L", frames), before, strict=True)) < 1e-3


def test_a_pull_that_fails_or_is_closed_leaves_everything_as_it_was(rig):
    bake(limb(rig), 1, LAST)
    for wrong, text in (({"profile": "ROUND"}, "is unknown"), ({"falloff": 0}, "too short")):
        with nothing_lost(), pytest.raises(SettingError, match=text):
            pull(rig, "hand.L", 30, (0.0, 0.0, 0.04), **wrong)
    for parts in (1, 2, 3):
        with nothing_lost():
            job = pull.steps(rig, "hand.L", 30, (0.0, 0.0, 0.04))
            for _ in range(parts):
                next(job)
            job.close()
    assert writes_that_undo_all(lambda: pull(rig, "hand.L", 30, (0.0, 0.0, 0.04)), 7)


@pytest.mark.parametrize("parented", [False, True])
def test_a_hand_that_follows_its_target_is_turned_with_a_falloff(rig, parented):
    stored = rig.pose.bones["hand.L"].ik_triangulation
    target = stored.target
    target.empty_display_type = "ARROWS"
    bpy.context.view_layer.update()
    if parented:
        holder = empty("Holder")
        holder.rotation_euler = (0.5, 0.2, 0.8)
        shoulder = rig.pose.bones["upper_arm.L"].head
        holder.location = shoulder - holder.rotation_euler.to_matrix() @ shoulder
        bpy.context.view_layer.update()
        target.parent, target.matrix_parent_inverse = holder, Matrix.Identity(4)
        bpy.context.view_layer.update()
    target.rotation_mode = "QUATERNION"
    hand = rig.pose.bones["hand.L"].matrix.to_quaternion()
    above = holder.matrix_world.to_quaternion() if parented else Quaternion()
    target.rotation_quaternion = above.inverted() @ hand
    bake(limb(rig, orientation="FULL"), 1, LAST)
    before = _turned(rig)
    turn = (0.3, -0.1, 0.2)
    report = pull(rig, "hand.L", 30, (0.0, 0.0, 0.0), 10, rotation=turn)
    assert report.all_reached
    asked, after = Euler(turn).to_quaternion(), _turned(rig)
    assert (asked @ before[29]).rotation_difference(after[29]).angle < 2e-3
    half = Quaternion(asked.to_axis_angle()[0], asked.to_axis_angle()[1] / 2.0)
    assert (half @ before[24]).rotation_difference(after[24]).angle < 5e-3
    outside = [k for k in range(LAST) if abs(k + 1 - 30) >= 10]
    assert max(before[k].rotation_difference(after[k]).angle for k in outside) < 1e-3


def test_a_hand_is_turned_by_its_own_keys_and_refused_where_it_follows_no_rotation(rig):
    bake(limb(rig), 1, LAST)
    with nothing_lost(), pytest.raises(AnimationError, match="does not follow the rotation"):
        pull(rig, "hand.L", 30, (0.0, 0.0, 0.0), 10, rotation=(0.3, 0.0, 0.0))
    rig.pose.bones["hand.L"].ik_triangulation.target = None
    before = _turned(rig)
    pull(rig, "hand.L", 30, (0.0, 0.0, 0.02), 10, rotation=(0.2, 0.0, 0.0))
    turned = Euler((0.2, 0.0, 0.0)).to_quaternion() @ before[29]
    assert turned.rotation_difference(_turned(rig)[29]).angle < 2e-3


def _turned(rig):
    """Rotation of the hand in world space at each frame."""
    found = []
    for frame in range(1, LAST + 1):
        bpy.context.scene.frame_set(frame)
        found.append((rig.matrix_world @ rig.pose.bones["hand.L"].matrix).to_quaternion())
    return found

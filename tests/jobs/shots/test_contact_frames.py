# SPDX-License-Identifier: GPL-3.0-or-later
"""Frames of held tips: at one place in a contact, wherever they are looked at, and as animated elsewhere."""

import bpy
import numpy as np
import pytest

from ik_triangulation.cooperative import finished
from ik_triangulation.jobs.pose import solve_body_pose
from ik_triangulation.jobs.shots.contacts import (
    animated_frames,
    compliance_with_contacts,
    read_contacts,
    tip_places,
    with_contacts,
)
from ik_triangulation.jobs.shots.problem import BodyProblem
from ik_triangulation.rig.body import Contact, RigBody
from ik_triangulation.rig.frames.body_samples import read_body

from ...bodies import FEET, sliding_rig, tails

pytestmark = pytest.mark.usefixtures("empty_scene")
LAST = 24


def body(*contacts, fade=4):
    return RigBody(sliding_rig(LAST), (), FEET, contacts=contacts, contact_fade=fade)


def places(rig, frames, tip="foot.R"):
    """Places of a tip with its contacts, and as animated."""
    scene = bpy.context.scene
    contacts = finished(read_contacts(rig, scene, frames))
    samples = finished(read_body(rig, scene, frames))
    of, animated = animated_frames(rig, samples)
    held = with_contacts(rig, of, contacts, samples, animated)
    return tip_places(of, tip, samples, held), tip_places(of, tip, samples, animated)


def test_animated_frames_are_those_that_blender_shows():
    rig = body()
    _, animated = places(rig, range(1, 6))
    assert np.allclose(animated.T, tails(rig.armature, "foot.R", range(1, 6)), atol=1e-5)
    problem = BodyProblem(rig, finished(read_body(rig, bpy.context.scene, range(1, 6))))
    assert np.allclose(problem.held_frames, animated_frames(rig, problem.samples)[1])


def test_a_contact_is_at_one_place_whichever_frames_are_read():
    rig = body(Contact("foot.R", 8, 14))
    whole, animated = places(rig, range(1, LAST + 1))
    assert np.ptp(whole[:, 7:14], axis=1).max() < 1e-9
    assert np.array_equal(whole[:, :2], animated[:, :2])
    some, _ = places(rig, [10, 10.5, 16])
    assert np.allclose(some[:, 0], whole[:, 8])
    assert np.allclose(some[:, 1], whole[:, 8])
    assert np.allclose(some[:, 2], whole[:, 15])
    assert np.array_equal(*places(rig, range(1, 5), "foot.L"))


def test_contacts_that_overlap_or_follow_on_each_other_are_one():
    found = finished(
        read_contacts(
            body(Contact("foot.R", 8, 12), Contact("foot.R", 2, 5), Contact("foot.R", 6, 9)),
            bpy.context.scene,
            range(1, LAST + 1),
        )
    )
    assert [planted.span for planted in found.spans["foot.R"]] == [(2, 12)]


def test_contacts_far_from_the_frames_are_not_read():
    rig = body(Contact("foot.R", 1, 4), fade=2)
    assert finished(read_contacts(rig, bpy.context.scene, range(15, 20))) == ({}, {})


def test_hips_of_a_body_with_contacts_are_stiffer():
    rig = body(Contact("foot.R", 1, 4))
    problem = BodyProblem(rig, finished(read_body(rig, bpy.context.scene, range(1, 6))))
    tree = problem.body.tree
    compliance = compliance_with_contacts(rig, tree)
    assert compliance[len(tree.joint_of) :].max() < compliance[: len(tree.joint_of)].max()
    assert compliance_with_contacts(body(), tree) is None


def test_a_single_pose_has_the_place_of_its_contact():
    rig = body(Contact("foot.R", 8, 14))
    middle = tails(rig.armature, "foot.R", [11])[0]
    bpy.context.scene.frame_set(14)
    solve_body_pose(rig)
    bpy.context.view_layer.update()
    assert (rig.armature.pose.bones["foot.R"].tail - middle).length < 1e-3

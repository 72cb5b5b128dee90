# SPDX-License-Identifier: GPL-3.0-or-later
"""A body is read at all frames without a trace in the file."""

import bpy
import numpy as np
import pytest
from mathutils import Vector

from ik_triangulation.cooperative import finished
from ik_triangulation.errors import RigError
from ik_triangulation.rig.body import RigBody
from ik_triangulation.rig.frames.body_samples import read_body
from ik_triangulation.rig.frames.sampling import temporary_scene
from ik_triangulation.rig.limb import Limb

from ...bodies import FEET, HANDS, human_rig, keyed_target, reaching_body
from ...rigs import nothing_lost

pytestmark = pytest.mark.usefixtures("empty_scene")


def read(body, frames=range(1, 7)):
    return finished(read_body(body, bpy.context.scene, frames))


def test_each_limb_has_its_goal_at_each_frame_in_armature_space():
    rig = human_rig()
    rig.location = 1.0, 2.0, 3.0
    bpy.context.view_layer.update()
    body = reaching_body(rig, 6)
    samples = read(body)
    for limb in body.limbs:
        for frame, goal in zip(samples.frames, samples.goals[limb.tip], strict=True):
            bpy.context.scene.frame_set(frame)
            wanted = rig.matrix_world.inverted() @ limb.target.matrix_world.translation
            assert (goal.target.location - wanted).length < 1e-5
    assert samples.worlds.shape == samples.bases.shape == (4, 4, 6)
    assert np.abs(samples.worlds[:3, 3] - [[1.0], [2.0], [3.0]]).max() < 1e-6


def test_the_animation_by_hand_is_that_of_all_bones():
    rig = human_rig()
    rig.pose.bones["shin.L"].rotation_quaternion = 0.8, 0.6, 0.0, 0.0
    body = reaching_body(rig, 6)
    samples = read(body)
    assert samples.rotations.shape == (len(body.bones), 4, 6)
    row = body.bones.index("shin.L")
    assert samples.rotations[row, :, 3] == pytest.approx([0.8, 0.6, 0.0, 0.0], abs=1e-6)
    assert not samples.locations.any()


def test_reading_leaves_no_trace():
    rig = human_rig()
    body = reaching_body(rig, 6)
    bpy.context.scene.frame_set(4)
    with nothing_lost():
        read(body)
        next(read_body(body, bpy.context.scene, range(1, 100)))


def test_all_targets_are_in_the_scene_that_is_read():
    rig = human_rig()
    body = reaching_body(rig, 6)
    with temporary_scene(body, bpy.context.scene) as staged:
        assert {limb.target.name for limb in body.limbs} <= set(staged.collection.objects.keys())


def test_two_limbs_may_share_a_target():
    rig = human_rig()
    target = keyed_target(rig, HANDS[0], {1: Vector((0, 0, 0))})
    body = RigBody(rig, tuple(Limb.from_tip(rig, name, target) for name in HANDS), FEET)
    assert len(read(body).goals) == 2


def test_a_scaled_bone_above_the_hips_is_named():
    rig = human_rig()
    rig.pose.bones["spine"].scale = (2.0,) * 3
    body = reaching_body(rig, 6)
    hand = body.limbs[0]
    with pytest.raises(RigError, match=r"above the hips 'spine\.001' is scaled"):
        read(RigBody(rig, (hand,), ("hand.R",), hips="spine.001"))

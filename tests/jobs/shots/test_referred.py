# SPDX-License-Identifier: GPL-3.0-or-later
"""The natural solver starts from the pose made by hand, other solvers from what is animated."""

from dataclasses import replace

import bpy
import pytest
from mathutils import Quaternion

from ik_triangulation.jobs.shots.natural_shot import referred, solve_frames
from ik_triangulation.rig.armature import Bones
from ik_triangulation.rig.frames.samples import sample
from ik_triangulation.rig.limb import Limb

from ...rigs import chain_rig, empty, rotate

pytestmark = pytest.mark.usefixtures("addon", "empty_scene")


def standing():
    rig = chain_rig(3)
    rotate(rig.pose.bones["Bone 1"], Quaternion((1.0, 0.0, 0.0), 0.5))
    bpy.context.view_layer.update()
    limb = Limb.from_tip(rig, "Bone 2", empty(), 3)
    return limb, sample(limb, bpy.context.view_layer.depsgraph, 1.0)


def bones_of(limb):
    return Bones(limb.armature, limb.bones, limb.solved)


def test_samples_of_other_solvers_stay_as_they_are():
    limb, now = standing()
    (given,) = referred(replace(limb, solver="CCD"), bones_of(limb), [now], bpy.context.scene)
    assert given is now


def test_a_pose_that_somebody_made_is_where_the_natural_solver_starts():
    limb, now = standing()
    (given,) = referred(replace(limb, solver="NATURAL"), bones_of(limb), [now], bpy.context.scene)
    assert given.rig.channels[1].rotation.rotation_difference(Quaternion((1.0, 0.0, 0.0), 0.5)).angle < 1e-5
    assert given.rig.channels[0].location == now.rig.channels[0].location


def test_a_bone_that_may_not_turn_stays_as_it_is_animated():
    limb, now = standing()
    limb.armature.pose.bones["Bone 1"].lock_rotation = (True, True, True)
    animated = now.rig.channels[1]._replace(rotation=Quaternion((1.0, 0.0, 0.0), -0.3))
    now = now._replace(rig=now.rig._replace(channels=[now.rig.channels[0], animated, now.rig.channels[2]]))
    (given,) = referred(replace(limb, solver="NATURAL"), bones_of(limb), [now], bpy.context.scene)
    assert given.rig.channels[1].rotation == animated.rotation


def test_solved_frames_keep_the_samples_that_they_were_solved_from():
    limb, now = standing()
    (solved,) = solve_frames(replace(limb, solver="NATURAL"), bones_of(limb), [now], bpy.context.scene)
    assert solved.now is now
    assert solved.solution.reached

# SPDX-License-Identifier: GPL-3.0-or-later
"""A frame is judged by what Blender shows of it, its angle as well."""

from math import radians

import bpy
import pytest
from mathutils import Quaternion, Vector

from ik_triangulation.jobs.bake import solve_pose
from ik_triangulation.jobs.frame_solver import follow
from ik_triangulation.jobs.judge import report_of
from ik_triangulation.jobs.measure import NOT_MEASURED
from ik_triangulation.jobs.report import Shown
from ik_triangulation.jobs.write import WrittenKeys
from ik_triangulation.rig.armature import Bones
from ik_triangulation.rig.frames.sampling import sample
from ik_triangulation.rig.limb import Limb

from ..rigs import chain_rig, empty
from .turned import TIP

pytestmark = pytest.mark.usefixtures("empty_scene")


def test_the_angle_is_that_of_the_pose_that_is_shown():
    rig, target = chain_rig(3), empty()
    target.rotation_euler = (0.3, 0.4, 0.5)
    assert solve_pose(Limb.from_tip(rig, TIP, target, orientation="FULL")).all_reached
    for bone in rig.pose.bones:
        bone.rotation_quaternion = (1.0, 0.0, 0.0, 0.0)
    half = solve_pose(Limb.from_tip(rig, TIP, target, orientation="FULL", influence=0.5))
    wanted = target.matrix_world.to_quaternion()
    half = solve_pose(Limb.from_tip(rig, TIP, target, orientation="FULL", influence=0.5))
    shown = rig.pose.bones[TIP].matrix.to_quaternion()
    assert half.frames[0].angle == pytest.approx(shown.rotation_difference(wanted).angle, abs=1e-4)
    assert half.frames[0].angle > radians(1.0)


def test_what_is_handed_in_as_shown_is_what_a_frame_is_judged_by():
    rig, target = chain_rig(3), empty()
    limb = Limb.from_tip(rig, TIP, target, orientation="FULL")
    now = sample(limb, bpy.context.evaluated_depsgraph_get(), 1.0)
    (solved,) = follow(limb, Bones(rig, limb.bones, limb.solved), [now])
    tip, rotation = solved.pose.tip, solved.pose.tip_rotation
    for shown, reached in (
        (Shown(tip, rotation), True),
        (Shown(tip + Vector((0.1, 0.0, 0.0)), rotation), False),
        (Shown(tip, Quaternion((0.0, 0.0, 1.0), 0.5) @ rotation), False),
    ):
        measured = NOT_MEASURED._replace(shown={1.0: shown})
        [result] = report_of(limb, [solved], 0.0, WrittenKeys(0, 0, [0]), [], measured=measured).frames
        assert result.reached == reached
        assert result.error == pytest.approx((shown.tip - tip).length, abs=2e-3)
        assert result.angle == pytest.approx(rotation.rotation_difference(shown.rotation).angle, abs=2e-3)

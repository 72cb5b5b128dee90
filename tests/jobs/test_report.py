# SPDX-License-Identifier: GPL-3.0-or-later
"""An orientation that was asked for counts: a hand that is turned wrong is not reached."""

from math import degrees, radians

import bpy
import pytest
from mathutils import Quaternion, Vector

from ik_triangulation.jobs.bake import bake, report_of, solve_pose
from ik_triangulation.jobs.frame_solver import follow
from ik_triangulation.jobs.measure import NOT_MEASURED
from ik_triangulation.jobs.report import Shown
from ik_triangulation.jobs.report_text import summary
from ik_triangulation.jobs.write import Written
from ik_triangulation.rig.armature import Bones
from ik_triangulation.rig.frames.sampling import sample
from ik_triangulation.rig.limb import Limb

from ..rigs import chain_rig, empty, evaluated_tip, key_location

pytestmark = pytest.mark.usefixtures("empty_scene")

TIP = "Bone 2"
WRONG = radians(66.0)


def turned_wrong(**settings):
    """A limb whose hand cannot turn, and a target at its tip that is turned 66 degrees away from it."""
    rig = chain_rig(3)
    for bone in rig.pose.bones:
        joint = bone.ik_triangulation_joint
        joint.source, joint.kind = "OWN", "HINGE"
        joint.axis, joint.lower, joint.upper = (1.0, 0.0, 0.0), -2.0, 2.0
    target = empty(location=evaluated_tip(rig, TIP))
    target.rotation_mode = "QUATERNION"
    now = rig.pose.bones[TIP].matrix.to_quaternion()
    target.rotation_quaternion = Quaternion(now @ Vector((0.0, 0.0, 1.0)), WRONG) @ now
    return rig, target, Limb.from_tip(rig, TIP, target, **{"orientation": "FULL", **settings})


def test_a_hand_that_is_turned_wrong_is_not_reached():
    _, _, limb = turned_wrong()
    report = solve_pose(limb)
    assert report.worst.error < 1e-3
    assert not report.all_reached
    assert degrees(report.largest_angle) == pytest.approx(66.0, abs=2.0)
    assert "Not reached" in summary(report, bpy.context.scene)
    assert report.to_dict()["angle_tolerance"] == pytest.approx(radians(1.0))
    baked = bake(limb, 1, 3)
    assert baked.missed == [1, 2, 3]
    assert any("missed at frames 1 to 3" in warning for warning in baked.warnings)


def test_the_angle_that_is_tolerated_is_chosen():
    _, _, limb = turned_wrong(angle_tolerance=radians(70.0))
    assert solve_pose(limb).all_reached
    assert bake(limb, 1, 3).all_reached


def test_no_orientation_asked_for_leaves_all_as_it_was():
    _, _, limb = turned_wrong(orientation="NONE", angle_tolerance=0.0)
    report = solve_pose(limb)
    assert report.all_reached
    assert report.largest_angle is None


def test_a_direction_told_by_an_arrow_counts():
    rig, target, _ = turned_wrong()
    target.empty_display_type = "SINGLE_ARROW"
    for across, reached in ((0.0, True), (WRONG, False)):
        along = evaluated_tip(rig, TIP) - Vector(rig.pose.bones[TIP].head)
        side = rig.pose.bones[TIP].matrix.to_quaternion() @ Vector((1.0, 0.0, 0.0))
        away = Quaternion(side.cross(along).normalized(), across) @ along
        target.rotation_quaternion = away.to_track_quat("Z", "Y")
        bpy.context.view_layer.update()
        report = solve_pose(Limb.from_tip(rig, TIP, target, shape="POINT"))
        assert report.all_reached == reached, report.largest_angle


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
        [result] = report_of(limb, [solved], 0.0, Written(0, 0, [0]), [], measured=measured).frames
        assert result.reached == reached
        assert result.error == pytest.approx((shown.tip - tip).length, abs=2e-3)
        assert result.angle == pytest.approx(rotation.rotation_difference(shown.rotation).angle, abs=2e-3)


def test_an_orientation_that_can_be_met_is_met_at_every_frame_of_a_bake():
    rig, target = chain_rig(4), key_location(empty(), range(1, 42, 4))
    target.rotation_euler = (0.5, 0.2, -0.4)
    target.keyframe_insert("rotation_euler", frame=1)
    target.rotation_euler = (1.5, -0.7, 0.9)
    target.keyframe_insert("rotation_euler", frame=40)
    report = bake(Limb.from_tip(rig, "Bone 3", target, orientation="FULL"), 1, 40)
    assert report.all_reached, report.missed
    assert report.largest_angle < radians(1.0)

# SPDX-License-Identifier: GPL-3.0-or-later
"""An orientation that was asked for counts: a hand that is turned wrong is not reached."""

from math import degrees, radians

import bpy
import pytest
from mathutils import Quaternion, Vector

from ik_triangulation.jobs.bake import bake
from ik_triangulation.jobs.pose import solve_pose
from ik_triangulation.jobs.shots.report import summary
from ik_triangulation.rig.limb import Limb

from ...rigs import chain_rig, empty, evaluated_tip, key_location
from ..turned import TIP

pytestmark = pytest.mark.usefixtures("empty_scene")

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


def test_an_orientation_that_can_be_met_is_met_at_every_frame_of_a_bake():
    rig, target = chain_rig(4), key_location(empty(), range(1, 42, 4))
    target.rotation_euler = (0.5, 0.2, -0.4)
    target.keyframe_insert("rotation_euler", frame=1)
    target.rotation_euler = (1.5, -0.7, 0.9)
    target.keyframe_insert("rotation_euler", frame=40)
    report = bake(Limb.from_tip(rig, "Bone 3", target, orientation="FULL"), 1, 40)
    assert report.all_reached, report.missed
    assert report.largest_angle < radians(1.0)


@pytest.mark.parametrize("orientation", ["NONE", "FULL"])
@pytest.mark.parametrize("solver", ["NATURAL", "TRIANGULATION"])
def test_the_values_for_json_are_those_of_the_rows_and_make_none(solver, orientation, monkeypatch):
    rig, target = chain_rig(4), key_location(empty(), range(1, 42, 4))
    key_location(target, [20], lambda _: (0.0, 0.0, 50.0))
    made = bake(Limb.from_tip(rig, "Bone 3", target, solver=solver, orientation=orientation), 1, 30)
    rows = list(made.frames)
    with monkeypatch.context() as patch:
        patch.setattr(made.judged, "_row", None)
        told = made.to_dict()
    assert len(told["per_frame"]) == len(rows) == 30
    for row, each in zip(rows, told["per_frame"], strict=True):
        same = (each["frame"], each["due"], each["reached"], each["iterations"], each["on_limits"])
        assert same == (row.frame, row.due, row.reached, row.iterations, row.on_limits)
        assert each["distance"] == pytest.approx(row.error, abs=1e-5)
        assert (each["angle"] is None) == (row.angle is None)
        assert each["angle"] is None or each["angle"] == pytest.approx(row.angle, abs=1e-3)
        assert each["cost"]["turns"] == row.cost.turns
        assert each["cost"]["travel"] == pytest.approx(row.cost.travel, rel=1e-3, abs=1e-4)
    (tip,) = told["tips"]
    assert tip["missed"] == told["missed"] == made.missed != []
    assert (tip["armature"], tip["tip"], tip["held"], tip["reached"]) == ("Rig", "Bone 3", False, False)
    errors = [row.error for row in rows]
    assert tip["largest_distance"] == pytest.approx(max(errors), rel=1e-5)
    assert tip["worst_frame"] == rows[errors.index(max(errors))].frame
    assert tip["median_distance"] == pytest.approx(sorted(errors)[14], abs=1e-4)
    assert (tip["largest_angle"] is None) == (orientation == "NONE")
    if orientation == "FULL":
        assert tip["largest_angle"] == pytest.approx(degrees(made.largest_angle))

# SPDX-License-Identifier: GPL-3.0-or-later
"""What a report says in words: limits, costs, angles."""

from math import degrees, radians

import bpy
import pytest
from mathutils import Quaternion, Vector

from ik_triangulation.jobs.bake import bake
from ik_triangulation.jobs.pose import solve_pose
from ik_triangulation.jobs.shots.report import on_limits, summary

from ...rig.standing import angle_between, keyed_euler, limb, standing_empty, standing_rig, world_of
from ...rigs import chain_rig, empty, evaluated_tip

pytestmark = pytest.mark.usefixtures("empty_scene")


X, Y, Z = (Vector([float(i == j) for j in range(3)]) for i in range(3))


def limited(rig):
    """Bones that bend about X by 30 degrees at most."""
    for bone in rig.pose.bones:
        bone.lock_ik_y = bone.lock_ik_z = True
        bone.use_ik_limit_x, bone.ik_min_x, bone.ik_max_x = True, -radians(30.0), radians(30.0)
    return rig


def test_a_report_says_what_stands_on_its_limits_what_it_cost_and_how_far_it_is_turned():
    rig = limited(standing_rig())
    target = standing_empty(rig, at=(0.0, -2.5, 0.5))
    report = solve_pose(limb(rig, target, orientation="DIRECTION"))
    result = report.frames[0]
    assert not result.reached
    assert set(result.on_limits) <= {"Bone 0", "Bone 1", "Bone 2"}
    assert result.on_limits
    for name, ends in result.on_limits.items():
        bend = degrees(rig.pose.bones[name].rotation_quaternion.to_euler().x)
        assert ends == (["bend maximum"] if bend > 0.0 else ["bend minimum"])
        assert abs(bend) == pytest.approx(30.0, abs=0.01)
    wanted = angle_between(world_of(rig).col[1][:3], target.matrix_world.col[2][:3])
    assert result.angle == pytest.approx(wanted, abs=1e-3)
    assert result.cost.turns > 0
    told = report.to_dict()
    assert told["largest_angle"] == pytest.approx(wanted, abs=1e-3)
    assert told["on_limits"] == result.on_limits == told["per_frame"][0]["on_limits"]
    assert told["cost"] == told["per_frame"][0]["cost"]
    assert on_limits(report) == [f"{name}: {', '.join(ends)}" for name, ends in result.on_limits.items()]
    line = summary(report, bpy.context.scene)
    assert line.startswith("Not reached, distance ")
    assert line.endswith(f", {degrees(wanted):.0f}° off its orientation")


@pytest.mark.parametrize("orientation", ["NONE", "FULL"])
def test_the_cost_of_a_solve_is_that_of_all_its_turns(orientation):
    """From rest to a place far off the travel is at least the way of the tip."""
    rig = standing_rig(bones=4)
    start = evaluated_tip(rig, "Bone 3")
    target = standing_empty(rig, "turned", at=(0.6, 0.4, 1.6))
    report = solve_pose(limb(rig, target, orientation=orientation))
    assert report.cost.travel >= (start - evaluated_tip(rig, "Bone 3")).length - 1e-4
    assert report.frames[0].iterations >= 1


def test_the_costs_of_a_bake_add_up():
    rig, target = chain_rig(4), empty(location=(0.6, 0.4, 1.6))
    keyed_euler(target, range(1, 6))
    report = bake(limb(rig, target, orientation="FULL"), 1, 5)
    told = report.to_dict()
    for name in ("turns", "total_angle", "travel"):
        assert told["cost"][name] == pytest.approx(sum(frame["cost"][name] for frame in told["per_frame"]), rel=1e-5)
    assert told["cost"]["total_angle"] > 0.0
    assert told["largest_angle"] == pytest.approx(max(frame["angle"] for frame in told["per_frame"]), abs=1e-6)


def test_a_pose_outside_its_limits_is_said_to_be_moved_inside():
    rig = limited(standing_rig())
    rig.pose.bones["Bone 1"].rotation_quaternion = Quaternion(X, 1.0)
    rig.pose.bones["Bone 2"].rotation_quaternion = Quaternion(Z, 0.4)
    bpy.context.view_layer.update()
    target = standing_empty(rig, at=(0.0, 0.8, 2.5))
    said = "'Bone 1', 'Bone 2' stood outside the limits at frame 1 and had to be moved inside."
    assert said in bake(limb(rig, target), 1, 2).warnings
    rig.pose.bones["Bone 1"].rotation_quaternion = Quaternion(X, 1.0)
    rig.pose.bones["Bone 2"].rotation_quaternion = Quaternion(Z, 0.4)
    assert said in solve_pose(limb(rig, target)).warnings
    assert list(solve_pose(limb(rig, target)).warnings) == []

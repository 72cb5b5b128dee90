# SPDX-License-Identifier: GPL-3.0-or-later
"""Properties with which bones follow a limb are set and keyed."""

import bpy
import pytest

from ik_triangulation.errors import RigError
from ik_triangulation.jobs.bake import bake
from ik_triangulation.jobs.pose import solve_pose
from ik_triangulation.jobs.shots.controls import let_follow

from ...rigs import curves_of, nothing_lost
from ..interfering import LAST, TIP, by_object, check, copied, doubled, limb

pytestmark = pytest.mark.usefixtures("empty_scene")


def by_way_of_another(rig):
    """The property that is read is driven by one of the armature."""
    rig.data["on"] = 0.0
    rig.pose.bones["Bone 0"]["between"] = 0.0
    driver = rig.pose.bones["Bone 0"].driver_add('["between"]').driver
    first = driver.variables.new()
    first.targets[0].id_type = "ARMATURE"
    first.targets[0].id, first.targets[0].data_path = rig.data, '["on"]'
    driver.type = "AVERAGE"
    for i in range(3):
        driver = rig.pose.bones[f"Skin {i}"].constraints[0].driver_add("influence").driver
        driver.type = "AVERAGE"
        variable = driver.variables.new()
        variable.targets[0].id, variable.targets[0].data_path = rig, 'pose.bones["Bone 0"]["between"]'
    return rig.data.name, "on", 0.0, 1.0


def by_mute(rig):
    """Only the last copy is off."""
    rig.pose.bones["Skin 2"].constraints[0].mute = True
    return "Skin 2: Copy Transforms", "mute", 1.0, 0.0


def by_influence(rig):
    rig.pose.bones["Skin 2"].constraints[0].influence = 0.25
    return "Skin 2: Copy Transforms", "influence", 0.25, 1.0


def by_another_constraint(rig):
    copied(rig, "Skin 2").name = "Other"
    return "Skin 2: Other", "influence", 1.0, 0.0


@pytest.mark.parametrize("switch_off", [by_object, by_way_of_another, by_mute, by_influence, by_another_constraint])
def test_bones_that_do_not_follow_are_told_with_what_makes_them(switch_off):
    rig, target = doubled()
    remedy = switch_off(rig)
    arm = limb(rig, target)
    bpy.context.view_layer.update()
    report = bake(arm, 1, LAST)
    check(rig, target, report, "Skin 2")
    assert report.reached < LAST
    [note] = report.not_following
    assert (note.bone, note.tip) == ("Skin 2", TIP)
    assert note.remedy == pytest.approx(remedy)
    with nothing_lost():
        solve_pose_and_take_it_back(arm)
    assert [each[:2] for each in let_follow(arm, 1, LAST)] == [remedy[:2]]
    report = bake(arm, 1, LAST)
    check(rig, target, report, "Skin 2")
    assert report.all_reached
    assert not report.not_following


def solve_pose_and_take_it_back(arm):
    """Nothing of what is tried stays."""
    rotations = {bone.name: bone.rotation_quaternion.copy() for bone in arm.pose_bones}
    solve_pose(arm)
    for name, rotation in rotations.items():
        arm.armature.pose.bones[name].rotation_quaternion = rotation
    bpy.context.view_layer.update()


def test_a_switch_without_keys_is_set_for_good_where_none_are_wanted():
    rig, target = doubled()
    by_object(rig)
    bake(limb(rig, target), 1, LAST)
    let_follow(limb(rig, target), 3, 3, key=False)
    assert rig["limb"] == 3
    assert not any("limb" in curve.data_path for curve in curves_of(rig))


def test_a_keyed_switch_has_its_old_value_before_and_after_the_range():
    rig, target = doubled()
    by_object(rig)
    for frame in (1, LAST + 5):
        rig["limb"] = 1
        rig.keyframe_insert('["limb"]', frame=frame)
    bake(limb(rig, target), 1, LAST)
    let_follow(limb(rig, target), 4, 8)
    shown = []
    for frame in (1, 3, 4, 8, 9, LAST + 5):
        bpy.context.scene.frame_set(frame)
        shown.append(rig["limb"])
    assert shown == [1, 1, 3, 3, 1, 1]


def test_what_no_single_property_changes_is_refused_and_nothing_changes():
    rig, target = doubled()
    by_object(rig)
    rig.pose.bones["Skin 2"].constraints[0].mute = True
    arm = limb(rig, target)
    bake(arm, 1, LAST)
    with nothing_lost(), pytest.raises(RigError, match="no single property of its constraints changes that"):
        let_follow(arm, 1, LAST)

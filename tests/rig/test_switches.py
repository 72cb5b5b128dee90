# SPDX-License-Identifier: GPL-3.0-or-later
"""Switches that keep deform bones from following a limb are named."""

import bpy
import pytest
from mathutils import Vector

from ik_triangulation.jobs.bake import bake, solve_pose
from ik_triangulation.jobs.switching import let_follow

from ..jobs.interfering import LAST, TIP, check, copied, limb, point
from ..rigs import armature, empty, key_location, nothing_lost

pytestmark = pytest.mark.usefixtures("empty_scene")


def doubled():
    """A chain and a second one at the same place, whose bones copy those of the first."""
    specs, joints = [], [Vector((0.0, 0.2 * (i % 2), 0.98 * i)) for i in range(4)]
    for prefix in ("Bone", "Skin"):
        for i in range(3):
            parent = {"parent": f"{prefix} {i - 1}", "connect": True} if i else {}
            specs.append({"name": f"{prefix} {i}", "head": joints[i], "tail": joints[i + 1], **parent})
    rig = armature("Rig", specs)
    for i in range(3):
        copy = rig.pose.bones[f"Skin {i}"].constraints.new("COPY_TRANSFORMS")
        copy.target, copy.subtarget = rig, f"Bone {i}"
        rig.pose.bones[f"Bone {i}"].bone.use_deform = False
    return rig, key_location(empty(), range(1, LAST + 1), point)


def by_object(rig):
    """All copies are driven by a whole number on the object, 0 to 4, of which 3 switches them on."""
    rig["limb"] = 0
    rig.id_properties_ui("limb").update(min=0, max=4)
    for i in range(3):
        driver = rig.pose.bones[f"Skin {i}"].constraints[0].driver_add("influence").driver
        driver.type = "SCRIPTED"
        variable = driver.variables.new()
        variable.targets[0].id, variable.targets[0].data_path = rig, '["limb"]'
        driver.expression = f"{variable.name} == 3"
    return rig.name, "limb", 0.0, 3.0


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


def test_bones_that_several_things_keep_from_following_are_told_without_a_remedy():
    rig, target = doubled()
    by_object(rig)
    rig.pose.bones["Skin 2"].constraints[0].mute = True
    arm = limb(rig, target)
    report = bake(arm, 1, LAST)
    [note] = report.not_following
    assert note.remedy is None
    assert any("other constraints or bones move it" in warning for warning in report.warnings)


def test_what_copies_the_limb_from_another_place_is_not_meant_to_follow():
    rig, target = doubled()
    copy = rig.pose.bones["Skin 2"].constraints[0]
    copy.mute = True
    copy.subtarget = "Bone 0"
    report = bake(limb(rig, target), 1, LAST)
    assert report.all_reached
    assert not report.not_following

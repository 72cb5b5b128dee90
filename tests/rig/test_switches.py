# SPDX-License-Identifier: GPL-3.0-or-later
"""Switches that keep deform bones from following a limb are named."""

from contextlib import ExitStack

import bpy
import pytest

from ik_triangulation.jobs.bake import bake
from ik_triangulation.rig.by_hand.shown_limb import Switch, find_switch, stretches_of, switches_of
from ik_triangulation.rig.controls import ik_controls_of

from ..ik_rigs import arm_limb, ik_arm
from ..jobs.interfering import LAST, by_object, doubled, limb

pytestmark = pytest.mark.usefixtures("empty_scene")


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


def follows(rig):
    """Whether the second chain stands with the first, which is turned."""
    for i in range(3):
        rig.pose.bones[f"Bone {i}"].rotation_quaternion = (0.9, 0.3, 0.2, 0.1)

    def all_follow(depsgraph):
        shown = rig.evaluated_get(depsgraph).pose.bones
        return all((shown[f"Skin {i}"].tail - shown[f"Bone {i}"].tail).length < 1e-4 for i in range(3))

    return all_follow


SKIN = ("Skin 0", "Skin 1", "Skin 2")


def test_the_value_of_a_property_that_makes_bones_follow_is_found_and_nothing_stays_changed():
    rig, target = doubled()
    holder, name, now, value = by_object(rig)
    arm = limb(rig, target)
    switch, found = find_switch(arm, SKIN, follows(rig), 1.0, bpy.context.scene)
    assert (switch.holder, switch.name, switch.path, found) == (holder, name, '["limb"]', value)
    assert (switch.now, rig["limb"]) == (now, now)
    rig["limb"] = 0
    rig.keyframe_insert('["limb"]', frame=1)
    rig["limb"] = 3
    rig.keyframe_insert('["limb"]', frame=9)
    assert [switch.at(frame, bpy.context.scene) for frame in (1, 9)] == [0.0, 3.0]
    (curve,) = switch.curves
    again, found = find_switch(arm, SKIN, follows(rig), 1.0, bpy.context.scene)
    assert (again.path, found, curve.mute) == (switch.path, value, False)
    switch.set(2.0)
    assert rig["limb"] == 2
    assert type(rig["limb"]) is int


def test_without_drivers_the_influence_or_the_mute_of_the_constraint_is_the_switch():
    rig, target = doubled()
    arm, copy = limb(rig, target), rig.pose.bones["Skin 0"].constraints[0]
    copy.influence = 0.0
    switch, value = find_switch(arm, SKIN, follows(rig), 1.0, bpy.context.scene)
    assert (switch.name, switch.holder, value) == ("influence", "Skin 0: Copy Transforms", 1.0)
    copy.influence, copy.mute = 1.0, True
    switch, value = find_switch(arm, SKIN, follows(rig), 1.0, bpy.context.scene)
    assert (switch.name, value, copy.mute) == ("mute", 0.0, True)
    rig.pose.bones["Skin 1"].constraints[0].mute = True  # no single one does it
    assert find_switch(arm, SKIN, follows(rig), 1.0, bpy.context.scene) is None


def test_properties_behind_further_drivers_are_found_once_and_what_is_no_number_is_none():
    rig, _ = doubled()
    rig["first"], rig["second"], rig["word"] = 1.0, 0.5, "on"

    def drive(owner, prop, *paths):
        driver = owner.driver_add(prop).driver
        for path in paths:
            variable = driver.variables.new()
            variable.targets[0].id, variable.targets[0].data_path = rig, path

    for i in range(3):
        drive(rig.pose.bones[f"Skin {i}"].constraints[0], "influence", '["second"]', '["word"]', '["nothing"]')
    assert [switch.path for switch in switches_of(rig, SKIN)] == ['["second"]']
    drive(rig, '["second"]', '["first"]', '["second"]')
    assert [switch.path for switch in switches_of(rig, SKIN)] == ['["first"]']
    action = rig.driver_add('["first"]').driver.variables.new()
    action.type = "TRANSFORMS"
    action.targets[0].id = rig
    assert switches_of(rig, SKIN) == []


def test_a_switch_is_shown_as_its_keys_have_it_and_else_as_it_is_asked_for():
    rig, _ = doubled()
    rig["limb"] = 2
    switch, scene = Switch(rig, '["limb"]', "Rig", "limb"), bpy.context.scene
    with ExitStack() as undo:
        switch.show(5.0, scene, undo)
        assert (rig["limb"], type(rig["limb"])) == (5, int)
    assert rig["limb"] == 2
    for frame, value in ((1, 0), (9, 8)):
        rig["limb"] = value
        rig.keyframe_insert('["limb"]', frame=frame)
    (curve,) = switch.curves
    for key in curve.keyframe_points:
        key.interpolation = "LINEAR"
    rig["limb"] = 2
    scene.frame_current = 1
    scene.frame_set(5)
    rig["limb"] = 2
    with ExitStack() as undo:
        switch.show(7.0, scene, undo)
        assert rig["limb"] == 4
    assert rig["limb"] == 2
    curve.keyframe_points.clear()
    with ExitStack() as undo:
        switch.show(7.0, scene, undo)
        assert rig["limb"] == 7, "an F-curve without keys tells nothing"


def test_a_property_of_what_is_no_object_is_at_the_time_of_the_scene():
    rig, _ = doubled()
    rig.data["limb"] = 0.0
    for frame, value in ((0, 0.0), (10, 10.0)):
        rig.data["limb"] = value
        rig.data.keyframe_insert('["limb"]', frame=frame)
    switch, scene = Switch(rig.data, '["limb"]', "Rig", "limb"), bpy.context.scene
    (curve,) = switch.curves
    for key in curve.keyframe_points:
        key.interpolation = "LINEAR"
    scene.render.frame_map_old, scene.render.frame_map_new = 100, 200
    assert switch.time(8.0, scene) == 4.0
    assert switch.at(8.0, scene) == pytest.approx(4.0)
    assert Switch(rig.data, '["limb"]', "Rig", "limb").now == 10.0
    rig["other"] = 0.25
    assert Switch(rig, '["other"]', "Rig", "other").at(3.0, scene) == 0.25


def test_bones_that_ik_turns_may_be_stretched_by_what_no_driver_gives_a_value():
    rig = ik_arm()
    controls = ik_controls_of(arm_limb(rig))
    constraint = rig.pose.bones[controls.owner].constraints[controls.constraint]
    for name in controls.turned:
        rig.pose.bones[name].ik_stretch = 0.5
    constraint.use_stretch = False
    assert stretches_of(rig, controls) == []
    constraint.use_stretch = True
    assert [each.holder for each in stretches_of(rig, controls)] == list(controls.turned)
    first, *others = controls.turned
    rig.pose.bones[first].ik_stretch = 0.0
    assert [each.holder for each in stretches_of(rig, controls)] == others
    rig.pose.bones[others[0]].driver_add("ik_stretch")
    assert [each.holder for each in stretches_of(rig, controls)] == others[1:]

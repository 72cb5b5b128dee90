# SPDX-License-Identifier: GPL-3.0-or-later
"""A limb that follows IK controls is read where it is shown, and only keys made by hand tell that it does."""

from contextlib import ExitStack

import bpy
import pytest
from mathutils import Quaternion

from ik_triangulation.jobs.bake import bake
from ik_triangulation.rig.by_hand.shown_limb import (
    baked_keys_aside,
    controls_or_none,
    idle_switches,
    is_animated_by_hand,
    key_bones,
    shown_limb,
    shown_rotations,
    shows_ik,
)
from ik_triangulation.rig.controls import ik_controls_of
from ik_triangulation.rig.keyframes.channelbags import channelbag_of
from ik_triangulation.rig.keyframes.reading import Replaced, put_replaced
from ik_triangulation.rig.limb import Limb

from ..ik_rigs import ARM, arm_limb, ik_arm
from ..rigs import all_keys, chain_rig, empty
from .test_ik_controls import switched_arm

pytestmark = pytest.mark.usefixtures("empty_scene")


def animated():
    """An arm animated by its IK control and pole."""
    rig = ik_arm()
    for frame in (1, 8):
        for name in ("Grip", "Aim"):
            rig.pose.bones[name].location = (0.02 * frame, 0.0, -0.02 * frame)
            rig.pose.bones[name].keyframe_insert("location", frame=frame)
    return rig, arm_limb(rig, keys_on="IK")


def test_a_rig_without_ik_controls_shows_the_limb_itself():
    limb = Limb.from_tip(chain_rig(3), "Bone 2", empty())
    assert controls_or_none(limb) is None
    assert shown_limb(limb) is limb
    assert shows_ik(limb) is None
    assert list(key_bones(limb)) == list(limb.bones)


def test_keys_made_by_hand_on_the_controls_tell_that_they_animate_the_limb():
    _, limb = animated()
    assert shows_ik(limb) == ik_controls_of(limb)
    assert set(key_bones(limb)) == {*ARM, "Grip", "Aim"}
    assert shown_limb(limb).tip == "Palm"


def test_baked_keys_do_not_tell_that_but_those_that_they_replaced_do():
    rig = ik_arm()
    limb = arm_limb(rig, keys_on="IK")
    bake(limb, 1, 8)
    assert not is_animated_by_hand(rig, ik_controls_of(limb))
    rig, limb = animated()
    bake(limb, 1, 8)
    assert is_animated_by_hand(rig, ik_controls_of(limb))


def test_without_the_baked_keys_the_controls_move_as_they_were_animated():
    rig, limb = animated()

    def places():
        found = []
        for frame in range(1, 9):
            bpy.context.scene.frame_set(frame)
            found.append(rig.pose.bones["Grip"].location.copy())
        return found

    before = places()
    bake(limb, 1, 8)
    after, keys = places(), all_keys(rig)
    assert max((a - b).length for a, b in zip(before, after, strict=True)) > 0.01
    with baked_keys_aside(rig, ik_controls_of(limb), bpy.context.view_layer):
        assert max((a - b).length for a, b in zip(before, places(), strict=True)) < 1e-6
    assert all_keys(rig) == keys
    assert places() == after


def test_rotations_are_those_with_which_the_bones_are_where_they_are_shown():
    rig, limb = animated()
    bpy.context.scene.frame_set(5)
    shown = rig.evaluated_get(bpy.context.evaluated_depsgraph_get())
    rotations = shown_rotations(limb, ik_controls_of(limb), shown)
    wanted = [shown.pose.bones[name].matrix.copy() for name in ARM]
    for bone in rig.pose.bones:
        for constraint in bone.constraints:
            constraint.mute = True
    for name, rotation in zip(ARM, rotations, strict=True):
        rig.pose.bones[name].rotation_quaternion = rotation
    bpy.context.view_layer.update()
    for name, matrix in zip(ARM, wanted, strict=True):
        assert rig.pose.bones[name].matrix.to_quaternion().rotation_difference(matrix.to_quaternion()).angle < 1e-3
        assert (rig.pose.bones[name].head - matrix.translation).length < 1e-4


def test_a_bone_between_forearm_and_hand_keeps_its_pose_and_the_hand_is_shown_below_it():
    rig = ik_arm()
    bpy.ops.object.mode_set(mode="EDIT")
    bones = rig.data.edit_bones
    cuff = bones.new("Cuff")
    cuff.head, cuff.tail, cuff.parent = bones["Palm"].head, bones["Palm"].tail, bones["Ulna"]
    bones["Palm"].parent = cuff
    bpy.ops.object.mode_set(mode="POSE")
    rig.pose.bones["Cuff"].rotation_quaternion = Quaternion((0.9, 0.1, 0.3, -0.2)).normalized()
    rig.pose.bones["Grip"].location = (0.1, -0.05, 0.1)
    rig.pose.bones["Grip"].rotation_quaternion = Quaternion((0.8, 0.3, 0.1, 0.4)).normalized()
    limb = arm_limb(rig)
    assert limb.bones == ("Bicep", "Ulna", "Cuff", "Palm")
    bpy.context.view_layer.update()
    shown = rig.evaluated_get(bpy.context.evaluated_depsgraph_get())
    rotations = shown_rotations(limb, ik_controls_of(limb), shown)
    wanted = {name: shown.pose.bones[name].matrix.to_quaternion() for name in limb.bones}
    for bone in rig.pose.bones:
        for constraint in bone.constraints:
            constraint.mute = True
    for name, rotation in zip(limb.bones, rotations, strict=True):
        rig.pose.bones[name].rotation_quaternion = rotation
    bpy.context.view_layer.update()
    for name, turn in wanted.items():
        assert rig.pose.bones[name].matrix.to_quaternion().rotation_difference(turn).angle < 1e-3, name


def test_switches_are_idle_once_nothing_that_needs_them_is_baked():
    rig = switched_arm()
    rig["ik"] = 1.0
    for name in ARM:
        driver = rig.pose.bones[name].constraints[1].driver_add("influence").driver
        variable = driver.variables.new()
        variable.targets[0].id, variable.targets[0].data_path = rig, '["ik"]'
        driver.expression = variable.name
    assert idle_switches(rig) == []
    rig.keyframe_insert('["ik"]', frame=1, keytype="GENERATED")
    bag = channelbag_of(rig)
    assert idle_switches(rig) == []  # nothing is known of it
    with ExitStack() as undo:
        put_replaced(bag, '["ik"]', Replaced("", (0.0,), {}), undo)
        assert [(switch.path, before) for switch, before in idle_switches(rig)] == [('["ik"]', 0.0)]
        rig.pose.bones["FK Bicep"].keyframe_insert("rotation_quaternion", frame=1)
        assert [(switch.path, before) for switch, before in idle_switches(rig)] == [('["ik"]', 0.0)]
        rig.pose.bones["FK Bicep"].keyframe_insert("rotation_quaternion", frame=2, keytype="GENERATED")
        assert idle_switches(rig) == []
    assert idle_switches(chain_rig(2)) == []

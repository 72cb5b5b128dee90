# SPDX-License-Identifier: GPL-3.0-or-later
"""Removal of limbs with the empties made for them, and of everything that was made for a rig."""

import bpy
import pytest
from mathutils import Euler, Vector

from ik_triangulation.errors import AnimationError
from ik_triangulation.jobs.removal import remove_everything, remove_limb, remove_targets
from ik_triangulation.jobs.setup import add_limbs

from ..bodies import human_rig, set_up_rig
from ..rigs import chain_rig, contents, curves_of, empty, evaluated_tip
from .arms import choose

pytestmark = pytest.mark.usefixtures("empty_scene")


def made_limb():
    rig = chain_rig(3)
    add_limbs(rig, ["Bone 2"])
    return rig, rig.pose.bones["Bone 2"].ik_triangulation.target


def baked_limb():
    rig, target = made_limb()
    target.location += Vector((0.2, 0.1, -0.2))
    choose(rig, "Bone 2")
    bpy.context.scene.frame_end = 10
    assert bpy.ops.pose.ik_triangulation_bake() == {"FINISHED"}
    return rig, target


def test_new_targets_are_in_one_collection_of_their_armature():
    rig = set_up_rig()
    targets = [bone.ik_triangulation.target for bone in rig.pose.bones if bone.ik_triangulation.target]
    assert {each.name for ob in targets for each in ob.users_collection} == {f"{rig.name} Targets"}
    assert len(targets) > 1


def test_the_collection_of_targets_keeps_no_armature_in_the_file_and_goes_with_the_one_whose_they_are():
    rig, target = made_limb()
    (collection,) = target.users_collection
    assert rig.users == 1
    name, rig.name = rig.name, "Renamed"
    other = chain_rig(3)
    other.name = name
    add_limbs(other, ["Bone 2"])
    assert other.pose.bones["Bone 2"].ik_triangulation.target.users_collection != (collection,)
    add_limbs(rig, ["Bone 1"])
    assert rig.pose.bones["Bone 1"].ik_triangulation.target.users_collection == (collection,)
    remove_everything(rig)
    remove_everything(other)
    assert not bpy.data.collections


def test_an_armature_that_is_renamed_keeps_the_collection_of_its_targets():
    rig, _ = made_limb()
    rig.name = "Renamed"
    remove_limb(rig, "Bone 2")
    add_limbs(rig, ["Bone 1"])
    add_limbs(rig, ["Bone 2"])
    assert len([each for each in bpy.data.collections if "Targets" in each.name]) == 1
    remove_everything(rig)
    assert list(bpy.data.objects) == [rig]
    assert not bpy.data.collections


def test_the_empty_of_a_removed_limb_goes_and_its_collection_with_the_last():
    rig, _ = made_limb()
    remove_limb(rig, "Bone 2")
    assert list(bpy.data.objects) == [rig]
    assert not [each for each in bpy.data.collections if "Targets" in each.name]


def test_remove_everything_leaves_a_file_as_it_was_before_the_body_was_set_up():
    rig = human_rig()
    rig.pose.bones["forearm.L"].rotation_mode = "XYZ"
    rig.pose.bones["forearm.L"].rotation_euler = Euler((0.3, 0.0, 0.0))
    bpy.context.scene.frame_end = 10
    choose(rig, "hand.L")
    bpy.context.view_layer.update()
    before, tip = contents(), evaluated_tip(rig, "hand.L")
    assert bpy.ops.pose.ik_triangulation_body_add() == {"FINISHED"}
    target = rig.pose.bones["hand.L"].ik_triangulation.target
    for frame, way in ((1, 0.0), (10, 0.2)):
        target.location.z += way
        target.keyframe_insert("location", frame=frame)
    assert bpy.ops.pose.ik_triangulation_bake() == {"FINISHED"}
    assert rig.animation_data.action is not None
    choose(rig, "hand.L")
    assert bpy.ops.pose.ik_triangulation_remove_everything() == {"FINISHED"}
    bpy.context.view_layer.update()
    after = contents()
    assert {
        name: (before.get(name), after.get(name)) for name in before | after if before.get(name) != after.get(name)
    } == {}
    assert (evaluated_tip(rig, "hand.L") - tip).length < 1e-6


def test_remove_everything_keeps_keys_by_hand():
    rig, target = made_limb()
    bone = rig.pose.bones["Bone 1"]
    bone.rotation_mode = "XYZ"
    for frame, angle in ((1, 0.0), (9, 0.5)):
        bone.rotation_euler.x = angle
        bone.keyframe_insert("rotation_euler", frame=frame)
    target.location += Vector((0.2, 0.1, -0.2))
    bpy.context.scene.frame_end = 10
    choose(rig, "Bone 2")
    assert bpy.ops.pose.ik_triangulation_bake() == {"FINISHED"}
    removed = remove_everything(rig)
    assert (removed.limbs, removed.objects) == (1, 1)
    assert removed.keys > 0
    first = next(curve for curve in curves_of(rig) if curve.array_index == 0)
    assert [tuple(point.co) for point in first.keyframe_points] == [(1.0, 0.0), (9.0, 0.5)]
    assert len(curves_of(rig)) == 3


def test_nothing_is_removed_where_the_action_cannot_be_edited():
    rig, target = baked_limb()
    for curve in curves_of(rig):
        curve.lock = True
    with pytest.raises(AnimationError):
        remove_everything(rig)
    assert rig.pose.bones["Bone 2"].ik_triangulation.target == target


def test_targets_alone_go_with_their_actions_and_keys_settings_and_targets_of_ones_own_stay():
    rig, target = made_limb()
    limb = rig.pose.bones["Bone 2"].ik_triangulation
    limb.chain_count, limb.pole_target = 2, target
    mine = empty("Mine")
    stops = [limb.reach_stops.add() for _ in range(2)]
    stops[0].target, stops[1].target = target, mine
    other = rig.pose.bones["Bone 1"].ik_triangulation
    other.target, other.pole_target = mine, target
    target.keyframe_insert("location", frame=1)
    rig.pose.bones["Bone 0"].keyframe_insert("location", frame=1)
    assert remove_targets(rig) == 1
    assert (limb.target, limb.pole_target, stops[0].target, other.pole_target) == (None,) * 4
    assert (stops[1].target, other.target, limb.chain_count) == (mine, mine, 2)
    assert [ob.name for ob in bpy.data.objects if ob.type == "EMPTY"] == ["Mine"]
    assert list(bpy.data.actions) == [rig.animation_data.action]
    assert remove_targets(rig) == 0

# SPDX-License-Identifier: GPL-3.0-or-later
"""Empties that were made as targets: which they are, and which of them go with their limb."""

import bpy
import numpy as np
import pytest
from mathutils import Euler, Matrix

from ik_triangulation.jobs.setup import add_limbs
from ik_triangulation.rig.frames.keyed_motion import read_keyed
from ik_triangulation.rig.limb import Limb
from ik_triangulation.rig.targets.made import (
    TargetSpace,
    is_made,
    made_targets,
    remove_all_unused,
    remove_empty_collections,
    remove_unused,
)
from ik_triangulation.rig.targets.motion import hangs_on_nothing_that_moves
from ik_triangulation.rig.targets.untouched import (
    is_not_turned_yet,
    is_untouched,
    place_at_tip,
    put_at_tip,
    remember_rotation,
)

from ..rigs import chain_rig, empty, push_down

pytestmark = pytest.mark.usefixtures("empty_scene")


def made_limb():
    rig = chain_rig(3)
    add_limbs(rig, ["Bone 2"])
    return rig, rig.pose.bones["Bone 2"].ik_triangulation


def test_an_empty_that_was_made_moves_with_the_object_of_the_rig():
    rig = chain_rig(3)
    rig.matrix_world = Matrix.LocRotScale((1.0, 2.0, -0.5), Euler((0.3, -1.0, 2.0)), (2.0, 2.0, 2.0))
    bpy.context.view_layer.update()
    add_limbs(rig, ["Bone 2"])
    bone = rig.pose.bones["Bone 2"]
    target, tip = bone.ik_triangulation.target, rig.matrix_world @ bone.tail
    assert (target.location - tip).length < 1e-5  # its channels are its place, as before there was a parent
    rig.location, rig.rotation_euler = (3.0, 0.0, 1.0), (1.0, 0.5, 0.0)
    bpy.context.view_layer.update()
    moved = rig.matrix_world @ bone.tail
    assert (moved - tip).length > 1.0
    assert (target.matrix_world.translation - moved).length < 1e-5
    assert is_untouched(bone)
    bone.rotation_mode, bone.rotation_euler = "XYZ", (0.8, 0.0, 0.0)
    bpy.context.view_layer.update()
    put_at_tip(target, bone, bone.matrix)
    bpy.context.view_layer.update()
    wanted = place_at_tip(bone, bone.matrix)
    assert np.allclose(target.matrix_world.normalized(), wanted, atol=1e-5)


def test_a_target_of_a_keyed_rig_is_read_without_playing_the_scene():
    rig, limb = made_limb()
    for frame, place in ((1, (0.0, 0.0, 0.0)), (20, (1.0, 0.0, 0.5))):
        rig.location = place
        rig.keyframe_insert("location", frame=frame)
    bpy.context.scene.frame_set(1)
    scene, view_layer = bpy.context.scene, bpy.context.view_layer
    samples = read_keyed(Limb.of(rig.pose.bones["Bone 2"]), scene, view_layer, range(1, 21))
    scene.frame_set(20)
    assert np.allclose(samples.targets[..., -1], limb.target.matrix_world, atol=1e-5)
    assert limb.target.matrix_world.translation.x > 0.9


def test_it_hangs_on_nothing_that_moves_until_the_object_of_the_rig_has_keys():
    rig, limb = made_limb()
    rig.pose.bones["Bone 1"].keyframe_insert("location", frame=1)
    rig.pose.bones["Bone 1"].driver_add("scale", 0)
    push_down(rig)
    assert hangs_on_nothing_that_moves(limb.target, "")
    rig.keyframe_insert("delta_location", frame=1)
    assert not hangs_on_nothing_that_moves(limb.target, "")
    push_down(rig)
    assert not hangs_on_nothing_that_moves(limb.target, "")


@pytest.mark.parametrize("use", ["limb", "pole", "stop", "constraint", "child", "contact"])
def test_an_empty_that_something_uses_stays(use):
    rig, limb = made_limb()
    target, other = limb.target, rig.pose.bones["Bone 1"]
    assert made_targets(rig) == [target]
    if use != "limb":
        limb.target = None
    if use == "pole":
        other.ik_triangulation.pole_target = target
    elif use == "stop":
        other.ik_triangulation.reach_stops.add().target = target
    elif use == "constraint":
        other.constraints.new("TRACK_TO").target = target
    elif use == "child":
        empty("Child").parent = target
    elif use == "contact":
        rig.ik_triangulation.contacts.add().support = target
    assert not remove_unused(target, rig)
    assert target.name in bpy.data.objects


def test_an_empty_that_nothing_uses_goes_with_its_collection():
    rig, limb = made_limb()
    target, limb.target = limb.target, None
    assert remove_unused(target, rig)
    assert list(bpy.data.objects) == [rig]
    assert not [each for each in bpy.data.collections if "Targets" in each.name]


def test_an_object_of_the_users_own_is_never_removed_also_in_that_collection():
    rig, limb = made_limb()
    mine = empty("Mine")
    limb.target.users_collection[0].objects.link(mine)
    assert not is_made(mine)
    assert not remove_unused(mine, rig)


def test_a_collection_is_that_of_the_armature_with_a_target_in_it_or_that_it_is_called_after():
    rig, limb = made_limb()
    target, (collection,) = limb.target, limb.target.users_collection
    other = chain_rig(3, name="Other")
    assert made_targets(rig) == [target]
    assert made_targets(other) == []
    limb.target = None
    assert made_targets(rig) == [target]  # by its name
    rig.name, other.name = "Renamed", "Rig"
    assert made_targets(rig) == []
    assert made_targets(other) == [target]
    limb.target = target
    assert made_targets(rig) == [target]  # by what is in it, whatever the name
    assert made_targets(other) == []
    remove_empty_collections(rig)
    assert collection.name in bpy.data.collections
    limb.target = None
    bpy.data.objects.remove(target)
    collection.children.link(bpy.data.collections.new("Inner"))
    remove_empty_collections(other)
    assert "Rig Targets" in bpy.data.collections
    bpy.data.collections.remove(bpy.data.collections["Inner"])
    remove_empty_collections(rig)  # the name is that of the other one
    assert "Rig Targets" in bpy.data.collections
    remove_empty_collections(other)
    assert "Rig Targets" not in bpy.data.collections


def test_empties_that_only_each_other_use_go_one_after_the_other_with_their_actions():
    rig = chain_rig(3)
    add_limbs(rig, ["Bone 2"])
    add_limbs(rig, ["Bone 1"])
    first, second = (rig.pose.bones[name].ik_triangulation.target for name in ("Bone 2", "Bone 1"))
    first.keyframe_insert("location", frame=1)
    shared = bpy.data.actions.new("Shared")
    shared.use_fake_user = True
    second.animation_data_create().action = shared
    second.constraints.new("COPY_LOCATION").target = first
    mine = empty("Mine")
    assert remove_all_unused([first, second, mine], rig) == 0
    for name in ("Bone 2", "Bone 1"):
        rig.pose.bones[name].ik_triangulation.target = None
    assert remove_all_unused([first, second, mine], rig) == 2
    assert [ob.name for ob in bpy.data.objects if ob.type == "EMPTY"] == ["Mine"]
    assert [action.name for action in bpy.data.actions] == ["Shared"]
    assert not [each for each in bpy.data.collections if "Targets" in each.name]


def test_a_target_that_a_contact_a_stop_or_a_constraint_of_the_rig_needs_stays():
    rig, limb = made_limb()
    target, limb.target = limb.target, None
    contact = rig.ik_triangulation.contacts.add()
    contact.support = target
    assert not remove_unused(target, rig)
    rig.ik_triangulation.contacts.clear()
    stop = limb.reach_stops.add()
    stop.target = target
    assert not remove_unused(target, rig)
    limb.reach_stops.clear()
    limb.pole_target = target
    assert not remove_unused(target, rig)
    limb.pole_target = None
    for owner in (rig, rig.pose.bones["Bone 0"]):
        constraint = owner.constraints.new("COPY_LOCATION")
        constraint.target = target
        assert not remove_unused(target, rig)
        owner.constraints.remove(constraint)
    assert remove_unused(target, rig)


def test_a_hand_turns_with_its_arrows_only_once_these_are_turned_if_it_is_to_be_automatic():
    _, stored = made_limb()
    target = stored.target
    target.empty_display_type = "ARROWS"
    remember_rotation(target)
    assert is_not_turned_yet(stored)
    target.empty_display_type = "PLAIN_AXES"
    assert not is_not_turned_yet(stored)
    target.empty_display_type = "ARROWS"
    for prop, value in (("orientation", "NONE"), ("target", None), ("target", chain_rig(1, name="Other"))):
        old = getattr(stored, prop)
        setattr(stored, prop, value)
        assert not is_not_turned_yet(stored)
        setattr(stored, prop, old)
    remember_rotation(target)
    assert is_not_turned_yet(stored)
    target.rotation_euler.x += 0.5
    assert not is_not_turned_yet(stored)


def test_a_span_in_which_a_target_moves_with_something_is_named_by_it():
    rig = chain_rig(2)
    names = [TargetSpace(ob, bone, 1, 5).name for ob, bone in ((rig, "Bone 1"), (rig, ""), (None, ""))]
    assert names == ["Bone 1", "Rig", ""]

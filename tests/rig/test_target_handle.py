# SPDX-License-Identifier: GPL-3.0-or-later
"""A target is moved and turned in world space whatever carries it, keeps its locked channels, and is keyed as asked."""

from random import Random

import bpy
import pytest
from mathutils import Quaternion, Vector

from ik_triangulation.errors import ChainError, RigError, TargetError
from ik_triangulation.kinematics.rotation import orientation, rotation_angle
from ik_triangulation.rig.frames.samples import frame_of
from ik_triangulation.rig.targets.motion import (
    TargetHandle,
    carried_by_nothing_but,
    hangs_on_nothing_that_moves,
    into_location,
    into_rotation,
)

from ..modes import every_mode
from ..rigs import (
    INHERIT_SCALE,
    chain_rig,
    curves_of,
    empty,
    key_frames,
    place,
    push_down,
    random_rotation,
    random_vector,
    rotate,
)

pytestmark = pytest.mark.usefixtures("empty_scene")

BY = Vector((0.3, -0.2, 0.15))
TURN = Quaternion(Vector((1.0, 2.0, -0.5)).normalized(), 0.7)


def depsgraph():
    bpy.context.view_layer.update()
    return bpy.context.evaluated_depsgraph_get()


def carried(how):
    """A target that something carries, with its own rotation: the object, and its bone if it is one."""
    random = Random(how)
    target = empty()
    target.rotation_euler = (0.4, -0.7, 1.1)
    parent = empty("Parent", random_vector(random))
    parent.rotation_euler, parent.scale = (1.0, 0.3, -0.4), (1.7, 1.7, 1.7)
    if how == "parent":
        target.parent, target.matrix_parent_inverse = parent, random_rotation(random).to_matrix().to_4x4()
    elif how == "bone":
        rig = chain_rig(3)
        rig.rotation_euler = (0.2, 0.9, 0.1)
        rotate(rig.pose.bones["Bone 1"], random_rotation(random))
        target.parent, target.parent_type, target.parent_bone = rig, "BONE", "Bone 1"
    elif how == "child of":
        target.constraints.new("CHILD_OF").target = parent
    elif how == "copied location":
        copied = target.constraints.new("COPY_LOCATION")
        copied.target, copied.use_offset = parent, True
    elif how == "delta":
        target.delta_rotation_euler, target.delta_location = (0.5, 0.2, -0.9), (1.0, 2.0, 3.0)
    return target


@pytest.mark.parametrize("how", ["nothing", "parent", "bone", "child of", "copied location", "delta"])
def test_an_object_goes_where_it_is_taken_whatever_carries_it(how):
    target = carried(how)
    handle = TargetHandle(target, "", depsgraph())
    before = frame_of(target, "", depsgraph())
    assert handle.frame == before
    handle.move(2.0 * BY)
    handle.move(BY)  # from where it was
    handle.turn(TURN)
    after = frame_of(target, "", depsgraph())
    assert (after.translation - before.translation - BY).length < 1e-5
    turned = orientation(after.to_3x3()) @ orientation(before.to_3x3()).conjugated()
    assert rotation_angle(turned, TURN) < 1e-5
    handle.restore()
    assert frame_of(target, "", depsgraph()) == before


def test_a_constraint_that_only_turns_the_target_does_not_turn_its_way():
    other, target = empty("Other"), empty()
    other.rotation_euler = (0.0, 0.0, 1.5)
    target.constraints.new("COPY_ROTATION").target = other
    handle = TargetHandle(target, "", depsgraph())
    before = frame_of(target, "", depsgraph())
    handle.move(BY)
    assert (frame_of(target, "", depsgraph()).translation - before.translation - BY).length < 1e-6


@pytest.mark.parametrize("scale", INHERIT_SCALE)
@pytest.mark.parametrize("is_local", [True, False])
def test_a_bone_goes_where_it_is_taken(scale, is_local):
    random = Random(scale)
    rig = chain_rig(3, gaps=(2,))
    rig.rotation_euler, rig.scale = (0.4, 0.1, -0.8), (2.0, 2.0, 2.0)
    above, bone = rig.pose.bones["Bone 1"], rig.pose.bones["Bone 2"]
    rotate(above, random_rotation(random))
    above.scale = (1.3, 1.3, 1.3)
    rotate(bone, random_rotation(random))
    bone.location = random_vector(random)
    bone.bone.inherit_scale, bone.bone.use_local_location = scale, is_local
    handle = TargetHandle(rig, "Bone 2", depsgraph())
    before = frame_of(rig, "Bone 2", depsgraph())
    handle.move(BY)
    handle.turn(TURN)
    after = frame_of(rig, "Bone 2", depsgraph())
    assert (after.translation - before.translation - BY).length < 1e-5
    turned = orientation(after.to_3x3()) @ orientation(before.to_3x3()).conjugated()
    assert rotation_angle(turned, TURN) < 1e-4


def test_a_bone_that_is_connected_stays_at_its_parent():
    rig = chain_rig(3)
    handle = TargetHandle(rig, "Bone 2", depsgraph())
    handle.move(BY)
    assert rig.pose.bones["Bone 2"].location == Vector()


@every_mode
def test_locked_channels_stay(mode):
    target = empty()
    target.rotation_mode, target.lock_rotations_4d = mode, False
    target.lock_location, target.lock_rotation = (False, True, False), (True, True, False)
    handle = TargetHandle(target, "", depsgraph())
    place = target.location.copy()
    handle.move(BY)
    assert target.location.y == place.y
    assert (target.location.x, target.location.z) == pytest.approx((place.x + BY.x, place.z + BY.z))
    handle.turn(TURN)
    x, y, z = frame_of(target, "", depsgraph()).to_euler("XYZ" if len(mode) > 3 else mode)
    assert (x, y) == pytest.approx((0.0, 0.0), abs=1e-6)
    assert abs(z) > 0.01


def test_quaternion_channels_can_be_locked_one_by_one():
    target = empty()
    target.rotation_mode = "QUATERNION"
    target.lock_rotations_4d = target.lock_rotation_w = True
    TargetHandle(target, "", depsgraph()).turn(TURN)
    assert target.rotation_quaternion.w == 1.0
    assert target.rotation_quaternion.x != 0.0


@pytest.mark.parametrize(
    ("needed", "available", "keys"), [(False, False, [3, 3]), (True, False, [1]), (False, True, [3])]
)
def test_what_was_moved_or_turned_is_keyed_by_the_preferences_of_auto_keying(monkeypatch, needed, available, keys):
    edit = bpy.context.preferences.edit
    target = place(bpy.data.objects.new("Target", bpy.data.meshes.new("Target")))
    monkeypatch.setattr(edit, "use_auto_keyframe_insert_needed", needed)
    monkeypatch.setattr(edit, "use_keyframe_insert_available", available)
    target.keyframe_insert("location", frame=1)
    bpy.context.scene.frame_set(10)
    handle = TargetHandle(target, "", depsgraph())
    handle.key(bpy.context.scene)
    assert {tuple(key_frames(curve)) for curve in curves_of(target)} == {(1,)}, "nothing was moved"
    handle.move(Vector((0.5, 0.0, 0.0)))
    if not needed:
        handle.turn(TURN)
    handle.key(bpy.context.scene)
    paths = [curve.data_path for curve in curves_of(target) if 10 in key_frames(curve)]
    assert [paths.count(path) for path in dict.fromkeys(paths)] == keys


def test_an_empty_is_keyed_even_if_it_has_no_animation(monkeypatch):
    monkeypatch.setattr(bpy.context.preferences.edit, "use_keyframe_insert_available", True)
    target = empty()
    handle = TargetHandle(target, "", depsgraph())
    handle.move(BY)
    handle.key(bpy.context.scene)
    assert [curve.data_path for curve in curves_of(target)] == ["location"] * 3


def test_with_replace_only_frames_that_have_keys_are_keyed():
    target = empty()
    target.keyframe_insert("location", frame=1)
    bpy.context.scene.frame_set(10)
    bpy.context.scene.tool_settings.auto_keying_mode = "REPLACE_KEYS"
    handle = TargetHandle(target, "", depsgraph())
    handle.move(BY)
    handle.key(bpy.context.scene)
    assert {tuple(key_frames(curve)) for curve in curves_of(target)} == {(1,)}


def test_what_cannot_be_dragged_is_refused_in_words():
    target = empty()
    target.parent = empty("Parent")
    target.parent.scale = (0.0, 0.0, 0.0)
    with pytest.raises(TargetError, match=r"'Target' \(or a parent\) is scaled to zero"):
        TargetHandle(target, "", depsgraph())
    with pytest.raises(ChainError, match="Bone 'gone' is not in 'Rig'"):
        TargetHandle(chain_rig(1), "gone", depsgraph())
    linked = empty("Flat")
    linked.parent = target.parent
    with pytest.raises(TargetError, match=r"'Flat' \(or a parent\) is scaled to zero"):
        into_location(linked, "", depsgraph(), BY)


@pytest.mark.parametrize("how", ["nothing", "parent", "bone", "child of", "copied location", "delta"])
def test_a_change_in_the_world_is_one_of_the_channels_whatever_carries_them(how):
    target = carried(how)
    before = frame_of(target, "", depsgraph())
    change = into_location(target, "", depsgraph(), BY)
    target.location = target.location + change
    assert (frame_of(target, "", depsgraph()).translation - before.translation - BY).length < 1e-5
    vector = 0.7 * Vector((1.0, 2.0, -0.5)).normalized()
    turn = into_rotation(target, "", depsgraph(), vector)
    assert turn.length == pytest.approx(0.7, abs=1e-5)
    target.rotation_euler = (
        Quaternion(turn.normalized(), turn.length) @ target.rotation_euler.to_quaternion()
    ).to_euler()
    turned = orientation(frame_of(target, "", depsgraph()).to_3x3()) @ orientation(before.to_3x3()).conjugated()
    assert rotation_angle(turned, TURN) < 1e-5


def test_a_change_in_the_world_is_one_of_the_channels_of_a_bone():
    rig = chain_rig(3, gaps=(2,))
    rig.rotation_euler, rig.scale = (0.4, 0.1, -0.8), (2.0, 2.0, 2.0)
    rotate(rig.pose.bones["Bone 1"], Quaternion((0.8, 0.1, 0.5, -0.2)).normalized())
    before, bone = frame_of(rig, "Bone 2", depsgraph()), rig.pose.bones["Bone 2"]
    bone.location = into_location(rig, "Bone 2", depsgraph(), BY)
    assert (frame_of(rig, "Bone 2", depsgraph()).translation - before.translation - BY).length < 1e-5
    turn = into_rotation(rig, "Bone 2", depsgraph(), 0.7 * Vector((1.0, 2.0, -0.5)).normalized())
    bone.rotation_quaternion = Quaternion(turn.normalized(), turn.length)
    turned = orientation(frame_of(rig, "Bone 2", depsgraph()).to_3x3()) @ orientation(before.to_3x3()).conjugated()
    assert rotation_angle(turned, TURN) < 1e-4


def test_what_was_moved_or_turned_is_keyed_at_a_time_unless_a_modifier_takes_no_keys():
    target = empty()
    handle = TargetHandle(target, "", depsgraph())
    handle.key_at(2.5)
    assert curves_of(target) == []
    handle.move(BY)
    handle.key_at(2.5)
    assert [(curve.data_path, key_frames(curve)) for curve in curves_of(target)] == [("location", [2.5])] * 3
    handle.turn(TURN)
    handle.key_at(4.0)
    assert {curve.data_path: key_frames(curve) for curve in curves_of(target)} == {
        "location": [2.5, 4.0],
        "rotation_euler": [4.0],
    }
    assert {curve.group.name for curve in curves_of(target)} == {"Object Transforms"}
    curves_of(target)[0].modifiers.new("GENERATOR")
    with pytest.raises(RigError, match=r"F-Curves of 'Target' take no keys|'Target' could not be keyed"):
        handle.key_at(6.0)


def test_a_target_hangs_on_nothing_that_moves_if_all_above_it_stays():
    target, parent, above = empty(), empty("Parent"), empty("Above")
    assert hangs_on_nothing_that_moves(target, "")
    assert not hangs_on_nothing_that_moves(chain_rig(2), "Bone 1")
    target.parent, parent.parent = parent, above
    target.keyframe_insert("location", frame=1)  # its own do not count
    above.keyframe_insert("hide_render", frame=1)
    assert hangs_on_nothing_that_moves(target, "")
    for ob, change in (
        (above, lambda: above.keyframe_insert("scale", frame=1)),
        (above, lambda: above.keyframe_insert("delta_location", frame=1)),
        (parent, lambda: parent.driver_add("rotation_euler", 0)),
        (parent, lambda: parent.constraints.new("LIMIT_LOCATION")),
        (target, lambda: target.constraints.new("CHILD_OF")),
    ):
        change()
        assert not hangs_on_nothing_that_moves(target, "")
        if ob.animation_data and ob.animation_data.drivers:
            ob.driver_remove("rotation_euler", 0)
        ob.animation_data_clear()
        for each in list(ob.constraints):
            ob.constraints.remove(each)
        assert hangs_on_nothing_that_moves(target, "")
    above.keyframe_insert("scale", frame=1)
    push_down(above)
    assert not hangs_on_nothing_that_moves(target, "")
    target.parent = place(bpy.data.objects.new("Path", bpy.data.curves.new("Path", "CURVE")))
    assert not hangs_on_nothing_that_moves(target, "")
    target.parent = chain_rig(2, name="Other")
    target.parent_type, target.parent_bone = "BONE", "Bone 1"
    assert not hangs_on_nothing_that_moves(target, "")


def test_a_target_that_is_carried_by_a_constraint_is_not_where_its_location_says():
    rig, target = chain_rig(2), empty()
    assert carried_by_nothing_but(rig, target)
    target.parent = rig
    assert carried_by_nothing_but(rig, target)
    target.parent = empty("Other")
    assert not carried_by_nothing_but(rig, target)
    target.parent = None
    child = target.constraints.new("CHILD_OF")
    assert not carried_by_nothing_but(rig, target)
    child.mute = True
    assert carried_by_nothing_but(rig, target)

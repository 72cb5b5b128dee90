# SPDX-License-Identifier: GPL-3.0-or-later
"""Edit a shot by the operators of the panel, on rigs nobody here wrote."""

from math import radians

import bpy
import numpy as np
import pytest
from mathutils import Euler, Vector

from ik_triangulation.rig.armature import other_side

from ..bodies import set_up_rig, tails
from ..edited import HANDS, opened
from ..rigs import curves_of, evaluated_tip, nothing_lost, select

KINDS = tuple(HANDS)
each_rig = pytest.mark.parametrize("kind", KINDS)
pytestmark = pytest.mark.usefixtures("empty_scene", "addon")


def arm(kind, rigify_file):
    """A rig of that kind with a limb made by Add Limb on its left hand, and the target."""
    rig, hands, _ = opened(kind, rigify_file)
    select(rig, hands[0])
    bpy.ops.pose.ik_triangulation_limb_add()
    return rig, hands[0], rig.pose.bones[hands[0]].ik_triangulation.target


def pose_by_fk(rig, hand):
    """Turn the two bones above the hand, and the hand, by FK."""
    bones = [rig.pose.bones[hand], *rig.pose.bones[hand].parent_recursive[:2]]
    for bone, turn in zip(bones, ((0.3, 0.2, 0.0), (0.5, 0.0, 0.1), (0.2, 0.1, 0.4)), strict=True):
        bone.rotation_mode = "XYZ"
        bone.rotation_euler = Euler(turn)
    if "hand_fk" in hand:
        rig.pose.bones["upper_arm_parent.L"]["IK_FK"] = 1.0
        rig.update_tag()
    bpy.context.view_layer.update()


@each_rig
def test_after_posing_by_fk_the_target_is_on_the_hand_again(kind, rigify_file):
    rig, hand, target = arm(kind, rigify_file)
    pose_by_fk(rig, hand)
    tip = evaluated_tip(rig, hand)
    assert (target.matrix_world.translation - tip).length > 0.05
    assert bpy.ops.pose.ik_triangulation_target_to_tip() == {"FINISHED"}
    assert (target.matrix_world.translation - tip).length < 1e-5
    assert target.animation_data is None
    forearm = rig.pose.bones[hand].parent
    before = forearm.matrix.to_quaternion()
    bpy.ops.pose.ik_triangulation_solve()
    bpy.context.view_layer.update()
    assert before.rotation_difference(forearm.matrix.to_quaternion()).angle < radians(1.0)
    assert (evaluated_tip(rig, hand) - tip).length < 1e-4


@each_rig
def test_a_target_that_is_keyed_at_the_tip_stays_there(kind, rigify_file):
    rig, hand, target = arm(kind, rigify_file)
    for frame in (1, 20):
        target.keyframe_insert("location", frame=frame)
        target.keyframe_insert("rotation_euler", frame=frame)
    bpy.context.scene.frame_set(10)
    pose_by_fk(rig, hand)
    tip = evaluated_tip(rig, hand)
    assert bpy.ops.pose.ik_triangulation_target_to_tip(key=True) == {"FINISHED"}
    pose = {bone.name: bone.matrix_basis.copy() for bone in rig.pose.bones}
    bpy.context.scene.frame_set(1)
    bpy.context.scene.frame_set(10)
    assert pose[hand] == rig.pose.bones[hand].matrix_basis
    assert (target.matrix_world.translation - tip).length < 1e-5


def test_a_linked_or_locked_target_is_named_and_nothing_changes(rigify_file):
    rig, hand, target = arm("mixamo", rigify_file)
    pose_by_fk(rig, hand)
    target.lock_location[0] = True
    with nothing_lost(), pytest.raises(RuntimeError, match="locked channels"):
        bpy.ops.pose.ik_triangulation_target_to_tip(key=True)
    target.lock_location[0] = False
    target.keyframe_insert("location", frame=1)
    for curve in target.animation_data.action.layers[0].strips[0].channelbags[0].fcurves:
        curve.lock = True
    with nothing_lost(), pytest.raises(RuntimeError, match="locked, muted or sampled"):
        bpy.ops.pose.ik_triangulation_target_to_tip(key=True)


LAST, AT, FALLOFF = 40, 20, 8
OFFSET = Vector((0.0, -0.03, 0.05))


def baked_arm(kind, rigify_file):
    """The arm of arm(), with a target that is keyed and baked from frame 1 to LAST."""
    rig, hand, target = arm(kind, rigify_file)
    start = target.location.copy()
    root = rig.matrix_world @ rig.pose.bones[hand].parent_recursive[1].head
    for frame, share in ((1, 0.15), (15, 0.4), (LAST, 0.25)):
        target.location = start.lerp(root, share) + Vector((0.0, -0.1, 0.0))
        target.keyframe_insert("location", frame=frame)
    rig.pose.bones[hand].ik_triangulation.keys_on = "FK"
    bpy.ops.pose.ik_triangulation_bake(frame_start=1, frame_end=LAST)
    return rig, hand, target


def values(ob, times):
    """Values of all curves of an object at times."""
    return {
        (curve.data_path, curve.array_index): np.array([curve.evaluate(time) for time in times])
        for curve in curves_of(ob)
    }


def apart(one, other):
    return max(float(np.abs(one[key] - other[key]).max()) for key in one)


OUTSIDE = [*np.arange(1.0, AT - FALLOFF + 0.1, 0.25), *np.arange(AT + FALLOFF, LAST + 0.1, 0.25)]


@each_rig
def test_a_pulled_hand_is_moved_with_a_falloff_and_nothing_changes_outside(kind, rigify_file):
    rig, hand, target = baked_arm(kind, rigify_file)
    before, outside = tails(rig, hand, range(1, LAST + 1)), [values(ob, OUTSIDE) for ob in (rig, target)]
    done = bpy.ops.pose.ik_triangulation_pull(frame=AT, offset=OFFSET, falloff=FALLOFF)
    assert done == {"FINISHED"}
    moved = [now - old for now, old in zip(tails(rig, hand, range(1, LAST + 1)), before, strict=True)]
    assert (moved[AT - 1] - OFFSET).length < 1e-3
    assert (moved[AT - 1 + FALLOFF // 2] - OFFSET / 2.0).length < 2e-3
    assert apart(outside[0], values(rig, OUTSIDE)) < 1e-5
    assert apart(outside[1], values(target, OUTSIDE)) < 1e-5
    assert len(curves_of(target)[0].keyframe_points) <= 8


@pytest.mark.parametrize("profile", ["SPHERE", "CONSTANT", "LINEAR"])
def test_every_profile_reaches_the_offset(profile, rigify_file):
    rig, hand, target = baked_arm("mixamo", rigify_file)
    (before,) = tails(rig, hand, [AT])
    bpy.ops.pose.ik_triangulation_pull(frame=AT, offset=OFFSET, falloff=FALLOFF, profile=profile)
    assert (tails(rig, hand, [AT])[0] - before - OFFSET).length < 1e-3
    assert (tails(rig, hand, [AT])[0] - target.matrix_world.translation).length < 1e-3


def test_a_body_that_is_pulled_keeps_its_feet_and_the_shot_outside(addon):
    rig = set_up_rig(LAST)
    bpy.ops.pose.ik_triangulation_bake(frame_start=1, frame_end=LAST)
    frames = range(1, LAST + 1)
    feet, (hand,), outside = tails(rig, "foot.L", frames), tails(rig, "hand.L", [AT]), values(rig, OUTSIDE)
    bpy.ops.pose.ik_triangulation_pull(tip="hand.L", frame=AT, offset=OFFSET, falloff=FALLOFF)
    assert (tails(rig, "hand.L", [AT])[0] - hand - OFFSET).length < 2e-3
    assert max((now - old).length for now, old in zip(tails(rig, "foot.L", frames), feet, strict=True)) < 1e-3
    assert apart(outside, values(rig, OUTSIDE)) < 1e-5


@pytest.mark.parametrize("kind", ["metarig", "mixamo"])
def test_a_hand_without_a_target_is_pulled_by_its_own_keys(kind, rigify_file):
    rig, hands, _ = opened(kind, rigify_file)
    bones = [rig.pose.bones[hands[0]].parent, rig.pose.bones[hands[0]].parent.parent]
    for frame, turn in ((1, 0.0), (AT, 0.7), (LAST, 0.3)):
        for bone in bones:
            bone.rotation_mode = "XYZ"
            bone.rotation_euler = Euler((turn, 0.0, 0.1))
            bone.keyframe_insert("rotation_euler", frame=frame)
    select(rig, hands[0])
    (before,), outside = tails(rig, hands[0], [AT]), values(rig, OUTSIDE)
    objects = len(bpy.data.objects), len(bpy.data.actions)
    assert bpy.ops.pose.ik_triangulation_pull(frame=AT, offset=(0.0, 0.0, -0.04), falloff=FALLOFF) == {"FINISHED"}
    assert (tails(rig, hands[0], [AT])[0] - before - Vector((0.0, 0.0, -0.04))).length < 1e-3
    assert apart(outside, values(rig, OUTSIDE)) < 1e-5
    assert (len(bpy.data.objects), len(bpy.data.actions)) == objects


def test_a_pull_that_cannot_be_says_why_and_changes_nothing(rigify_file):
    rig, _, target = arm("mixamo", rigify_file)
    with nothing_lost(), pytest.raises(RuntimeError, match="Bake it first"):
        bpy.ops.pose.ik_triangulation_pull(frame=AT, offset=OFFSET)
    for frame, z in ((1, 1.3), (LAST, 1.2)):
        target.location = (0.6, -0.2, z)
        target.keyframe_insert("location", frame=frame)
    bpy.ops.pose.ik_triangulation_bake(frame_start=1, frame_end=LAST)
    with nothing_lost(), pytest.raises(RuntimeError, match="not in the bake"):
        bpy.ops.pose.ik_triangulation_pull(frame=300, offset=OFFSET)
    curves_of(target)[0].lock = True
    with nothing_lost(), pytest.raises(RuntimeError, match="locked, muted or sampled"):
        bpy.ops.pose.ik_triangulation_pull(frame=AT, offset=OFFSET)
    curves_of(target)[0].lock = False
    target.animation_data.action.name = "Other"
    select(rig, "mixamorig:RightHand")
    with nothing_lost(), pytest.raises(RuntimeError, match="has no target"):
        bpy.ops.pose.ik_triangulation_pull(frame=AT, offset=OFFSET)


def mirror_images(rig, frames):
    """Frames of all bones and targets at frames, by their names."""
    found = {}
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        targets = [bone.ik_triangulation.target for bone in rig.pose.bones if bone.ik_triangulation.target]
        found |= {(frame, bone.name): np.array(bone.matrix) for bone in rig.pose.bones}
        found |= {(frame, target.name): np.array(target.matrix_world) for target in targets}
    return found


def furthest(one, other):
    return max(float(np.abs(one[key] - other[key]).max()) for key in one)


@each_rig
def test_a_mirrored_arm_changes_sides_and_twice_is_as_before(kind, rigify_file):
    rig, hand, target = baked_arm(kind, rigify_file)
    other, frames = other_side(hand, rig.data.bones), (1, 9, 17, LAST)
    if kind != "generated":  # its deform bones follow IK controls as well
        before, places = mirror_images(rig, frames), tails(rig, hand, frames)
    else:
        before, places = values(rig, frames), tails(rig, hand, frames)
    select(rig, hand)
    assert bpy.ops.pose.ik_triangulation_mirror() == {"FINISHED"}
    assert rig.pose.bones[hand].ik_triangulation.target is None
    assert rig.pose.bones[other].ik_triangulation.target == target
    image = Vector((-1.0, 1.0, 1.0))
    off = [(now - old * image).length for now, old in zip(tails(rig, other, frames), places, strict=True)]
    assert max(off) < 1e-4
    bpy.context.scene.frame_set(9)
    assert (target.matrix_world.translation - places[1] * image).length < 2e-3
    select(rig, other)
    assert bpy.ops.pose.ik_triangulation_mirror() == {"FINISHED"}
    now = mirror_images(rig, frames) if kind != "generated" else values(rig, frames)
    assert furthest(before, now) < 1e-5


def test_a_mirrored_body_swaps_targets_holds_contacts_and_keys_and_begins_later(addon):
    last = 24
    rig = set_up_rig(last, (-0.2, -0.3, -0.3))
    left, right = (rig.pose.bones[f"hand.{side}"].ik_triangulation.target for side in "LR")
    left.rotation_euler = (0.3, 0.2, 0.1)
    left.keyframe_insert("rotation_euler", frame=6)
    left.rotation_euler = (0.5, -0.2, 0.6)
    left.keyframe_insert("rotation_euler", frame=AT)
    contact = rig.ik_triangulation.contacts.add()
    contact.tip, contact.frame_start, contact.frame_end = "foot.L", 3, 12
    bpy.context.scene.frame_set(1)
    bpy.ops.pose.ik_triangulation_bake(frame_start=1, frame_end=last)
    rig.pose.bones["foot.R"].ik_triangulation.influence = 0.75  # a bake with it would take many times as long
    frames = range(1, last + 1)
    before = mirror_images(rig, frames)
    select(rig, "hand.L")
    assert bpy.ops.pose.ik_triangulation_mirror() == {"FINISHED"}
    image, swapped = mirror_images(rig, frames), {left.name: right.name, right.name: left.name}
    for (frame, name), matrix in before.items():
        seen = image[frame, swapped.get(name) or bpy.utils.flip_name(name)]
        assert np.abs(seen[:3, 3] - matrix[:3, 3] * (-1.0, 1.0, 1.0)).max() < 1e-5
    for frame in (6, 14, AT):  # the hand turns with its target as before
        turned = [
            np.linalg.inv(of[frame, each.name][:3, :3]) @ of[frame, f"hand.{side}"][:3, :3]
            for of, each, side in ((before, left, "L"), (image, right, "R"))
        ]
        assert abs(np.trace(turned[0]) - np.trace(turned[1])) < 1e-3
    feet = [rig.pose.bones[f"foot.{side}"].ik_triangulation for side in "LR"]
    assert [foot.influence for foot in feet] == [0.75, 1.0]
    assert [(each.tip, each.frame_start) for each in rig.ik_triangulation.contacts] == [("foot.R", 3)]
    assert bpy.ops.pose.ik_triangulation_mirror() == {"FINISHED"}
    assert furthest(before, mirror_images(rig, frames)) < 1e-5
    bpy.ops.pose.ik_triangulation_mirror(frame_offset=10)
    later = mirror_images(rig, range(11, last + 11))
    assert max(float(np.abs(later[frame + 10, name] - matrix).max()) for (frame, name), matrix in image.items()) < 1e-4
    assert [(each.tip, each.frame_start) for each in rig.ik_triangulation.contacts] == [("foot.R", 13)]


def test_a_mirror_that_cannot_be_says_why_and_changes_nothing(rigify_file):
    rig, hand, target = baked_arm("mixamo", rigify_file)
    select(rig, hand)
    target.parent = bpy.data.objects.new("Car", None)
    with nothing_lost(), pytest.raises(RuntimeError, match="carried by another object"):
        bpy.ops.pose.ik_triangulation_mirror()
    target.parent = None
    curves_of(rig)[0].lock = True
    with nothing_lost(), pytest.raises(RuntimeError, match="locked, muted or sampled"):
        bpy.ops.pose.ik_triangulation_mirror()
    curves_of(rig)[0].lock = False
    rig.pose.bones["mixamorig:RightForeArm"].name = "Fore"
    with nothing_lost(), pytest.raises(RuntimeError, match="has no partner"):
        bpy.ops.pose.ik_triangulation_mirror()

# SPDX-License-Identifier: GPL-3.0-or-later
"""What a bake has replaced is kept in its action, and given back when the generated keys are deleted."""

import json
from contextlib import ExitStack
from math import inf

import bpy
import numpy as np
import pytest

from ik_triangulation.jobs.bake import bake, delete_generated, rebake
from ik_triangulation.rig.keyframes.arrays import get_keys, packed, unpacked
from ik_triangulation.rig.keyframes.channelbags import channelbag_of
from ik_triangulation.rig.keyframes.reading import Replaced, put_replaced, replaced_in
from ik_triangulation.rig.limb import Limb

from ...interrupted import BrokenError, FailingWrite
from ...modes import every_mode
from ...rigs import (
    all_keys,
    chain_rig,
    contents,
    curve_of,
    curves_of,
    empty,
    key_frames,
    key_location,
    nothing_lost,
    rotate,
    rotation_from,
    rotation_property,
)

pytestmark = pytest.mark.usefixtures("empty_scene")

PATH = 'pose.bones["Bone 0"].rotation_quaternion'
KEPT = "ik_triangulation_replaced"


def keyed(mode="QUATERNION", frames=(1, 8, 20, 30.5)):
    """A limb keyed by hand with handles and interpolations of all kinds."""
    rig, target = chain_rig(3, mode=mode), key_location(empty(), range(1, 40, 5))
    for number, frame in enumerate(frames):
        for bone in rig.pose.bones:
            rotate(bone, rotation_from("XYZ", (0.3 * number, 0.1 * number, -0.2)))
            bone.keyframe_insert(rotation_property(bone), frame=frame, keytype=("KEYFRAME", "EXTREME")[number % 2])
    for curve in curves_of(rig):
        for number, key in enumerate(curve.keyframe_points):
            key.interpolation = ("BEZIER", "ELASTIC", "CONSTANT", "LINEAR")[number % 4]
            key.handle_left_type, key.select_control_point = "FREE", number == 2
            key.handle_left = key.co.x - 0.7, key.co.y + 0.1
    return Limb.from_tip(rig, "Bone 2", target)


def keys_of_rig(limb):
    return {path: repr(keys) for path, keys in all_keys(limb.armature).items()}


def test_keys_are_packed_bit_by_bit():
    limb = keyed()
    keys = get_keys(curve_of(limb.armature, "Bone 1", 2))
    again = unpacked(json.loads(json.dumps(packed(keys))))
    assert list(again) == list(keys)
    for name, column in keys.items():
        assert again[name].dtype == column.dtype
        assert again[name].tobytes() == column.tobytes()
    assert len(json.dumps(packed({name: np.repeat(each, 200, axis=0) for name, each in keys.items()}))) < 40 * 800


def test_what_was_kept_is_read_again_and_forgotten():
    limb = keyed()
    bag, keys = channelbag_of(limb.armature), get_keys(curve_of(limb.armature, "Bone 0", 1))
    assert replaced_in(bag, PATH) is None
    with ExitStack() as undo:
        put_replaced(bag, PATH, Replaced("QUATERNION", (1.0, 0.0, 0.0, 0.0), {1: keys}), undo)
        found = replaced_in(bag, PATH)
        assert (found.mode, found.before, list(found.keys)) == ("QUATERNION", (1.0, 0.0, 0.0, 0.0), [1])
        assert found.keys[1]["co"].tolist() == keys["co"].tolist()
    assert KEPT not in bag.id_data


@pytest.mark.parametrize("text", ["[[", "{}", "3", '{"mode": "XYZ", "before": [0], "keys": {"0": {"count": 2}}}'])
def test_what_is_damaged_is_not_known(text):
    limb = keyed()
    bake(limb, 5, 25)
    action = limb.armature.animation_data.action
    for name in action[KEPT].keys():
        action[KEPT][name] = text
    assert replaced_in(channelbag_of(limb.armature), PATH) is None
    bake(limb, 5, 25)
    delete_generated(limb.armature, limb.bones)
    action[KEPT] = "by somebody else"
    bake(limb, 5, 25)
    assert replaced_in(channelbag_of(limb.armature), PATH) is not None


@every_mode
def test_deleting_generated_keys_gives_back_those_they_replaced(mode):
    limb = keyed(mode)
    before = keys_of_rig(limb)
    bake(limb, 5, 25)
    assert keys_of_rig(limb) != before
    bake(limb, 7, 35)
    rebake(limb.armature, limb.tip)
    delete_generated(limb.armature, limb.bones)
    assert keys_of_rig(limb) == before
    assert KEPT not in limb.armature.animation_data.action


def test_what_is_given_back_is_shown_at_once():
    limb = keyed()
    bpy.context.scene.frame_set(8)
    before = [tuple(bone.rotation_quaternion) for bone in limb.armature.pose.bones]
    bake(limb, 5, 25)
    assert [tuple(bone.rotation_quaternion) for bone in limb.armature.pose.bones] != before
    delete_generated(limb.armature, limb.bones)
    assert [tuple(bone.rotation_quaternion) for bone in limb.armature.pose.bones] == before


def test_inside_a_range_only_what_was_replaced_there_is_given_back():
    limb = keyed()
    bake(limb, 1, 35)
    delete_generated(limb.armature, limb.bones, 6, 12)
    curve = curve_of(limb.armature, "Bone 1", 0)
    assert key_frames(curve) == [1, 2, 3, 4, 5, 8, *range(13, 36)]
    delete_generated(limb.armature, limb.bones, 1, 35)
    assert key_frames(curve) == [1, 8, 20, 30.5]


def test_with_the_last_generated_key_everything_comes_back():
    limb = keyed()
    limb.target.animation_data_clear()
    key_location(limb.target, (10, 15))
    bake(Limb.from_tip(limb.armature, "Bone 2", limb.target, only_target_keys=True), 1, 35)
    assert key_frames(curve_of(limb.armature, "Bone 1", 0)) == [10, 15]
    delete_generated(limb.armature, limb.bones, 9, 16)
    assert key_frames(curve_of(limb.armature, "Bone 1", 0)) == [1, 8, 20, 30.5]


def test_a_key_made_by_hand_since_stays_in_the_place_of_the_old_one():
    limb = keyed()
    bake(limb, 5, 25)
    curve = curve_of(limb.armature, "Bone 1", 0)
    key = next(each for each in curve.keyframe_points if each.co.x == 8)
    key.type, key.co.y = "KEYFRAME", 0.123
    delete_generated(limb.armature, limb.bones)
    assert [round(each.co.y, 4) for each in curve.keyframe_points if each.co.x == 8] == [0.123]
    assert key_frames(curve) == [1, 8, 20, 30.5]


def test_keys_of_bones_that_were_not_baked_are_not_kept():
    limb = keyed()
    bake(Limb.from_tip(limb.armature, "Bone 1", limb.target), 5, 25)
    assert replaced_in(channelbag_of(limb.armature), PATH.replace("0", "2")) is None


def test_the_operator_gives_back_and_a_deletion_that_fails_at_its_end_does_not():
    limb = keyed()
    before = keys_of_rig(limb)
    bake(limb, 5, 25)

    with nothing_lost(), FailingWrite(inf, at_end=True), pytest.raises(BrokenError):
        delete_generated(limb.armature, limb.bones)
    assert bpy.ops.pose.ik_triangulation_generated_delete() == {"FINISHED"}
    assert keys_of_rig(limb) == before


def test_undo_of_a_deletion_brings_back_the_bake_and_what_it_keeps():
    limb = keyed()
    bake(limb, 5, 25)
    before = contents()
    bpy.ops.ed.undo_push(message="Baked")
    delete_generated(limb.armature, limb.bones)
    bpy.ops.ed.undo_push(message="Deleted")
    bpy.ops.ed.undo()
    after = contents()
    assert {name for name in before if before[name] != after.get(name)} == set()

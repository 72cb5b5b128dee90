# SPDX-License-Identifier: GPL-3.0-or-later
"""Re-Bake: as it was baked before, with the keys made by hand since."""

import bpy
import numpy as np
import pytest

from ik_triangulation.errors import AnimationError, ChainError, TargetError
from ik_triangulation.jobs.bake import bake, rebake
from ik_triangulation.rig.limb import Limb

from ..interrupted import writes_that_undo_all
from ..modes import every_mode
from ..rigs import (
    all_keys,
    curve_of,
    curves_of,
    evaluated_tip,
    key_frames,
    nothing_lost,
    rotate,
    rotation_from,
    rotation_property,
    rows,
)
from .baked import OTHERS, baked

pytestmark = pytest.mark.usefixtures("empty_scene")


def adjust(rig, frames, names=("Bone 1", "Bone 2")):
    """Key bones by hand at frames inside the range, as they are but for a little turn."""
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        for name in names:
            bone = rig.pose.bones[name]
            rotate(bone, bone.matrix_basis.to_quaternion() @ rotation_from("XYZ", (0.1, 0.0, 0.0)))
            bone.keyframe_insert(rotation_property(bone), frame=frame)
    for curve in curves_of(rig):  # Blender keeps the type of a key that is keyed anew
        for key in curve.keyframe_points:
            key.type = "KEYFRAME" if key.co.x in frames else key.type
    return {path: [key for key in keys if key[0][0] in frames] for path, keys in all_keys(rig).items()}


@pytest.mark.parametrize("settings", [{}, OTHERS], ids=["defaults", "own settings"])
def test_it_is_baked_as_before_to_where_the_target_is_now(settings):
    rig, target = baked(**settings)
    report = rebake(rig, "Bone 2")
    assert report.solver == settings.get("solver", "NATURAL")
    assert report.tolerance == settings.get("tolerance", 1e-3)
    assert report.all_reached
    assert not report.warnings
    assert {path[:22] for path, _ in all_keys(rig)} == {'pose.bones["Bone 1"].r', 'pose.bones["Bone 2"].r'}
    for frame in (3, 11, 20):
        bpy.context.scene.frame_set(frame)
        assert (evaluated_tip(rig, "Bone 2") - target.location).length < 5.1e-3
    assert all(key_frames(curve) == list(range(3, 21)) for curve in curves_of(rig))


@every_mode
def test_keys_made_by_hand_are_kept_and_the_others_replaced(mode):
    rig, target = baked(mode)
    by_hand = adjust(rig, (8, 14))
    before = {path: repr(keys) for path, keys in by_hand.items()}
    report = rebake(rig, "Bone 2")
    assert "Keys made by hand were kept at 2 frames." in report.warnings
    after = all_keys(rig)
    assert {path: repr([k for k in after[path] if k[0][0] in (8, 14)]) for path in before} == before
    assert all([key[0][0] for key in keys] == list(range(3, 21)) for keys in after.values())
    assert report.keys == 2 * len(rows(rig, "Bone 1")[0]) * 16
    for frame in (3, 7, 9, 20):
        bpy.context.scene.frame_set(frame)
        assert (evaluated_tip(rig, "Bone 2") - target.location).length < 1.1e-3


def test_a_key_made_by_hand_between_two_frames_is_kept():
    rig, _ = baked()
    rig.pose.bones["Bone 1"].keyframe_insert("rotation_quaternion", frame=9.5)
    rebake(rig, "Bone 2")
    assert key_frames(curve_of(rig, "Bone 1", 0)) == [*range(3, 10), 9.5, *range(10, 21)]
    assert key_frames(curve_of(rig, "Bone 2", 0)) == list(range(3, 21))


def test_what_is_baked_runs_on_from_the_keys_made_by_hand():
    """From one that shows the same rotation with the other sign."""
    rig, _ = baked()
    adjust(rig, (8,))
    for name in ("Bone 1", "Bone 2"):
        for index in range(4):
            key = next(key for key in curve_of(rig, name, index).keyframe_points if key.co.x == 8)
            key.co.y = -key.co.y
    rebake(rig, "Bone 2")
    for name in ("Bone 1", "Bone 2"):
        values = rows(rig, name)
        assert (np.sum(values[5:-1] * values[6:], axis=1) > 0.0).all()


def test_the_limits_a_limb_has_been_given_since_are_no_reason_to_warn():
    rig, _ = baked()
    assert rebake(rig, "Bone 2").warnings == []
    settings = rig.pose.bones["Bone 2"].ik_triangulation_joint
    settings.source, settings.kind = "OWN", "LOCKED"
    assert not [text for text in rebake(rig, "Bone 2").warnings if "stood outside" in text]


def test_a_new_action_is_baked_again_in_its_place():
    rig, _ = baked()
    old = rig.animation_data.action
    target = bpy.data.objects["Target"]
    bake(Limb.from_tip(rig, "Bone 2", target, 2, destination="NEW_ACTION"), 5, 10)
    new, actions = rig.animation_data.action, len(bpy.data.actions)
    rebake(rig, "Bone 2")
    assert (rig.animation_data.action, len(bpy.data.actions)) == (new, actions)
    rig.animation_data.action = old
    assert [result.frame for result in rebake(rig, "Bone 2").frames] == list(range(3, 21))


# When it cannot


def nothing_baked(rig):
    rig.animation_data.action = None


def a_target_removed(rig):
    bpy.data.objects.remove(bpy.data.objects["Target"])


def a_bone_renamed(rig):
    rig.pose.bones["Bone 1"].name = "Elbow"


def damaged(rig):
    rig.animation_data.action["ik_triangulation"] = '{"OBRig": {"Bone 2": {"span": 3}}}'


def no_json(rig):
    rig.animation_data.action["ik_triangulation"] = "[[[["


def a_number(rig):
    rig.animation_data.action["ik_triangulation"] = 3


@pytest.mark.parametrize(
    ("spoil", "error", "message"),
    [
        (nothing_baked, AnimationError, "No bake of the limb to 'Bone 2' is kept with the active action"),
        (no_json, AnimationError, "No bake of the limb to 'Bone 2' is kept with the active action"),
        (a_number, AnimationError, "No bake of the limb to 'Bone 2' is kept with the active action"),
        (damaged, AnimationError, "What action 'RigAction' keeps of its bakes is damaged"),
        (a_target_removed, TargetError, "'Target', which the last bake was made with, is not there"),
        (a_bone_renamed, ChainError, "Bone 'Bone 1' is not in 'Rig'"),
    ],
)
def test_what_is_in_the_way_is_told(spoil, error, message):
    rig, _ = baked()
    spoil(rig)
    with nothing_lost(), pytest.raises(error, match=message):
        rebake(rig, "Bone 2")
    with nothing_lost(), pytest.raises(RuntimeError, match=message):
        bpy.ops.pose.ik_triangulation_rebake()


def test_a_write_that_fails_undoes_all():
    rig, _ = baked()
    adjust(rig, (8, 14))
    again = Limb.from_tip(rig, "Bone 2", bpy.data.objects["Target"], 1)
    assert writes_that_undo_all(lambda: bake(again, 3, 9), stride=3) > 5
    assert writes_that_undo_all(lambda: rebake(rig, "Bone 2"), stride=3) > 5

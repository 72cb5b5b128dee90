# SPDX-License-Identifier: GPL-3.0-or-later
"""A layer shows what a bake into the action shows, leaves what is below alone, and is taken away without a trace."""

from contextlib import ExitStack, suppress
from math import asin, hypot
from random import Random

import bpy
import numpy as np
import pytest

from ik_triangulation.errors import AnimationError, SettingError
from ik_triangulation.jobs.bake import bake, bake_body, delete_generated
from ik_triangulation.jobs.edits.edit import pull
from ik_triangulation.jobs.shots.keys import BodyKeySettings
from ik_triangulation.rig.keyframes import Channel
from ik_triangulation.rig.layers import (
    difference,
    has_baked_layers,
    is_blended,
    is_layer_on_top,
    new_layer,
    without_effect,
)
from ik_triangulation.rig.limb import Limb

from ..bodies import human_rig, reaching_body
from ..interrupted import BrokenError, FailingWrite
from ..rigs import chain_rig, empty, key_location, nothing_lost, push_down, random_rotation, rotate

pytestmark = pytest.mark.usefixtures("empty_scene")

LAST = 12
SAME = 1e-4  # [rad]
# Blender takes the angle of a quaternion that it combines from its first number alone, in single precision: none is
# between 0 and 7e-4, and the next ones are as coarse. Where the difference is as small, so much is lost.
COARSE = 3.6e-4  # [rad]


def animated(mode="QUATERNION"):
    """A rig with keys made by hand in a rotation mode, and a target that moves."""
    rig, target = chain_rig(3), key_location(empty(), range(1, LAST + 1))
    for bone in rig.pose.bones:
        bone.rotation_mode = mode
        for frame in (1, 5, LAST):
            rotate(bone, random_rotation(Random(f"{bone.name}{frame}")))
            bone.keyframe_insert(
                {"QUATERNION": "rotation_quaternion", "AXIS_ANGLE": "rotation_axis_angle"}.get(mode, "rotation_euler"),
                frame=frame,
            )
    return rig, target


def limb(rig, target, **settings):
    return Limb.from_tip(rig, rig.pose.bones[-1].name, target, **settings)


def poses(rig):
    """Rotations of all bones, and their heads, as shown at each frame."""
    found = []
    for frame in range(1, LAST + 1):
        bpy.context.scene.frame_set(frame)
        found.append([bone.matrix.copy() for bone in rig.pose.bones])
    bpy.context.scene.frame_set(1)
    return found


def apart(some, others):
    """The largest angle between the rotations of bones in two animations [rad]."""
    found = 0.0
    for one, other in zip(some, others, strict=True):
        for a, b in zip(one, other, strict=True):
            turn = a.to_quaternion().rotation_difference(b.to_quaternion())
            found = max(found, 2.0 * asin(min(1.0, hypot(*turn[1:]))))
    return found


def below(rig):
    """The animation made by hand, wherever it is now."""
    animation = rig.animation_data
    action = animation.action or animation.nla_tracks[0].strips[0].action
    bag = action.layers[0].strips[0].channelbags[0]
    return [
        (curve.data_path, curve.array_index, [tuple(key.co) for key in curve.keyframe_points]) for curve in bag.fcurves
    ]


@pytest.mark.parametrize("mode", ["QUATERNION", "ZXY", "AXIS_ANGLE"])
def test_a_layer_of_a_limb_shows_what_a_bake_shows_and_is_deleted_without_a_trace(mode):
    rig, target = animated(mode)
    before, keys = poses(rig), below(rig)
    bake(limb(rig, target), 1, LAST)
    absolute = poses(rig)
    delete_generated(rig, rig.pose.bones.keys())
    assert below(rig) == keys
    with nothing_lost():
        report = bake(limb(rig, target, destination="LAYER"), 1, LAST)
        assert report.all_reached
        assert apart(poses(rig), absolute) < SAME
        assert below(rig) == keys
        assert has_baked_layers(rig, rig.pose.bones.keys())
        strip = rig.animation_data.nla_tracks[-1].strips[0]
        assert (strip.blend_type, strip.use_animated_influence) == ("COMBINE", True)
        strip.fcurves[0].keyframe_points[0].co.y = 0.0
        assert apart(poses(rig), before) < SAME
        assert delete_generated(rig, rig.pose.bones.keys()) == report.keys
        bpy.context.scene.frame_set(1)


def test_a_layer_of_a_body_shows_what_a_bake_shows_with_its_hips():
    rig = human_rig()
    for frame, x in ((1, 0.0), (LAST, 0.1)):
        rig.pose.bones["spine"].location.x = x
        rig.pose.bones["spine"].keyframe_insert("location", frame=frame)
    body = reaching_body(rig, LAST)
    keys = below(rig)
    bake_body(body, 1, LAST)
    absolute = poses(rig)
    delete_generated(rig, body.bones)
    report = bake_body(body, 1, LAST, settings=BodyKeySettings(destination="LAYER", reduce=True))
    assert report.reached
    assert any("Reduce Keys" in warning for warning in report.warnings)
    assert apart(poses(rig), absolute) < COARSE
    assert apart(poses(rig)[2:], absolute[2:]) < SAME  # the hands are away from where they began
    assert below(rig) == keys
    count = len(rig.animation_data.nla_tracks)
    bake_body(body, 1, LAST, settings=BodyKeySettings(destination="LAYER"))
    assert len(rig.animation_data.nla_tracks) == count
    assert apart(poses(rig), absolute) < COARSE
    delete_generated(rig, body.bones)
    assert len(rig.animation_data.nla_tracks) == 0
    assert below(rig) == keys


def test_a_bake_on_top_of_an_additive_action_reaches():
    rig, target = animated()
    animation = rig.animation_data
    base, slot = animation.action, animation.action_slot
    animation.nla_tracks.new().strips.new("Base", 1, base).action_slot = slot
    animation.action = base.copy()
    animation.action_slot = animation.action.slots[0]
    animation.action_blend_type = "ADD"
    before = poses(rig)
    report = bake(limb(rig, target, destination="LAYER"), 1, LAST)
    assert report.reached == LAST
    again = bake(limb(rig, target, destination="LAYER"), 1, LAST)  # on top of the first layer there is nothing to do
    assert again.reached == LAST
    delete_generated(rig, rig.pose.bones.keys())
    assert (animation.action_blend_type, len(animation.nla_tracks)) == ("ADD", 1)
    assert apart(poses(rig), before) < SAME


def test_another_bake_takes_the_place_of_the_layer_on_top_and_keeps_its_influence():
    rig, target = animated()
    before = poses(rig)
    bake(limb(rig, target, destination="LAYER"), 1, LAST)
    strip = rig.animation_data.nla_tracks[-1].strips[0]
    strip.influence = 0.5
    strip.keyframe_insert("influence", frame=6)
    target.location.x += 0.2
    for curve in target.animation_data.action.layers[0].strips[0].channelbags[0].fcurves:
        for key in curve.keyframe_points:
            key.co.y += 0.05
    count = len(rig.animation_data.nla_tracks)
    with nothing_lost(), FailingWrite(30) as seam, suppress(BrokenError):
        bake(limb(rig, target, destination="LAYER"), 1, LAST)
    assert seam.failed
    bake(limb(rig, target, destination="LAYER"), 1, LAST)
    assert len(rig.animation_data.nla_tracks) == count
    strip = rig.animation_data.nla_tracks[-1].strips[0]
    assert [tuple(key.co) for key in strip.fcurves[0].keyframe_points] == [(1.0, 1.0), (6.0, 0.5)]
    for key in strip.fcurves[0].keyframe_points:
        key.co.y, key.interpolation = 1.0, "LINEAR"
    shown = poses(rig)
    delete_generated(rig, rig.pose.bones.keys())
    assert apart(poses(rig), before) < SAME
    bake(limb(rig, target), 1, LAST)
    assert apart(shown, poses(rig)) < COARSE


def test_a_layer_of_other_frames_or_with_keys_by_hand_stays_below():
    rig, target = animated()
    bake(limb(rig, target, destination="LAYER"), 1, LAST)
    bake(limb(rig, target, destination="LAYER"), 2, LAST)
    assert len(rig.animation_data.nla_tracks) == 3
    bag = rig.animation_data.nla_tracks[-1].strips[0].action.layers[0].strips[0].channelbags[0]
    bag.fcurves[0].keyframe_points[3].type = "KEYFRAME"
    bake(limb(rig, target, destination="LAYER"), 2, LAST)
    assert len(rig.animation_data.nla_tracks) == 4


def test_a_part_of_a_layer_is_deleted_and_the_rest_stays():
    rig, target = animated()
    bake(limb(rig, target, destination="LAYER"), 1, LAST)
    delete_generated(rig, ["Bone 0"], 1, 4)
    strip = rig.animation_data.nla_tracks[-1].strips[0]
    curves = strip.action.layers[0].strips[0].channelbags[0].fcurves
    assert sorted({len(curve.keyframe_points) for curve in curves}) == [LAST - 4, LAST]


def test_the_action_below_is_given_back_from_a_renamed_track_and_a_note_says_where_it_cannot_be():
    rig, target = animated()
    bones, animation, base = rig.pose.bones.keys(), rig.animation_data, rig.animation_data.action
    bpy.context.scene.frame_set(1)
    with nothing_lost():
        bake(limb(rig, target, destination="LAYER"), 1, LAST)
        animation.nla_tracks[0].name = "Renamed"
        notes = []
        delete_generated(rig, bones, notes=notes)
        bpy.context.scene.frame_set(1)
    assert (animation.action, len(animation.nla_tracks), notes) == (base, 0, [])
    bake(limb(rig, target, destination="LAYER"), 1, LAST)
    animation.nla_tracks[0].name = "Renamed"
    rig.location.x = 1.0
    rig.keyframe_insert("location", frame=1)
    delete_generated(rig, bones, notes=notes)
    assert animation.action != base
    assert [track.name for track in animation.nla_tracks] == ["Renamed"]
    assert len(notes) == 1
    assert f"'{base.name}' stays on NLA track 'Renamed'" in notes[0]


def test_keys_of_ik_controls_and_an_nla_that_is_off_are_refused():
    rig, target = animated()
    with nothing_lost(), pytest.raises(SettingError, match="limb's own bones"):
        bake(limb(rig, target, destination="LAYER", keys_on="FK_SWITCH"), 1, LAST)
    rig.animation_data.use_nla = False
    with nothing_lost(), pytest.raises(AnimationError, match="switched off"):
        bake(limb(rig, target, destination="LAYER"), 1, LAST)


def test_small_differences_are_as_near_as_blender_can_combine_them():
    half = np.concatenate((np.linspace(0.0, 2e-3, 201), np.geomspace(2e-3, 1.0, 60)))
    axis = np.array((0.36, -0.48, 0.8))
    turned = np.column_stack((np.cos(half), np.sin(half)[:, None] * axis))
    path = 'pose.bones["Bone"].rotation_quaternion'
    run = Channel("Bone", path, turned.astype(np.float64), range(4))
    layer = difference(run, np.tile((1.0, 0.0, 0.0, 0.0), (len(half), 1))).values
    norms = layer[:, 0] * layer[:, 0]  # in single precision, as Blender takes them
    for each in layer.T[1:]:
        norms = norms + each * each
    seen = np.arccos(np.minimum(layer[:, 0] / np.sqrt(norms), np.float32(1.0)).astype(np.float64))
    off = 2.0 * np.abs(seen - half)
    assert off.max() < COARSE
    assert off[half > 7e-4].max() < SAME
    along = layer[half > 1e-3, 1:].astype(np.float64)
    assert np.abs(along / np.linalg.norm(along, axis=1, keepdims=True) - axis).max() < 1e-6


def test_the_difference_goes_the_short_way_and_on_from_frame_to_frame():
    angles = np.linspace(0.0, 7.0, 30)
    turned = np.stack((np.cos(angles / 2), np.sin(angles / 2), 0 * angles, 0 * angles), 1)
    run = Channel("Bone", 'pose.bones["Bone"].rotation_quaternion', -turned.astype(np.float32), [0, 1])
    layer = difference(run, np.tile((1.0, 0.0, 0.0, 0.0), (30, 1)))
    assert [*layer.indices] == [0, 1, 2, 3]
    assert layer.values[0, 0] > 0.0
    assert (np.einsum("fi,fi->f", layer.values[1:], layer.values[:-1]) > 0.0).all()
    euler = run._replace(path='pose.bones["Bone"].rotation_euler', values=np.full((3, 3), 6.5, np.float32))
    assert np.abs(difference(euler, np.zeros((3, 3))).values).max() < 0.3
    assert without_effect(run).values.tolist() == [[1.0, 0.0, 0.0, 0.0]]


def test_an_action_that_is_alone_is_below_a_layer_as_it_was_whatever_its_blending():
    rig, target = animated()
    rig.animation_data.action_influence, rig.animation_data.action_blend_type = 0.5, "SUBTRACT"
    before = poses(rig)
    bake(limb(rig, target, destination="LAYER"), 1, LAST)
    rig.animation_data.nla_tracks[-1].mute = True
    assert apart(before, poses(rig)) < SAME


def test_a_pull_of_what_is_baked_onto_a_layer_says_so():
    rig, target = animated()
    tip = rig.pose.bones[-1]
    tip.ik_triangulation.target = target
    bake(limb(rig, target, destination="LAYER"), 1, LAST)
    with nothing_lost(), pytest.raises(AnimationError, match="onto a layer"):
        pull(rig, tip.name, 6, (0.0, 0.0, 0.1), 3)


def test_a_layer_of_what_is_not_animated_is_alone_and_goes_with_the_animation_data():
    rig = chain_rig(2)
    with nothing_lost(), ExitStack() as undo:
        bag = new_layer(1.0, 10.0, rig, undo)
        (track,) = rig.animation_data.nla_tracks
        (strip,) = track.strips
        assert (strip.action, strip.blend_type, strip.influence) == (bag.id_data, "COMBINE", 1.0)
        assert (strip.frame_start, strip.frame_end, strip.use_animated_influence) == (1.0, 10.0, True)
        assert is_blended(rig)
        assert is_layer_on_top(rig.animation_data)
    assert rig.animation_data is None
    assert not is_blended(rig)


def test_an_action_of_part_influence_above_others_has_it_on_its_strip_below_a_layer():
    rig = chain_rig(2)
    rig.pose.bones["Bone 0"].keyframe_insert("location", frame=1)
    push_down(rig)
    rig.pose.bones["Bone 0"].keyframe_insert("location", frame=5)
    animation = rig.animation_data
    assert not is_blended(rig)
    animation.action_influence, animation.action_blend_type = 0.25, "ADD"
    assert is_blended(rig)
    action = animation.action
    with ExitStack() as undo:
        new_layer(1.0, 10.0, rig, undo)
        strip = animation.nla_tracks[1].strips[0]
        assert (strip.action, strip.blend_type, strip.use_animated_influence) == (action, "ADD", True)
        assert strip.fcurves[0].evaluate(1.0) == pytest.approx(0.25)
        assert animation.action is None
    assert (animation.action, len(animation.nla_tracks)) == (action, 1)
    animation.use_nla = False
    assert not is_blended(rig)

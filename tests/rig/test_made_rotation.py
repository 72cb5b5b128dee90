# SPDX-License-Identifier: GPL-3.0-or-later
"""The target of a hand counts as turned by what turns it, now or anywhere in its animation, and by nothing else."""

from math import radians

import bpy
import pytest
from mathutils import Euler, Quaternion, Vector

from ik_triangulation.rig.targets.untouched import forget_rotation, is_as_made, remember_rotation

from ..rigs import empty

pytestmark = pytest.mark.usefixtures("empty_scene")

MODES = ("XYZ", "ZXY", "QUATERNION", "AXIS_ANGLE")
PATHS = {"QUATERNION": "rotation_quaternion", "AXIS_ANGLE": "rotation_axis_angle"}


def made(mode="XYZ"):
    target = empty()
    target.rotation_euler = (0.4, -0.7, 1.1)
    target.rotation_mode = mode
    remember_rotation(target)
    return target


def turn(target, degrees):
    """Turn a target about an axis of the world, in any mode."""
    mode = target.rotation_mode
    target.rotation_mode = "QUATERNION"
    by = Quaternion(Vector((0.3, -0.5, 0.8)).normalized(), radians(degrees))
    target.rotation_quaternion = by @ target.rotation_quaternion
    target.rotation_mode = mode


def key(target, frame, path=None):
    target.keyframe_insert(path or PATHS.get(target.rotation_mode, "rotation_euler"), frame=frame)


@pytest.mark.parametrize("mode", MODES)
def test_more_than_a_tenth_of_a_degree_is_a_turn(mode):
    target = made(mode)
    assert is_as_made(target)
    turn(target, 0.07)
    assert is_as_made(target)
    turn(target, 0.07)
    assert not is_as_made(target)
    turn(target, -0.14)
    assert is_as_made(target)


def test_an_object_that_was_not_made_for_a_hand_is_not_as_it_was_made():
    assert not is_as_made(empty())
    target = made()
    forget_rotation(target)
    assert not is_as_made(target)


@pytest.mark.parametrize("mode", MODES)
def test_keys_that_hold_the_rotation_turn_nothing_and_one_that_turns_it_does(mode):
    target = made(mode)
    for frame, x in ((1, 0.0), (20, 0.4), (40, 0.8)):
        target.location.x = x
        key(target, frame)
        target.keyframe_insert("location", frame=frame)
    assert is_as_made(target)
    turn(target, 10.0)
    key(target, 60)
    turn(target, -10.0)
    assert not is_as_made(target)


def test_a_handle_or_a_modifier_that_turns_it_between_its_keys_counts():
    for change in ("handle", "modifier"):
        target = made()
        key(target, 1), key(target, 20)
        curve = target.animation_data.action.layers[0].strips[0].channelbags[0].fcurves[1]
        if change == "handle":
            curve.keyframe_points[0].handle_right_type = "FREE"
            curve.keyframe_points[0].handle_right.y += 0.3
        else:
            curve.modifiers.new("NOISE")
        assert not is_as_made(target)
        curve.mute = True
        assert is_as_made(target)


def test_delta_rotation_counts_now_and_keyed():
    target = made()
    target.delta_rotation_euler = (0.2, 0.0, 0.0)
    assert not is_as_made(target)
    key(target, 1, "delta_rotation_euler")
    target.delta_rotation_euler = (0.0, 0.0, 0.0)
    assert not is_as_made(target)


def test_rotation_keys_of_another_mode_turn_nothing():
    target = made()
    target.rotation_quaternion = (0.5, 0.5, 0.5, 0.5)
    key(target, 1, "rotation_quaternion")
    assert is_as_made(target)


def test_strips_of_the_nla_count_unless_they_are_muted():
    target = made()
    before = target.rotation_euler.copy()
    target.rotation_euler = Euler((1.0, 0.0, 0.0))
    key(target, 1)
    animation = target.animation_data
    track = animation.nla_tracks.new()
    strip = track.strips.new("Turned", 1, animation.action)
    animation.action, target.rotation_euler = None, before
    assert not is_as_made(target)
    strip.mute = True
    assert is_as_made(target)


def test_a_driver_counts():
    target = made()
    target.driver_add("location", 0)
    assert is_as_made(target)
    target.driver_add("rotation_euler", 2)
    assert not is_as_made(target)


@pytest.mark.parametrize(
    ("kind", "turns"),
    [
        ("COPY_LOCATION", False),
        ("LIMIT_DISTANCE", False),
        ("FOLLOW_PATH", False),
        ("COPY_ROTATION", True),
        ("CHILD_OF", True),
        ("TRACK_TO", True),
    ],
)
def test_a_constraint_counts_if_it_turns(kind, turns):
    target = made()
    constraint = target.constraints.new(kind)
    assert is_as_made(target) != turns
    constraint.mute = True
    assert is_as_made(target)


def test_neither_the_parent_nor_the_scale_counts_and_a_copy_is_as_it_was_made():
    target, parent = made(), empty("Parent")
    target.parent, parent.rotation_euler = parent, (1.0, 2.0, 3.0)
    target.scale = (2.0, 2.0, 2.0)
    bpy.context.view_layer.update()
    assert is_as_made(target)
    assert is_as_made(target.copy())


@pytest.mark.parametrize("mode", MODES)
def test_a_delta_rotation_turns_a_target_unless_its_mode_has_none(mode):
    target = made(mode)
    bpy.context.view_layer.update()
    before = target.matrix_world.to_quaternion()
    target.delta_rotation_euler, target.delta_rotation_quaternion = (0.3, 0.2, 0.1), (0.8, 0.6, 0.0, 0.0)
    bpy.context.view_layer.update()
    stays = before.rotation_difference(target.matrix_world.to_quaternion()).angle < 1e-3
    assert (is_as_made(target), stays) == (mode == "AXIS_ANGLE",) * 2

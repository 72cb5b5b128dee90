# SPDX-License-Identifier: GPL-3.0-or-later
"""The way the tip is turned at its target: as the target is, along its arrow, or beside it."""

from math import nan

import numpy as np
import pytest
from mathutils import Euler, Matrix, Quaternion, Vector

from ik_triangulation.errors import SettingError, TargetError
from ik_triangulation.jobs.pose import solve_pose
from ik_triangulation.rig.targets.goal import orientation_of

from ..modes import in_turn
from ..rigs import chain_rig, evaluated_tip, nothing_lost, rotate
from .standing import (
    ANGLE,
    OFF,
    STANDS,
    TOLERANCE,
    angle_between,
    axes_of,
    limb,
    looks_now,
    move,
    solved,
    standing_empty,
    standing_rig,
    world_of,
)

pytestmark = pytest.mark.usefixtures("empty_scene")


@pytest.mark.parametrize("what", ["offset_location", "offset_rotation"])
@pytest.mark.parametrize("bad", [nan, float("inf")])
def test_an_offset_that_is_no_number_is_refused(what, bad):
    rig = standing_rig()
    target = standing_empty(rig)
    values = {"offset_location": (0.0, bad, 0.0), "offset_rotation": (bad, 0.0, 0.0, 0.0)}[what]
    with nothing_lost(), pytest.raises((TargetError, SettingError), match="finite"):
        solve_pose(limb(rig, target, use_offset=True, orientation="FULL", **{what: values}))


def test_an_offset_rotation_of_zero_is_refused():
    rig = standing_rig()
    target = standing_empty(rig)
    for orientation in ("FULL", "DIRECTION"):
        with nothing_lost(), pytest.raises(SettingError, match="Give it"):
            solve_pose(
                limb(rig, target, use_offset=True, orientation=orientation, offset_rotation=(0.0, 0.0, 0.0, 0.0))
            )


@pytest.mark.parametrize(("rig_how", "how"), in_turn(STANDS, [*list(STANDS)[1:], *list(STANDS)[:1]]))
def test_the_tip_is_turned_as_the_target_is(rig_how, how):
    """Where either is mirrored no rotation makes all axes alike: the bone's own and its Z axis are kept, X turns back.

    An armature scaled unequally shears its bones; then the bone's own axis is still that of the target.
    """
    rig = standing_rig(rig_how, bones=4)
    target = standing_empty(rig, how, at=(0.6, 0.4, 1.6))
    result, tip = solved(rig, target, orientation="FULL")
    assert result.reached
    assert (tip - target.matrix_world.translation).length < TOLERANCE
    bone, wanted = axes_of(world_of(rig)), axes_of(target.matrix_world)
    assert angle_between(bone[:, 1], wanted[:, 1]) < ANGLE
    if rig_how != "unequal":
        assert angle_between(bone[:, 2], wanted[:, 2]) < ANGLE
        odd = (rig_how == "mirrored") != (how == "mirrored")
        assert angle_between(bone[:, 0], -wanted[:, 0] if odd else wanted[:, 0]) < ANGLE
    assert result.angle < ANGLE


@pytest.mark.parametrize("scale", [(-1.0, 1.0, 1.0), (1.0, 1.0, -1.0), (1.0, -1.0, 1.0), (1.3, 0.8, 1.0)])
def test_a_tip_bone_that_is_scaled_points_along_the_target(scale):
    rig = standing_rig(bones=4)
    rig.pose.bones["Bone 3"].scale = scale
    target = standing_empty(rig, "turned", at=(0.6, 0.4, 1.6))
    result, _ = solved(rig, target, orientation="FULL")
    assert result.reached
    assert angle_between(world_of(rig).col[1][:3], target.matrix_world.col[1][:3]) < ANGLE


def test_bones_after_the_last_that_moves_are_turned_with_it():
    rig = standing_rig(bones=5)
    stiff = rig.pose.bones["Bone 4"]
    stiff.rotation_quaternion = Quaternion((0.8, 0.5, -0.2, 0.1)).normalized()
    stiff.lock_ik_x = stiff.lock_ik_y = stiff.lock_ik_z = True
    before = tuple(stiff.rotation_quaternion)
    target = standing_empty(rig, "turned", at=(0.6, 0.4, 1.6))
    result, _ = solved(rig, target, orientation="FULL")
    assert result.reached
    assert tuple(stiff.rotation_quaternion) == before
    for bone, wanted in zip(axes_of(world_of(rig)).T, axes_of(target.matrix_world).T, strict=True):
        assert angle_between(bone, wanted) < ANGLE


@pytest.mark.parametrize("how", STANDS)
def test_a_direction_is_the_way_the_arrow_is_drawn(how):
    rig = standing_rig("scaled", bones=4)
    target = standing_empty(rig, how, at=(0.6, 0.4, 1.6), display="SINGLE_ARROW")
    result, _ = solved(rig, target)  # nothing chosen: the arrow says so itself
    assert result.reached
    assert angle_between(world_of(rig).col[1][:3], target.matrix_world.col[2][:3]) < ANGLE
    assert result.angle < ANGLE


def test_an_empty_displayed_as_arrows_tells_a_whole_orientation():
    rig = standing_rig("turned", bones=4)
    target = standing_empty(rig, "turned", at=(0.6, 0.4, 1.6), display="ARROWS")
    result, _ = solved(rig, target)  # nothing chosen: the arrows say so
    assert result.reached
    for bone, wanted in zip(axes_of(world_of(rig)).T, axes_of(target.matrix_world).T, strict=True):
        assert angle_between(bone, wanted) < ANGLE


def test_a_bone_tells_a_whole_orientation():
    rig, other = standing_rig(bones=4), chain_rig(1, name="Other")
    other.rotation_euler = (0.7, 0.3, -2.0)
    move(other, rig.matrix_world @ Vector((0.6, 0.4, 1.6)))
    result, _ = solved(rig, other, subtarget="Bone 0")
    assert result.reached
    for bone, wanted in zip(axes_of(world_of(rig)).T, axes_of(world_of(other, "Bone 0")).T, strict=True):
        assert angle_between(bone, wanted) < ANGLE


@pytest.mark.parametrize("offset", [False, True])
def test_other_looks_tell_no_orientation(offset):
    rig = standing_rig()
    for display in ("PLAIN_AXES", "SPHERE", "CUBE", "CIRCLE", "CONE", "IMAGE"):
        target = standing_empty(rig, display=display)
        assert orientation_of(limb(rig, target, use_offset=offset), looks_now(limb(rig, target))) == "NONE"


@pytest.mark.parametrize("rig_how", STANDS)
def test_a_direction_can_be_chosen_for_any_target_and_is_along_a_bone(rig_how):
    rig, other = standing_rig(rig_how, bones=4), chain_rig(1, name="Other")
    other.rotation_euler = (0.7, 0.3, -2.0)
    move(other, rig.matrix_world @ Vector((0.6, 0.4, 1.6)))
    result, _ = solved(rig, other, subtarget="Bone 0", orientation="DIRECTION")
    assert result.reached
    assert angle_between(world_of(rig).col[1][:3], world_of(other, "Bone 0").col[1][:3]) < ANGLE
    target = standing_empty(rig, "turned", at=(0.6, -0.4, 1.6), display="SPHERE")
    solved(rig, target, orientation="DIRECTION")
    assert angle_between(world_of(rig).col[1][:3], target.matrix_world.col[2][:3]) < ANGLE


@pytest.mark.parametrize("orientation", ["FULL", "DIRECTION"])
def test_a_target_scaled_to_nothing_has_no_orientation(orientation):
    rig = standing_rig()
    target = standing_empty(rig)
    target.scale = (0.0, 0.0, 0.0)
    with nothing_lost(), pytest.raises((TargetError, SettingError), match=r"has no (orientation|length).*Give it"):
        solve_pose(limb(rig, target, orientation=orientation))


def test_any_orientation_will_do_where_none_is_asked_for():
    rig = standing_rig()
    target = standing_empty(rig, display="SINGLE_ARROW")
    result, _ = solved(rig, target, orientation="NONE")
    assert result.angle is None
    limbs = [limb(rig, target, use_offset=offset) for offset in (False, True)]
    assert [orientation_of(each, looks_now(each)) for each in limbs] == ["DIRECTION", "NONE"]


@pytest.mark.parametrize(
    ("orientation", "how"),
    in_turn(["FULL", "DIRECTION", "NONE"], ["plain", "scaled", "mirrored", "unequal", "parented"]),
)
def test_the_tip_keeps_its_place_and_turn_beside_a_target_that_moves(how, orientation):
    rig = standing_rig("scaled", bones=4)
    for number, bone in enumerate(rig.pose.bones):
        rotate(bone, Euler((0.3 + 0.2 * number, 0.1, 0.2)).to_quaternion())
    target = standing_empty(rig, how, at=(0.3, 0.2, 0.9))
    now = world_of(rig)
    kept = target.matrix_world.inverted() @ evaluated_tip(rig, "Bone 3")
    settings = {"use_offset": True, "offset_location": tuple(kept), "orientation": orientation}
    settings["offset_rotation"] = tuple(offset_rotation(target.matrix_world, now))
    beside = unscaled(target.matrix_world).inverted() @ unscaled(now)
    before = [tuple(bone.rotation_quaternion) for bone in rig.pose.bones]
    solved(rig, target, **settings)
    after = [tuple(bone.rotation_quaternion) for bone in rig.pose.bones]
    assert np.abs(np.array(before) - np.array(after)).max() < 1e-3  # nothing to do
    target.rotation_euler.rotate_axis("X", 0.5)
    move(target, target.matrix_world.translation + Vector((0.2, -0.3, 0.2)))
    result, tip = solved(rig, target, **settings)
    assert result.reached
    assert (tip - target.matrix_world @ kept).length < TOLERANCE
    turned_to = unscaled(target.matrix_world).inverted() @ unscaled(world_of(rig))
    if orientation == "FULL":
        assert np.abs(np.array(turned_to) - np.array(beside)).max() < 2.0 * ANGLE
    elif orientation == "DIRECTION":
        assert angle_between(turned_to.col[1], beside.col[1]) < ANGLE


def unscaled(frame):
    """Axes of unit length with a bone's own kept, and X as in a frame that is not mirrored."""
    y = frame.to_3x3().col[1].normalized()
    z = frame.to_3x3().col[2]
    z = (z - y * z.dot(y)).normalized()
    return Matrix((y.cross(z), y, z)).transposed()


def offset_rotation(target, tip):
    return (unscaled(target).inverted() @ unscaled(tip)).to_quaternion()


def test_an_offset_goes_with_the_shape():
    rig = standing_rig()
    target = standing_empty(rig, "turned", display="CIRCLE")
    result, tip = solved(rig, target, use_offset=True, offset_location=(0.1, 0.2, -0.1))
    assert result.reached
    x, y, z = target.matrix_world.inverted() @ tip - Vector((0.1, 0.2, -0.1))
    assert OFF["RING"](x, y, z, 0.5) < 1.1 * TOLERANCE

# SPDX-License-Identifier: GPL-3.0-or-later
"""What a limb aims at in Blender: shapes, orientations, offsets, poles and influence, measured in world space.

Blender draws empties so (overlay_shape.cc): circles and the feet of cones in the plane across Y, the cone's top at +Y,
cubes and spheres from -size to size, images in the plane across Z, single arrows from the origin along +Z.
"""

from itertools import product
from math import nan, pi

import bpy
import numpy as np
import pytest
from mathutils import Matrix, Quaternion

from ik_triangulation.errors import SettingError, TargetError
from ik_triangulation.jobs.bake import bake
from ik_triangulation.jobs.pose import solve_pose
from ik_triangulation.rig.targets.goal import shape_of
from ik_triangulation.settings import choices

from ..modes import in_turn
from ..rigs import chain_rig, nothing_lost, place
from .standing import (
    OFF,
    STANDS,
    assert_on,
    limb,
    looks_now,
    solved,
    standing_empty,
    standing_rig,
    world_of,
)

pytestmark = pytest.mark.usefixtures("empty_scene")


def shape_of_now(limb):
    """The shape that a limb's target has at the present frame."""
    return shape_of(limb, looks_now(limb))


# What stands where


# Shapes: how far a place in the target's own space is off the shape, by plain geometry

DISPLAYED = {
    "CIRCLE": "RING",
    "SPHERE": "SPHERE",
    "CUBE": "BOX",
    "CONE": "CYLINDER",
    "IMAGE": "PLANE",
    "SINGLE_ARROW": "POINT",
    "PLAIN_AXES": "POINT",
    "ARROWS": "POINT",
}


@pytest.mark.parametrize(("display", "how"), in_turn(DISPLAYED, STANDS))
def test_an_empty_is_what_it_looks_like_however_it_stands(display, how):
    rig = standing_rig()
    target = standing_empty(rig, how, display=display)
    result, tip = solved(rig, target)
    assert result.reached
    assert_on(DISPLAYED[display], tip, target.matrix_world, 0.5)


@pytest.mark.parametrize(("shape", "how"), in_turn(OFF, STANDS))
def test_a_shape_is_reached_with_an_armature_however_it_stands(shape, how):
    rig = standing_rig(how)
    target = standing_empty(rig, "turned", size=0.4)
    result, tip = solved(rig, target, shape=shape)
    assert result.reached
    assert_on(shape, tip, target.matrix_world, 0.4)


@pytest.mark.parametrize(("shape", "how"), in_turn(OFF, ["mirrored", "unequal", "parented"]))
def test_a_shape_is_reached_by_every_way_an_empty_can_stand(shape, how):
    rig = standing_rig("parented")
    target = standing_empty(rig, how, size=0.4, display="SPHERE")  # what is chosen counts and not what is displayed
    result, tip = solved(rig, target, shape=shape)
    assert result.reached
    assert_on(shape, tip, target.matrix_world, 0.4)


def points_of(shape, size):
    """Places all over a shape in its own space, as rows."""
    turn = np.linspace(0.0, 2.0 * pi, 400)
    if shape == "RING":
        return np.stack((size * np.cos(turn), 0.0 * turn, size * np.sin(turn)), axis=1)
    if shape == "SEGMENT":
        return np.outer(np.linspace(0.0, size, 400), (0.0, 0.0, 1.0))
    if shape == "BOX":
        side = np.linspace(-size, size, 17)
        return np.array(list(product(side, side, side)))
    ball = np.random.default_rng(1).normal(size=(40000, 3))
    return size * ball / np.linalg.norm(ball, axis=1)[:, None]


@pytest.mark.parametrize(
    ("shape", "how"),
    in_turn(["RING", "SEGMENT", "BOX", "SPHERE"], ["plain", "scaled", "unequal", "mirrored"]),
)
def test_the_distance_to_what_is_out_of_reach_is_that_in_world_space(shape, how):
    rig = standing_rig("scaled")
    target = standing_empty(rig, how, at=(4.0, 3.0, 2.0), size=0.7)
    result, tip = solved(rig, target, shape=shape)
    assert not result.reached
    points = np.array(target.matrix_world.to_3x3()) @ points_of(shape, 0.7).T
    nearest = np.linalg.norm(points.T + np.array(target.matrix_world.translation) - np.array(tip), axis=1).min()
    assert result.error == pytest.approx(nearest, rel=5e-3)


@pytest.mark.parametrize("shape", ["LINE", "SEGMENT", "RAY", "POINT"])
@pytest.mark.parametrize("how", ["plain", "unequal", "parented"])
def test_a_bone_as_target_is_its_head_or_what_lies_along_it(shape, how):
    rig = standing_rig()
    other = chain_rig(2, name="Other")
    other.location = (0.4, 0.3, 0.4)
    STANDS[how](other)
    other.pose.bones["Bone 1"].rotation_quaternion = Quaternion((0.9, 0.3, 0.1, -0.2)).normalized()
    bpy.context.view_layer.update()
    result, tip = solved(rig, other, subtarget="Bone 1", shape=shape)
    assert result.reached
    frame = world_of(other, "Bone 1") @ Matrix.Rotation(-pi / 2.0, 4, "X")  # a bone runs along Y, the shapes along Z
    assert_on(shape, tip, frame, other.data.bones["Bone 1"].length)


def field(ob, kind, shape="POINT"):
    bpy.ops.object.mode_set(mode="OBJECT")
    with bpy.context.temp_override(object=ob, active_object=ob):
        bpy.ops.object.forcefield_toggle()
    ob.field.type, ob.field.shape = kind, shape
    return ob


@pytest.mark.parametrize("choice", ["AUTO", "FIELD"])
@pytest.mark.parametrize("kind", ["FORCE", "HARMONIC", "CHARGE", "LENNARDJ"])
@pytest.mark.parametrize("shape", ["POINT", "LINE", "PLANE"])
def test_a_force_field_is_where_it_pulls_to(shape, kind, choice):
    rig = standing_rig()
    target = field(standing_empty(rig, "turned", display="SPHERE"), kind, shape)
    assert shape_of_now(limb(rig, target, shape=choice)) == shape
    result, tip = solved(rig, target, shape=choice)
    assert result.reached
    assert_on(shape, tip, target.matrix_world, 0.5)


@pytest.mark.parametrize(
    ("kind", "shape"), [("WIND", "POINT"), ("VORTEX", "PLANE"), ("TURBULENCE", "POINT"), (None, "")]
)
def test_a_field_that_pulls_nowhere_is_refused_when_chosen_and_else_ignored(kind, shape):
    rig = standing_rig()
    target = standing_empty(rig, display="SPHERE")
    if kind:
        field(target, kind, shape)
        target.empty_display_type = "SPHERE"  # which Blender changes with the kind of field
    with nothing_lost(), pytest.raises(TargetError, match="'Target' has no force field that pulls to a point, line or"):
        solve_pose(limb(rig, target, shape="FIELD"))
    assert shape_of_now(limb(rig, target)) == "SPHERE"


def test_a_field_is_not_looked_for_on_a_bone():
    rig, other = standing_rig(), chain_rig(1, name="Other")
    with pytest.raises(TargetError, match="has no force field"):
        solve_pose(limb(rig, field(other, "FORCE"), subtarget="Bone 0", shape="FIELD"))


def test_a_shape_scaled_flat_is_refused():
    rig = standing_rig()
    target = standing_empty(rig, display="CIRCLE")
    target.scale = (1.0, 0.0, 1.0)
    with nothing_lost(), pytest.raises(TargetError, match="scale"):
        solve_pose(limb(rig, target))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"shape": "CUP"}, "Shape 'CUP' is unknown. Choose one of AUTO, POINT, PLANE, LINE, RAY, SEGMENT, SPHERE"),
        ({"orientation": "UP"}, "Orientation 'UP' is unknown. Choose one of AUTO, NONE, DIRECTION, FULL"),
        ({"influence": 1.5}, "Influence 1.5 is out of range. Give it a number from 0 to 1"),
        ({"influence": -0.1}, "Influence -0.1 is out of range"),
        ({"influence": nan}, "Influence nan is out of range"),
        ({"orientation": "FULL", "orient_weight": -1.0}, "Orientation weight -1.0 is not valid"),
        ({"orientation": "DIRECTION", "orient_weight": nan}, "Direction weight nan is not valid"),
    ],
)
def test_settings_outside_their_meaning_are_refused(settings, message):
    rig = standing_rig()
    target = standing_empty(rig)
    for call in (solve_pose, lambda limb: bake(limb, 1, 3)):
        with nothing_lost(), pytest.raises(SettingError, match=message):
            call(limb(rig, target, **settings))


@pytest.mark.parametrize("name", ["shape", "orientation"])
def test_what_can_be_chosen_in_blender_can_be_aimed_at(name):
    rig = standing_rig()
    target = field(standing_empty(rig, display="SPHERE"), "FORCE")
    for choice in set(choices(name)) - {"SURFACE"}:  # which only a mesh has
        assert solved(rig, target, **{name: choice})[0].reached


# Orientation


# Offset


# Pole


# Influence


# A bake with a target that turns


# The report


def test_a_mesh_as_target_is_its_origin_unless_a_shape_is_chosen():
    rig = standing_rig()
    target = place(bpy.data.objects.new("Mesh", bpy.data.meshes.new("Mesh")))
    target.location = (0.8, 0.5, 1.2)
    bpy.context.view_layer.update()
    assert shape_of_now(limb(rig, target)) == "POINT"
    result, tip = solved(rig, target, shape="SPHERE")
    assert result.reached
    assert_on("SPHERE", tip, target.matrix_world, 1.0)

# SPDX-License-Identifier: GPL-3.0-or-later
"""What a limb aims at in Blender: shapes, orientations, offsets, poles and influence, measured in world space.

Blender draws empties so (overlay_shape.cc): circles and the feet of cones in the plane across Y, the cone's top at +Y,
cubes and spheres from -size to size, images in the plane across Z, single arrows from the origin along +Z.
"""

from itertools import product
from math import atan2, cos, degrees, hypot, nan, pi, radians, sin
from random import Random

import bpy
import numpy as np
import pytest
from mathutils import Euler, Matrix, Quaternion, Vector

from ik_triangulation.errors import SettingError, TargetError
from ik_triangulation.jobs.bake import bake, solve_pose
from ik_triangulation.jobs.report_text import on_limits, summary
from ik_triangulation.rig.limb import Limb
from ik_triangulation.rig.looks import looks_of
from ik_triangulation.rig.soft_goals import orientation_of
from ik_triangulation.rig.target_shape import shape_of
from ik_triangulation.settings import choices

from ..rigs import all_keys, chain_rig, empty, evaluated_tip, key_location, nothing_lost, place, rotate, rows

pytestmark = pytest.mark.usefixtures("empty_scene")

TOLERANCE = 1e-3
ANGLE = radians(0.1)
X, Y, Z = (Vector([float(i == j) for j in range(3)]) for i in range(3))


def shape_of_now(limb):
    """The shape that a limb's target has at the present frame."""
    return shape_of(limb, looks_now(limb))


def looks_now(limb):
    bpy.context.view_layer.update()
    return looks_of(limb.target, limb.subtarget, bpy.context.view_layer.depsgraph)


# What stands where


def turned(ob):
    ob.rotation_euler = (0.4, -0.7, 1.1)


def scaled(ob):
    turned(ob)
    ob.scale = (2.5, 2.5, 2.5)


def unequal(ob):
    turned(ob)
    ob.scale = (1.5, 0.7, 1.0)


def mirrored(ob):
    turned(ob)
    ob.scale = (-1.0, 1.0, 1.0)


def parented(ob):
    holder = empty(f"Holder of {ob.name}", (0.3, -0.4, 0.2))
    holder.rotation_euler, holder.scale = (0.3, 0.5, -0.9), (0.6, 0.6, 0.6)
    ob.parent = holder
    turned(ob)


STANDS = {
    "plain": lambda ob: None,
    "turned": turned,
    "scaled": scaled,
    "unequal": unequal,
    "mirrored": mirrored,
    "parented": parented,
}


def standing_rig(how="plain", bones=3):
    rig = chain_rig(bones)
    rig.location = (1.0, 2.0, -0.5) if how != "plain" else (0.0, 0.0, 0.0)
    STANDS[how](rig)
    bpy.context.view_layer.update()
    return rig


def standing_empty(rig, how="plain", at=(0.8, 0.5, 1.2), display="PLAIN_AXES", size=0.5, name="Target"):
    """An empty at a place in the space of the rig."""
    ob = empty(name)
    ob.empty_display_type, ob.empty_display_size = display, size
    STANDS[how](ob)
    move(ob, rig.matrix_world @ Vector(at))
    return ob


def move(ob, world):
    """Put an object at a place in world space."""
    bpy.context.view_layer.update()
    ob.location = (ob.parent.matrix_world.inverted() if ob.parent else Matrix()) @ Vector(world)
    bpy.context.view_layer.update()


def limb(rig, target, **settings):
    return Limb.from_tip(rig, rig.pose.bones[-1].name, target, **settings)


def solved(rig, target, **settings):
    """Solve; the report, and the tip's tail as Blender evaluates it, world space."""
    report = solve_pose(limb(rig, target, **settings))
    assert list(report.warnings) == []
    return report.frames[0], evaluated_tip(rig, rig.pose.bones[-1].name)


def world_of(rig, bone=None):
    """Evaluated frame of a bone, world space."""
    evaluated = rig.evaluated_get(bpy.context.evaluated_depsgraph_get())
    return evaluated.matrix_world @ evaluated.pose.bones[bone or rig.pose.bones[-1].name].matrix


def axes_of(matrix):
    """Unit axes as columns, for comparison."""
    columns = np.array(matrix.to_3x3(), dtype=float)
    return columns / np.linalg.norm(columns, axis=0)


def angle_between(a, b):
    a, b = np.array(a, dtype=float), np.array(b, dtype=float)
    return atan2(np.linalg.norm(np.cross(a, b)), np.dot(a, b))


# Shapes: how far a place in the target's own space is off the shape, by plain geometry

OFF = {
    "POINT": lambda x, y, z, size: hypot(x, y, z),
    "PLANE": lambda x, y, z, size: abs(z),
    "LINE": lambda x, y, z, size: hypot(x, y),
    "RAY": lambda x, y, z, size: hypot(x, y, min(z, 0.0)),
    "SEGMENT": lambda x, y, z, size: hypot(x, y, min(z, 0.0), max(z - size, 0.0)),
    "SPHERE": lambda x, y, z, size: abs(hypot(x, y, z) - size),
    "CYLINDER": lambda x, y, z, size: abs(hypot(x, z) - size),
    "RING": lambda x, y, z, size: hypot(hypot(x, z) - size, y),
    "BOX": lambda x, y, z, size: hypot(*(max(abs(value) - size, 0.0) for value in (x, y, z))),
}
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


def assert_on(shape, tip, frame, size):
    """The tip (world space) is within tolerance of a shape of the size that stands in a frame."""
    least = min(np.linalg.svd(np.array(frame.to_3x3()), compute_uv=False))
    assert OFF[shape](*(frame.inverted() @ tip), size) < 1.05 * TOLERANCE / least + 1e-5


@pytest.mark.parametrize("how", STANDS)
@pytest.mark.parametrize("display", DISPLAYED)
def test_an_empty_is_what_it_looks_like_however_it_stands(display, how):
    rig = standing_rig()
    target = standing_empty(rig, how, display=display)
    result, tip = solved(rig, target)
    assert result.reached
    assert_on(DISPLAYED[display], tip, target.matrix_world, 0.5)


@pytest.mark.parametrize("how", STANDS)
@pytest.mark.parametrize("shape", OFF)
def test_a_shape_is_reached_with_an_armature_however_it_stands(shape, how):
    rig = standing_rig(how)
    target = standing_empty(rig, "turned", size=0.4)
    result, tip = solved(rig, target, shape=shape)
    assert result.reached
    assert_on(shape, tip, target.matrix_world, 0.4)


@pytest.mark.parametrize("how", ["mirrored", "unequal", "parented"])
@pytest.mark.parametrize("shape", OFF)
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


@pytest.mark.parametrize("how", ["plain", "scaled", "unequal", "mirrored"])
@pytest.mark.parametrize("shape", ["RING", "SEGMENT", "BOX", "SPHERE"])
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


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"shape": "CUP"}, "Shape 'CUP' is unknown. Choose one of AUTO, POINT, PLANE, LINE, RAY, SEGMENT, SPHERE"),
        ({"orientation": "UP"}, "Orientation 'UP' is unknown. Choose one of AUTO, NONE, DIRECTION, FULL"),
        ({"influence": 1.5}, "Influence 1.5 is no share of the way. Give it a number from 0 to 1"),
        ({"influence": -0.1}, "Influence -0.1 is no share"),
        ({"influence": nan}, "Influence nan is no share"),
        ({"orientation": "FULL", "orient_weight": -1.0}, "Orientation weight -1.0 is none"),
        ({"orientation": "DIRECTION", "orient_weight": nan}, "Direction weight nan is none"),
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
    for choice in choices(name):
        assert solved(rig, target, **{name: choice})[0].reached


# Orientation


@pytest.mark.parametrize("rig_how", STANDS)
@pytest.mark.parametrize("how", STANDS)
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


# Offset


@pytest.mark.parametrize("orientation", ["FULL", "DIRECTION", "NONE"])
@pytest.mark.parametrize("how", ["plain", "scaled", "mirrored", "unequal", "parented"])
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


# Pole


def bend_off(rig, pole, angle=0.0, root=0):
    """Angle [rad] in world space from the pole to where the bones bend, about the line from root to tip."""
    matrix, bones = rig.matrix_world, rig.pose.bones[root:]
    heads = [np.array(matrix @ bone.head) for bone in bones]
    root, tip = heads[0], np.array(matrix @ bones[-1].tail)
    line = (tip - root) / np.linalg.norm(tip - root)
    bend, way = sum(head - root for head in heads[1:]), np.array(pole) - root
    bend, way = bend - line * bend.dot(line), way - line * way.dot(line)
    off = atan2(np.cross(way, bend).dot(line), way.dot(bend)) - angle
    return abs((off + pi) % (2.0 * pi) - pi)


@pytest.mark.parametrize("angle", [0.0, 1.2, -2.0])
@pytest.mark.parametrize("how", ["plain", "turned", "scaled", "parented", "mirrored"])
def test_the_limb_bends_towards_its_pole(how, angle):
    """In a mirrored armature the pole angle turns the other way, as everything does."""
    rig = standing_rig(how)
    target = standing_empty(rig)
    pole = standing_empty(rig, at=(-2.0, 3.0, 0.5), name="Pole")
    result, tip = solved(rig, target, pole_target=pole, pole_angle=angle)
    assert result.reached
    assert (tip - target.matrix_world.translation).length < TOLERANCE
    assert bend_off(rig, pole.matrix_world.translation, -angle if how == "mirrored" else angle) < radians(0.5)


def test_a_bone_can_be_the_pole_also_one_of_the_same_rig():
    rig, other = standing_rig(), chain_rig(2, name="Other")
    other.location = (2.0, -3.0, 0.5)
    target = standing_empty(rig)
    result, _ = solved(rig, target, pole_target=other, pole_subtarget="Bone 1")
    assert result.reached
    assert bend_off(rig, world_of(other, "Bone 1").translation) < radians(0.5)
    target.location = (0.4, 0.9, 1.9)
    report = solve_pose(Limb.from_tip(rig, "Bone 2", target, 2, pole_target=rig, pole_subtarget="Bone 0"))
    assert report.all_reached
    assert bend_off(rig, world_of(rig, "Bone 0").translation, root=1) < radians(0.5)


def test_orientation_and_pole_are_met_together_where_there_is_room():
    rig = standing_rig(bones=4)
    target = standing_empty(rig, "turned", at=(0.6, 0.4, 1.6))
    pole = standing_empty(rig, at=(-2.0, 3.0, 0.5), name="Pole")
    result, _ = solved(rig, target, orientation="DIRECTION", pole_target=pole)
    assert result.reached
    assert result.angle < ANGLE
    assert bend_off(rig, pole.matrix_world.translation) < radians(0.5)


def by_parent(rig, pole):
    pole.parent, pole.parent_type, pole.parent_bone = rig, "BONE", "Bone 1"


def by_constraint(rig, pole):
    constraint = pole.constraints.new("COPY_LOCATION")
    constraint.target, constraint.subtarget = rig, "Bone 2"


def unlinked(rig, pole):
    bpy.context.scene.collection.objects.unlink(pole)


POLES = {
    "parented to the chain": (by_parent, "Pole target 'Pole' follows chain bone 'Bone 1'; .* bent towards. Unparent"),
    "constrained to the chain": (by_constraint, "Pole target 'Pole' follows chain bone 'Bone 2'"),
    "disabled": (lambda rig, pole: setattr(pole, "hide_viewport", True), "Pole target 'Pole' is disabled in this view"),
    "not in the scene": (unlinked, "Pole target 'Pole' is not in this scene. Choose another pole target"),
    "nowhere": (lambda rig, pole: setattr(pole, "location", (nan, 0.0, 0.0)), "Pole target 'Pole' has an invalid pos"),
}


@pytest.mark.parametrize("what", POLES)
def test_a_pole_that_cannot_be_bent_towards_is_refused_by_name(what):
    break_it, message = POLES[what]
    rig = standing_rig()
    target, pole = standing_empty(rig), standing_empty(rig, at=(-2.0, 3.0, 0.5), name="Pole")
    break_it(rig, pole)
    for call in (solve_pose, lambda limb: bake(limb, 1, 3)):
        with nothing_lost(), pytest.raises(TargetError, match=message):
            call(limb(rig, target, pole_target=pole))


def test_a_pole_bone_that_is_not_there_or_no_bone_is_refused():
    rig, other = standing_rig(), chain_rig(1, name="Other")
    target = standing_empty(rig)
    with nothing_lost(), pytest.raises(TargetError, match="Bone 'gone' is not in pole target 'Other'"):
        solve_pose(limb(rig, target, pole_target=other, pole_subtarget="gone"))
    with nothing_lost(), pytest.raises(TargetError, match="Bone 'gone' is not in pole target 'Target'"):
        solve_pose(limb(rig, target, pole_target=target, pole_subtarget="gone"))
    with nothing_lost(), pytest.raises(TargetError, match="Pole target 'Rig' is the armature itself"):
        solve_pose(limb(rig, target, pole_target=rig))
    with nothing_lost(), pytest.raises(TargetError, match="Pole target 'Rig: Bone 1' follows chain bone 'Bone 1'"):
        solve_pose(limb(rig, target, pole_target=rig, pole_subtarget="Bone 1"))


def test_the_same_object_may_be_target_and_pole():
    rig = standing_rig()
    target = standing_empty(rig)
    result, _ = solved(rig, target, pole_target=target)  # it lies on the line from root to tip: it says nothing
    assert result.reached


# Influence


def rotations(rig):
    return [bone.rotation_quaternion.copy() for bone in rig.pose.bones]


def posed(random, bones=3):
    rig = standing_rig(bones=bones)
    for bone in rig.pose.bones:
        bone.rotation_quaternion = Euler([random.uniform(-0.6, 0.6) for _ in range(3)]).to_quaternion()
    return rig


@pytest.mark.parametrize("key", [False, True])
def test_no_influence_changes_nothing(key):
    rig = posed(Random(1))
    target = standing_empty(rig)
    before = rotations(rig)
    solve_pose(limb(rig, target, influence=0.0), key=key)
    assert np.abs(np.array(rotations(rig)) - np.array(before)).max() < 1e-6


@pytest.mark.parametrize("influence", [0.25, 0.5])
def test_influence_is_the_share_of_the_way_to_the_solution(influence):
    found = {}
    for share in (0.0, influence, 1.0):
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        rig = posed(Random(2))
        solve_pose(limb(rig, standing_empty(rig), influence=share))
        found[share] = rotations(rig)
    assert_between(found, influence)


def assert_between(found, influence):
    for start, half, end in zip(found[0.0], found[influence], found[1.0], strict=True):
        start, half, end = (np.array(rotation) for rotation in (start, half, end))
        whole, part = quaternion_angle(start, end), quaternion_angle(start, half)
        assert part == pytest.approx(influence * whole, abs=2e-3)
        assert part + quaternion_angle(half, end) == pytest.approx(whole, abs=2e-3)


def quaternion_angle(a, b):
    """Of the rotation from one to the other [rad]."""
    return 4.0 * atan2(*sorted((np.linalg.norm(a - b), np.linalg.norm(a + b))))


def animated(influence, frames=range(1, 13)):
    """A rig with keys on every bone, baked with an influence over frames 4 to 9."""
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    rig, target = chain_rig(3), key_location(empty(), range(1, 14))
    for frame in frames:
        for number, bone in enumerate(rig.pose.bones):
            bone.rotation_quaternion = Quaternion((1.0, 0.3, -0.5), 0.1 * sin(0.4 * frame + number))
            bone.keyframe_insert("rotation_quaternion", frame=frame)
    if influence is not None:
        bake(limb(rig, target, influence=influence), 4, 9)
    return rig


def test_an_influence_mixes_frame_by_frame_with_the_keys_there_were():
    found = {}
    for influence in (None, 0.0, 0.5, 1.0):
        rig = animated(influence)
        found[influence] = [rows(rig, bone.name) for bone in rig.pose.bones]
    for animated_rows, none_rows in zip(found[None], found[0.0], strict=True):
        assert np.abs(animated_rows - none_rows).max() < 1e-6
    for bone in range(3):
        for frame in range(3, 9):
            assert_between({share: [found[share][bone][frame]] for share in (0.0, 0.5, 1.0)}, 0.5)
        for frame in (0, 1, 2, 9, 10, 11):
            assert (found[None][bone][frame] == found[0.5][bone][frame]).all()


def test_a_solve_with_half_an_influence_says_how_far_off_the_tip_is_shown():
    rig = posed(Random(3))
    target = standing_empty(rig)
    report = solve_pose(limb(rig, target, influence=0.5))
    [result] = report.frames
    assert any("Influence is below 1" in warning for warning in report.warnings)
    assert not result.reached
    assert not result.due
    assert report.all_reached
    distance = (evaluated_tip(rig, rig.pose.bones[-1].name) - target.matrix_world.translation).length
    assert result.error == pytest.approx(distance, abs=1e-5)
    assert distance > 10.0 * TOLERANCE
    assert "On the way" in summary(report, bpy.context.scene)


# A bake with a target that turns


def keyed_euler(target, frames):
    for frame in frames:
        target.rotation_euler = (0.05 * frame, 0.3 * sin(0.3 * frame), 0.08 * frame)
        target.keyframe_insert("rotation_euler", frame=frame)


def keyed_quaternion(target, frames):
    target.rotation_mode = "QUATERNION"
    for frame in frames:
        target.rotation_quaternion = Quaternion((0.3, 1.0, 0.2), 0.07 * frame)
        target.keyframe_insert("rotation_quaternion", frame=frame)


def keyed_delta(target, frames):
    for frame in frames:
        target.delta_rotation_euler = (0.05 * frame, 0.0, 0.02 * frame)
        target.keyframe_insert("delta_rotation_euler", frame=frame)


def by_moving_parent(target, frames):
    holder = empty("Holder", (0.0, 0.0, 0.0))
    keyed_euler(holder, frames)
    target.parent = holder


def copying(target, frames):
    other = empty("Other", (3.0, 0.0, 0.0))
    keyed_euler(other, frames)
    target.constraints.new("COPY_ROTATION").target = other


def driven(target, frames):
    driver = target.driver_add("rotation_euler", 2).driver
    driver.expression = "frame * 0.06"


TURNING = [keyed_euler, keyed_quaternion, keyed_delta, by_moving_parent, copying, driven]


@pytest.mark.parametrize("turning", TURNING)
@pytest.mark.parametrize("moving", [False, True], ids=["in place", "on its way"])
def test_a_bake_follows_a_turning_target_at_every_frame(turning, moving):
    rig, target = chain_rig(4), empty(location=(0.6, 0.4, 1.6))
    if moving:
        key_location(target, range(1, 13), lambda frame: Vector((0.6, 0.4 + 0.03 * frame, 1.6)))
    turning(target, range(1, 13))
    report = bake(limb(rig, target, orientation="FULL"), 1, 12)
    assert list(report.warnings) == []
    assert report.all_reached
    assert report.largest_angle < ANGLE
    seen = []
    for frame in range(1, 13):
        bpy.context.scene.frame_set(frame)
        assert (evaluated_tip(rig, "Bone 3") - target.matrix_world.translation).length < TOLERANCE
        for bone, wanted in zip(axes_of(world_of(rig)).T, axes_of(target.matrix_world).T, strict=True):
            assert angle_between(bone, wanted) < ANGLE
        seen.append(target.matrix_world.to_quaternion())
    assert quaternion_angle(np.array(seen[0]), np.array(seen[-1])) > 0.2


def test_a_bake_follows_a_shape_that_grows_and_a_pole_that_moves():
    rig, target = chain_rig(3), empty()
    target.empty_display_type, target.empty_display_size = "SPHERE", 0.3
    pole = key_location(empty("Pole"), range(1, 13), lambda f: Vector((3.0 * cos(0.1 * f), 3.0 * sin(0.1 * f), 1.0)))
    for frame in (1, 12):
        target.scale = (0.5 + 0.1 * frame,) * 3
        target.keyframe_insert("scale", frame=frame)
    report = bake(limb(rig, target, pole_target=pole), 1, 12)
    assert report.all_reached
    for frame in range(1, 13):
        bpy.context.scene.frame_set(frame)
        assert_on("SPHERE", evaluated_tip(rig, "Bone 2"), target.matrix_world, 0.3)
        assert bend_off(rig, pole.matrix_world.translation) < radians(0.5)


def test_a_bake_with_soft_constraints_has_no_jumps():
    rig, target = chain_rig(4), empty(location=(0.6, 0.4, 1.6))
    keyed_euler(target, range(1, 41))
    bake(limb(rig, target, orientation="FULL"), 1, 40)
    for bone in rig.pose.bones:
        assert np.abs(np.diff(rows(rig, bone.name), axis=0)).max() < 0.5


def test_a_bake_and_a_solve_with_goals_are_the_same_each_time():
    found = []
    for _ in range(2):
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        rig, target = chain_rig(4), empty(location=(0.6, 0.4, 1.6))
        keyed_euler(target, range(1, 6))
        bake(limb(rig, target, orientation="FULL", pole_target=empty("Pole", (3.0, 0.0, 0.0))), 1, 5)
        found.append(repr(all_keys(rig)))
    assert found[0] == found[1]


# The report


def limited(rig):
    """Bones that bend about X by 30 degrees at most."""
    for bone in rig.pose.bones:
        bone.lock_ik_y = bone.lock_ik_z = True
        bone.use_ik_limit_x, bone.ik_min_x, bone.ik_max_x = True, -radians(30.0), radians(30.0)
    return rig


def test_a_report_says_what_stands_on_its_limits_what_it_cost_and_how_far_it_is_turned():
    rig = limited(standing_rig())
    target = standing_empty(rig, at=(0.0, -2.5, 0.5))
    report = solve_pose(limb(rig, target, orientation="DIRECTION"))
    result = report.frames[0]
    assert not result.reached
    assert set(result.on_limits) <= {"Bone 0", "Bone 1", "Bone 2"}
    assert result.on_limits
    for name, ends in result.on_limits.items():
        bend = degrees(rig.pose.bones[name].rotation_quaternion.to_euler().x)
        assert ends == (["bend maximum"] if bend > 0.0 else ["bend minimum"])
        assert abs(bend) == pytest.approx(30.0, abs=0.01)
    wanted = angle_between(world_of(rig).col[1][:3], target.matrix_world.col[2][:3])
    assert result.angle == pytest.approx(wanted, abs=1e-3)
    assert result.cost.turns > 0
    told = report.to_dict()
    assert told["largest_angle"] == pytest.approx(wanted, abs=1e-3)
    assert told["on_limits"] == result.on_limits == told["per_frame"][0]["on_limits"]
    assert told["cost"] == told["per_frame"][0]["cost"]
    assert on_limits(report) == [f"{name}: {', '.join(ends)}" for name, ends in result.on_limits.items()]
    line = summary(report, bpy.context.scene)
    assert line.startswith("Not reached, distance ")
    assert line.endswith(f", {degrees(wanted):.2g}° off its orientation")


@pytest.mark.parametrize("orientation", ["NONE", "FULL"])
def test_the_cost_of_a_solve_is_that_of_all_its_turns(orientation):
    """From rest to a place far off the travel is at least the way of the tip."""
    rig = standing_rig(bones=4)
    start = evaluated_tip(rig, "Bone 3")
    target = standing_empty(rig, "turned", at=(0.6, 0.4, 1.6))
    report = solve_pose(limb(rig, target, orientation=orientation))
    assert report.cost.travel >= (start - evaluated_tip(rig, "Bone 3")).length - 1e-4
    assert report.frames[0].iterations >= 1


def test_the_costs_of_a_bake_add_up():
    rig, target = chain_rig(4), empty(location=(0.6, 0.4, 1.6))
    keyed_euler(target, range(1, 6))
    report = bake(limb(rig, target, orientation="FULL"), 1, 5)
    told = report.to_dict()
    for name in ("turns", "total_angle", "travel"):
        assert told["cost"][name] == pytest.approx(sum(frame["cost"][name] for frame in told["per_frame"]))
    assert told["cost"]["turns"] > 0
    assert told["largest_angle"] == max(frame["angle"] for frame in told["per_frame"])


def test_a_pose_outside_its_limits_is_said_to_be_moved_inside():
    rig = limited(standing_rig())
    rig.pose.bones["Bone 1"].rotation_quaternion = Quaternion(X, 1.0)
    rig.pose.bones["Bone 2"].rotation_quaternion = Quaternion(Z, 0.4)
    bpy.context.view_layer.update()
    target = standing_empty(rig, at=(0.0, 0.8, 2.5))
    said = "'Bone 1', 'Bone 2' stood outside the limits at frame 1 and had to be moved inside."
    assert said in bake(limb(rig, target), 1, 2).warnings
    rig.pose.bones["Bone 1"].rotation_quaternion = Quaternion(X, 1.0)
    rig.pose.bones["Bone 2"].rotation_quaternion = Quaternion(Z, 0.4)
    assert said in solve_pose(limb(rig, target)).warnings
    assert list(solve_pose(limb(rig, target)).warnings) == []


def test_a_mesh_as_target_is_its_origin_unless_a_shape_is_chosen():
    rig = standing_rig()
    target = place(bpy.data.objects.new("Mesh", bpy.data.meshes.new("Mesh")))
    target.location = (0.8, 0.5, 1.2)
    bpy.context.view_layer.update()
    assert shape_of_now(limb(rig, target)) == "POINT"
    result, tip = solved(rig, target, shape="SPHERE")
    assert result.reached
    assert_on("SPHERE", tip, target.matrix_world, 1.0)

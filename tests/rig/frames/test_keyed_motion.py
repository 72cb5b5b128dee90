# SPDX-License-Identifier: GPL-3.0-or-later
"""Motion that F-curves tell is read as Blender evaluates it; anything else that moves something is noticed."""

from random import Random

import bpy
import numpy as np
import pytest
from mathutils import Matrix, Quaternion

from ik_triangulation.cooperative import finished
from ik_triangulation.rig.frames.keyed_motion import KeyedBody, KeyedMotion, NotKeyedError, read_keyed_bones

from ...modes import every_mode
from ...rigs import (
    INHERIT_SCALE,
    MODES,
    armature,
    chain_rig,
    curves_of,
    empty,
    key_location,
    place,
    random_rotation,
    random_specs,
    random_vector,
    rotate,
)

pytestmark = pytest.mark.usefixtures("empty_scene")

FRAMES = (1, 2, 3.5, 7, 11.25, 15, 20, 26)
CLOSE = 2.4e-7  # of the rig's size, as of the largest rotation and scale


def key_randomly(random, holder, mode, scaled):
    """Key location, rotation and perhaps scale of an object or a bone, and deltas of an object."""
    holder.rotation_mode = mode
    names = ["location", "rotation", *(["scale"] if scaled else [])]
    if isinstance(holder, bpy.types.Object):
        names += ["delta_location", *([] if mode == "AXIS_ANGLE" else ["delta_rotation"])]
    for name in names:
        if random.random() < 0.8:
            for frame in sorted(random.sample(range(1, 25), 4)):
                key_one(random, holder, name, frame)


def key_one(random, holder, name, frame):
    if name == "rotation":
        rotate(holder, random_rotation(random))
        name = {"QUATERNION": "rotation_quaternion", "AXIS_ANGLE": "rotation_axis_angle"}.get(
            holder.rotation_mode, "rotation_euler"
        )
    elif name == "delta_rotation":
        name = "delta_rotation_quaternion" if holder.rotation_mode == "QUATERNION" else "delta_rotation_euler"
        count = len(getattr(holder, name))
        setattr(holder, name, [random.uniform(0.2, 1.0) for _ in range(count)])
    elif name == "scale":
        holder.scale = random_vector(random, 0.6, 1.6)
    else:
        setattr(holder, name, random_vector(random))
    holder.keyframe_insert(name, frame=frame)


def stepped(ob, bone=""):
    """The world matrices of an object or its bone, as Blender evaluates them frame by frame."""
    found = []
    for frame in FRAMES:
        bpy.context.scene.frame_set(int(frame), subframe=frame % 1.0)
        shown = ob.evaluated_get(bpy.context.evaluated_depsgraph_get())
        found.append(shown.matrix_world @ shown.pose.bones[bone].matrix if bone else shown.matrix_world.copy())
    return np.array(found).transpose(1, 2, 0)


def read(ob, bone=""):
    return KeyedMotion(np.array(FRAMES, float)).place(ob, bone)


def apart(ob, bone=""):
    """The largest difference of what is read from what is evaluated, relative to the largest element."""
    evaluated = stepped(ob, bone)
    return np.abs(read(ob, bone) - evaluated).max() / np.abs(evaluated).max()


def tree(random, mode, scaled=False):
    """An object with two parents, all keyed."""
    line = [empty(f"Empty {i}") for i in range(3)]
    for child, parent in zip(line[1:], line, strict=False):
        child.parent = parent
        child.matrix_parent_inverse = (
            Matrix.Translation(random_vector(random)) @ random_rotation(random).to_matrix().to_4x4()
        )
    for ob in line:
        key_randomly(random, ob, mode, scaled)
    return line[-1]


@every_mode
@pytest.mark.parametrize("seed", range(3))
def test_keyed_objects_with_keyed_parents_are_where_they_are_evaluated(mode, seed):
    assert apart(tree(Random(f"{mode} {seed}"), mode)) <= CLOSE * 2


@pytest.mark.parametrize("seed", range(6))
def test_so_are_those_that_are_scaled_and_sheared(seed):
    random = Random(seed)
    assert apart(tree(random, random.choice(MODES), scaled=True)) <= CLOSE * 4


@every_mode
@pytest.mark.parametrize("seed", range(3))
def test_keyed_bones_of_a_moving_armature_are_where_they_are_evaluated(mode, seed):
    random = Random(f"bones {mode} {seed}")
    rig = armature("Rig", random_specs(random, "Bone", 4))
    for bone in rig.pose.bones:
        bone.bone.use_local_location = random.random() < 0.7
        key_randomly(random, bone, mode, scaled=False)
    key_randomly(random, rig, mode, scaled=False)
    rig.parent = key_location(empty("Carrier"), (1, 9, 20))
    assert apart(rig, "Bone 3") <= CLOSE * 4


@pytest.mark.parametrize("inherit", INHERIT_SCALE)
@pytest.mark.parametrize("turned", [True, False])
def test_bones_that_inherit_only_a_part_are_where_they_are_evaluated(inherit, turned):
    random = Random(f"{inherit} {turned}")
    rig = armature("Rig", random_specs(random, "Bone", 3))
    for bone in rig.pose.bones:
        bone.bone.inherit_scale, bone.bone.use_inherit_rotation = inherit, turned
        key_randomly(random, bone, random.choice(MODES), scaled=True)
    assert apart(rig, "Bone 2") <= CLOSE * 20


def test_an_object_on_a_keyed_bone_is_where_it_is_evaluated():
    random, rig, target = Random(5), chain_rig(3), empty()
    for bone in rig.pose.bones:
        key_randomly(random, bone, "QUATERNION", scaled=False)
    target.parent, target.parent_type, target.parent_bone = rig, "BONE", "Bone 1"
    target.matrix_parent_inverse = Matrix.Translation((0.1, 0.2, 0.3))
    assert apart(target) <= CLOSE * 4


def test_what_does_not_move_has_one_frame():
    rig, target = chain_rig(3), key_location(empty(), (1, 9), lambda frame: (1.0, 2.0, 3.0))
    rig.parent, rig.pose.bones["Bone 1"].rotation_quaternion = target, (0.6, 0.8, 0.0, 0.0)
    bpy.context.view_layer.update()
    assert read(rig, "Bone 2").shape == (4, 4, 1)
    assert apart(rig, "Bone 2") <= CLOSE * 4


def test_only_location_keys_without_a_parent_are_simple():
    target, other = key_location(empty(), (1, 9)), key_location(empty("Other"), (1, 9))
    motion = KeyedMotion(np.array(FRAMES, float))
    motion.place(target)
    assert not motion.compound
    other.parent = target
    motion.place(other)
    assert motion.compound


def constrained(ob):
    ob.constraints.new("COPY_LOCATION").target = empty("Leader")


def driven(ob):
    ob.driver_add("location", 0).driver.expression = "frame"


def in_the_nla(ob):
    key_location(ob, (1, 9))
    animation = ob.animation_data
    animation.nla_tracks.new().strips.new("Strip", 1, animation.action)


def with_little_influence(ob):
    key_location(ob, (1, 9))
    ob.animation_data.action_influence = 0.5


def with_physics(ob):
    bpy.ops.object.mode_set(mode="OBJECT") if bpy.context.mode != "OBJECT" else None
    bpy.ops.mesh.primitive_cube_add()
    cube = bpy.context.object
    bpy.ops.rigidbody.object_add()
    ob.parent = cube


def on_a_vertex(ob):
    bpy.ops.mesh.primitive_cube_add()
    ob.parent, ob.parent_type = bpy.context.object, "VERTEX"


def on_a_path(ob):
    curve = bpy.data.curves.new("Path", "CURVE")
    curve.use_path = True
    ob.parent = place(bpy.data.objects.new("Path", curve))


def with_keyed_mode(ob):
    ob.keyframe_insert("rotation_mode", frame=1)


HINDRANCES = (
    constrained,
    driven,
    in_the_nla,
    with_little_influence,
    with_physics,
    on_a_vertex,
    on_a_path,
    with_keyed_mode,
)


@pytest.mark.parametrize("hinder", HINDRANCES)
@pytest.mark.parametrize("above", [False, True])
@pytest.mark.whole
def test_whatever_else_moves_an_object_or_its_parent_is_noticed(hinder, above):
    target = empty()
    key_location(target, (1, 9))
    read(target)
    if above:
        target.parent = empty("Parent")
    target.animation_data_clear()
    hinder(target.parent if above else target)
    with pytest.raises(NotKeyedError):
        read(target)


@pytest.mark.parametrize("how", ["relative", "missing"])
def test_a_parent_bone_that_moves_its_child_otherwise_or_is_not_there_is_not_read(how):
    rig, child = chain_rig(2), empty()
    child.parent, child.parent_type, child.parent_bone = rig, "BONE", "Bone 1"
    read(child)
    if how == "relative":
        rig.data.bones["Bone 1"].use_relative_parent = True
    else:
        child.parent_bone = "Bone 9"
    with pytest.raises(NotKeyedError):
        read(child)


def bone_constrained(rig):
    rig.pose.bones["Bone 0"].constraints.new("COPY_ROTATION").target = empty()


def turned_by_ik(rig):
    rig.pose.bones["Bone 3"].constraints.new("IK").target = empty()


def turned_by_short_ik(rig):
    constraint = rig.pose.bones["Bone 3"].constraints.new("IK")
    constraint.target, constraint.chain_count = empty(), 3


def data_driven(rig):
    rig.data.driver_add("display_type")


def at_rest(rig):
    rig.data.pose_position = "REST"


def keyed_bone_mode(rig):
    rig.pose.bones["Bone 0"].keyframe_insert("rotation_mode", frame=1)


def keyed_inheritance(rig):
    rig.data.bones["Bone 1"].keyframe_insert("use_inherit_rotation", frame=1)


@pytest.mark.parametrize(
    "hinder",
    [
        bone_constrained,
        turned_by_ik,
        turned_by_short_ik,
        data_driven,
        at_rest,
        keyed_bone_mode,
        keyed_inheritance,
        driven,
        in_the_nla,
    ],
)
def test_whatever_else_moves_a_bone_is_noticed(hinder):
    rig = chain_rig(4)
    read(rig, "Bone 1")
    hinder(rig)
    with pytest.raises(NotKeyedError):
        read(rig, "Bone 1")


def test_ik_that_ends_below_is_no_hindrance():
    rig = chain_rig(4)
    constraint = rig.pose.bones["Bone 3"].constraints.new("IK")
    constraint.target, constraint.chain_count = empty(), 2
    assert read(rig, "Bone 0").shape == (4, 4, 1)


def test_muted_curves_do_not_count():
    target = key_location(empty(), (1, 9))
    for curve in curves_of(target):
        curve.mute = True
    target.location = (1.0, 2.0, 3.0)
    assert np.allclose(read(target)[:3, 3, 0], (1.0, 2.0, 3.0))


def test_bones_are_read_at_frames_and_as_they_are_now_unless_something_else_moves_them():
    rig, scene = chain_rig(3), bpy.context.scene
    for frame, angle in ((1, 0.0), (9, 1.2)):
        rig.pose.bones["Bone 0"].rotation_quaternion = Quaternion((1.0, 0.0, 0.0), angle)
        rig.pose.bones["Bone 0"].keyframe_insert("rotation_quaternion", frame=frame)
    scene.frame_set(5)
    rig.pose.bones["Bone 1"].rotation_quaternion = Quaternion((0.0, 0.0, 1.0), 0.4)
    rig.pose.bones["Bone 0"].rotation_quaternion = Quaternion((0.0, 1.0, 0.0), 0.7)  # posed over its keys
    bpy.context.view_layer.update()
    names = ("Bone 0", "Bone 2")
    now = np.array([rig.matrix_world @ rig.pose.bones[name].matrix for name in names])
    found, present = finished(read_keyed_bones(rig, names, scene, [1.0, 9.0]))
    assert (found.shape, present.shape) == ((4, 4, 2, 2), (4, 4, 2, 1))
    assert np.abs(np.moveaxis(present[..., 0], 2, 0) - now).max() < 1e-5
    for number, frame in enumerate((1, 9)):
        scene.frame_set(frame)
        rig.pose.bones["Bone 1"].rotation_quaternion = Quaternion((0.0, 0.0, 1.0), 0.4)
        bpy.context.view_layer.update()
        shown = np.array([rig.matrix_world @ rig.pose.bones[name].matrix for name in names])
        assert np.abs(np.moveaxis(found[..., number], 2, 0) - shown).max() < 1e-5
    rig.pose.bones["Bone 1"].constraints.new("DAMPED_TRACK").target = empty()
    assert finished(read_keyed_bones(rig, names, scene, [1.0, 9.0])) is None


def test_a_body_by_curves_agrees_with_what_is_evaluated_within_rounding():
    still, moving = np.eye(4)[:, :, None], np.stack([np.eye(4), 2.0 * np.eye(4)], axis=2)
    body = KeyedBody(moving, still, {"hand": moving, "foot": still}, {"hand": None, "foot": None})
    once, twice = Matrix.Identity(4), Matrix(2.0 * np.eye(4))
    assert body.agrees(0, once, once, {"hand": once, "foot": once})
    assert body.agrees(1, twice, once, {"hand": twice, "foot": once})
    for wrong in ((once, once, twice, once), (twice, twice, twice, once), (twice, once, once, once)):
        world, base, hand, foot = wrong
        assert not body.agrees(1, world, base, {"hand": hand, "foot": foot})
    assert not body.agrees(1, twice, once, {"hand": twice, "foot": twice})

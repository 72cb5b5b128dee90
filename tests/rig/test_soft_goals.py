# SPDX-License-Identifier: GPL-3.0-or-later
"""Comfort and obstacles on a rig: what counts is where things are in the world, whatever armature they are asked of."""

from itertools import pairwise
from math import nan, pi, radians
from random import Random

import bpy
import pytest
from mathutils import Euler, Matrix, Quaternion, Vector

from ik_triangulation.errors import TargetError
from ik_triangulation.jobs.bake import bake
from ik_triangulation.jobs.pose import solve_pose
from ik_triangulation.kinematics.rotation import rotation_angle
from ik_triangulation.rig.limb import Limb

from ..rigs import (
    all_keys,
    chain_rig,
    contents,
    curves_of,
    empty,
    evaluated_tip,
    key_location,
    nothing_lost,
    place,
    random_rotation,
)

pytestmark = pytest.mark.usefixtures("empty_scene")

TOLERANCE = 1e-3
OUT = 5e-3  # how deep a link may still be inside: places between those looked at, and single precision


def limb_of(rig, target, **settings):
    return Limb.from_tip(rig, rig.pose.bones[-1].name, target, tolerance=TOLERANCE, **settings)


def joints_of(rig):
    """Heads of all bones and the last tail as shown, world space."""
    shown = rig.evaluated_get(bpy.context.evaluated_depsgraph_get())
    bones = list(shown.pose.bones)
    return [shown.matrix_world @ place for place in (*(bone.head for bone in bones), bones[-1].tail)]


def collection(*objects, name="Obstacles"):
    """A collection of its own in the scene that holds these objects."""
    made = bpy.data.collections.new(name)
    bpy.context.scene.collection.children.link(made)
    for ob in objects:
        made.objects.link(ob)
    bpy.context.view_layer.update()
    return made


def box(name="Box", location=(0.0, 0.0, 0.0), half=(0.5, 0.5, 0.5), scale=(1.0, 1.0, 1.0), turn=(0.0, 0.0, 0.0)):
    """A mesh box of these half sides, scaled and turned."""
    mesh = bpy.data.meshes.new(name)
    signs = [(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]
    corners = [Vector(sign) * Vector(half) for sign in signs]
    mesh.from_pydata(corners, [], [(0, 1, 3, 2), (4, 5, 7, 6), (0, 1, 5, 4), (2, 3, 7, 6), (0, 2, 6, 4), (1, 3, 7, 5)])
    ob = place(bpy.data.objects.new(name, mesh))
    ob.location, ob.scale, ob.rotation_euler = location, scale, turn
    return ob


def volume(kind, location, size, name="Volume"):
    """An empty drawn as a sphere or cube."""
    ob = empty(name, location)
    ob.empty_display_type, ob.empty_display_size = kind, size
    return ob


def depth_in(ob, point):
    """How deep a world-space point is inside an object's volume: its own box or sphere, from its shape alone."""
    world = ob.evaluated_get(bpy.context.evaluated_depsgraph_get()).matrix_world
    own = world.inverted() @ point
    if ob.type == "EMPTY" and ob.empty_display_type == "SPHERE":
        return world.median_scale * (ob.empty_display_size - own.length)
    half = ob.empty_display_size if ob.type == "EMPTY" else 0.5
    half = Vector((half,) * 3) if ob.type == "EMPTY" else Vector(corner for corner in ob.data.vertices[-1].co)
    scale = world.to_scale()
    beyond = [(abs(own[n]) - half[n]) * abs(scale[n]) for n in range(3)]
    outside = Vector([max(0.0, part) for part in beyond]).length
    return -outside if outside else -max(beyond)


def deepest(rig, *obstacles):
    """How deep any bone is inside any of the objects, from 60 places on each."""
    joints = joints_of(rig)
    places = [a.lerp(b, n / 60) for a, b in pairwise(joints) for n in range(61)]
    return max(depth_in(ob, point) for ob in obstacles for point in places)


def rotations(rig):
    return [bone.matrix_basis.to_quaternion() for bone in rig.pose.bones]


# Effort


PLACED = {
    "as it is": Matrix.Identity(4),
    "lying": Euler((pi / 2.0, 0.0, 0.0)).to_matrix().to_4x4(),
    "upside down": Euler((pi, 0.0, 0.4)).to_matrix().to_4x4(),
    "large and turned": Matrix.LocRotScale((1.0, 2.0, 3.0), Euler((0.3, 1.2, 2.0)), (7.0, 7.0, 7.0)),
    "tiny": Matrix.LocRotScale((1.0, 2.0, 3.0), Euler((-1.0, 0.3, 0.0)), (0.01, 0.01, 0.01)),
    "mirrored": Matrix.LocRotScale((0.0, 0.0, 0.0), Euler((0.5, 0.2, 0.0)), (-1.0, 1.0, 1.0)),
}


@pytest.mark.parametrize("how", PLACED)
def test_low_effort_hangs_towards_the_ground_of_the_world(how):
    rig = chain_rig(2)
    rig.matrix_world = PLACED[how]
    size = PLACED[how].median_scale
    target = empty(location=PLACED[how] @ Vector((0.4, 0.9, 0.5)))
    bpy.context.view_layer.update()
    limb = Limb.from_tip(rig, "Bone 1", target, tolerance=1e-3 * size, effort_weight=1.0)
    assert solve_pose(limb).all_reached
    root, elbow, tip = joints_of(rig)
    line = (tip - root).normalized()
    bend = (elbow - root) - line * (elbow - root).dot(line)
    down = Vector((0.0, 0.0, -1.0))
    lowest = down - line * down.dot(line)
    assert bend.angle(lowest) < radians(2.0)


@pytest.mark.parametrize("scale", [(1.0, 4.0, 1.0), (3.0, 1.0, 0.5), (1.0, 1.0, 5.0)])
def test_low_effort_lowers_the_elbow_of_a_stretched_rig_as_far_as_it_goes(scale):
    """In armature space the elbow goes round on a circle; which of its places is lowest, the world decides."""
    rig = chain_rig(2)
    rig.matrix_world = Matrix.LocRotScale((0.0, 0.0, 0.0), Euler((0.8, 0.5, 0.3)), scale)
    target = empty(location=rig.matrix_world @ Vector((0.4, 0.8, 0.9)))
    bpy.context.view_layer.update()
    assert solve_pose(limb_of(rig, target, effort_weight=1.0)).all_reached
    root, elbow, tip = (rig.matrix_world.inverted() @ place for place in joints_of(rig))
    circle = (root + Quaternion(tip - root, 0.01 * n) @ (elbow - root) for n in range(629))
    heights = [(rig.matrix_world @ place).z for place in circle]
    assert heights[0] - min(heights) < 0.01 * (max(heights) - min(heights))


# Comfort


def test_a_heavy_bone_hangs_lower(addon):
    heights = []
    for mass in (1.0, 10.0):
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        rig = chain_rig(3)
        target = empty("Target", (0.2, 1.4, 0.3))
        rig.pose.bones["Bone 2"].ik_triangulation_joint.mass = mass
        assert solve_pose(Limb.from_tip(rig, "Bone 2", target, effort_weight=1.0)).all_reached
        bpy.context.view_layer.update()
        heights.append((rig.matrix_world @ rig.pose.bones["Bone 2"].head).z)
    assert heights[1] < heights[0] - 0.02


def test_comfort_near_rest_turns_bones_back_towards_rest():
    random, rig, target = Random(1), chain_rig(5), empty()
    target.location = evaluated_tip(rig, "Bone 4") + Vector((0.1, -0.2, -0.3))
    off = {}
    for weight in (0.0, 1.0):
        for bone in rig.pose.bones:
            bone.rotation_quaternion = random_rotation(random)
        assert solve_pose(limb_of(rig, target, rest_weight=weight)).all_reached
        off[weight] = sum(rotation_angle(rotation, Quaternion()) for rotation in rotations(rig))
    assert off[1.0] < 0.5 * off[0.0]


def test_comfort_near_the_present_pose_keeps_it_as_far_as_the_target_allows():
    random, rig = Random(2), chain_rig(5)
    for bone in rig.pose.bones:
        bone.rotation_quaternion = random_rotation(random).slerp(Quaternion(), 0.6)
    bpy.context.view_layer.update()
    target = empty(location=evaluated_tip(rig, "Bone 4"))
    present = rotations(rig)
    assert solve_pose(limb_of(rig, target, rest_weight=1.0, rest_pose="START")).all_reached
    assert max(map(rotation_angle, rotations(rig), present)) < 1e-3
    target.location += Vector((0.3, 0.1, -0.2))
    assert solve_pose(limb_of(rig, target, rest_weight=1.0, rest_pose="START")).all_reached
    start = sum(map(rotation_angle, rotations(rig), present))
    assert solve_pose(limb_of(rig, target, rest_weight=1.0, rest_pose="REST")).all_reached
    assert sum(map(rotation_angle, rotations(rig), present)) > start


def test_a_bake_stays_near_the_pose_of_its_first_frame():
    """The target goes round and comes back: so does every bone. It goes on, as the end of a bake may stay anyway."""
    random, rig = Random(3), chain_rig(5)
    for bone in rig.pose.bones:
        bone.rotation_quaternion = random_rotation(random).slerp(Quaternion(), 0.7)
    bpy.context.view_layer.update()
    tip, present = evaluated_tip(rig, "Bone 4"), rotations(rig)
    steps = {1: (0.0, 0.0, 0.0), 6: (0.4, 0.0, -0.3), 11: (0.0, 0.4, -0.4), 16: (0.0, 0.0, 0.0), 21: (0.3, 0.2, -0.5)}
    target = key_location(empty(), steps, lambda frame: tip + Vector(steps[frame]))
    off = {}
    for weight in (0.0, 1.0):
        for bone, rotation in zip(rig.pose.bones, present, strict=True):
            bone.rotation_quaternion = rotation
        rig.animation_data_clear()
        assert bake(limb_of(rig, target, rest_weight=weight, rest_pose="START"), 1, 21).all_reached
        bpy.context.scene.frame_set(16)
        off[weight] = max(map(rotation_angle, rotations(rig), present))
    assert off[1.0] < 0.02
    assert off[1.0] < off[0.0]


@pytest.mark.parametrize("rest", ["REST", "START"])
@pytest.mark.parametrize("scales", [((1, 1, 1), (1, 1.5, 0.7)), ((1, 1.5, 0.7), (1, 1, 1))], ids=["to", "from"])
def test_a_bone_that_is_left_out_may_begin_and_end_to_be_scaled(scales, rest):
    """A bone that only hands on is a joint of its own at frames where something is scaled, and none at others."""
    rig, target = chain_rig(4), key_location(empty(), range(1, 20, 4))
    bone = rig.pose.bones["Bone 1"]
    for frame, scale in zip((1, 8), scales, strict=True):
        bone.scale = scale
        bone.keyframe_insert("scale", frame=frame)
    limb = Limb.from_bones(
        rig, ["Bone 0", "Bone 2", "Bone 3"], target, tolerance=TOLERANCE, rest_weight=1.0, rest_pose=rest
    )
    report = bake(limb, 1, 8)
    assert report.all_reached
    assert [warning.partition(",")[0] for warning in report.warnings] == ["Solved frame by frame"]
    for frame in (1, 4, 8):
        bpy.context.scene.frame_set(frame)
        assert (evaluated_tip(rig, "Bone 3") - target.matrix_world.translation).length < 2.0 * TOLERANCE


# Obstacles


def in_the_way(kind):
    """An obstacle of some kind on the straight way of the default rig of three bones, bones along Z."""
    if kind == "sphere":
        return volume("SPHERE", (0.0, 0.1, 1.4), 0.3)
    if kind == "scaled sphere":
        ob = volume("SPHERE", (0.0, 0.1, 1.4), 1.0)
        ob.scale = (0.3, 0.3, 0.3)
        return ob
    if kind == "cube":
        ob = volume("CUBE", (0.0, 0.1, 1.4), 0.25)
        ob.rotation_euler = (0.3, 0.4, 0.5)
        return ob
    if kind == "mesh":
        return box(location=(0.0, 0.1, 1.4), half=(0.25, 0.3, 0.2))
    return box(location=(0.0, 0.1, 1.4), half=(1.0, 0.5, 2.0), scale=(0.25, 0.6, 0.1), turn=(0.3, 0.4, 0.5))


KINDS = ["sphere", "scaled sphere", "cube", "mesh", "scaled and turned mesh"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_limb_goes_round_an_obstacle(kind):
    rig, ob = chain_rig(4), in_the_way(kind)
    target = empty(location=(0.0, 0.1, 2.9))
    obstacles = collection(ob)
    assert solve_pose(limb_of(rig, target, solver="TRIANGULATION")).all_reached
    assert deepest(rig, ob) > 0.15  # which is where that solver bends
    assert solve_pose(limb_of(rig, target, obstacles=obstacles)).all_reached
    assert deepest(rig, ob) < OUT


def test_obstacles_of_a_collection_inside_the_collection_count():
    rig, ob = chain_rig(4), in_the_way("sphere")
    inner, outer = collection(ob, name="Inner"), bpy.data.collections.new("Outer")
    bpy.context.scene.collection.children.link(outer)
    outer.children.link(inner)
    target = empty(location=(0.0, 0.1, 2.9))
    assert solve_pose(limb_of(rig, target, obstacles=outer)).all_reached
    assert deepest(rig, ob) < OUT


@pytest.mark.parametrize("size", [0.02, 1.0, 50.0])
def test_the_margin_is_kept_in_world_units_whatever_the_scale_of_the_rig(size):
    rig, ob = chain_rig(4), volume("SPHERE", Vector((0.0, 0.1, 1.4)) * size, 0.2 * size)
    rig.scale = (size,) * 3
    target = empty(location=Vector((0.0, 0.1, 2.9)) * size)
    bpy.context.view_layer.update()
    settings = {"obstacles": collection(ob), "tolerance": 1e-3 * size}
    depths = []
    for margin in (0.0, 0.1, 0.3):
        limb = Limb.from_tip(rig, "Bone 3", target, obstacle_margin=margin * size, **settings)
        assert solve_pose(limb).all_reached
        depths.append(deepest(rig, ob) / size)
    assert depths[0] < OUT
    assert depths[1] < OUT - 0.1
    assert depths[2] < OUT - 0.3


def test_a_bake_stays_out_of_an_obstacle_that_moves():
    rig = chain_rig(5)
    ob = volume("SPHERE", (0.0, 0.0, 0.0), 0.3)
    key_location(ob, (1, 24), lambda frame: Vector((0.9, 0.2, 2.4)) if frame == 1 else Vector((-0.9, 0.2, 2.4)))
    target = key_location(empty(), (1, 24), lambda frame: Vector((0.1, 0.1 + 0.005 * frame, 3.4)))
    obstacles = collection(ob)
    inside = {}
    for name, settings in (("without", {}), ("with", {"obstacles": obstacles})):
        report = bake(limb_of(rig, target, solver="TRIANGULATION", **settings), 1, 24)
        assert report.all_reached
        inside[name] = []
        for frame in range(1, 25):
            bpy.context.scene.frame_set(frame)
            inside[name].append(deepest(rig, ob))
    assert max(inside["without"]) > 0.15
    assert max(inside["with"]) < OUT


def test_an_obstacle_that_a_parent_moves_counts_where_it_is():
    rig, ob = chain_rig(4), in_the_way("sphere")
    parent = key_location(empty("Parent"), (1, 10), lambda frame: Vector((0.2 * (10 - frame), 0.0, 0.0)))
    ob.parent = parent
    target = empty(location=(0.0, 0.1, 2.9))
    assert bake(limb_of(rig, target, obstacles=collection(ob)), 1, 10).all_reached
    for frame in (1, 8, 10):
        bpy.context.scene.frame_set(frame)
        assert deepest(rig, ob) < OUT


def test_a_target_inside_an_obstacle_is_reached():
    rig, target = chain_rig(4), empty(location=(0.0, 0.5, 2.5))
    obstacles = collection(volume("SPHERE", target.location, 0.5), box("Around", target.location))
    assert solve_pose(limb_of(rig, target, obstacles=obstacles)).all_reached


def test_what_has_no_volume_and_the_target_and_the_rig_are_left_out():
    rig, target, pole = chain_rig(3), empty(), empty("Pole", (2.0, 0.0, 1.0))
    target.empty_display_type = "SPHERE"
    light = place(bpy.data.objects.new("Light", bpy.data.lights.new("Light", "POINT")))
    camera = place(bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera")))
    nothing = place(bpy.data.objects.new("Nothing", bpy.data.meshes.new("Nothing")))
    mesh = bpy.data.meshes.new("Dot")
    mesh.from_pydata([(1.0, 1.0, 1.0)], [], [])
    dot = place(bpy.data.objects.new("Dot", mesh))
    solid = box()
    obstacles = collection(rig, target, pole, light, camera, nothing, dot, empty("Axes"), solid)
    limb = limb_of(rig, target, pole_target=pole, obstacles=obstacles)
    assert [ob.name for ob in limb.obstacle_objects] == ["Box"]
    without = limb_of(rig, target, pole_target=pole, obstacles=obstacles, obstacle_weight=0.0)
    assert without.obstacle_objects == []


@pytest.mark.parametrize(("half", "scale"), [(0.0, 1.0), (0.2, 0.0)])
def test_a_flat_mesh_is_a_wall_and_so_is_one_that_is_scaled_flat(half, scale):
    rig = chain_rig(4)
    wall = box(location=(0.0, 0.1, 1.4), half=(0.2, 0.2, half))
    wall.scale.z = scale
    target = empty(location=(0.0, 0.1, 2.9))
    assert solve_pose(limb_of(rig, target, obstacles=collection(wall), obstacle_margin=0.1)).all_reached
    wall.scale.z = scale or 1e-4  # for its inverse
    bpy.context.view_layer.update()
    assert deepest(rig, wall) < OUT - 0.1


@pytest.mark.parametrize("kind", ["sphere", "cube", "mesh"])
def test_what_is_scaled_to_nothing_at_a_frame_is_in_nobody_s_way_then(kind):
    rig, ob = chain_rig(4), in_the_way(kind)
    target = empty(location=(0.0, 0.1, 2.9))
    obstacles = collection(ob)
    for frame, size in ((1, 1.0), (5, 0.0), (9, 1.0)):
        ob.scale = (size,) * 3
        ob.keyframe_insert("scale", frame=frame)
    bpy.context.scene.frame_set(1)
    assert bake(limb_of(rig, target, obstacles=obstacles), 1, 9).all_reached
    bpy.context.scene.frame_set(9)
    assert deepest(rig, ob) < OUT
    bpy.context.scene.frame_set(5)
    assert solve_pose(limb_of(rig, target, obstacles=obstacles)).all_reached


# What cannot be done


def refused(limb, message):
    for act in (lambda: solve_pose(limb), lambda: bake(limb, 1, 3)):
        with nothing_lost(), pytest.raises(TargetError, match=message):
            act()


@pytest.mark.parametrize("how", ["disabled", "in an excluded collection", "in another scene"])
def test_an_obstacle_that_is_not_evaluated_is_named(how):
    rig, target, ob = chain_rig(3), empty(), box("Crate")
    obstacles = collection(ob)
    if how == "disabled":
        ob.hide_viewport = True
    else:
        bpy.context.scene.collection.objects.unlink(ob)
    if how == "in an excluded collection":
        bpy.context.view_layer.layer_collection.children["Obstacles"].exclude = True
    if how == "in another scene":
        bpy.context.scene.collection.children.unlink(obstacles)
        bpy.data.scenes.new("Other").collection.children.link(obstacles)
    bpy.context.view_layer.update()
    limb = limb_of(rig, target, obstacles=obstacles)
    refused(limb, "Obstacle 'Crate' is disabled in this view layer.*Enable it in viewports or take it out of the")


@pytest.mark.parametrize("how", ["parent", "constraint"])
def test_an_obstacle_that_follows_the_chain_is_named(how):
    rig, target, ob = chain_rig(3), empty(), box("Sleeve")
    if how == "parent":
        ob.parent, ob.parent_type, ob.parent_bone = rig, "BONE", "Bone 1"
    else:
        follow = ob.constraints.new("COPY_LOCATION")
        follow.target, follow.subtarget = rig, "Bone 1"
    bpy.context.view_layer.update()
    limb = limb_of(rig, target, obstacles=collection(ob))
    refused(limb, r"Obstacle 'Sleeve' follows chain bone '.*'\. Take it out of the collection")


def test_a_mesh_that_the_rig_deforms_is_named():
    rig, target, ob = chain_rig(3), empty(), box("Skin")
    ob.parent = rig
    ob.modifiers.new("Armature", "ARMATURE").object = rig
    bpy.context.view_layer.update()
    refused(limb_of(rig, target, obstacles=collection(ob)), "Obstacle 'Skin' is deformed by 'Rig' itself. Take it out")


def test_an_obstacle_that_is_nowhere_is_named():
    rig, target, ob = chain_rig(3), empty(), box("Crate")
    key_location(ob, (1, 2, 3))
    for curve in curves_of(ob):
        curve.keyframe_points[1].co.y = nan
    limb = limb_of(rig, target, obstacles=collection(ob))
    with nothing_lost(), pytest.raises(TargetError, match=r"'Crate' has an invalid position at frame \d \(NaN.*Check"):
        bake(limb, 1, 3)


# What is left as it was


def all_but(rig, found):
    """What a file holds besides the animation and the rotations of the rig and how many actions there are."""
    of_rig = (f"{rig.name}:", f"{rig.name}Action", "number of actions", "number of all_ids")
    return {name: value for name, value in found.items() if not name.startswith(of_rig)}


@pytest.mark.parametrize("wished", [False, True], ids=["without", "with"])
def test_a_bake_changes_nothing_but_the_keys_of_the_limb(wished):
    rig = chain_rig(4)
    target, ball = key_location(empty(), range(1, 12, 4)), volume("SPHERE", (0.3, 0.0, 1.0), 0.2)
    key_location(ball, (1, 9), lambda frame: Vector((0.04 * frame, 0.0, 1.0)))
    crate = box("Crate", (0.0, 0.5, 1.0), (0.2, 0.2, 0.2))
    obstacles = collection(ball, crate)
    wishes = {"effort_weight": 0.5, "rest_weight": 0.5, "obstacles": obstacles, "obstacle_margin": 0.05}
    bpy.context.scene.frame_set(5, subframe=0.25)
    bpy.context.view_layer.update()
    before = all_but(rig, contents())
    with_others = [ob.name for ob in obstacles.all_objects], len(bpy.data.collections), len(bpy.data.scenes)
    report = bake(limb_of(rig, target, **(wishes if wished else {})), 1, 9)
    assert report.keys == 4 * 4 * 9
    assert len(curves_of(rig)) == 16
    assert all_but(rig, contents()) == before
    assert with_others == ([ob.name for ob in obstacles.all_objects], len(bpy.data.collections), len(bpy.data.scenes))
    for ob in (ball, crate):
        assert {user.name for user in ob.users_collection} == {"Scene Collection", "Obstacles"}


def test_a_bake_with_wishes_gives_the_same_keys_twice():
    rig = chain_rig(4)
    target, ball = key_location(empty(), range(1, 12, 4)), volume("SPHERE", (0.3, 0.0, 1.0), 0.2)
    wishes = {"effort_weight": 0.5, "rest_weight": 0.5, "obstacles": collection(ball)}
    keys = []
    for _ in range(2):
        rig.animation_data_clear()
        for bone in rig.pose.bones:
            bone.rotation_quaternion = Quaternion()
        bake(limb_of(rig, target, **wishes), 1, 9)
        keys.append(repr(all_keys(rig)))
    assert keys[0] == keys[1]

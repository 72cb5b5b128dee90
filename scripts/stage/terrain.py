# SPDX-License-Identifier: GPL-3.0-or-later
"""A walk that was animated on flat ground, on a terrain: as it is, and with the feet held on the surface."""

from math import cos, pi, radians, sin, tau

import bmesh
import bpy
from mathutils import Matrix, Quaternion, Vector

from . import body, film, props
from .acts import by_hand

FRAMES, STEP, STRIDE = 96, 16, 0.62  # frames in all and of a step; metres of a step
LOW = 0.05  # metres that the hips are lower than at rest
HEIGHT, SOLE = 0.17, 0.02  # of a swinging foot; of the ball of a foot above the ground
LEAST = 1e-3
GRASS = (0.16, 0.24, 0.1)
FROM = Vector((3.2, -3.4, 2.1))  # the camera, from the hips
SIZE = 250, 280
FEET = ("foot.L", "foot.R")


def hill(x, y):
    """Height of the ground [m]."""
    return 0.16 * sin(2.4 * y + 0.4) * cos(1.1 * x) + 0.07 * sin(5.0 * y + 2.0) + 0.12 * x


def move(file):
    """Write the film: the flat walk on the left, the one with its feet on the ground on the right."""
    props.studio()
    bpy.data.objects["Ground"].hide_render = True
    rig, ground = make()
    frames = range(1, FRAMES + 1, film.STEP)
    _camera(rig)
    flat = film.shoot("Terrain", frames, SIZE)
    stand(rig, ground)
    film.write(film.beside(flat, film.shoot("Terrain", frames, SIZE)), file)


def make():
    """Make a body that walks on flat ground, by keys on its bones, and a terrain; return both."""
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, FRAMES
    rig, collection = body.only_body("Terrain", "Walker")
    walk(rig, collection)
    return rig, _ground(collection)


def stand(rig, ground):
    """Find Contacts, choose the terrain for both feet, and Bake; return the report."""
    from ik_triangulation.api import bake_body, find_contacts
    from ik_triangulation.jobs.shots.problem import body_of

    find_contacts(rig, 1, FRAMES, FEET)
    for foot in FEET:
        limb = rig.pose.bones[foot].ik_triangulation
        limb.target, limb.shape, limb.surface_offset, limb.orientation = ground, "SURFACE", SOLE, "FULL"
    return bake_body(body_of(rig, FEET[0]), 1, FRAMES)


def walk(rig, collection):
    """Key all bones on every frame: hips and arms by hand, legs by a bake whose keys are made ordinary ones."""
    from ik_triangulation.api import Limb, bake_limbs

    bones, legs = rig.pose.bones, []
    into = bones["spine"].bone.matrix_local.to_3x3().inverted()
    for frame in range(1, FRAMES + 1):
        turn = tau * (frame - 1) / (2 * STEP)
        bob = Vector((0.02 * sin(turn), -STRIDE * (frame - 1) / STEP, -LOW - 0.012 * cos(2.0 * turn)))
        bones["spine"].location = into @ bob
        bones["spine"].keyframe_insert("location", frame=frame)
        for name, axis, angle in (
            ("spine.001", "Y", 3.0 * sin(turn)),
            ("spine.003", "Y", -9.0 * sin(turn)),
            ("spine.005", "Y", 6.0 * sin(turn)),
            ("upper_arm.L", "SWING", -22.0 * sin(turn)),
            ("upper_arm.R", "SWING", 22.0 * sin(turn)),
            ("forearm.L", "BEND", 22.0 - 12.0 * sin(turn)),
            ("forearm.R", "BEND", 22.0 + 12.0 * sin(turn)),
        ):
            bones[name].rotation_quaternion = _turn(bones[name], axis, radians(angle))
            bones[name].keyframe_insert("rotation_quaternion", frame=frame)
    for foot, phase in zip(FEET, (0, STEP), strict=True):
        empty = bpy.data.objects.new(f"Step {foot}", None)
        empty.empty_display_type, empty.rotation_mode = "ARROWS", "QUATERNION"
        collection.objects.link(empty)
        rest = rig.data.bones[foot]
        for frame in range(1, FRAMES + 1):
            lap, t = divmod(frame - 1 + phase, 2 * STEP)
            swing = max(0.0, (t - STEP + 1) / (STEP + 1))
            ahead = swing * swing * (3.0 - 2.0 * swing)
            along = STRIDE * (2.0 * (lap + ahead) - phase / STEP + 0.5)
            up = HEIGHT * sin(pi * swing) ** 2 * (1.0 - 0.5 * swing)
            toes = 25.0 * sin(tau * swing) * (1.0 if swing < 0.5 else 0.7)  # they hang, and then are pulled up
            empty.location = rest.tail_local + Vector((0.0, -along, up))
            empty.rotation_quaternion = Quaternion((1.0, 0.0, 0.0), radians(toes)) @ rest.matrix_local.to_quaternion()
            empty.keyframe_insert("location", frame=frame)
            empty.keyframe_insert("rotation_quaternion", frame=frame)
        legs.append(Limb.from_tip(rig, foot, empty, 3, orientation="FULL"))
    bake_limbs(legs, 1, FRAMES)
    by_hand(rig, [name for leg in legs for name in leg.bones], range(1, FRAMES + 1))
    for leg in legs:
        bpy.data.objects.remove(leg.target)


def _turn(bone, axis, angle):
    """Rotation of a bone in its own axes: about its own Y, or an arm's that hangs and swings, or bends at the elbow."""
    if axis == "Y":
        return Quaternion((0.0, 1.0, 0.0), angle)
    rest = bone.bone.matrix_local.to_3x3()
    side = 1.0 if bone.name.endswith(".L") else -1.0
    if axis == "BEND":
        about = rest.transposed() @ Vector((-1.0, 0.0, 0.4 * side)).normalized()
        return Quaternion(about, angle)
    hang = Matrix.Rotation(side * radians(43.0), 3, "Y")
    swung = Matrix.Rotation(angle, 3, "X")
    return (rest.transposed() @ swung @ hang @ rest).to_quaternion()


def _ground(collection):
    """A field along the walk, of quads."""
    shape = bmesh.new()
    bmesh.ops.create_grid(shape, x_segments=60, y_segments=160, size=1.0)
    for vertex in shape.verts:
        x, y = 1.6 * vertex.co.x, 4.2 * vertex.co.y - 2.0
        vertex.co = (x, y, hill(x, y))
    return props.add(collection, "Field", shape, GRASS, roughness=0.9)


def _camera(rig):
    """A camera that goes with the walk."""
    camera = props.camera("Terrain Camera", FROM + Vector((0, 0, 0.9)), Vector((0.0, -0.2, 0.9)), 2.5)
    for frame in (1, FRAMES):
        camera.location.y = FROM.y - STRIDE * (frame - 1) / STEP
        camera.keyframe_insert("location", frame=frame)
    for curve in camera.animation_data.action.layers[0].strips[0].channelbags[0].fcurves:
        for key in curve.keyframe_points:
            key.interpolation = "LINEAR"

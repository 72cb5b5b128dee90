# SPDX-License-Identifier: GPL-3.0-or-later
"""A walk with claps, and a character of other proportions that does the same by Follow Another Rig and Bake."""

from math import cos, tau

import bmesh
import bpy
from mathutils import Vector

from . import body, film, props
from .acts import Actor, by_hand
from .terrain import FRAMES, STEP, STRIDE, walk

PALMS = Vector((0.034, -0.36, 1.36))  # place of a left hand's knuckles in a clap, from where the hips are [m]
APART, TURNED = 0.2, ((-0.1, -0.72, 0.7), (-0.25, 0.6, 0.8))  # m between claps; where fingers and thumb point
HIP, SHOULDER, NECK = 1.03, Vector((0.17, 0.0, 1.585)), Vector((0.0, 0.0, 1.6))  # of the metarig [m]
LEGS, ARMS, HEAD = 0.7, 1.2, 1.3  # sizes of the other's
SHIRT = (0.5, 0.16, 0.03)
PLANK, PLANKS = (0.9, 0.05, 0.012), (0.1, 0.15, 0.16)  # m, half a step apart; colour
VIEW = Vector((2.5, -3.6, 1.75)), 2.45  # the camera, from the hips; metres that it sees
SIZE = 240, 290


def move(file):
    """Write the film: the one that walks on the left, the one that follows on the right."""
    props.studio()
    leader, follower, following, _ = make()
    frames, shown = range(1, FRAMES + 1, film.STEP), []
    for rig, size in ((leader, 1.0), (follower, following.scale)):
        _camera(rig.name, rig.location, STRIDE * size)
        shown.append(film.shoot(rig.name, frames, SIZE))
    film.write(film.beside(*shown), file, quality=50)


def make():
    """Make both and have one follow the other; return them, what is followed, and the report of the bake."""
    from ik_triangulation.api import bake_body, follow_rig
    from ik_triangulation.jobs.shots.problem import body_of

    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, FRAMES
    leader, collection = body.only_body("Leader", "Leader")
    walk(leader, collection)
    _clap(Actor(leader, collection, 0.0))
    _planks(collection, leader.location)
    follower, collection = body.only_body("Follower", "Follower")
    follower.location = (4.0, 0.0, 0.0)
    _reshape(follower)
    _planks(collection, follower.location)
    following = follow_rig(follower, leader, 1, FRAMES)
    return leader, follower, following, bake_body(body_of(follower, following.tips[0]), 1, FRAMES)


def _clap(actor):
    """Have both hands clap at each step, by keys on every frame."""
    from ik_triangulation.api import Limb, bake_limbs

    for side in "LR":
        keys = []
        for frame in range(1, FRAMES + 1):
            apart = APART * (0.5 - 0.5 * cos(tau * (frame - 1) / STEP))
            way = Vector((apart, -STRIDE * (frame - 1) / STEP, -0.3 * apart))
            keys.append((frame, PALMS + way, *TURNED))
        actor.hand(side, *keys)
    arms = [Limb.of(actor.rig.pose.bones[f"hand.{side}"]) for side in "LR"]
    bake_limbs(arms, 1, FRAMES)
    by_hand(actor.rig, [name for arm in arms for name in arm.bones], range(1, FRAMES + 1))


def _reshape(rig):
    """Give a body other proportions and another shirt."""
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    bones = rig.data.edit_bones
    ends = {bone.name: (_other(bone.head), _other(bone.tail)) for bone in bones}
    for name, (head, tail) in ends.items():
        bones[name].head, bones[name].tail = head, tail
    bpy.ops.object.mode_set(mode="OBJECT")
    for skin in rig.children:
        for vertex in skin.data.vertices:
            vertex.co = _other(vertex.co)
        if skin.data.materials[0].name.startswith("Shirt"):
            skin.data.materials[0] = body.material("Other Shirt", SHIRT)


def _other(place):
    """Where a place at rest is on a character with short legs, long arms and a large head."""
    new = place.copy()
    side = 1.0 if place.x >= 0.0 else -1.0
    if place.z > HIP and abs(place.x) > SHOULDER.x - 0.03:
        grown = 1.0 + (ARMS - 1.0) * _ramp(abs(place.x), SHOULDER.x - 0.03, SHOULDER.x + 0.1)
        from_shoulder = Vector((side * place.x, place.y, place.z)) - SHOULDER
        new = SHOULDER + from_shoulder * grown
        new.x *= side
    elif place.z > NECK.z:
        new = NECK + (place - NECK) * (1.0 + (HEAD - 1.0) * _ramp(place.z, NECK.z, NECK.z + 0.15))
    new.z -= (1.0 - LEGS) * min(place.z, HIP)
    return new


def _ramp(value, low, high):
    share = min(1.0, max(0.0, (value - low) / (high - low)))
    return share * share * (3.0 - 2.0 * share)


def _planks(collection, here):
    """Lay planks across the way, by which one sees that no foot slides."""
    shape = bmesh.new()
    for number in range(-4, int(2 * FRAMES / STEP) + 8):
        made = bmesh.ops.create_cube(shape, size=1.0)["verts"]
        bmesh.ops.scale(shape, vec=PLANK, verts=made)
        bmesh.ops.translate(shape, vec=Vector(here) + Vector((0.0, -0.5 * STRIDE * number, 0.0)), verts=made)
    props.add(collection, "Planks", shape, PLANKS, roughness=0.9)


def _camera(name, here, stride):
    """A camera that goes with a walk, a step of which is so long."""
    place, height = VIEW
    at = Vector(here) + Vector((0.0, -0.1, 0.95))
    camera = props.camera(f"{name} Camera", Vector(here) + place, at, height)
    start = camera.location.y
    for frame in (1, FRAMES):
        camera.location.y = start - stride * (frame - 1) / STEP
        camera.keyframe_insert("location", frame=frame)
    for curve in camera.animation_data.action.layers[0].strips[0].channelbags[0].fcurves:
        for key in curve.keyframe_points:
            key.interpolation = "LINEAR"

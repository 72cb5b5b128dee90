# SPDX-License-Identifier: GPL-3.0-or-later
"""Rigify's cat with a coat and a tail of many bones, whose tip follows a ball by circular alignment.

Lengths are metres in the rest pose of the metarig, which looks along -Y. Parts are hulls of spheres; those on the left
are mirrored.
"""

from math import cos, radians, sin, tau

import bpy
from mathutils import Vector

from . import film, props
from .acts import FRAMES, press_plus
from .body import mirrored, skin, weigh

BONES, LENGTH, RADIUS = 14, 0.5, 0.015  # of the tail
TRUNK = [
    [((0.012, 0.125, 0.235), 0.052), ((0.0, 0.04, 0.212), 0.054)],
    [((0.0, 0.04, 0.212), 0.054), ((0.0, -0.05, 0.205), 0.056), ((0.008, -0.125, 0.212), 0.053)],
    [((0.0, -0.125, 0.225), 0.05), ((0.0, -0.195, 0.268), 0.037)],
    [((0.012, -0.215, 0.292), 0.04), ((0.014, -0.245, 0.28), 0.032), ((0.0, -0.272, 0.268), 0.018)],
]
LEGS = [
    [((0.026, -0.125, 0.21), 0.032), ((0.031, -0.1, 0.123), 0.019), ((0.031, -0.118, 0.03), 0.013)],
    [((0.031, -0.118, 0.02), 0.015), ((0.031, -0.14, 0.012), 0.0135)],
    [((0.026, 0.12, 0.235), 0.043), ((0.03, 0.1, 0.17), 0.032), ((0.029, 0.165, 0.108), 0.016)],
    [((0.029, 0.165, 0.108), 0.016), ((0.029, 0.153, 0.02), 0.0125), ((0.029, 0.13, 0.012), 0.0135)],
]
EARS = [[((0.02, -0.208, 0.32), 0.012), ((0.03, -0.19, 0.322), 0.009), ((0.032, -0.2, 0.356), 0.003)]]
EYES = [[((0.018, -0.2745, 0.292), 0.0065)]]
NOSE = [[((0.0, -0.2885, 0.271), 0.0055)]]
COAT, DARK = (0.33, 0.135, 0.042), (0.012, 0.012, 0.012)
VIEW = (2.15, 0.75, 0.75), (0.0, 0.17, 0.335), 0.72
SIZE = 480, 320


def move(file):
    """Write the film."""
    props.studio()
    make()
    props.camera("Cat Camera", *VIEW)
    film.write(film.shoot("Cat", range(1, FRAMES + 1, film.STEP), SIZE), file)


def make():
    """Make the cat, a ball, and the keys with which its tail follows that; return the report of the bake."""
    rig = _cat()
    collection = bpy.data.collections.new("Cat")
    bpy.context.scene.collection.children.link(collection)
    ball = props.ball(collection, 0.022)
    _circle(ball)
    return _bake(rig, ball)


def _cat():
    import addon_utils

    addon_utils.enable("rigify", default_set=True)
    bpy.ops.object.armature_cat_metarig_add()
    rig = bpy.context.object
    tail = _lengthen(rig)
    for bone in rig.data.bones:
        above = {bone.name, *(b.name for b in bone.parent_recursive)}
        bone.use_deform = not any("face" in name or "ear" in name for name in above)
    for bone in rig.pose.bones:
        bone.rotation_mode = "QUATERNION"
    coat = [hull + mirrored(hull) for hull in TRUNK] + LEGS + EARS + [mirrored(hull) for hull in LEGS + EARS]
    thickness = [RADIUS * (1.0 - 0.4 * number / BONES) for number in range(BONES + 1)]
    coat += [[(tail[n], thickness[n]), (tail[n + 1], thickness[n + 1])] for n in range(BONES)]
    weigh(skin("Coat", coat, 0.0045, COAT), rig)
    weigh(skin("Dark", EYES + NOSE + [mirrored(hull) for hull in EYES], 0.0015, DARK), rig)
    return rig


def _lengthen(rig):
    """Give the cat a tail of many bones that rises behind it; return the places of its joints."""
    bpy.ops.object.mode_set(mode="EDIT")
    bones = rig.data.edit_bones
    for bone in [bone for bone in bones if bone.name.startswith("tail")]:
        bones.remove(bone)
    places = [Vector((0.0, 0.15, 0.25))]
    for number in range(BONES):
        up = radians(-5.0 + 60.0 * number / BONES)
        places.append(places[-1] + Vector((0.0, cos(up), sin(up))) * (LENGTH / BONES))
        bone = bones.new(f"tail.{number + 1:03}")
        bone.head, bone.tail = places[-2:]
        bone.parent = bones[f"tail.{number:03}"] if number else bones["spine"]
        bone.use_connect = number > 0
        bone.align_roll(Vector((1.0, 0.0, 0.0)))
    bpy.ops.object.mode_set(mode="OBJECT")
    return places


def _circle(ball):
    """Key a ball in a tilted figure of eight behind the cat."""
    for frame in range(1, FRAMES + 6, 5):
        turn = tau * (frame - 1) / FRAMES
        ball.location = Vector((0.1 * sin(2.0 * turn), 0.36 + 0.15 * cos(turn), 0.45 + 0.1 * sin(turn)))
        ball.keyframe_insert("location", frame=frame)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, FRAMES


def _bake(rig, ball):
    """Have the whole tail follow the ball, from + and Bake; nothing else is set but the solver."""
    from ik_triangulation.api import Limb, bake

    press_plus(rig, f"tail.{BONES:03}", ball)
    tip = rig.pose.bones[f"tail.{BONES:03}"]
    tip.ik_triangulation.solver = "CIRCULAR"
    return bake(Limb.of(tip), 1, FRAMES)

# SPDX-License-Identifier: GPL-3.0-or-later
"""An animated arm whose hand's path is keyed as a target, is edited there, and baked back."""

from math import cos, pi

import bpy
from mathutils import Vector

from . import body, film, props
from .acts import FRAMES, HANG, Actor, by_hand

EDIT, AT, WIDTH = Vector((0.02, -0.02, 0.3)), 61, 34  # metres, about a frame, fading within frames
WAYS = (
    (1, *HANG),
    (32, (0.33, -0.36, 1.2), (-0.25, -0.9, 0.35), (-0.6, 0.3, 0.8)),
    (AT, (0.02, -0.42, 1.38), (-0.75, -0.55, 0.4), (-0.3, 0.4, 0.9)),
    (90, (0.4, -0.32, 1.26), (0.1, -0.8, 0.6), (-0.7, 0.2, 0.75)),
    (FRAMES + 1, *HANG),
)
ORANGE, GREY = (0.9, 0.22, 0.02), (0.42, 0.45, 0.45)
THICK = 0.006
VIEW = (1.5, -3.2, 1.75), (0.13, -0.1, 1.43), 1.25
SIZE = 270, 290


def move(file):
    """Write the film: the animation with its path on the left, the edited one on the right."""
    props.studio()
    actor, limb = make()
    props.camera("Path Camera", *VIEW)
    frames = range(1, FRAMES + 1, film.STEP)
    before = draw(actor, limb.target, ORANGE)
    shown = film.shoot("Path", frames, SIZE)
    edit(limb)
    before.data.materials[0] = body.material("Before", GREY)
    draw(actor, limb.target, ORANGE)
    film.write(film.beside(shown, film.shoot("Path", frames, SIZE)), file)


def make():
    """Make a body whose left arm is animated by keys, and its target from that; return the actor and the limb."""
    from ik_triangulation.api import Limb, bake, target_from_animation

    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, FRAMES
    rig, collection = body.only_body("Path", "Waver")
    actor = Actor(rig, collection, 0.0)
    tips = [actor.rig.pose.bones[f"hand.{side}"] for side in "LR"]
    actor.hand("R", (1, *HANG))
    actor.hand("L", *WAYS)
    for tip, last in zip(tips, (FRAMES, 1), strict=True):
        bake(Limb.of(tip), 1, last)
        by_hand(actor.rig, Limb.of(tip).bones, range(1, last + 1))
        actor.curl(tip.name[-1], 10.0)
    limb = Limb.of(tips[0])
    limb.target.animation_data_clear()
    target_from_animation([limb], 1, FRAMES)
    return actor, limb


def edit(limb):
    """Raise the path of the target about a frame, and Bake; return the report."""
    from ik_triangulation.api import bake

    for curve in limb.target.animation_data.action.layers[0].strips[0].channelbags[0].fcurves:
        if curve.data_path == "location":
            for key in curve.keyframe_points:
                share = 0.5 + 0.5 * cos(pi * min(1.0, abs(key.co.x - AT) / WIDTH))
                key.co.y += EDIT[curve.array_index] * share
            curve.update()
    return bake(limb, 1, FRAMES)


def draw(actor, target, colour):
    """Draw where a target goes as a line of its own; return the object."""
    scene, places = bpy.context.scene, []
    for frame in range(1, FRAMES + 1):
        scene.frame_set(frame)
        places.append(target.matrix_world.translation.copy())
    curve = bpy.data.curves.new("Way", "CURVE")
    curve.dimensions, curve.bevel_depth = "3D", THICK
    line = curve.splines.new("POLY")
    line.points.add(len(places) - 1)
    for point, place in zip(line.points, places, strict=True):
        point.co = (*place, 1.0)
    curve.materials.append(body.material("Way", colour))
    made = bpy.data.objects.new("Way", curve)
    actor.collection.objects.link(made)
    return made

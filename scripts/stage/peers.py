# SPDX-License-Identifier: GPL-3.0-or-later
"""The same frames of an arm that follows a cup, by a published method, by the default solver and by Blender's IK."""

import bmesh
import bpy
from mathutils import Vector

from . import body, film, props
from .acts import FRAMES, circle, press_plus

METHODS = "TRIANGULATION", "NATURAL", "BLENDER"  # a row each
SHOWN = range(1, FRAMES, FRAMES // 8)
VIEW = (1.9, -3.2, 1.75), (0.16, -0.1, 1.5), 1.12


def picture(file):
    """Write the rows; the cup is drawn as a ball."""
    scene = bpy.context.scene
    first = body.make_body()
    props.studio()
    rows = []
    for method in METHODS:
        collection = bpy.data.collections.new(method)
        scene.collection.children.link(collection)
        rig = body.copy_body(first, method.title(), collection)
        cup = _ball(collection)
        circle(rig, cup)
        _follow(rig, cup, method)
        props.camera(f"{method} Camera", *VIEW)
    for ob in [*first.children, first]:
        bpy.data.objects.remove(ob)
    rows = [film.shoot(method, SHOWN) for method in METHODS]
    film.sheet(rows, file)


def _follow(rig, cup, method):
    """Have the left arm follow the cup, from + and Bake or by a constraint; nothing else is set but the solver."""
    from ik_triangulation.api import Limb, bake

    tip = rig.pose.bones["hand.L"]
    if method == "BLENDER":
        ik = tip.constraints.new("IK")
        ik.target, ik.chain_count = cup, 3
    else:
        press_plus(rig, tip.name, cup)
        tip.ik_triangulation.solver = method
        bake(Limb.of(tip), 1, FRAMES)


def _ball(collection):
    """An empty with a red ball on it, so that it stays a point."""
    empty = bpy.data.objects.new("Cup", None)
    shape = bmesh.new()
    bmesh.ops.create_icosphere(shape, subdivisions=3, radius=0.05)
    ball = props.add(collection, "Ball", shape, props.CHINA)
    ball.parent = empty
    collection.objects.link(empty)
    ball.location = Vector()
    return empty

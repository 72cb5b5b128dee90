# SPDX-License-Identifier: GPL-3.0-or-later
"""The same arm by the default solver and by others: a published method, Blender's IK."""

import bpy

from . import body, film, props
from .acts import FRAMES, circle, press_plus

SHOWN = range(1, FRAMES, FRAMES // 8)
VIEW = (1.9, -3.2, 1.75), (0.16, -0.1, 1.5), 1.12
SIZE = 280, 320


def picture(file):
    """Write eight frames of each, a row each."""
    methods = "TRIANGULATION", "NATURAL", "BLENDER"
    _set_up(methods)
    film.sheet([film.shoot(method, SHOWN) for method in methods], file)


def move(file):
    """Write a film of the hand that takes a cup, by Blender's IK with the same empties and by + and Bake."""
    from demo import bake_all, make_scene

    actors = make_scene("Reach")
    film.set_up(actors)
    bake_all(actors)
    frames = range(1, FRAMES + 1, film.STEP)
    ours = film.shoot("Reach", frames, SIZE)
    _constrain(actors["Reach"].rig, "hand.L", "hand.R")
    film.write(film.beside(film.shoot("Reach", frames, SIZE), ours), file)


def _constrain(rig, *tips):
    """Give limbs an IK constraint that also copies the target's rotation, instead of their keys."""
    from ik_triangulation.api import Limb, delete_generated

    for tip in tips:
        bones = Limb.of(rig.pose.bones[tip]).bones
        delete_generated(rig, bones)
        for bone in bones:
            rig.pose.bones[bone].rotation_quaternion.identity()
        ik = rig.pose.bones[tip].constraints.new("IK")
        ik.target, ik.chain_count = rig.pose.bones[tip].ik_triangulation.target, len(bones)
        ik.use_rotation = True


def _set_up(methods):
    """A body and a ball for each method, at the same place, in a collection of its own."""
    scene = bpy.context.scene
    first = body.make_body()
    props.studio()
    for method in methods:
        collection = bpy.data.collections.new(method)
        scene.collection.children.link(collection)
        rig = body.copy_body(first, method.title(), collection)
        ball = props.ball(collection, 0.05)
        circle(rig, ball)
        _follow(rig, ball, method)
        props.camera(f"{method} Camera", *VIEW)
    for ob in [*first.children, first]:
        bpy.data.objects.remove(ob)


def _follow(rig, ball, method):
    """Have the left arm follow the ball, from + and Bake or by a constraint; nothing else is set but the solver."""
    from ik_triangulation.api import Limb, bake

    tip = rig.pose.bones["hand.L"]
    if method == "BLENDER":
        ik = tip.constraints.new("IK")
        ik.target, ik.chain_count = ball, 3
    else:
        press_plus(rig, tip.name, ball)
        tip.ik_triangulation.solver = method
        bake(Limb.of(tip), 1, FRAMES)

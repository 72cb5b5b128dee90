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


def crouch(file):
    """Write a film of a crate that is taken from the floor, by Blender's IK on hands and feet and by Set Up Body."""
    from demo import bake_all, make_scene

    actors = make_scene("Crouch")
    film.set_up(actors)
    bake_all(actors)
    frames = range(1, FRAMES + 1, film.STEP)
    ours = film.shoot("Crouch", frames, SIZE)
    rig = actors["Crouch"].rig
    rig.animation_data_clear()
    for bone in rig.pose.bones:
        if bone.ik_triangulation.hold:
            bone.ik_triangulation.target = _stand(rig, bone)
    for bone in rig.pose.bones:  # the fingers stay as they are
        if not bone.name.startswith(("f_", "thumb")):
            bone.matrix_basis.identity()
    for bone in rig.pose.bones:
        if bone.ik_triangulation.target:
            _follow_by_ik(bone, 0)
    film.write(film.beside(film.shoot("Crouch", frames, SIZE), ours), file)


def _stand(rig, bone):
    """An empty where a foot is at rest."""
    empty = bpy.data.objects.new(f"{bone.name} Stand", None)
    rig.users_collection[0].objects.link(empty)
    empty.matrix_world = rig.matrix_world @ bone.bone.matrix_local
    empty.location = rig.matrix_world @ bone.bone.tail_local
    return empty


def _follow_by_ik(bone, length):
    """Have Blender's IK turn so many bones, 0 for all, such that a bone's tail and rotation are those of its target."""
    ik = bone.constraints.new("IK")
    ik.target, ik.chain_count, ik.use_rotation = bone.ik_triangulation.target, length, True


def _constrain(rig, *tips):
    """Give limbs an IK constraint that also copies the target's rotation, instead of their keys."""
    from ik_triangulation.api import Limb, delete_generated

    for tip in tips:
        bones = Limb.of(rig.pose.bones[tip]).bones
        delete_generated(rig, bones)
        for bone in bones:
            rig.pose.bones[bone].rotation_quaternion.identity()
        _follow_by_ik(rig.pose.bones[tip], len(bones))


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

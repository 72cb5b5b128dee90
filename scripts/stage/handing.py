# SPDX-License-Identifier: GPL-3.0-or-later
"""A cup is taken from a table with the left hand, handed over to the right one and put down, by a Reach of each."""

from math import radians

import bpy
from mathutils import Matrix, Vector

from . import body, film, props
from .acts import FRAMES, TABLE, THUMB, Actor, axes

HERE, THERE, BETWEEN = (0.23, -0.4, TABLE), (-0.23, -0.4, TABLE), (0.0, -0.43, TABLE + 0.27)  # of the cup, metres
GRASP = Vector((0.05, 0.04, 0.055)), Vector((-0.35, -1.0, -0.05)), Vector((-0.1, 0.0, 1.0))  # from the cup
LIE = (0.33, -0.28, TABLE + 0.085), (-0.25, -1.0, 0.12), (-1.0, 0.25, 0.0)  # a left hand on the table
INWARDS = radians(28.0)  # turn of both hands where they meet
TAKEN, MEET, PUT, RETURN = 26, 56, 88, 26  # frames
VIEW = (1.05, -3.3, 2.0), (0.0, -0.16, 1.46), 1.1
SIZE = 360, 320


def move(file):
    """Write the film."""
    props.studio()
    make()
    props.camera("Handing Camera", *VIEW)
    film.write(film.shoot("Handing", range(1, FRAMES + 1, film.STEP), SIZE), file)


def make():
    """Make a body, a table, a cup and the keys of both reaches; return their reports and the cup."""
    from ik_triangulation.api import Limb, Stop, bake, bake_limbs, reach_through

    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, FRAMES
    rig, collection = body.only_body("Handing", "Hander")
    actor = Actor(rig, collection, 0.0)
    props.table(collection, actor.here, TABLE)
    cup = props.cup(collection, Vector(HERE))
    ways = (1, 0, 0, 8, 0), (TAKEN, 7, 4, 20, 16), (MEET, 3, 0, 14, 0), (PUT, 7, -4, 20, -16), (FRAMES, 0, 0, 8, 0)
    actor.trunk(*ways)
    bones = actor.rig.pose.bones
    bake_limbs([Limb.of(bones[name]) for name in ("spine.003", "spine.006")], 1, FRAMES)
    for side in "LR":
        actor.hand(side, (1, *LIE))
        bake(Limb.of(bones[f"hand.{side}"]), 1, 1)
        actor.curl(side, 12.0)
    grasp, left, right = (
        hand_target(actor, *told) for told in (("L", HERE, 0.0), ("L", BETWEEN, -INWARDS), ("R", BETWEEN, INWARDS))
    )
    put = hand_target(actor, "R", THERE, 0.0)
    taking = [Stop(grasp, TAKEN, 4, take="TAKE", prop=cup), Stop(left, MEET, 6)]
    reports = [reach_through(Limb.of(bones["hand.L"]), taking, 1, return_frames=RETURN)]
    giving = [Stop(right, MEET, 6, take="TAKE", prop=cup), Stop(put, PUT, 4, take="GIVE", prop=cup)]
    reports.append(reach_through(Limb.of(bones["hand.R"]), giving, 20, return_frames=RETURN))
    return reports, cup


def hand_target(actor, side, place, turned, grip=GRASP):
    """An empty for a hand that holds the cup at a place, turned about it by an angle.

    `grip` is where the knuckles of a left hand are from the cup, and where its fingers and its thumb point.
    """
    mirror = Vector((1.0 if side == "L" else -1.0, 1.0, 1.0))
    turn = Matrix.Rotation(turned, 3, "Z")
    offset, fingers, thumb = (turn @ (mirror * each) for each in grip)
    bone = actor.rig.data.bones[f"hand.{side}"]
    rest = axes(bone.tail_local - bone.head_local, THUMB)
    rotation = (axes(fingers, thumb) @ rest.transposed()).to_quaternion() @ bone.matrix_local.to_quaternion()
    empty = bpy.data.objects.new(f"Hand {side}", None)
    empty.empty_display_type, empty.empty_display_size = "ARROWS", 0.1
    actor.collection.objects.link(empty)
    empty.rotation_mode = "QUATERNION"
    empty.location, empty.rotation_quaternion = Vector(place) + offset, rotation
    return empty

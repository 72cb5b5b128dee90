# SPDX-License-Identifier: GPL-3.0-or-later
"""A hand that reaches for a cup closes its fingers around it by Grasp, lifts it, and lets go; seen from near."""

from math import radians

import bpy
from mathutils import Quaternion, Vector

from . import body, film, props
from .acts import Actor
from .handing import hand_target

LAST, STEP = 84, 2  # frames in all, and from one image of the film to the next, which makes it slow
BAR = 1.2  # height of the table's top, metres
HERE, LIFTED = (0.21, -0.42, BAR), (0.17, -0.38, BAR + 0.11)  # of the cup
GRIP = Vector((0.038, 0.009, 0.07)), Vector((0.0, -1.0, -0.05)), Vector((-0.1, 0.0, 1.0))  # from the cup
THUMB_OUT = radians(35.0)  # of the open hand: it clears the cup
TUMBLER = (0.8, 0.8, 1.4)  # a hand is as high as a cup, and wants one that is taller
BESIDE = (0.32, -0.2, BAR + 0.1), (0.0, -1.0, 0.0), (-0.2, 0.0, 1.0)  # a left hand before it reaches
REACHED, UP, DOWN, RETURN = 24, 44, 60, 18  # frames
VIEW = (0.3, -1.35, 1.95), (0.22, -0.36, BAR + 0.09), 0.4
SIZE = 360, 320


def move(file):
    """Write the film."""
    props.studio()
    make()
    props.camera("Grasping Camera", *VIEW)
    film.write(film.shoot("Grasping", range(1, LAST + 1, STEP), SIZE), file)


def make():
    """Make a body, a table, a cup, a reach for it and the grasp; return the reports of both and the cup."""
    from ik_triangulation.api import Limb, Stop, bake, grasp, reach_through

    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, LAST
    rig, collection = body.only_body("Grasping", "Grasper")
    actor = Actor(rig, collection, 0.0)
    props.table(collection, actor.here, BAR)
    cup = props.cup(collection, Vector(HERE))
    cup.scale = TUMBLER
    actor.hand("L", (1, *BESIDE))
    arm = Limb.of(actor.rig.pose.bones["hand.L"])
    bake(arm, 1, 1)
    actor.curl("L", 6.0)
    rig.pose.bones["thumb.01.L"].rotation_quaternion = Quaternion((0.0, 0.0, 1.0), THUMB_OUT)
    at, up = hand_target(actor, "L", HERE, 0.0, GRIP), hand_target(actor, "L", LIFTED, 0.0, GRIP)
    stops = [
        Stop(at, REACHED, 4, take="TAKE", prop=cup),
        Stop(up, UP, 2),
        Stop(at, DOWN, 6, take="GIVE", prop=cup),
    ]
    reach = reach_through(arm, stops, 1, return_frames=RETURN)
    return reach, grasp(rig, "hand.L", cup), cup

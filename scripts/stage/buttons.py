# SPDX-License-Identifier: GPL-3.0-or-later
"""A fist that presses three buttons one after the other, by Reach with stops."""

from mathutils import Vector

from . import body, film, props
from .acts import FRAMES, HANG, Actor

BUTTONS = ((0.4, -0.33, 1.17), (0.1, -0.37, 1.36), (0.36, -0.3, 1.66))  # metres, before the left arm
ARRIVE, STAY, RETURN = (26, 54, 82), 6, 26  # frames
RADIUS, PRESSED = 0.045, 0.75
VIEW = (1.5, -3.1, 1.75), (0.13, -0.12, 1.42), 1.18
SIZE = 360, 320


def move(file):
    """Write the film."""
    props.studio()
    make()
    props.camera("Buttons Camera", *VIEW)
    film.write(film.shoot("Buttons", range(1, FRAMES + 1, film.STEP), SIZE), file)


def make():
    """Make a body, the buttons and the keys of the reach; return its report."""
    from ik_triangulation.api import Limb, Stop, bake, reach_through

    rig, collection = body.only_body("Buttons", "Presser")
    actor = Actor(rig, collection, 0.0)
    for side in "LR":
        actor.hand(side, (1, *HANG))
        bake(Limb.of(actor.rig.pose.bones[f"hand.{side}"]), 1, 1)
    actor.curl("L", 75.0)
    balls = [_button(collection, place, frame) for place, frame in zip(BUTTONS, ARRIVE, strict=True)]
    arm = Limb.from_tip(actor.rig, "hand.L", balls[0], chain_count=3)
    stops = [Stop(ball, frame, STAY) for ball, frame in zip(balls, ARRIVE, strict=True)]
    return reach_through(arm, stops, 1, return_frames=RETURN)


def _button(home, place, frame):
    """A ball on an empty, which is smaller while it is pressed."""
    ball = props.ball(home, RADIUS)
    ball.location = Vector(place)
    (shown,) = ball.children
    for at, size in ((frame - 1, 1.0), (frame, PRESSED), (frame + STAY, PRESSED), (frame + STAY + 3, 1.0)):
        shown.scale = (size, size, size)
        shown.keyframe_insert("scale", frame=at)
    return ball

# SPDX-License-Identifier: GPL-3.0-or-later
"""Film of the trail: a dot of a baked hand's path is pulled with its ghosts shown, the body follows; then it plays."""

from math import radians

import bpy

from scripts.windowed.inside import hands, screen, wait
from scripts.windowed.inside.screen import Steps
from scripts.windowed.pictures.figure import HAND, add_figure, at_frame
from scripts.windowed.pictures.film import Film

SIZE = (900, 760)
AT = 16  # frame that is pulled
LAST = 60


def script() -> Steps:
    film = Film("trail")
    rig = add_figure(radians(35.0))
    bpy.ops.pose.ik_triangulation_bake(frame_start=1, frame_end=LAST)
    scene = bpy.context.scene
    scene.frame_set(1)
    scene.ik_triangulation_trail.show = True
    ghosts = scene.ik_triangulation_ghosts
    ghosts.show = True
    bpy.ops.ed.undo_push(message="Baked")
    hands.move(*hands.rest())
    yield 1.5
    film.shot(6)
    yield from hands.grab(at_frame(rig, HAND, AT))
    yield from wait.start()
    yield 0.5
    film.shot(3)
    yield from film.moving(-110, 90, 10)
    yield from film.moving(50, 60, 6)
    film.shot(4)
    hands.button("RELEASE")
    yield from wait.end()
    hands.move(*hands.rest())  # no tip of what the mouse is on
    ghosts.show = screen.viewport().spaces.active.show_gizmo = False
    yield 1.0
    for frame in range(1, LAST + 1, 4):
        scene.frame_set(frame)
        yield 0.4
        film.shot()
    assert (at_frame(rig, HAND, AT) - at_frame(rig, HAND, 1)).length > 0.2, "the pull is not kept"

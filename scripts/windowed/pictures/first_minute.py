# SPDX-License-Identifier: GPL-3.0-or-later
"""Film of the first minute: Add > Armature > Reach Demo, the tab IK, Bake, and the figure reaches for the ball."""

import bpy

from scripts.windowed.inside import buttons, hands, screen, wait
from scripts.windowed.inside.scene import clear
from scripts.windowed.inside.screen import Steps
from scripts.windowed.pictures.figure import at_frame
from scripts.windowed.pictures.film import Film
from scripts.windowed.pictures.look import look_at

SIZE = (1000, 760)
BAKE = "pose.ik_triangulation_bake"
PLAYED = range(1, 61, 4)


def script() -> Steps:
    clear()
    space = screen.viewport().spaces.active
    film = Film("first_minute", screen.viewport())
    space.show_region_ui = space.overlay.show_text = False
    space.overlay.show_outline_selected = space.show_gizmo_navigate = False
    look_at((0.3, 0.0, 0.85), 2.4, 0.6, 0.15)
    bpy.ops.ed.undo_push(message="Nothing")
    view = screen.region()
    hands.move(view.x + 0.3 * view.width, view.y + 0.75 * view.height)
    yield 1.0
    film.shot(4)
    yield from hands.strike("A", shift=True)
    film.shot(3)
    yield from hands.write("reach")
    film.shot(5)
    yield from hands.strike("RET")
    yield 0.6
    film.shot(4)
    buttons.fold(closed=True)
    buttons.fold("VIEW3D_PT_ik_triangulation", closed=False)
    yield from screen.sidebar()
    film.shot(4)
    left, bottom, right, top = yield from buttons.find(BAKE)
    yield from film.to((left + right) / 2, (bottom + top) / 2, 6)
    yield from hands.click(*hands.place())
    yield from wait.end()
    hands.move(*hands.rest())
    yield 1.0
    film.shot(5)
    rig = bpy.context.view_layer.objects.active
    for frame in PLAYED:
        bpy.context.scene.frame_set(frame)
        yield 0.4
        film.shot()
    film.shot(3)
    assert (at_frame(rig, "hand.L", 30) - at_frame(rig, "hand.L", 1)).length > 0.5, "nothing is baked"

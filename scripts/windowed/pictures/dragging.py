# SPDX-License-Identifier: GPL-3.0-or-later
"""Film of IK Drag: a figure without a set-up is posed by dragging a hand, the chest and the other hand."""

from math import radians

import bpy

from scripts.windowed.inside import hands, wait
from scripts.windowed.inside.screen import Steps
from scripts.windowed.pictures.figure import add_figure, at_frame
from scripts.windowed.pictures.film import Film

SIZE = (900, 760)
DRAGS = (("hand.L", 30, 130, 8), ("chest", 0, -70, 7), ("hand.R", 60, -60, 8))  # bone, pixels, pictures


def script() -> Steps:
    film = Film("dragging")
    rig = add_figure(radians(35.0))
    with bpy.context.temp_override(object=rig, active_object=rig):
        bpy.ops.pose.ik_triangulation_remove_everything("EXEC_DEFAULT", True)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="POSE")
    bpy.ops.ed.undo_push(message="Set up")
    bpy.data.objects.remove(next(ob for ob in bpy.data.objects if ob.name.startswith("Ball")))
    yield 0.5
    yield from hands.press("D", ctrl=True, shift=True)
    yield 0.5
    film.shot(5)
    for bone, right, up, pictures in DRAGS:
        yield from hands.grab(at_frame(rig, bone, bpy.context.scene.frame_current))
        yield from wait.start()
        film.shot(2)
        yield from film.moving(right, up, pictures)
        film.shot(3)
        hands.button("RELEASE")
        yield from wait.end()
        yield 0.4
    hands.move(*hands.rest())
    yield 0.5
    film.shot(6)
    assert (at_frame(rig, "hand.L", 1) - at_frame(rig, "hand.R", 1)).z > 0.2, (
        "the hands are not where they were dragged"
    )
    bpy.ops.wm.tool_set_by_id(name="builtin.select_box")

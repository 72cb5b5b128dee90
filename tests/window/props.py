# SPDX-License-Identifier: GPL-3.0-or-later
"""An arm picks up its target, carries it and puts it down: one press of Reach, undone in one step."""

import bpy

from scripts.windowed.inside import buttons, hands, screen, wait
from scripts.windowed.inside.scene import chain, curves, rig
from tests.rigs import empty


def script():
    buttons.fold(closed=False)
    chain()
    stored = rig().pose.bones[-1].ik_triangulation
    cup, table = stored.target, empty("Table", (-1.0, 0.8, 1.0))
    cup.animation_data_clear()
    for target, frame, take in ((cup, 15, "TAKE"), (table, 40, "GIVE")):
        stop = stored.reach_stops.add()
        stop.target, stop.frame, stop.take = target, frame, take
    stored.reach_start = 1
    cup.empty_display_type = "CUBE"
    bpy.context.view_layer.update()
    bpy.ops.ed.undo_push(message="Stops")
    name, before = cup.name, cup.matrix_world.copy()
    yield from screen.sidebar()
    yield from buttons.press("pose.ik_triangulation_reach")
    yield from wait.until(lambda: curves() and not wait.running(), "key of a reach")
    assert [each.name for each in cup.constraints] == [f"Held by {rig().pose.bones[-1].name}"]
    bpy.context.scene.frame_set(15)
    assert (cup.matrix_world.translation - before.translation).length < 1e-5
    bpy.context.scene.frame_set(30)
    assert (cup.matrix_world.translation - before.translation).length > 0.1
    yield 0.5
    screen.picture("props")
    yield from hands.press("Z", ctrl=True)
    yield from wait.until(lambda: not curves(), "undo of the reach")
    cup = bpy.data.objects[name]
    assert not len(cup.constraints)
    assert cup.animation_data is None or cup.animation_data.action is None

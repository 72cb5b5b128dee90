# SPDX-License-Identifier: GPL-3.0-or-later
"""Both maps are pressed and lie round the limb; undo takes them away; Esc stops one at work."""

import bpy

from scripts.windowed.inside import buttons, hands, screen, wait
from scripts.windowed.inside.scene import chain
from tests.rigs import nothing_lost

BUTTONS = ("pose.ik_triangulation_map", "pose.ik_triangulation_map_volume")


def script():
    buttons.fold(closed=False)
    chain()
    settings = bpy.context.scene.ik_triangulation_map
    settings.size, settings.resolution = 60, 12
    bpy.ops.ed.undo_push(message="Set up")
    yield from screen.sidebar()
    for number, name in enumerate(BUTTONS, 1):
        yield from buttons.to_top()
        yield from buttons.press(name)
        yield from wait.until(lambda made=number: len(_maps()) == made and not wait.running(), "map")
    yield 0.5
    screen.picture("map")
    yield from hands.press("Z", ctrl=True)
    yield from hands.press("Z", ctrl=True)
    assert not _maps(), "undo does not take the maps away"

    bpy.context.scene.ik_triangulation_map.size = 1000
    bpy.ops.ed.undo_push(message="Large")
    yield from buttons.to_top()
    with nothing_lost():
        yield from buttons.press(BUTTONS[0])
        yield from wait.start()
        yield from hands.press("ESC")
        assert not wait.running(), "Esc does not stop the map"
    assert not _maps()


def _maps() -> list[bpy.types.Object]:
    return [ob for ob in bpy.data.objects if ob.name not in {"Rig", "Target"}]

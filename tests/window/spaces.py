# SPDX-License-Identifier: GPL-3.0-or-later
"""A hand's target goes with a table from a frame on, and is let go: the list, bake, and undo of each press."""

import bpy

from scripts.windowed.inside import buttons, hands, screen, wait
from scripts.windowed.inside.scene import clear
from tests.bodies import followed_rig
from tests.rigs import empty, select

LAST = 60


def script():
    buttons.fold("VIEW3D_PT_ik_triangulation_edit", "VIEW3D_PT_ik_triangulation_spaces", closed=False)
    clear()
    rig = followed_rig(LAST)
    scene, table = bpy.context.scene, empty("Table", (0.4, -0.4, 1.0))
    scene.frame_end, table.empty_display_type, table.empty_display_size = LAST, "CUBE", 0.15
    for frame, place in ((1, (0.4, -0.4, 1.0)), (LAST, (0.6, -0.3, 1.1))):
        table.location = place
        table.keyframe_insert("location", frame=frame)
    select(rig, "hand.L")
    table.select_set(True)
    scene.frame_set(20)
    bpy.ops.ed.undo_push(message="A table that moves")
    yield 1.0
    yield from screen.sidebar()
    yield from buttons.press("pose.ik_triangulation_space_add")
    yield from wait.until(lambda: len(_target().constraints) == 1, "a space of the target")
    scene.frame_set(40)
    start = _target().matrix_world.translation.copy()
    yield from buttons.press("pose.ik_triangulation_space_end")
    yield 0.5
    assert (_target().matrix_world.translation - start).length < 1e-5
    bpy.ops.pose.ik_triangulation_bake(frame_start=1, frame_end=LAST)
    off = (_rig().pose.bones["hand.L"].tail - _target().matrix_world.translation).length
    assert off < 1e-3, off
    yield 0.5
    screen.picture("spaces")
    yield from buttons.press("pose.ik_triangulation_space_go")
    yield 0.5
    assert bpy.context.scene.frame_current == 20
    for _ in range(8):
        if not _target().constraints:
            break
        yield from hands.press("Z", ctrl=True)
        yield 0.5
    assert not _target().constraints, "undo does not take the space back"


def _rig() -> bpy.types.Object:
    return bpy.data.objects["Rig"]


def _target() -> bpy.types.Object:
    return bpy.data.objects["Target hand.L"]

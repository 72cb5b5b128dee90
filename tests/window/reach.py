# SPDX-License-Identifier: GPL-3.0-or-later
"""Reach is pressed: the arm goes from its pose to the target; undone in one step, and stopped by Esc in a long one."""

import bpy

from scripts.windowed.inside import buttons, hands, screen, wait
from scripts.windowed.inside.scene import chain, curves, distance, rig
from tests.rigs import nothing_lost

ESC_AT = 0.5  # seconds after its begin


def script():
    buttons.fold(closed=False)
    chain()
    stored = rig().pose.bones[-1].ik_triangulation
    stored.reach_start, stored.reach_end, stored.reach_hold = 1, 20, 5
    yield from screen.sidebar()
    yield from buttons.press("pose.ik_triangulation_reach")
    yield from wait.until(lambda: curves() and not wait.running(), "key of a reach")
    assert {len(curve.keyframe_points) for curve in curves()} == {25}
    bpy.context.scene.frame_set(22)
    assert distance() < 1e-3, distance()
    yield 0.5
    screen.picture("reach")
    yield from hands.press("Z", ctrl=True)
    yield from wait.until(lambda: not curves(), "undo of the reach")

    rig().pose.bones[-1].ik_triangulation.reach_hold = 60_000  # long enough to be stopped
    bpy.ops.ed.undo_push(message="Hold")
    with nothing_lost():
        yield from buttons.press("pose.ik_triangulation_reach")
        yield from wait.start()
        yield ESC_AT
        assert wait.running(), "the reach was over too soon"
        yield from hands.press("ESC")
        assert not wait.running(), "Esc does not stop the reach"

# SPDX-License-Identifier: GPL-3.0-or-later
"""The Solver Duel is pressed, watched, cancelled, its ghost shown and its winner used."""

import bpy

from scripts.windowed.inside import buttons, hands, screen, wait
from scripts.windowed.inside.scene import chain, distance, pose, research_tools
from tests.rigs import nothing_lost


def script():
    research_tools()
    buttons.fold("VIEW3D_PT_ik_triangulation_advanced", "VIEW3D_PT_ik_triangulation_duel", closed=False)
    chain(bones=5, frames=1000, tolerance=1e-3, iterations=40)  # long enough to be stopped
    bpy.context.scene.ik_triangulation_overlay.show = True
    yield from screen.sidebar()
    duel = bpy.context.window_manager.ik_triangulation_duel
    with nothing_lost():
        yield from buttons.press("pose.ik_triangulation_duel")
        yield from wait.until(lambda: len(duel.rows) > 10 and not wait.running(), "outcome of the duel")
    assert duel.rows[0].reached == 1
    yield 0.5
    screen.picture("duel")
    before, best = pose(), duel.rows[0].name
    yield from buttons.to_top()
    yield from buttons.press("pose.ik_triangulation_duel_apply")
    assert bpy.data.objects["Rig"].pose.bones[-1].ik_triangulation.solver == best
    assert pose() != before
    assert distance() < 1e-3, distance()

    duel.use_range = True
    yield from buttons.to_top()
    with nothing_lost():
        yield from buttons.press("pose.ik_triangulation_duel")
        yield from wait.start()
        yield from hands.press("ESC")
        assert not wait.running(), "Esc does not stop the duel"
    duel.use_range = False

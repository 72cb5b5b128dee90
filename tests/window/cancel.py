# SPDX-License-Identifier: GPL-3.0-or-later
"""Esc and the right mouse button stop a bake at work, and then everything is as it was before."""

from scripts.windowed.inside import buttons, hands, screen, wait
from scripts.windowed.inside.scene import chain
from tests.rigs import nothing_lost

MOMENTS = (0.0, 0.5, 1.5)  # seconds after its begin


def script():
    chain(bones=6, frames=1000, solver="ROSENBROCK")  # slow
    yield from screen.sidebar()
    for key in ("ESC", "RIGHTMOUSE"):
        for seconds in MOMENTS:
            with nothing_lost():
                yield from buttons.press("pose.ik_triangulation_bake")
                yield from wait.start()
                yield seconds
                assert wait.running(), f"the bake was over within {seconds} s"
                yield from hands.press(key)
                assert not wait.running(), f"{key} does not stop the bake"
    screen.picture("cancel")

# SPDX-License-Identifier: GPL-3.0-or-later
"""Esc and the right mouse button stop a bake at work, and then everything is, and looks, as it was before."""

import numpy as np

from scripts.windowed.inside import buttons, hands, screen, wait
from scripts.windowed.inside.scene import chain
from tests.rigs import nothing_lost

MOMENTS = (0.0, 0.5, 1.5)  # seconds after its begin


def script():
    chain(bones=6, frames=10_000, solver="ROSENBROCK", smooth=False)  # slow: frame by frame
    yield from screen.sidebar()
    hands.move(*hands.rest())
    yield 1.0
    before = screen.pixels(screen.region())
    for key in ("ESC", "RIGHTMOUSE"):
        for seconds in MOMENTS:
            with nothing_lost():
                yield from buttons.press("pose.ik_triangulation_bake")
                yield from wait.start()
                yield seconds
                assert wait.running(), f"the bake was over within {seconds} s"
                screen.picture("cancel-at-work")
                yield from hands.press(key)
                assert not wait.running(), f"{key} does not stop the bake"
            yield from wait.until(
                lambda: np.array_equal(screen.pixels(screen.region()), before), "viewport that looks as before", 10.0
            )
    screen.picture("cancel")

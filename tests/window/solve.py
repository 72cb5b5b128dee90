# SPDX-License-Identifier: GPL-3.0-or-later
"""A click on Solve Pose takes the tip to the target; Ctrl Z and Shift Ctrl Z take it back and there again."""

from scripts.windowed.inside import buttons, hands, screen
from scripts.windowed.inside.scene import chain, distance, pose


def script():
    chain(tolerance=1e-3)
    yield from screen.sidebar()
    before = pose()
    assert distance() > 0.1

    yield from buttons.press("pose.ik_triangulation_solve")
    solved = pose()
    assert distance() < 1e-3, distance()
    screen.picture("solve")

    yield from hands.press("Z", ctrl=True)
    assert pose() == before, "undo does not give back the pose"
    yield from hands.press("Z", ctrl=True, shift=True)
    assert pose() == solved, "redo does not solve again"

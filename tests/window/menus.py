# SPDX-License-Identifier: GPL-3.0-or-later
"""Menu search finds the extension, right-click shows its menu, and Adjust Last Operation changes a bake."""

import bpy

from scripts.windowed.inside import hands, screen, wait
from scripts.windowed.inside.scene import chain, curves, distance, pose, rig
from tests.rigs import key_frames


def script():
    chain(tolerance=1e-3)
    assert not bpy.context.preferences.view.show_developer_ui
    yield from _search("solve pose", "menus-search-solve")
    yield from hands.strike("RET")
    screen.picture("x1")
    yield from _search("bake", "menus-search-bake")
    yield from hands.strike("ESC")
    yield from _search("live", "menus-search-live")
    yield from hands.strike("ESC")
    yield from _search("add limb", "menus-search-add")
    yield from hands.strike("ESC")
    yield from _search("ik triangulation", "menus-search-all")
    yield from hands.strike("ESC")
    yield from hands.press("RIGHTMOUSE")
    yield 0.5
    screen.picture("menus-right-click")


def _search(text, name):
    yield from hands.press("F3")
    yield 0.3
    yield from hands.write(text)
    yield 0.5
    screen.picture(name)

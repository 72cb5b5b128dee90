# SPDX-License-Identifier: GPL-3.0-or-later
"""Menu search, right-click and shortcuts find what the extension does."""

import bpy

from scripts.windowed.inside import hands, screen, wait
from scripts.windowed.inside.scene import chain, curves, distance, rig

SIZE = (1600, 1200)  # the list of the search does not come to lie under the mouse
BELOW = 28  # pixels from Add to Quick Favorites down to Assign Shortcut


def script():
    yield from _search()
    yield from _menus()


def _search() -> screen.Steps:
    """Each name typed into menu search, and Return, does it."""
    chain(tolerance=1e-3)
    yield from _typed("solve pose")
    assert distance() < 1e-3, "Solve Pose is not what is found first"
    yield from _typed("live")
    assert bpy.ops.pose.ik_triangulation_live_stop.poll(), "Live is not what is found first"
    bpy.ops.pose.ik_triangulation_live_stop()
    rig().pose.bones[-1].ik_triangulation.target = None
    yield from _typed("add limb")
    assert rig().pose.bones[-1].ik_triangulation.target, "Add Limb is not what is found first"
    chain(tolerance=1e-3)
    yield from _typed("bake")
    yield from wait.end()
    assert curves(), "Bake is not what is found first"


def _typed(text: str) -> screen.Steps:
    yield from hands.press("F3")
    yield from hands.write(text)
    screen.picture(f"menus-search-{text.replace(' ', '-')}")
    yield from hands.strike("RET")
    yield 0.5


def _menus() -> screen.Steps:
    """The menu is in the right-click menu of a bone, and its entries take shortcuts."""
    chain()
    yield from hands.press("RIGHTMOUSE")
    screen.picture("menus-bone")
    yield from hands.strike("ESC")
    hands.move(*hands.rest())
    bpy.ops.wm.call_menu(name="VIEW3D_MT_ik_triangulation")
    yield 0.5
    screen.picture("menus-entries")
    x, y = hands.rest()
    hands.move(x + 5, y - 2)
    yield 0.3
    yield from hands.strike("RIGHTMOUSE")
    screen.picture("menus-shortcut")
    yield from hands.click(x + 5, y - 2 - BELOW)
    yield from hands.strike("F5", ctrl=True)
    yield from hands.strike("ESC")
    keymaps = bpy.context.window_manager.keyconfigs.user.keymaps
    # Of the entry under the mouse, which depends on how far from the window's edge the menu has to stay.
    items = (item for keymap in keymaps for item in keymap.keymap_items)
    given = {item.to_string() for item in items if item.idname.startswith("pose.ik_triangulation_")}
    assert given == {"Ctrl F5"}, given
    bpy.ops.object.mode_set(mode="OBJECT")
    yield from hands.press("RIGHTMOUSE")
    screen.picture("menus-object")
    yield from hands.strike("ESC")

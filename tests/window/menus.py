# SPDX-License-Identifier: GPL-3.0-or-later
"""Menu search, right-click and a shortcut find the extension; Adjust Last Operation bakes again as from the start."""

import bpy

from scripts.windowed.inside import hands, screen, wait
from scripts.windowed.inside.scene import chain, curves, distance, rig
from tests.rigs import all_keys

# Places of fields in the popup of F9, from where the mouse is [pixels].
END, SMOOTHING = (222, -38), (222, -91)
SHORT = 12  # frames
SLOW = {"bones": 6, "frames": 400, "solver": "ROSENBROCK", "smooth": False}  # frame by frame


def script():
    yield from _search()
    yield from _menus()
    yield from _adjust()
    yield from _adjust_slowly()


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
    yield from hands.strike("ESC")
    yield from hands.strike("ESC")
    bpy.ops.object.mode_set(mode="OBJECT")
    yield from hands.press("RIGHTMOUSE")
    screen.picture("menus-object")
    yield from hands.strike("ESC")


def _adjust() -> screen.Steps:
    """A bake whose end is changed afterwards has the keys and the record of one that was told so at once."""
    chain(tolerance=1e-3)
    bpy.ops.pose.ik_triangulation_bake("EXEC_DEFAULT", True, frame_end=SHORT)
    wanted = _made()
    chain(tolerance=1e-3)
    yield from _typed("bake")
    yield from wait.end()
    assert _made() != wanted
    yield from _change(END, str(SHORT), "menus-adjust")
    assert _made() == wanted, "a changed bake is not like a new one"
    yield from hands.press("Z", ctrl=True)
    assert not curves(), "the changed bake is not one step of undo"


def _adjust_slowly() -> screen.Steps:
    """A slow bake waits until the slider is let go, then runs with progress; Esc brings back what there was."""
    chain(**SLOW)
    bpy.ops.pose.ik_triangulation_bake("INVOKE_DEFAULT", True)
    yield from wait.start()
    yield from wait.end()
    before = _made()

    yield from _slide(before)
    yield from wait.start()
    yield 0.3
    screen.picture("menus-adjust-slow")
    yield from hands.strike("ESC")
    yield 0.5
    assert not wait.running()
    assert _made() == before, "Esc does not bring back what there was"
    assert bpy.context.window_manager.operators[-1].properties.smoothing == 0.0, "the field shows what was not made"

    yield from _slide(before)
    yield from wait.start()
    yield from wait.end()
    made, smoothing = _made(), bpy.context.window_manager.operators[-1].properties.smoothing
    assert smoothing > 0.0
    yield from hands.strike("ESC")
    screen.picture("menus-adjusted-slow")
    chain(**SLOW)
    bpy.ops.pose.ik_triangulation_bake("EXEC_DEFAULT", True, smoothing=smoothing)
    assert made == _made(), "a slow bake that was changed is not like a new one"


def _slide(before: str) -> screen.Steps:
    """Drag the slider of Smoothing to the right: as long as it is held, all stays as it was `before`."""
    x, y = yield from _open()
    x, y = x + SMOOTHING[0], y + SMOOTHING[1]
    hands.move(x, y)
    yield 0.3
    hands.hold(x, y)
    for _ in range(5):
        x += 10
        hands.move(x, y)
        yield 0.3
        assert not wait.running(), "it runs while the slider is held"
    assert _made() == before
    hands.let_go(x, y)


def _open():
    """Open Adjust Last Operation; returns where the mouse is."""
    yield from hands.press("F9")
    yield 0.5
    return hands.rest()


def _change(field: tuple[int, int], text: str, name: str) -> screen.Steps:
    """Type a text into a field of Adjust Last Operation."""
    x, y = yield from _open()
    screen.picture(name)
    yield from hands.click(x + field[0], y + field[1])
    yield from hands.write(text)
    yield from hands.strike("RET")
    yield 0.5
    screen.picture(f"{name}ed")
    yield from hands.strike("ESC")


def _made() -> str:
    """All that a bake has made: keys, their types, its record and the keys that it has replaced."""
    animation = rig().animation_data
    action = animation.action if animation else None
    kept = (
        [(name, getattr(value, "to_dict", lambda value=value: value)()) for name, value in action.items()]
        if action
        else []
    )
    return repr((all_keys(rig()), kept))

# SPDX-License-Identifier: GPL-3.0-or-later
"""Adjust Last Operation bakes again as from the start, and a slow bake when the field is let go, with Esc."""

import bpy

from scripts.windowed.inside import hands, screen, wait
from scripts.windowed.inside.scene import chain, curves, rig
from tests.rigs import all_keys

SIZE = (1600, 1200)  # room for the popup
# Places of fields in the popup of F9, from where the mouse is [pixels].
END, SMOOTHING_IN_POPUP = (222, -17), (222, -69)
SMOOTHING = 163  # height of the field above the lower edge of Adjust Last Operation [pixels]
SHORT = 12  # frames
SLOW = {"bones": 6, "frames": 700, "solver": "ROSENBROCK", "smooth": False}  # over a second, on a fast machine too


def script():
    yield from _look()
    yield from _adjust()
    yield from _adjust_slowly()
    yield from _adjust_slowly_in_popup()


def _look() -> screen.Steps:
    """Pictures of what Solve Pose, Reach and Bake All offer."""
    for name in ("solve", "reach", "bake_all"):
        chain(tolerance=1e-3)
        getattr(bpy.ops.pose, f"ik_triangulation_{name}")("EXEC_DEFAULT", True)
        yield from _open()
        screen.picture(f"adjust-{name}")
        yield from hands.strike("ESC")


def _adjust() -> screen.Steps:
    """A bake whose end is changed afterwards has the keys and the record of one that was told so at once."""
    chain(tolerance=1e-3)
    bpy.ops.pose.ik_triangulation_bake("EXEC_DEFAULT", True, frame_end=SHORT)
    wanted = _made()
    chain(tolerance=1e-3)
    bpy.ops.pose.ik_triangulation_bake("INVOKE_DEFAULT", True)
    yield from wait.end()
    assert _made() != wanted
    yield from _change(END, str(SHORT), "adjust-bake")
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
    yield 0.1
    screen.picture("adjust-slow")
    yield from hands.strike("ESC")
    yield 0.5
    assert not wait.running()
    assert _made() == before, "Esc does not bring back what there was"

    yield from hands.press("Z", ctrl=True)
    assert not curves(), "Esc leaves more than one step of undo"
    bpy.ops.pose.ik_triangulation_bake("INVOKE_DEFAULT", True)
    yield from wait.start()
    yield from wait.end()
    assert _made() == before
    yield from _slide(before)
    yield from wait.start()
    yield from wait.end()
    made, smoothing = _made(), bpy.context.window_manager.operators[-1].properties.smoothing
    assert smoothing > 0.0
    yield from hands.strike("ESC")
    screen.picture("adjust-slow-done")
    chain(**SLOW)
    bpy.ops.pose.ik_triangulation_bake("EXEC_DEFAULT", True, smoothing=smoothing)
    assert made == _made(), "a slow bake that was changed is not like a new one"


def _adjust_slowly_in_popup() -> screen.Steps:
    """In the popup of F9 it runs as well when the slider is let go, to its end."""
    chain(**SLOW)
    bpy.ops.pose.ik_triangulation_bake("INVOKE_DEFAULT", True)
    yield from wait.start()
    yield from wait.end()
    before = _made()
    x, y = yield from _open()
    yield from _drag(x + SMOOTHING_IN_POPUP[0], y + SMOOTHING_IN_POPUP[1], before)
    yield from wait.until(lambda: _made() != before, "changed bake")
    yield from hands.strike("ESC")
    made, smoothing = _made(), bpy.context.window_manager.operators[-1].properties.smoothing
    assert smoothing > 0.0
    chain(**SLOW)
    bpy.ops.pose.ik_triangulation_bake("EXEC_DEFAULT", True, smoothing=smoothing)
    assert made == _made(), "a slow bake that was changed in the popup is not like a new one"


def _slide(before: str) -> screen.Steps:
    """Drag the slider of Smoothing in Adjust Last Operation to the right."""
    panel = screen.region("HUD")
    if panel.height < 100:  # folded
        yield from hands.click(panel.x + 30, panel.y + panel.height - 12)
        yield 1.0
    yield from _drag(panel.x + 0.7 * panel.width, panel.y + SMOOTHING, before)


def _drag(x: float, y: float, before: str) -> screen.Steps:
    """Drag a slider to the right: as long as it is held, all stays as it was `before`."""
    hands.move(x, y)
    yield 0.3
    hands.hold(x, y)
    for _ in range(5):
        x += 8
        hands.move(x, y)
        yield 0.3
        assert not wait.running(), "it runs while the slider is held"
    assert _made() == before
    screen.picture("adjust-held")
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
    screen.picture(f"{name}-changed")
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

# SPDX-License-Identifier: GPL-3.0-or-later
"""A live limb follows its target while that is dragged by hand; a drag that is cancelled, and undo, bring back all."""

import bpy

from scripts.windowed.inside import buttons, hands, screen, wait
from scripts.windowed.inside.scene import chain, curves, distance, pose


def script():
    chain(tolerance=1e-3)
    target = bpy.data.objects["Target"]
    target.animation_data_clear()
    yield from screen.sidebar()
    yield from buttons.press("pose.ik_triangulation_live")
    assert distance() < 1e-3, distance()
    begun = pose()
    _take_hold()

    yield from _drag(120, "ESC")
    assert pose() == begun, "a cancelled drag leaves the limb posed"
    yield from _drag(120, "RET")
    dragged = pose()
    assert dragged != begun
    yield from hands.press("Z", ctrl=True)
    assert pose() == begun, "undo does not bring the pose back"
    yield from hands.press("Z", ctrl=True, shift=True)
    assert pose() == dragged, "redo does not bring the dragged pose back"
    assert not curves(), "without Auto Keying there are keys"

    bpy.context.scene.tool_settings.use_keyframe_insert_auto = True
    yield from _drag(-60, "RET")
    yield 1.0
    keyed = {tuple(key.co.x for key in curve.keyframe_points) for curve in curves()}
    assert keyed == {(bpy.context.scene.frame_current,)}, keyed
    assert distance() < 1e-3, distance()
    bpy.context.scene.tool_settings.use_keyframe_insert_auto = False


def _take_hold() -> None:
    """Make the target the active and only selected object."""
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.ops.object.select_all(action="DESELECT")
    target = bpy.data.objects["Target"]
    target.select_set(True)
    bpy.context.view_layer.objects.active = target
    bpy.ops.ed.undo_push(message="Target active")


def _drag(pixels: int, end: str) -> screen.Steps:
    """Drag what is active by so many pixels, in parts, looking at the limb at each, and end with this key."""
    x, y = hands.rest()
    yield from hands.press("G")
    for part in range(1, 6):
        hands.move(x + part * pixels / 5, y)
        yield hands.REACTION
        assert distance() < 1e-3, f"the limb is left behind by {distance()}"
    if end == "RET":
        screen.picture("live")
    yield from hands.strike(end)
    yield from wait.until(lambda: not screen.window().modal_operators, "end of the drag")
    yield hands.REACTION

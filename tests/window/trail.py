# SPDX-License-Identifier: GPL-3.0-or-later
"""The trail of a baked body's hand: a dot of it dragged while the body follows, Esc, one undo; then Pull and Mirror.

Mirror is pressed for a cycle as well, with half of it as the offset.
"""

import bpy
import numpy as np
from mathutils import Vector

from scripts.windowed.inside import buttons, hands, screen, wait
from scripts.windowed.inside.scene import clear
from tests.bodies import human_rig
from tests.rigs import all_keys, select

LAST, AT = 40, 14
HAND = "hand.L"


def script():
    clear()
    _set_up()
    bpy.ops.view3d.view_axis(type="FRONT")
    view = screen.viewport().spaces.active.region_3d
    view.view_location, view.view_distance, view.view_perspective = (0.0, 0.0, 0.9), 4.5, "ORTHO"
    bpy.ops.pose.ik_triangulation_bake(frame_start=1, frame_end=LAST)
    bpy.context.scene.frame_set(1)
    bpy.ops.ed.undo_push(message="Baked")
    buttons.fold("VIEW3D_PT_ik_triangulation_edit", closed=False)
    yield from screen.sidebar()
    yield 1.0
    yield from buttons.press("show")
    assert bpy.context.scene.ik_triangulation_trail.show
    yield 1.0
    screen.picture("trail")
    yield from _cancelled()
    yield from _dragged()
    yield from _retimed()
    yield from _ghosts()
    yield from _spaces()
    yield from _pull()
    yield from _mirror()


def _set_up() -> None:
    """A body whose hands go down to the shins and back."""
    rig = human_rig()
    rig.show_in_front = True
    select(rig, HAND)
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, LAST
    bpy.ops.pose.ik_triangulation_body_add()
    for name, sign in ((HAND, 1.0), ("hand.R", -1.0)):
        target = rig.pose.bones[name].ik_triangulation.target
        start = target.location.copy()
        for frame, share in ((1, 0.0), (LAST // 2, 1.0), (LAST, 0.0)):
            target.location = start + Vector((0.03 * sign, -0.35, -0.38)) * share
            target.keyframe_insert("location", frame=frame)
    select(rig, HAND)


def _cancelled() -> screen.Steps:
    """Esc gives back frame, pose and keys."""
    before, keys = _poses(), all_keys(_rig())
    yield from _take(AT)
    assert bpy.context.scene.frame_current == AT, "the frame of the dot is not shown"
    yield from _move(-30, 60)
    assert (_tip() - _start).length > 0.05, "the hand does not follow"
    yield from hands.strike("ESC")
    yield from wait.end()
    hands.button("RELEASE")
    yield hands.REACTION
    assert bpy.context.scene.frame_current == 1
    assert _poses() == before, "Esc leaves another pose"
    assert all_keys(_rig()) == keys, "Esc leaves keys"


def _dragged() -> screen.Steps:
    """The body follows with its feet held, the wheel changes the falloff, and one undo brings back all of it."""
    feet, keys = _feet(), all_keys(_rig())
    yield from _take(AT)
    for _ in range(4):
        yield from _move(-8, 16)
        assert (_feet() - feet).length < 2e-3, "a foot slips"
    screen.picture("trail-drag")
    x, y = hands._mouse
    hands.scroll(x, y, "WHEELDOWNMOUSE", 4)
    yield 0.6
    screen.picture("trail-falloff")
    shown = _tip().copy()
    hands.button("RELEASE")
    yield from wait.end()
    yield 1.0
    screen.picture("trail-dragged")
    assert bpy.context.scene.frame_current == AT
    assert (_tip() - shown).length < 2e-3, "the result is not what was shown"
    assert all_keys(_rig()) != keys
    yield from hands.press("Z", ctrl=True)
    yield 1.0
    assert all_keys(_rig()) == keys, "one undo does not take the drag back"
    yield from hands.press("Z", ctrl=True, shift=True)
    yield 1.0
    assert (_tip() - shown).length < 2e-3


def _retimed() -> screen.Steps:
    """With Alt the mouse leads along the trail, and what the hand does at the frame comes at another time."""
    keys, place = all_keys(_rig()), _place_at(AT)
    yield from _take(AT)
    yield from hands.hold_key("LEFT_ALT")
    x, y = screen.seen_at(_place_at(AT + 3))
    yield from _move(x - hands._mouse[0], y - hands._mouse[1])
    screen.picture("trail-retime")
    hands.button("RELEASE")
    yield from wait.end()
    yield from hands.let_go_key("LEFT_ALT")
    yield 1.0
    screen.picture("trail-retimed")
    assert (_place_at(AT + 3) - place).length < 5e-3, "the hand is not there 3 frames later"
    yield from hands.press("Z", ctrl=True)
    yield 1.0
    assert all_keys(_rig()) == keys


def _ghosts() -> screen.Steps:
    """Ghosts of the past and future, and of the shot as it was before the last change."""
    ghosts = bpy.context.scene.ik_triangulation_ghosts
    ghosts.show = True
    yield 1.5
    screen.picture("ghosts")
    ghosts.kind = "KEYS"
    yield 1.0
    screen.picture("ghosts-keys")
    ghosts.kind = "BEFORE"
    with screen.in_viewport():
        bpy.ops.pose.ik_triangulation_pull("EXEC_DEFAULT", True, frame=AT, offset=(0.2, 0.0, 0.3), falloff=12)
    yield 1.5
    screen.picture("ghosts-before")
    yield from hands.press("Z", ctrl=True)
    yield 1.0
    bpy.context.scene.ik_triangulation_ghosts.show = False  # asked for anew: undo has replaced the scene


def _place_at(frame: int) -> Vector:
    """Where the hand is at a frame."""
    now = bpy.context.scene.frame_current
    bpy.context.scene.frame_set(frame)
    place = _tip().copy()
    bpy.context.scene.frame_set(now)
    return place


def _spaces() -> screen.Steps:
    """Seen from the hips the trail moves with them."""
    bpy.context.scene.ik_triangulation_trail.space = "HIPS"
    yield 1.0
    screen.picture("trail-hips")
    bpy.context.scene.frame_set(LAST // 2)
    yield 1.0
    screen.picture("trail-hips-later")
    bpy.context.scene.ik_triangulation_trail.space = "WORLD"
    bpy.context.scene.frame_set(AT)
    yield 1.0


def _pull() -> screen.Steps:
    """The button pulls at the frame that is shown, by the offset of Adjust Last Operation."""
    bpy.ops.ed.undo_push(message="Before Pull")
    keys = all_keys(_rig())
    yield from buttons.press("pose.ik_triangulation_pull")
    yield from wait.end()
    with screen.in_viewport():
        bpy.ops.pose.ik_triangulation_pull("EXEC_DEFAULT", True, frame=AT, offset=(0.0, 0.0, 0.05), falloff=8)
    yield 1.0
    screen.picture("trail-pulled")
    assert all_keys(_rig()) != keys
    yield from hands.press("Z", ctrl=True)
    yield from hands.press("Z", ctrl=True)
    yield 0.5


def _mirror() -> screen.Steps:
    """Mirror swaps the sides of all; twice it is as before; with half a cycle as offset it begins later."""
    before = _over_time(HAND)
    yield from buttons.press("pose.ik_triangulation_mirror")
    yield from wait.end()
    yield 0.5
    screen.picture("trail-mirrored")
    assert np.abs(_over_time("hand.R") - before * (-1.0, 1.0, 1.0)).max() < 1e-4
    yield from buttons.press("pose.ik_triangulation_mirror")
    yield from wait.end()
    assert np.abs(_over_time(HAND) - before).max() < 1e-4
    with screen.in_viewport():
        bpy.ops.pose.ik_triangulation_mirror("EXEC_DEFAULT", True, frame_offset=LAST // 2)
    yield 0.5
    later = _over_time("hand.R", LAST // 2)
    assert np.abs(later - before * (-1.0, 1.0, 1.0)).max() < 1e-4
    screen.picture("trail-mirrored-later")


_start = Vector()


def _take(frame: int) -> screen.Steps:
    """Press the left button on the dot of a frame."""
    global _start
    yield 1.0
    now = bpy.context.scene.frame_current
    bpy.context.scene.frame_set(frame)
    place = _tip().copy()
    bpy.context.scene.frame_set(now)
    _start = place
    yield from hands.grab(place)
    yield from wait.start()


def _move(right: float, up: float) -> screen.Steps:
    hands.shift(right, up)
    yield 0.6


def _over_time(bone: str, later: int = 0) -> np.ndarray:
    now, found = bpy.context.scene.frame_current, []
    for frame in range(1 + later, LAST + 1 + later):
        bpy.context.scene.frame_set(frame)
        found.append(tuple(_rig().pose.bones[bone].tail))
    bpy.context.scene.frame_set(now)
    return np.array(found)


def _tip() -> Vector:
    return _rig().matrix_world @ _rig().pose.bones[HAND].tail


def _feet() -> Vector:
    bones = _rig().pose.bones
    return Vector((*bones["foot.L"].tail, *bones["foot.R"].tail))


def _poses() -> list[tuple[float, ...]]:
    return [tuple(bone.rotation_quaternion) + tuple(bone.location) for bone in _rig().pose.bones]


def _rig() -> bpy.types.Object:
    return bpy.data.objects["Rig"]

# SPDX-License-Identifier: GPL-3.0-or-later
"""Set Up Body, drag a hand with Live, bake, and undo: hips go down, feet stay; one step of undo takes the bake back."""

from importlib import import_module

import bpy
from mathutils import Vector

from scripts.windowed.inside import buttons, hands, screen, wait
from scripts.windowed.inside.scene import EXTENSION, clear
from tests.bodies import human_rig
from tests.rigs import all_keys

LAST = 24


def script():
    clear()
    human_rig()
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, LAST
    yield 1.0
    yield from screen.sidebar()
    screen.picture("body-nothing")
    yield from buttons.press("pose.ik_triangulation_body_add")
    assert _rig().pose.bones["foot.L"].ik_triangulation.hold
    yield 0.5
    screen.picture("body-set-up")
    yield from _live()
    for name, sign in (("hand.L", 1.0), ("hand.R", -1.0)):
        target = _rig().pose.bones[name].ik_triangulation.target
        target.keyframe_insert("location", frame=1)
        target.location += Vector((0.08 * sign, -0.3, -0.38))
        target.keyframe_insert("location", frame=LAST // 2)
    bpy.context.scene.frame_set(LAST // 2)
    bpy.ops.ed.undo_push(message="Keys of the targets")
    yield 0.5
    yield from buttons.press("pose.ik_triangulation_bake")
    yield from wait.end()
    assert all_keys(_rig()), "nothing is baked"
    assert _rig().pose.bones["spine"].head.z < 0.9
    yield 0.5
    screen.picture("body-baked")
    yield from hands.press("Z", ctrl=True)
    assert not all_keys(_rig()), "one undo does not take the bake back"
    assert not _is_told(), "the sidebar tells of a bake that is undone"
    assert abs(_rig().pose.bones["spine"].head.z - rig_height()) < 1e-4
    yield from hands.press("Z", ctrl=True, shift=True)
    full = sum(map(len, all_keys(_rig()).values()))
    assert full
    assert _is_told()
    _rig().pose.bones["hand.L"].ik_triangulation.reduce = True
    bpy.ops.ed.undo_push(message="Reduce Keys")
    yield from buttons.press("pose.ik_triangulation_bake")
    yield from wait.end()
    fewer = sum(map(len, all_keys(_rig()).values()))
    assert fewer < full
    yield 0.5
    screen.picture("body-reduced")
    yield from buttons.press("pose.ik_triangulation_bake")  # Bake Again
    yield from wait.end()
    assert sum(map(len, all_keys(_rig()).values())) == fewer
    yield from hands.press("Z", ctrl=True)
    yield from hands.press("Z", ctrl=True)
    assert sum(map(len, all_keys(_rig()).values())) == full


def _live() -> screen.Steps:
    """Dragged by hand, a target takes the whole body along, its feet planted; one undo brings back all of it."""
    yield from buttons.press("pose.ik_triangulation_live")
    bones, target = _rig().pose.bones, _rig().pose.bones["hand.L"].ik_triangulation.target
    feet, height, chest = _feet(), bones["spine"].head.z, bones["spine.002"].tail.z
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.ops.object.select_all(action="DESELECT")
    target.select_set(True)
    bpy.context.view_layer.objects.active = target
    bpy.ops.ed.undo_push(message="Target active")
    view = screen.viewport().spaces.active.region_3d
    view.view_location, view.view_distance = (0.0, 0.0, 0.75), 4.5
    yield 0.5
    for end in ("ESC", "RET"):
        x, y = hands.rest()
        yield from hands.press("G")
        yield from hands.strike("Z")
        for part in range(1, 7):
            hands.move(x, y - 7 * part)
            yield hands.REACTION
            yield from wait.until(lambda: (bones["hand.L"].tail - target.location).length < 2e-3, "hand at its target")
            assert (_feet() - feet).length < 1e-3, "a foot slips"
        assert bones["spine.002"].tail.z < chest - 0.05, "the trunk takes no part"
        if end == "RET":
            yield 0.5
            screen.picture("body-live")
        yield from hands.strike(end)
        yield from wait.until(lambda: not screen.window().modal_operators, "end of the drag")
        yield hands.REACTION
        if end == "ESC":
            assert abs(bones["spine"].head.z - height) < 1e-4, "a cancelled drag leaves the body posed"
    yield from hands.press("Z", ctrl=True)
    assert abs(_rig().pose.bones["spine"].head.z - height) < 1e-4, "undo does not bring the pose back"
    bpy.context.view_layer.objects.active = _rig()
    bpy.ops.object.mode_set(mode="POSE")
    yield hands.REACTION
    yield from buttons.press("pose.ik_triangulation_live")


def _is_told() -> bool:
    """Tell whether the sidebar has a result of the hand."""
    return import_module(f"{EXTENSION}.ik_triangulation.ui.last_result").latest(_rig(), "hand.L") is not None


def _feet() -> Vector:
    """Tails of both feet, one after the other."""
    bones = _rig().pose.bones
    return Vector((*bones["foot.L"].tail, *bones["foot.R"].tail))


def rig_height() -> float:
    """Height of the hips at rest."""
    return float(_rig().data.bones["spine"].head_local.z)


def _rig() -> bpy.types.Object:
    return bpy.data.objects["Rig"]

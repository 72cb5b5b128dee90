# SPDX-License-Identifier: GPL-3.0-or-later
"""IK Drag: the tool by its shortcut, a hand dragged by the mouse with feet pinned, Esc, Auto Keying and one undo."""

import bpy
from mathutils import Vector

from scripts.windowed.inside import actions, hands, screen, wait
from scripts.windowed.inside.actions import act
from scripts.windowed.inside.scene import clear
from tests.bodies import human_rig
from tests.rigs import all_keys, select

HAND = "hand.L"


def script():
    clear()
    rig = human_rig(with_head=True)
    rig.show_in_front = True
    select(rig, "spine")
    bpy.ops.object.mode_set(mode="POSE")
    bpy.ops.view3d.view_axis(type="FRONT")
    view = screen.viewport().spaces.active.region_3d
    view.view_location, view.view_distance, view.view_perspective = (0.0, 0.0, 0.9), 4.5, "ORTHO"
    bpy.ops.ed.undo_push(message="Set up")
    yield 1.0
    actions.begin()
    yield from act("the shortcut of the tool", hands.press("D", ctrl=True, shift=True))
    tool = bpy.context.workspace.tools.from_space_view3d_mode("POSE", create=False)
    assert tool.idname == "ik_triangulation.drag", tool.idname
    yield 0.5
    screen.picture("drag-tool")
    yield from _dragged()
    yield from _cancelled()
    yield from _clicked()
    bpy.ops.wm.tool_set_by_id(name="builtin.select_box")


def _cancelled() -> screen.Steps:
    """Esc brings the pose back."""
    before = _poses()
    yield from _take(HAND)
    yield from _move(-40, -40)
    assert _poses() != before, "nothing follows"
    yield from hands.strike("ESC")
    yield from wait.end()
    hands.button("RELEASE")
    yield hands.REACTION
    assert _poses() == before, "Esc leaves another pose"


def _dragged() -> screen.Steps:
    """The first pose in three actions: the tool, Auto Keying, a drag."""
    yield from act("Auto Keying", _key_automatically())
    before, feet, objects = _poses(), _feet(), len(bpy.data.objects)
    yield from act("a drag of the hand", _drag(feet))
    actions.expect("a keyed pose", 3)
    screen.picture("dragged")
    assert all_keys(_rig()), "Auto Keying keys nothing"
    assert len(bpy.data.objects) == objects, "an empty is left"
    assert not any(bone.ik_triangulation.target for bone in _rig().pose.bones)
    yield from hands.press("Z", ctrl=True)
    assert not all_keys(_rig()), "undo leaves keys"
    assert _poses() == before, "one undo does not bring the pose back"
    bpy.context.scene.tool_settings.use_keyframe_insert_auto = False


def _key_automatically() -> screen.Steps:
    bpy.context.scene.tool_settings.use_keyframe_insert_auto = True
    bpy.ops.ed.undo_push(message="Auto Keying")
    yield hands.REACTION


def _drag(feet: Vector) -> screen.Steps:
    yield from _take(HAND)
    screen.picture("drag-hover")
    for _ in range(6):
        yield from _move(-15, -22)
        assert (_feet() - feet).length < 2e-3, "a foot slips"
    screen.picture("drag")
    hands.button("RELEASE")
    yield from wait.end()
    yield 0.5


def _clicked() -> screen.Steps:
    """A click selects."""
    before = _poses()
    yield from _take("foot.R")
    hands.button("RELEASE")
    yield from wait.end()
    yield 0.5
    assert bpy.context.active_pose_bone.name == "foot.R", bpy.context.active_pose_bone.name
    assert _poses() == before


def _take(name: str) -> screen.Steps:
    """Press the left button on the middle of a bone."""
    yield 1.0
    bone = _rig().pose.bones[name]
    yield from hands.grab(_rig().matrix_world @ ((bone.head + bone.tail) / 2.0))
    yield from wait.start()


def _move(right: float, up: float) -> screen.Steps:
    hands.shift(right, up)
    yield 0.6


def _feet() -> Vector:
    bones = _rig().pose.bones
    return Vector((*bones["foot.L"].tail, *bones["foot.R"].tail))


def _poses() -> list[tuple[float, ...]]:
    return [(*bone.rotation_quaternion, *bone.location) for bone in _rig().pose.bones]


def _rig() -> bpy.types.Object:
    return bpy.data.objects["Rig"]

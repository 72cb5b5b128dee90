# SPDX-License-Identifier: GPL-3.0-or-later
"""A new user's first minute on a small screen: a hand follows a ball, in at most nine actions and the factory layout.

All of it is done with mouse and keys. Few fields are open, and Bake is on the screen without scrolling. Then the same
with a target of the limb's own, which is dragged at two frames with Auto Keying.
"""

import addon_utils
import bpy

from scripts.windowed.inside import actions, buttons, hands, screen, wait
from scripts.windowed.inside.actions import act
from scripts.windowed.inside.scene import clear
from tests.rigs import all_keys, curves_of, empty, evaluated_tip, key_frames

SIZE = (1366, 768)
MOST_ACTIONS, MOST_FIELDS = 9, 6
FRAMES = 60
BAKE = "pose.ik_triangulation_bake"


def script():
    fresh()
    actions.begin()
    yield 1.0
    yield from act("N opens the sidebar", hands.press("N"))
    yield from act("a click on the tab", _open_tab())
    screen.picture("first-minute-nothing")
    yield from act("a click on the ball", _click(bpy.data.objects["Ball"].matrix_world.translation))
    screen.picture("first-minute-ball")
    yield from act("Shift and a click on the rig", _click(_bone("shin.L"), shift=True))
    assert bpy.context.view_layer.objects.active == rig(), bpy.context.view_layer.objects.active
    yield from act("Ctrl Tab to Pose Mode", hands.press("TAB", ctrl=True))
    yield from act("a click on a bone of the hand", _click(_bone("hand.L")))
    screen.picture("first-minute-hand")
    yield from act("Add Limb", buttons.press("pose.ik_triangulation_limb_add"))
    limb = rig().pose.bones["hand.L"].ik_triangulation
    assert limb.target == bpy.data.objects["Ball"], limb.target
    screen.picture("first-minute-limb")
    yield from on_screen("1x")
    yield from act("Bake", buttons.press(BAKE))
    yield from wait.end()
    screen.picture("first-minute-baked")
    assert all_keys(rig()), "nothing is baked"
    assert _largest_distance() < 2e-3, _largest_distance()
    actions.expect("an arm baked to a ball", MOST_ACTIONS)
    yield from _count_fields()
    yield from _pictures()
    yield from _own_target()


def _own_target() -> screen.Steps:
    """From a new metarig in Pose Mode: the new empty is dragged at the first and the last frame, and baked."""
    actions.begin()
    fresh()
    bpy.data.objects.remove(bpy.data.objects["Ball"])
    bpy.context.view_layer.objects.active = rig()
    rig().select_set(True)
    bpy.ops.object.mode_set(mode="POSE")
    bpy.ops.ed.undo_push(message="Set up")
    screen.viewport().spaces.active.show_region_ui = False
    yield 1.0
    yield from act("N opens the sidebar", hands.press("N"))
    yield from act("a click on the tab", _open_tab())
    yield from act("a click on a bone of the hand", _click(_bone("hand.L")))
    yield from act("Add Limb", buttons.press("pose.ik_triangulation_limb_add"))
    target = rig().pose.bones["hand.L"].ik_triangulation.target
    bpy.context.scene.tool_settings.use_keyframe_insert_auto = True
    yield from act("Auto Keying", _wait())
    yield from act("a drag of the gizmo", drag_target(-60, 40))
    yield from act("Shift and the right arrow to the last frame", hands.press("RIGHT_ARROW", shift=True))
    assert bpy.context.scene.frame_current == FRAMES
    yield from act("another drag", drag_target(-20, 60))
    screen.picture("first-minute-dragged")
    assert next(key_frames(curve) for curve in curves_of(target)) == [1, FRAMES], "the target is not animated"
    yield from act("Bake", buttons.press(BAKE))
    yield from wait.end()
    bpy.context.scene.tool_settings.use_keyframe_insert_auto = False
    screen.picture("first-minute-own-target")
    for frame in range(1, FRAMES + 1):
        bpy.context.scene.frame_set(frame)
        apart = (evaluated_tip(rig(), "hand.L") - target.matrix_world.translation).length
        assert apart < 2e-3, f"{apart} at frame {frame}"
    actions.expect("an arm baked to a target of its own", MOST_ACTIONS)


def drag_target(right: float, up: float) -> screen.Steps:
    """Drag the centre of the gizmo by so many pixels."""
    x, y = screen.seen_at(target_of("hand.L"))
    hands.move(x - 3, y)
    yield hands.REACTION
    yield from hands.drag((x, y), (x + right, y + up))
    yield from wait.until(lambda: not wait.running(), "end of the drag")


def _pictures() -> screen.Steps:
    """Look at the panel with the target active."""
    yield from buttons.press("pose.ik_triangulation_target_select")
    assert bpy.context.view_layer.objects.active == bpy.data.objects["Ball"]
    yield 0.5
    screen.picture("first-minute-target")
    yield from on_screen("target")


def fresh() -> None:
    """A rig as Rigify adds it, and a ball that moves beside it; the layout is Blender's own."""
    clear()
    addon_utils.enable("rigify", default_set=True)
    bpy.ops.object.armature_human_metarig_add()
    rig().show_in_front = True
    ball = empty("Ball", (0.45, -0.25, 1.2))
    ball.empty_display_type, ball.empty_display_size = "SPHERE", 0.08
    for frame, place in ((1, (0.45, -0.3, 1.2)), (FRAMES // 2, (0.3, -0.4, 1.4)), (FRAMES, (0.5, -0.2, 1.0))):
        ball.location = place
        ball.keyframe_insert("location", frame=frame)
    bpy.context.scene.frame_end = FRAMES
    bpy.context.scene.frame_set(1)
    for ob in bpy.context.view_layer.objects:
        ob.select_set(False)
    bpy.ops.view3d.view_axis(type="FRONT")
    bpy.ops.view3d.view_all()
    bpy.ops.ed.undo_push(message="Set up")


def rig() -> bpy.types.Object:
    return next(ob for ob in bpy.data.objects if ob.type == "ARMATURE")


def _bone(name: str):
    """A place on a bone in the world, near its head, where other bones are not beside it."""
    bone = rig().pose.bones[name]
    return rig().matrix_world @ (bone.head + 0.3 * (bone.tail - bone.head))


def target_of(name: str):
    """The place of the target of a limb in the world."""
    return rig().pose.bones[name].ik_triangulation.target.matrix_world.translation.copy()


def _wait() -> screen.Steps:
    yield hands.REACTION


def _open_tab() -> screen.Steps:
    yield from screen.sidebar()


def _click(place, **modifiers: bool) -> screen.Steps:
    """Click on what is drawn at a place of the world."""
    yield from hands.click(*screen.seen_at(place), **modifiers)


def _largest_distance() -> float:
    """The largest distance of the hand from the surface of the ball over all frames."""
    scene, largest = bpy.context.scene, 0.0
    for frame in range(1, FRAMES + 1):
        scene.frame_set(frame)
        place = bpy.data.objects["Ball"].matrix_world.translation
        away = (rig().matrix_world @ rig().pose.bones["hand.L"].tail - place).length
        largest = max(largest, abs(away - bpy.data.objects["Ball"].empty_display_size))
    scene.frame_set(1)
    return largest


def on_screen(name: str) -> screen.Steps:
    """Check that Bake is drawn without scrolling, whole, with Blender's own panels above."""
    yield from buttons.to_top()
    left, bottom, right, top = yield from buttons.find(BAKE, scrolling=False)
    print(f"{name}: Bake is {right - left} x {top - bottom} pixels, {bottom - screen.region('UI').y} above the end")


def _count_fields() -> screen.Steps:
    """Count the properties that can be edited in the panels that are open at first."""
    found = yield from buttons.fields()
    print(f"{len(found)} fields: {', '.join(sorted(found))}", flush=True)
    assert 0 < len(found) <= MOST_FIELDS, found

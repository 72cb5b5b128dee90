# SPDX-License-Identifier: GPL-3.0-or-later
"""In Pose Mode + shows a gizmo at the target; a drag of it moves or turns the target, and the arm follows at once."""

from math import degrees, radians, tau
from pathlib import Path

import bmesh
import bpy
from bpy_extras.view3d_utils import location_3d_to_region_2d
from mathutils import Euler, Quaternion, Vector

from scripts.windowed.inside import buttons, hands, screen, wait
from scripts.windowed.inside.scene import clear
from tests.rigs import all_keys, armature, curves_of, evaluated_tip, key_frames, place, select

ARROW, RING, CENTRE = 0.95, 0.75, 0.05  # where to take hold of the gizmo, of its size
LOOK = 0.6  # seconds in which Blender draws, and finds what the mouse is on
HAND = "hand.L"
# Name, parent, head and tail of the bones; one arm is enough.
BONES = [
    {"name": name, "parent": parent, "head": head, "tail": tail}
    for name, parent, head, tail in (
        ("hips", None, (0.0, 0.0, 1.0), (0.0, 0.0, 1.2)),
        ("chest", "hips", (0.0, 0.0, 1.2), (0.0, 0.0, 1.5)),
        ("head", "chest", (0.0, 0.0, 1.55), (0.0, 0.0, 1.8)),
        ("upper_arm.L", "chest", (0.18, 0.0, 1.45), (0.38, 0.03, 1.25)),
        ("forearm.L", "upper_arm.L", (0.38, 0.03, 1.25), (0.58, 0.0, 1.05)),
        ("hand.L", "forearm.L", (0.58, 0.0, 1.05), (0.65, 0.0, 0.98)),
    )
]


def script():
    _person()
    yield from screen.sidebar()
    yield from buttons.press("pose.ik_triangulation_limb_add")
    assert bpy.context.mode == "POSE", bpy.context.mode
    assert _rig().data.bones.active.name == HAND
    screen.viewport().spaces.active.show_region_ui = False
    hands.move(*hands.rest())
    yield 1.0
    screen.picture("gizmo")
    yield from _arrow()
    yield from _cancelled()
    yield from _ring()
    yield from _in_perspective()
    yield from _keyed()
    yield from _centre_beside_blenders_own()
    yield from _without_gizmo()
    for theme in ("Blender_Light", "Blender_Dark"):
        _set_theme(theme)
        yield 1.0
        screen.picture(f"gizmo-{theme}", of=screen.region())


def _arrow() -> screen.Steps:
    """The X arrow takes the target along X, the hand stays at it, and one undo brings back both."""
    before, place = _pose(), _target().location.copy()
    yield from _take(ARROW, 0.0)
    for _ in range(5):
        yield from _pull(-40, 15)
        assert _apart() < 1e-3, f"the hand is left behind by {_apart()}"
    screen.picture("gizmo-arrow")
    yield from _let_go()
    moved = _target().location - place
    assert moved.x < -0.1, moved
    assert moved.yz.length < 1e-6, moved
    assert _apart() < 1e-3, _apart()
    after = _pose()
    assert after != before, "the arm is not posed"
    yield from hands.press("Z", ctrl=True)
    assert _target().location == place, "undo does not bring back the target"
    assert _pose() == before, "undo does not bring back the pose in the same step"
    yield from hands.press("Z", ctrl=True, shift=True)
    assert _pose() == after, "redo gives another pose"
    yield from hands.press("Z", ctrl=True)


def _cancelled() -> screen.Steps:
    """Esc and the right button bring back target and pose, and a mere click changes nothing."""
    before = _pose(), _target().location.copy()
    for end in ("ESC", "RIGHTMOUSE"):
        yield from _take(0.0, 0.0)
        yield from _pull(-100, 60)
        assert _target().location != before[1]
        yield from hands.strike(end)
        assert (_pose(), _target().location) == before, f"{end} does not bring back everything"
        yield from _let_go()
    yield from _take(ARROW, 0.0)
    yield from _let_go()
    assert (_pose(), _target().location) == before, "a click moves something"


def _ring() -> screen.Steps:
    """The ring that faces the viewer turns the target, and the hand with it; Ctrl keeps to whole steps."""
    bpy.ops.pose.ik_triangulation_target_move(value=(-0.2, -0.15, 0.1))  # the wrist needs room
    bpy.ops.ed.undo_push(message="Bent")
    before, angle = _pose(), _target().rotation_euler.copy()
    begin = _hand_rotation()  # from which the first turn of a target goes on
    yield from _take(RING * 0.7071, RING * 0.7071)
    yield from _pull(-10, 4)
    yield from _pull(-6, 0, ctrl=True)
    yield 1.0
    screen.picture("gizmo-ring")
    turned = rotation_angle(_target().rotation_euler.to_quaternion(), begin)
    assert abs(turned / radians(5) - round(turned / radians(5))) < 1e-3, degrees(turned)
    yield from _let_go()
    assert turned > 0.1
    assert _apart() < 1e-3, _apart()
    assert _turned_apart() < radians(1), degrees(_turned_apart())
    yield from hands.press("Z", ctrl=True)
    assert _target().rotation_euler == angle
    assert _pose() == before


def _in_perspective() -> screen.Steps:
    """Seen from the side in perspective the target stays under the mouse, in a plane and along its own axes."""
    view = screen.viewport().spaces.active.region_3d
    before = view.view_rotation.copy(), view.view_perspective
    view.view_rotation, view.view_perspective = Euler((1.2, 0.0, 0.7)).to_quaternion(), "PERSP"
    bpy.context.scene.transform_orientation_slots[0].type = "LOCAL"
    hands.move(*hands.rest())
    yield 1.0
    screen.picture("gizmo-perspective")
    place = _target().location.copy()
    axis = _target().matrix_world.to_3x3().col[2].normalized()
    at = location_3d_to_region_2d(screen.region(), view, place)
    way = (location_3d_to_region_2d(screen.region(), view, place + 0.01 * axis) - at).normalized()
    yield from _take(*(_arrow_at(axis) / bpy.context.preferences.view.gizmo_size))
    yield from _pull(*(-60 * way))
    yield 1.0
    screen.picture("gizmo-perspective-arrow")
    yield from _let_go()
    moved = _target().location - place
    assert moved.length > 0.01
    assert moved.cross(axis).length < 1e-4, "it leaves its own axis"
    now = location_3d_to_region_2d(screen.region(), view, _target().location)
    assert (now - at + 60 * way).length < 2.0, "it does not stay under the mouse"
    assert _apart() < 1e-3
    yield from hands.press("Z", ctrl=True)
    bpy.context.scene.transform_orientation_slots[0].type = "GLOBAL"
    view.view_rotation, view.view_perspective = before
    yield LOOK


def _arrow_at(axis: Vector) -> Vector:
    """Return where on the screen an arrow along an axis is, from the centre [pixels]."""
    view = screen.viewport().spaces.active.region_3d
    place = _target().matrix_world.translation
    ends = [location_3d_to_region_2d(screen.region(), view, each) for each in (place, place + 0.01 * axis)]
    right = view.view_rotation @ Vector((1.0, 0.0, 0.0))
    across = location_3d_to_region_2d(screen.region(), view, place + 0.01 * right)
    size = bpy.context.preferences.view.gizmo_size
    return ARROW * size * (ends[1] - ends[0]) / (across - ends[0]).length


def _keyed() -> screen.Steps:
    """With Auto Keying a target that is animated and the limb are keyed, in the step of undo of the drag."""
    _target().keyframe_insert("location", frame=1)
    tools = bpy.context.scene.tool_settings
    tools.use_keyframe_insert_auto = True
    bpy.context.scene.frame_set(10)
    bpy.ops.ed.undo_push(message="Auto Keying")
    yield from _take(0.0, 0.0)
    yield from _pull(-60, 40)
    assert not all_keys(_rig()), "keyed before the end of the drag"
    yield from _let_go()
    yield 1.0
    assert [key_frames(curve) for curve in curves_of(_target())] == [[1, 10], [1], [1, 10]], "Y was not moved"
    assert {key_frames(curve) == [10] for curve in curves_of(_rig())} == {True}
    assert _apart() < 1e-3, _apart()
    yield from hands.press("Z", ctrl=True)
    assert not curves_of(_rig()), "undo leaves keys of the limb"
    assert {len(curve.keyframe_points) for curve in curves_of(_target())} == {1}, "undo leaves keys of the target"
    bpy.context.scene.tool_settings.use_keyframe_insert_auto = False
    bpy.ops.ed.undo_push(message="No Auto Keying")


def _centre_beside_blenders_own() -> screen.Steps:
    """Where Blender shows its own gizmo at the bones, only the centre is left, and can be dragged."""
    bpy.ops.wm.tool_set_by_id(name="builtin.move")
    yield LOOK
    place = _target().location.copy()
    hands.move(*hands.rest())
    yield LOOK
    screen.picture("gizmo-beside-blenders-own", of=screen.region())
    yield from _take(CENTRE, 0.0)
    yield from _pull(-50, 30)
    yield from _let_go()
    assert _target().location != place
    yield from hands.press("Z", ctrl=True)
    bpy.ops.wm.tool_set_by_id(name="builtin.select_box")


def _without_gizmo() -> screen.Steps:
    """With Blender's Gizmos off nothing is shown; Move Target works like G, with X, Y and Z."""
    screen.viewport().spaces.active.show_gizmo = False
    hands.move(*hands.rest())
    yield LOOK
    screen.picture("gizmo-off", of=screen.region())
    place = _target().location.copy()
    with screen.in_viewport():
        bpy.ops.pose.ik_triangulation_target_move("INVOKE_DEFAULT")
    yield from _pull(-50, 50)
    yield from hands.strike("Z")
    yield from _pull(0, 10)
    screen.picture("gizmo-shortcut")
    yield from hands.strike("RET")
    moved = _target().location - place
    assert moved.z > 0.01, moved
    assert moved.xy.length < 1e-6, moved
    assert _apart() < 1e-3, _apart()
    assert not wait.running()
    screen.viewport().spaces.active.show_gizmo = True


def _take(right: float, up: float) -> screen.Steps:
    """Press the left button on the gizmo, this much of its size off its centre."""
    yield LOOK  # after an undo Blender has to evaluate and draw first
    bpy.context.view_layer.update()
    view = screen.region()
    centre = location_3d_to_region_2d(
        view, screen.viewport().spaces.active.region_3d, _target().matrix_world.translation
    )
    size = bpy.context.preferences.view.gizmo_size
    at = centre + Vector((view.x + right * size, view.y + up * size))
    hands.move(at.x - 3, at.y)
    yield LOOK
    hands.move(*at)
    yield LOOK
    hands.button("PRESS")
    yield from wait.start()


def _pull(right: float, up: float, **modifiers: bool) -> screen.Steps:
    hands.shift(right, up, **modifiers)
    yield LOOK


def _let_go() -> screen.Steps:
    hands.button("RELEASE")
    yield hands.REACTION


def _person() -> None:
    """A person with a skin, whose forearm is selected in Pose Mode."""
    clear()
    rig = armature("Person", BONES)
    rig.show_in_front = True
    _skin(rig)
    select(rig, "forearm.L")
    bpy.ops.view3d.view_axis(type="FRONT")
    bpy.ops.view3d.view_all()
    bpy.ops.ed.undo_push(message="Set up")


def _skin(rig: bpy.types.Object) -> None:
    """A ball for each bone, which it carries."""
    for bone in rig.data.bones:
        mesh, shape = bpy.data.meshes.new("Skin"), bmesh.new()
        bmesh.ops.create_uvsphere(shape, u_segments=32, v_segments=16, radius=bone.length / 2)
        bmesh.ops.scale(shape, vec=(0.6, 1.1, 0.6), verts=shape.verts)
        bmesh.ops.translate(shape, vec=(0.0, -bone.length / 2, 0.0), verts=shape.verts)
        shape.to_mesh(mesh)
        shape.free()
        mesh.shade_smooth()
        ball = place(bpy.data.objects.new("Skin", mesh))
        ball.parent, ball.parent_type, ball.parent_bone = rig, "BONE", bone.name


def _rig() -> bpy.types.Object:
    return bpy.data.objects["Person"]


def _target() -> bpy.types.Object:
    return _rig().pose.bones[HAND].ik_triangulation.target


def _pose() -> list[tuple[float, ...]]:
    return [tuple(bone.rotation_quaternion) for bone in _rig().pose.bones]


def _apart() -> float:
    """Return the distance of the hand's end from the target."""
    return (evaluated_tip(_rig(), HAND) - _target().matrix_world.translation).length


def _turned_apart() -> float:
    """Return the angle between hand and target [rad]."""
    return rotation_angle(_hand_rotation(), _target().matrix_world.to_quaternion())


def _hand_rotation() -> Quaternion:
    """Return the rotation of the hand as it is shown, world space."""
    shown = _rig().evaluated_get(bpy.context.evaluated_depsgraph_get())
    return (shown.matrix_world @ shown.pose.bones[HAND].matrix).to_quaternion()


def rotation_angle(one: Quaternion, other: Quaternion) -> float:
    angle = one.rotation_difference(other).angle
    return min(angle, tau - angle)


def _set_theme(name: str) -> None:
    (folder,) = map(Path, bpy.utils.preset_paths("interface_theme")[:1])
    bpy.ops.script.execute_preset(
        filepath=str(folder / f"{name}.xml"), menu_idname="USERPREF_MT_interface_theme_presets"
    )

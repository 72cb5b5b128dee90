# SPDX-License-Identifier: GPL-3.0-or-later
"""Target from Animation: a click keys the target along an animated arm, its path is edited, and Bake follows it."""

from math import cos, degrees, pi

import bpy
from mathutils import Quaternion

from scripts.windowed.inside import buttons, hands, screen, wait
from scripts.windowed.inside.scene import clear
from tests.bodies import human_rig
from tests.rigs import all_keys, configure, curves_of, empty, evaluated_tip, select

LAST = 33
WAVE = {"upper_arm.L": ("Z", (0.0, 1.0, 0.2)), "forearm.L": ("Z", (0.1, 0.3, 1.2)), "hand.L": ("X", (0.0, 0.4, -0.3))}
ON = "pose.ik_triangulation_target_from_animation"


def script():
    clear()
    rig = human_rig()
    rig.show_in_front = True
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, LAST
    for name, (axis, angles) in WAVE.items():
        bone = rig.pose.bones[name]
        for frame, angle in zip((1, 17, LAST), angles, strict=True):
            bone.rotation_quaternion = Quaternion([float(each == axis) for each in "XYZ"], angle)
            bone.keyframe_insert("rotation_quaternion", frame=frame)
    target = empty()
    target.empty_display_type, target.empty_display_size = "ARROWS", 0.15
    configure(rig, "hand.L", target=target, chain_count=3)
    select(rig, "hand.L")
    bpy.context.scene.frame_set(20)
    bpy.ops.view3d.view_axis(type="FRONT")
    view = screen.viewport().spaces.active.region_3d
    view.view_location, view.view_distance = (0.35, 0.0, 1.2), 2.2
    bpy.ops.ed.undo_push(message="Animation")
    buttons.fold("VIEW3D_PT_ik_triangulation_goal", closed=False)
    yield from screen.sidebar()
    before = _poses()

    yield from buttons.press(ON)
    yield from wait.until(lambda: all_keys(_target()), "key of the target")
    yield from wait.end()
    for frame in (1, 11, 17, 28, LAST):
        bpy.context.scene.frame_set(frame)
        assert (_target().matrix_world.translation - evaluated_tip(_rig(), "hand.L")).length < 1e-5, frame
    bpy.context.scene.frame_set(20)
    _show_path()
    yield 0.5
    screen.picture("target")

    yield from buttons.press("pose.ik_triangulation_bake")
    yield from wait.end()
    assert _apart(before) < 0.1, f"nothing was edited, and {_apart(before)} degrees have changed"
    yield from hands.press("Z", ctrl=True)

    for curve in curves_of(_target()):
        if (curve.data_path, curve.array_index) == ("location", 2):
            for key in curve.keyframe_points:
                key.co.y += 0.06 * (1.0 + cos(pi * min(1.0, abs(key.co.x - 17.0) / 12.0)))
            curve.update()
    bpy.ops.ed.undo_push(message="Edited")
    _show_path()
    yield from buttons.press("pose.ik_triangulation_bake")
    yield from wait.end()
    bpy.context.scene.frame_set(17)
    assert (_target().matrix_world.translation - evaluated_tip(_rig(), "hand.L")).length < 1e-3
    assert _apart(before, (17,)) > 5.0
    assert _apart(before, (1, 2, 4, 30, LAST)) < 0.1, _apart(before, (1, 2, 4, 30, LAST))
    yield 0.5
    screen.picture("target-edited")

    yield from hands.press("Z", ctrl=True)
    yield from hands.press("Z", ctrl=True)
    yield from hands.press("Z", ctrl=True)
    assert not all_keys(_target()), "undo does not take the keys of the target back"


def _rig():
    return bpy.data.objects["Rig"]


def _target():
    return bpy.data.objects["Target"]


def _show_path():
    """Show the path of the target as a motion path."""
    with bpy.context.temp_override(**{name: _target() for name in ("object", "active_object")}):
        target = _target()
        target.select_set(True)
        bpy.ops.object.paths_calculate(display_type="RANGE", range="SCENE")
        target.select_set(False)


def _poses():
    scene, found = bpy.context.scene, {}
    shown = scene.frame_current
    for frame in range(1, LAST + 1):
        scene.frame_set(frame)
        found[frame] = [_rig().pose.bones[name].matrix.to_quaternion() for name in WAVE]
    scene.frame_set(shown)
    return found


def _apart(before, frames=range(1, LAST + 1)):
    """The greatest angle of a bone of the arm from where it was [degrees]."""
    now = _poses()
    return max(degrees(a.rotation_difference(b).angle) for f in frames for a, b in zip(before[f], now[f], strict=True))

# SPDX-License-Identifier: GPL-3.0-or-later
"""The figure of the films: the extension's Reach Demo, seen from aside, and nothing else in the viewport."""

import bpy
from bpy.types import Object
from mathutils import Vector

from scripts.windowed.inside import screen
from scripts.windowed.inside.scene import clear
from scripts.windowed.pictures.look import bare, look_at

HAND = "hand.L"
CENTRE, HEIGHT = (0.0, -0.15, 0.85), 2.3  # [m] what is looked at


def add_figure(turned: float) -> Object:
    """Add the demo's figure in Pose Mode, seen from the front or turned about Z [rad]."""
    clear()
    bpy.ops.object.ik_triangulation_demo_add()
    rig = bpy.context.view_layer.objects.active
    rig.data.display_type, rig.show_in_front = "STICK", False
    bare()
    space = screen.viewport().spaces.active
    space.show_gizmo, space.show_gizmo_navigate = True, False
    space.show_region_hud = space.overlay.show_extras = False  # Adjust Last Operation, and empties
    bpy.context.scene.ik_triangulation_overlay.show = False
    look_at(CENTRE, HEIGHT, turned, 0.15)
    return rig


def at_frame(rig: Object, bone: str, frame: int) -> Vector:
    """Return where a bone ends at a frame (world space)."""
    scene = bpy.context.scene
    now = scene.frame_current
    if now != frame:
        scene.frame_set(frame)
    place = rig.matrix_world @ rig.pose.bones[bone].tail
    if now != frame:
        scene.frame_set(now)
    return place

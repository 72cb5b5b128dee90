# SPDX-License-Identifier: GPL-3.0-or-later
"""A hand that follows a vortex round a ball: its baked path, and the way ahead of it."""

from math import radians

import bpy
from mathutils import Vector

from scripts.windowed.inside import screen
from scripts.windowed.inside.scene import clear
from scripts.windowed.inside.screen import Steps
from scripts.windowed.pictures.look import ball, bare, look_at, paint, square
from tests.bodies import human_rig
from tests.rigs import configure, empty, evaluated_tip, place, select

SIZE = (1600, 1200)  # pixels of the display
PIXELS = 480
HAND, LAST = "hand.L", 32
PATH = (0.95, 0.75, 0.15, 1.0)


def script() -> Steps:
    clear()
    rig = human_rig()
    rig.show_in_front = True
    for bone in rig.pose.bones:
        bone.hide = not bone.name.startswith(("spine", "shoulder.L", "upper_arm.L", "forearm.L", "hand.L"))
    paint(rig)
    middle = evaluated_tip(rig, HAND) + Vector((-0.2, -0.17, 0.1))
    target = empty("Vortex", middle)
    target.empty_display_size = 0.05
    target.rotation_euler = (radians(70.0), radians(15.0), 0.0)
    ball(target, 0.08)
    bpy.context.view_layer.objects.active = target
    with screen.in_viewport():
        bpy.ops.object.forcefield_toggle()
    target.field.type = "VORTEX"
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="POSE")
    configure(rig, HAND, chain_count=3, target=target, shape="FLOW", flow_speed=0.9, body_part="ARM")
    select(rig, HAND)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, LAST
    with screen.in_viewport():
        done = bpy.ops.pose.ik_triangulation_bake()
    assert done == {"FINISHED"}, done
    path = bpy.data.curves.new("Path", "CURVE")
    path.dimensions, path.bevel_depth = "3D", 0.004
    spline = path.splines.new("POLY")
    spline.points.add(LAST - 1)
    for frame, point in enumerate(spline.points, 1):
        scene.frame_set(frame)
        point.co = (*evaluated_tip(rig, HAND), 1.0)
    place(bpy.data.objects.new("Path", path)).color = PATH
    scene.frame_set(LAST)
    scene.ik_triangulation_overlay.show_reach = False
    bare()
    look_at(middle + Vector((-0.12, 0.0, 0.0)), 1.0, radians(25.0), radians(20.0))
    yield 0.5
    square("flow", PIXELS)

# SPDX-License-Identifier: GPL-3.0-or-later
"""Feet on uneven ground: as they were animated, and on the surface of a mesh."""

from math import radians, sin

import bpy
from mathutils import Quaternion

from scripts.windowed.inside import screen
from scripts.windowed.inside.scene import clear
from scripts.windowed.inside.screen import Steps
from scripts.windowed.pictures.look import bare, look_at, paint, square
from tests.bodies import FEET, human_rig
from tests.rigs import configure, select
from tests.terrains import terrain

SIZE = (1600, 1200)  # pixels of the display
PIXELS = 360
GROUND = (0.45, 0.42, 0.36, 1.0)
SOLE = 0.03  # Blender units from the end of the foot's bone down to the ground


def script() -> Steps:
    clear()
    ground = terrain(lambda x, y: 0.1 + 0.35 * x + 0.3 * y + 0.015 * sin(12.0 * x), size=0.7, smooth=True)
    ground.color = GROUND
    rig = human_rig()
    rig.show_in_front = True
    for bone in rig.pose.bones:
        bone.hide = not bone.name.startswith(("thigh", "shin", "foot", "toe"))
    paint(rig)
    bare()
    look_at((0.0, 0.0, 0.3), 0.85, radians(20.0))
    screen.viewport().spaces.active.region_3d.view_rotation @= Quaternion((1.0, 0.0, 0.0), radians(-20.0))
    yield 0.5
    square("surface-before", PIXELS)
    for foot in FEET:
        settings = {"target": ground, "shape": "SURFACE", "surface_offset": SOLE, "orientation": "FULL"}
        configure(rig, foot, chain_count=3, body_part="LEG", **settings)
        select(rig, foot)
        with screen.in_viewport():
            bpy.ops.pose.ik_triangulation_solve()
    bpy.context.scene.ik_triangulation_overlay.show = False
    yield 0.5
    square("surface", PIXELS)

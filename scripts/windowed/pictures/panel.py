# SPDX-License-Identifier: GPL-3.0-or-later
"""The sidebar's panel after the demo's first act was baked, with a part of the viewport."""

import sys
from math import radians
from pathlib import Path

import bpy

from scripts.windowed.inside import buttons, hands, screen, wait
from scripts.windowed.inside.scene import clear
from scripts.windowed.inside.screen import Steps
from scripts.windowed.pictures.look import look_at

sys.path.append(str(Path(__file__).resolve().parents[2]))  # the demo imports its neighbours
from demo import make_scene

SIZE = (1600, 1200)  # pixels of the display
WIDTH, HEIGHT = 872, 700  # pixels, from the upper right corner of the sidebar
ABOVE = "space_view3d_sidebar"  # whose panels come first in the tab
ACT, TIP, FRAME = "Reach", "hand.L", 22


def script() -> Steps:
    buttons.fold(module=ABOVE)
    clear()
    rig = make_scene(ACT)[ACT].rig
    rig.data.display_type, rig.show_in_front = "STICK", True
    rig.data.collections["Face"].is_visible = False
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="POSE")
    rig.data.bones.active = rig.data.bones[TIP]
    for bone in rig.pose.bones:
        bone.select = bone.name == TIP
    bpy.context.scene.ik_triangulation_overlay.show = True
    screen.viewport().spaces.active.shading.color_type = "MATERIAL"
    look_at((-0.05, 0.0, 1.35), 1.75, radians(30.0))
    yield from screen.sidebar()
    yield from buttons.press("pose.ik_triangulation_bake_all")
    yield from wait.end()
    bpy.context.scene.frame_set(FRAME)
    hands.move(*hands.rest())
    yield 0.5
    view, sidebar = screen.region(), screen.region("UI")
    header = view.y + view.height - sidebar.y - sidebar.height
    corner = ("-gravity", "NorthEast", "-crop", f"{WIDTH}x{HEIGHT}+0+{header}", "+repage", "+dither", "-colors", "128")
    screen.picture("panel", *corner, of=view)

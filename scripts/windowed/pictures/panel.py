# SPDX-License-Identifier: GPL-3.0-or-later
"""The sidebar's panel after a bake of the demo's arm, with a part of the viewport."""

import sys
from math import radians
from pathlib import Path

import bpy

from scripts.windowed.inside import buttons, hands, screen, wait
from scripts.windowed.inside.scene import clear
from scripts.windowed.inside.screen import Steps
from scripts.windowed.pictures.look import look_at

sys.path.append(str(Path(__file__).resolve().parents[2]))  # the demo imports its neighbours
from demo import ARM, make_scene

WIDTH, HEIGHT = 872, 880  # pixels, from the upper right corner of the sidebar
ABOVE = "space_view3d_sidebar"  # whose panels come first in the tab


def script() -> Steps:
    buttons.fold(module=ABOVE)
    buttons.fold("VIEW3D_PT_ik_triangulation_result", closed=False)
    clear()
    rig, cup = make_scene()
    rig.show_in_front = True
    bpy.ops.object.mode_set(mode="POSE")
    rig.data.bones.active = rig.data.bones[ARM[-1]]
    tip = rig.pose.bones[ARM[-1]].ik_triangulation
    tip.target, tip.chain_count = cup, len(ARM)
    bpy.context.scene.ik_triangulation_overlay.show = True
    look_at((-0.1, 0.0, 0.9), 2.6, radians(30.0))
    yield from screen.sidebar()
    yield from buttons.press("pose.ik_triangulation_bake")
    yield from wait.end()
    bpy.context.scene.frame_set(40)
    yield from buttons.to_top()
    hands.move(*hands.rest())
    yield 0.5
    view, sidebar = screen.region(), screen.region("UI")
    header = view.y + view.height - sidebar.y - sidebar.height
    corner = ("-gravity", "NorthEast", "-crop", f"{WIDTH}x{HEIGHT}+0+{header}", "+repage", "+dither", "-colors", "64")
    screen.picture("panel", *corner, of=view)

# SPDX-License-Identifier: GPL-3.0-or-later
"""At 1.5x interface scale, 720 pixels high: with a list of five limbs Bake is on the screen without scrolling."""

import bpy

from scripts.windowed.inside import screen
from scripts.windowed.inside.scene import clear
from tests.bodies import human_rig

from .first_minute import on_screen
from .overlay import activate

SCALE = 1.5


def script():
    clear()
    rig = human_rig(with_head=True)
    bpy.context.preferences.view.ui_scale = SCALE
    yield 1.0
    yield from screen.sidebar()
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="POSE")
    bpy.ops.pose.ik_triangulation_body_add()
    limbs = [bone for bone in rig.pose.bones if bone.ik_triangulation.target or bone.ik_triangulation.hold]
    assert len(limbs) == 5, limbs
    for tip in ("hand.L", "foot.L"):
        activate(rig, tip)
        yield 1.0
        screen.picture(f"small-screen-{tip}")
        yield from on_screen(tip)
    target = rig.pose.bones["hand.L"].ik_triangulation.target
    bpy.ops.object.mode_set(mode="OBJECT")
    rig.select_set(False)
    target.select_set(True)
    bpy.context.view_layer.objects.active = target
    yield 1.0
    screen.picture("small-screen-target")
    yield from on_screen("target")
    bpy.context.preferences.view.ui_scale = 1.0
    yield 1.0

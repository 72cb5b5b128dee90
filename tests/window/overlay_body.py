# SPDX-License-Identifier: GPL-3.0-or-later
"""The overlay of a body: held feet, the area that they support and the center of mass, over them and beside them."""

import sys
from math import radians
from pathlib import Path

import bpy
from mathutils import Vector

from scripts.windowed.inside import screen
from scripts.windowed.inside.scene import clear
from scripts.windowed.inside.screen import Steps
from scripts.windowed.pictures.look import look_at
from tests.rigs import all_keys
from tests.window.overlay import activate, shot

sys.path.append(str(Path(__file__).resolve().parents[2] / "scripts"))  # the stage imports its neighbours
from stage.body import make_body

LAST = 24
FLOOR = Vector((0.2, -0.4, 0.12))  # a place of the left hand before the feet


def script() -> Steps:
    clear()
    scene = bpy.context.scene
    scene.unit_settings.system, scene.frame_end = "METRIC", LAST
    rig = make_body()
    rig.show_in_front, rig.data.display_type = True, "STICK"
    for name in ("Face", "Fingers", "Fingers (Detail)"):
        rig.data.collections[name].is_visible = False
    space = screen.viewport().spaces.active
    space.shading.color_type, space.overlay.show_relationship_lines = "MATERIAL", False
    bpy.ops.object.mode_set(mode="POSE")
    yield 0.5
    bpy.ops.pose.ik_triangulation_body_add()
    for name, side in (("hand.L", 1.0), ("hand.R", -1.0)):
        target = rig.pose.bones[name].ik_triangulation.target
        target.keyframe_insert("location", frame=1)
        target.location = FLOOR * Vector((side, 1.0, 1.0))
        target.keyframe_insert("location", frame=LAST // 2)
    look_at((0.0, -0.1, 0.95), 2.4, radians(-40.0), radians(25.0))
    activate(rig, "hand.L")
    scene.frame_set(1)
    yield from shot("body-standing")
    scene.frame_set(LAST // 2)
    bpy.ops.pose.ik_triangulation_bake()
    assert all_keys(rig), "nothing is baked"
    for bone in ("hand.L", "foot.L", "spine.003"):
        activate(rig, bone)
        yield from shot(f"body-crouch-{bone}")
    rig.pose.bones["spine"].location.z += 0.16  # the hips go behind the feet, which leave their places
    activate(rig, "foot.L")
    yield from shot("body-outside")
    look_at((0.0, -0.1, 0.15), 0.9, radians(-25.0), radians(35.0))
    yield from shot("body-outside-near")
    scene.frame_set(LAST // 2)
    yield from shot("body-near")

# SPDX-License-Identifier: GPL-3.0-or-later
"""With the shape Surface a click on Solve Pose puts the tip onto a mesh, and a live limb stays on it as it is moved."""

import bpy

from scripts.windowed.inside import buttons, screen
from scripts.windowed.inside.scene import chain, rig
from tests.rigs import evaluated_tip, select
from tests.terrains import off, terrain


def script():
    chain(tolerance=1e-3)
    bpy.ops.object.mode_set(mode="OBJECT")
    ground = terrain(smooth=True)
    ground.location.z = 2.0
    bpy.context.view_layer.objects.active = rig()
    bpy.ops.object.mode_set(mode="POSE")
    select(rig(), "Bone 3")
    limb = rig().pose.bones["Bone 3"].ik_triangulation
    limb.target, limb.shape = ground, "SURFACE"
    bpy.ops.view3d.view_orbit(angle=0.6, type="ORBITUP")
    buttons.fold("VIEW3D_PT_ik_triangulation_goal", closed=False)
    yield from screen.sidebar()
    assert off(ground, _tip()) > 0.1

    yield from buttons.press("pose.ik_triangulation_solve")
    assert off(ground, _tip()) < 1e-3, off(ground, _tip())
    yield from buttons.find("surface_offset")
    screen.picture("surface")

    yield from buttons.press("pose.ik_triangulation_live")
    for height in (1.9, 1.7, 1.5):
        ground.location.z = height
        yield 0.5
        assert off(ground, _tip()) < 1e-3, (height, off(ground, _tip()))
    screen.picture("surface-live")


def _tip():
    return evaluated_tip(rig(), "Bone 3")

# SPDX-License-Identifier: GPL-3.0-or-later
"""A step on flat ground gets Find Contacts, a terrain to stand on for both feet, and Bake: no foot slides or sinks."""

import bpy
import numpy as np

from scripts.windowed.inside import buttons, hands, screen, wait
from scripts.windowed.inside.scene import clear
from tests.bodies import FEET, sliding_rig, tails
from tests.rigs import curves_of, select
from tests.terrains import off, terrain

LAST, SOLE = 48, 0.02


def script():
    clear()
    rig = sliding_rig(LAST)
    rig.show_in_front = True
    terrain(lambda x, y: 0.2 * x + 0.15 * y, size=4.0)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="POSE")
    select(rig, FEET[0])
    view = screen.viewport().spaces.active.region_3d
    view.view_location, view.view_distance = (0.0, 0.0, 0.8), 4.5
    bpy.ops.ed.undo_push(message="Step")
    buttons.fold("VIEW3D_PT_ik_triangulation_goal", closed=False)
    yield from screen.sidebar()
    yield from buttons.press("pose.ik_triangulation_contacts_find")
    yield from wait.until(lambda: len(_rig().ik_triangulation.contacts) > 1, "contacts")
    yield from wait.end()
    for foot in reversed(FEET):
        select(_rig(), foot)
        limb = _rig().pose.bones[foot].ik_triangulation
        limb.target, limb.shape, limb.surface_offset = bpy.data.objects["Terrain"], "SURFACE", SOLE
    bpy.ops.ed.undo_push(message="Stands On")
    yield 0.5
    yield from buttons.find("surface_offset")
    screen.picture("terrain")
    keys = _count()
    yield from buttons.press("pose.ik_triangulation_bake")
    yield from wait.end()
    for each in _rig().ik_triangulation.contacts:
        frames = range(each.frame_start, each.frame_end + 1)
        places = tails(_rig(), each.tip, frames)
        assert max((place - places[0]).length for place in places) < 1e-3, f"{each.tip} slides"
        assert np.allclose([off(bpy.data.objects["Terrain"], place) for place in places], SOLE, atol=1e-3)
    bpy.context.scene.frame_set(LAST // 2)
    yield 0.5
    screen.picture("terrain-baked")
    yield from hands.press("Z", ctrl=True)
    assert _count() == keys, "one undo does not take the bake back"


def _rig():
    return bpy.data.objects["Rig"]


def _count():
    return sum(len(curve.keyframe_points) for curve in curves_of(_rig()))

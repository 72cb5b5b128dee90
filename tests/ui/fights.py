# SPDX-License-Identifier: GPL-3.0-or-later
"""Solvers compared on a limb."""

import bpy

from ..rigs import chain_rig, configure, empty, rotate

TIP = "Bone 3"


def standard(**settings):
    rig, target = chain_rig(4), empty()
    rig.location = (1.0, 0.0, 0.5)
    target.location = rig.location + target.location
    rotate(rig.pose.bones["Bone 2"], (0.9, 0.3, 0.0, 0.1))
    configure(rig, TIP, target=target, chain_count=3, tolerance=1e-4, **settings)
    bpy.context.view_layer.update()
    return rig, target


def fought():
    return bpy.context.window_manager.ik_triangulation_duel


def fight(**settings):
    duel = fought()
    for name, value in settings.items():
        setattr(duel, name, value)
    assert bpy.ops.pose.ik_triangulation_duel() == {"FINISHED"}
    return duel

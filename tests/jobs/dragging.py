# SPDX-License-Identifier: GPL-3.0-or-later
"""Live limbs and targets that are dragged."""

import bpy
from mathutils import Vector

from ..rigs import chain_rig, configure, empty, evaluated_tip

TIP = "Bone 3"


PLACE = Vector((0.3, 0.8, 2.2))


def standard(**settings):
    rig, target = chain_rig(4), empty()
    configure(rig, TIP, target=target, chain_count=3, tolerance=1e-4, **settings)
    return rig, target


def begin(**settings):
    rig, target = standard(**settings)
    assert bpy.ops.pose.ik_triangulation_live() == {"FINISHED"}
    return rig, target


def update():
    bpy.context.view_layer.update()


def apart(rig, target):
    shown = target.evaluated_get(bpy.context.evaluated_depsgraph_get())
    return (evaluated_tip(rig, TIP) - shown.matrix_world.translation).length


def rotations(rig):
    return [tuple(bone.rotation_quaternion) for bone in rig.pose.bones]

# SPDX-License-Identifier: GPL-3.0-or-later
"""A rig whose solvers are compared and which is mapped, and what an image shows."""

import bpy
import numpy as np
from mathutils import Matrix

from .rigs import (
    chain_rig,
    configure,
    empty,
    key_location,
)

QUICK = ["CCD", "TRIANGULATION", "FABRIK"]


def standard(bones=4, **settings):
    """A rig and a moving target, with settings on the tip bone; a target out of reach is there as well."""
    rig, target = chain_rig(bones), key_location(empty(), range(1, 42, 4))
    configure(rig, f"Bone {bones - 1}", target=target, chain_count=3, **settings)
    empty("Far", (0.0, 0.0, 50.0))
    bpy.context.scene.frame_set(1)
    return rig, target


def without_time(rows):
    return [row._replace(seconds=0.0) for row in rows]


def pixels(image):
    """Pixels as Blender has them, the bottom row first, as bytes."""
    values = np.empty(len(image.pixels), dtype=np.float32)
    image.pixels.foreach_get(values)
    width, height = image.size
    return np.rint(values.reshape(height, width, 4) * 255.0).astype(np.uint8)


BONES = ["Bone 0", "Bone 1", "Bone 2"]


def rig_in_space():
    """A limited limb on a rig that is moved, turned, and scaled unequally."""
    rig = chain_rig(3)
    rig.matrix_world = Matrix.LocRotScale((3.0, -2.0, 1.0), Matrix.Rotation(0.8, 3, (1, 2, 3)), (1.5, 0.5, 2.0))
    rig.pose.bones["Bone 0"].location = (0.3, 0.1, -0.2)
    rig.pose.bones["Bone 1"].rotation_quaternion = (0.9, 0.3, 0.1, 0.0)
    for bone in rig.pose.bones:
        for axis in "xyz":
            setattr(bone, f"use_ik_limit_{axis}", True)
            setattr(bone, f"ik_min_{axis}", -0.6)
            setattr(bone, f"ik_max_{axis}", 0.75)
    configure(rig, "Bone 2", chain_count=3)
    bpy.context.view_layer.update()
    return rig


FAST = {"solver": "CCD", "iterations": 15}

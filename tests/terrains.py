# SPDX-License-Identifier: GPL-3.0-or-later
"""Meshes to stand on and to touch, and a leg that walks on flat ground."""

from math import cos, pi, sin

import bpy
import numpy as np
from mathutils import Vector
from mathutils.bvhtree import BVHTree

from ik_triangulation.jobs.bake import bake
from ik_triangulation.rig.limb import Limb

from .rigs import armature, empty, key_location, place

STRIDE, STEP = 0.6, 12  # Blender units and frames for which the foot stays, and then swings


def hills(x, y):
    return 0.12 * sin(2.0 * x + 1.0) + 0.1 * cos(3.0 * y)


def terrain(height=hills, faces=100, size=4.0, smooth=False):
    """A square grid of `faces` by `faces` quads at the heights of a function."""
    line = np.linspace(-size / 2.0, size / 2.0, faces + 1).tolist()
    row = faces + 1
    quads = [(n, n + 1, n + row + 1, n + row) for k in range(faces) for n in range(k * row, k * row + faces)]
    mesh = bpy.data.meshes.new("Terrain")
    mesh.from_pydata([(x, y, height(x, y)) for y in line for x in line], [], quads)
    mesh.polygons.foreach_set("use_smooth", [smooth] * len(quads))
    ob = place(bpy.data.objects.new("Terrain", mesh))
    bpy.context.view_layer.update()
    return ob


def off(ob, place):
    """Distance of a place (world space) from the present surface of a mesh, by Blender's own tree of its faces."""
    shown = ob.evaluated_get(bpy.context.view_layer.depsgraph)
    mesh, matrix = shown.data, shown.matrix_world
    corners = [matrix @ vertex.co for vertex in mesh.vertices]
    return BVHTree.FromPolygons(corners, [face.vertices for face in mesh.polygons]).find_nearest(place)[3]


def walking_leg(frames=48):
    """A leg of a character that walks along Y on flat ground: planted for a step, swung forward in the next one."""
    rig = armature(
        "Walker",
        [
            {"name": "hips", "head": (0.0, 0.0, 1.0), "tail": (0.0, 0.0, 1.1), "parent": None},
            {"name": "thigh.L", "head": (0.1, 0.0, 0.95), "tail": (0.1, 0.03, 0.5), "parent": "hips"},
            {"name": "shin.L", "head": (0.1, 0.03, 0.5), "tail": (0.1, 0.0, 0.1), "parent": "thigh.L", "connect": True},
            {"name": "foot.L", "head": (0.1, 0.0, 0.1), "tail": (0.1, 0.12, 0.0), "parent": "shin.L", "connect": True},
        ],
    )
    key_location(rig, range(1, frames + 1), lambda frame: Vector((0.0, STRIDE * (frame - 1) / STEP / 2.0 - 0.6, -0.1)))
    ground = key_location(empty("Step"), range(1, frames + 1), _step)
    bake(Limb.from_tip(rig, "foot.L", ground, 3), 1, frames)
    return rig


def planted(frame):
    """Whether the foot is planted at a frame and at the one before."""
    return (frame - 1) % (2 * STEP) in range(1, STEP)


def _step(frame):
    lap, phase = divmod(frame - 1, 2 * STEP)
    swing = max(0.0, (phase - STEP + 1) / (STEP + 1))
    return Vector((0.1, STRIDE * (lap + swing) - 0.35, 0.2 * sin(pi * swing)))

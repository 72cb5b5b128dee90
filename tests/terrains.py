# SPDX-License-Identifier: GPL-3.0-or-later
"""Meshes to stand on and to touch."""

from math import cos, sin

import bpy
import numpy as np
from mathutils.bvhtree import BVHTree

from .rigs import place


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

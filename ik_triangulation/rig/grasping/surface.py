# SPDX-License-Identifier: GPL-3.0-or-later
"""The surface of an object that a hand holds: distances from it, and its inside."""

from __future__ import annotations

from collections import defaultdict
from functools import cached_property
from itertools import combinations

import numpy as np
from bpy.types import Depsgraph, Object
from mathutils import Vector, geometry
from mathutils.bvhtree import BVHTree

from ...errors import TargetError

_UPRIGHT = 0.999  # cosine to a face's normal below which its nearest place is on an edge or a corner
_SAME = 1e-6  # of the width: distance of a place from a corner that it is


class HeldSurface:
    """The surface of an object in world space, with its inside, as evaluated. Raises TargetError without faces."""

    def __init__(self, ob: Object, depsgraph: Depsgraph) -> None:
        shown = ob.evaluated_get(depsgraph)
        mesh = shown.to_mesh() if ob.type in {"MESH", "CURVE", "SURFACE", "FONT", "META"} else None
        if mesh is None or not len(mesh.polygons):
            raise TargetError(f"'{ob.name}' has no faces to hold. Choose a mesh.")
        self.frame = out = shown.matrix_world.copy()
        rows = np.array([out @ vertex.co for vertex in mesh.vertices])
        mesh.calc_loop_triangles()
        faces = np.array([face.vertices for face in mesh.loop_triangles])
        shown.to_mesh_clear()
        if out.determinant() < 0.0:
            faces = faces[:, ::-1]
        rows, at = np.unique(rows, axis=0, return_inverse=True)  # vertices at one place, as of seams, are one
        self._places = list(map(Vector, rows.tolist()))
        self._faces: list[tuple[int, ...]] = [tuple(face) for face in at.ravel()[faces].tolist() if len({*face}) == 3]
        self._tree = BVHTree.FromPolygons(self._places, self._faces, all_triangles=True)
        axes = np.linalg.svd(rows - rows.mean(0), full_matrices=False)[2] if len(rows) > 2 else np.eye(3)
        self.width = float(np.ptp((rows - rows.mean(0)) @ axes.T, axis=0)[:2].min())  # across its longest side

    @cached_property
    def _around(self) -> dict[int, list[tuple[int, ...]]]:
        """The faces at each vertex."""
        found = defaultdict[int, list[tuple[int, ...]]](list)
        for face in self._faces:
            for number in face:
                found[number].append(face)
        return found

    def distance(self, point: Vector) -> float:
        """Return the distance of a point from the surface [Blender units], negative inside."""
        nearest = self._tree.find_nearest(point)
        return float(nearest[3] if self._is_outside(point, *nearest) else -nearest[3])

    def away(self, point: Vector) -> float:
        """Return the distance of a point from the surface [Blender units], whichever side it is on."""
        return float(self._tree.find_nearest(point)[3])

    def normal(self, point: Vector) -> Vector:
        """Return the direction (unit length) in which a point is away from the surface."""
        place, normal, face, away = self._tree.find_nearest(point)
        return (point - place) / away if away > 1e-9 and self._is_outside(point, place, normal, face, away) else normal

    def _is_outside(self, point: Vector, place: Vector, normal: Vector, face: int, away: float) -> bool:
        """Tell whether a point is outside, from the nearest `place`, which is on a `face` with that normal.

        On an edge or a corner one face alone does not tell, where it is acute: the mean of the normals that meet there
        does, weighted at a corner by the angles of the faces. Source: Baerentzen and Aanaes 2005.
        """
        way = point - place
        height = way.dot(normal)
        if abs(height) < _UPRIGHT * away:
            height = way.dot(self._mean_normal(self._faces[face], place))
        return bool(height >= 0.0)

    def _mean_normal(self, face: tuple[int, ...], place: Vector) -> Vector:
        """Return a vector along the mean of the normals that meet at a place on an edge or a corner of a face."""
        places, mean = self._places, Vector()
        corner = min(face, key=lambda number: (places[number] - place).length)
        if (places[corner] - place).length > _SAME * self.width:
            edge = min(combinations(face, 2), key=lambda ends: _off(place, *(places[number] for number in ends)))
            for each in self._around[edge[0]]:
                if edge[1] in each:
                    mean += geometry.normal([places[number] for number in each])
            return mean
        for each in self._around[corner]:
            one, other = (places[number] - places[corner] for number in each if number != corner)
            mean += geometry.normal([places[number] for number in each]) * one.angle(other, 0.0)
        return mean


def _off(place: Vector, start: Vector, end: Vector) -> float:
    """Return the distance of a place from the line through two points."""
    along = end - start
    return float(along.cross(place - start).length / max(along.length, 1e-30))

# SPDX-License-Identifier: GPL-3.0-or-later
"""The surface of an object that a hand holds: distances from it, and its inside."""

from __future__ import annotations

import numpy as np
from bpy.types import Depsgraph, Object
from mathutils import Vector
from mathutils.bvhtree import BVHTree

from ...errors import TargetError

_UPRIGHT, _MEETING = 0.999, 1e-4  # cosine to a face below which a point is off it; of the width, where faces meet


class HeldSurface:
    """The surface of an object in world space, with its inside, as evaluated. Raises TargetError without faces."""

    def __init__(self, ob: Object, depsgraph: Depsgraph) -> None:
        shown = ob.evaluated_get(depsgraph)
        mesh = shown.to_mesh() if ob.type in {"MESH", "CURVE", "SURFACE", "FONT", "META"} else None
        if mesh is None or not len(mesh.polygons):
            raise TargetError(f"'{ob.name}' has no faces to hold. Choose a mesh.")
        self.frame = out = shown.matrix_world.copy()
        places = [out @ vertex.co for vertex in mesh.vertices]
        faces: list[tuple[int, ...]] = [tuple(face.vertices) for face in mesh.polygons]
        shown.to_mesh_clear()
        if out.determinant() < 0.0:
            faces = [face[::-1] for face in faces]
        self._tree = BVHTree.FromPolygons(places, faces)
        rows = np.array(places)
        axes = np.linalg.svd(rows - rows.mean(0), full_matrices=False)[2] if len(rows) > 2 else np.eye(3)
        self.width = float(np.ptp((rows - rows.mean(0)) @ axes.T, axis=0)[:2].min())  # across its longest side

    def distance(self, point: Vector) -> float:
        """Return the distance of a point from the surface [Blender units], negative inside."""
        place, normal, _, away = self._tree.find_nearest(point)
        return float(away if self._is_outside(point, place, normal, away) else -away)

    def away(self, point: Vector) -> float:
        """Return the distance of a point from the surface [Blender units], whichever side it is on."""
        return float(self._tree.find_nearest(point)[3])

    def normal(self, point: Vector) -> Vector:
        """Return the direction (unit length) in which a point is away from the surface."""
        place, normal, _, away = self._tree.find_nearest(point)
        return (point - place) / away if away > 1e-9 and self._is_outside(point, place, normal, away) else normal

    def _is_outside(self, point: Vector, place: Vector, normal: Vector, away: float) -> bool:
        """Tell whether a point is outside, from the nearest `place` and a normal there.

        On an edge or a corner one face alone does not tell, where it is acute: the mean of all that meet there does.
        """
        way = point - place
        height = way.dot(normal)
        if abs(height) < _UPRIGHT * away:
            meeting = self._tree.find_nearest_range(place, _MEETING * self.width)
            height = way.dot(sum((each[1] for each in meeting), Vector()))
        return bool(height >= 0.0)

# SPDX-License-Identifier: GPL-3.0-or-later
"""Motion of the mouse in a 3D Viewport as moves and turns in world space. Places of the mouse are in pixels, from the
lower left corner of the viewport."""

from __future__ import annotations

from math import atan2, pi, tau
from typing import NamedTuple

from bpy.types import Region, RegionView3D
from mathutils import Matrix, Vector
from mathutils.geometry import intersect_line_line, intersect_line_plane

_EDGE_ON = 0.05  # cosine between a plane and the line of sight below which places in it cannot be told
_HEAD_ON = 0.05  # sine between an axis and the line of sight, likewise


class View(NamedTuple):
    """A 3D Viewport: its matrix from world to clip space (4x4), the direction towards the viewer, its size [pixels]."""

    clip: Matrix
    towards: Vector
    width: int
    height: int

    @staticmethod
    def of(region: Region, view: RegionView3D) -> View:
        """Return the view of a viewport."""
        towards = view.view_rotation @ Vector((0.0, 0.0, 1.0))
        return View(view.perspective_matrix.copy(), towards, region.width, region.height)

    def under(self, mouse: Vector, pivot: Vector) -> tuple[Vector, Vector]:
        """Return the point under the mouse that is as deep in the view as `pivot`, and the direction of sight there."""
        x, y = 2.0 * mouse.x / self.width - 1.0, 2.0 * mouse.y / self.height - 1.0
        seen, back = self.clip @ pivot.to_4d(), self.clip.inverted()
        near, here = (back @ Vector((x, y, z, 1.0)) for z in (-1.0, seen.z / seen.w))
        point = here.xyz / here.w
        return point, (point - near.xyz / near.w).normalized()

    def place(self, point: Vector) -> Vector:
        """Return the pixel at which a point is seen."""
        seen = self.clip @ point.to_4d()
        return Vector(((seen.x / seen.w + 1.0) * self.width / 2.0, (seen.y / seen.w + 1.0) * self.height / 2.0))

    def sight(self, point: Vector) -> Vector:
        """Return the direction in which a point is seen, a unit vector."""
        return self.under(self.place(point), point)[1]


def move_in_view(view: View, pivot: Vector, start: Vector, now: Vector) -> Vector:
    """Return the move of a point at `pivot`, parallel to the screen, that keeps it under the mouse."""
    return _on_plane(view, pivot, view.towards, start, now)


def move_in_plane(view: View, pivot: Vector, normal: Vector, start: Vector, now: Vector) -> Vector:
    """Return the move of a point at `pivot` in a plane; as if parallel to the screen where that is seen edge-on."""
    if abs(normal.dot(view.sight(pivot))) >= _EDGE_ON:
        return _on_plane(view, pivot, normal, start, now)
    move = move_in_view(view, pivot, start, now)
    return move - move.project(normal)


def move_along(view: View, pivot: Vector, axis: Vector, start: Vector, now: Vector) -> Vector:
    """Return the move of a point at `pivot` along an axis, a unit vector.

    Up and down on the screen count where the axis is seen head-on.
    """
    if axis.cross(view.sight(pivot)).length < _HEAD_ON:
        up = move_in_view(view, pivot, Vector((now.x, start.y)), now)
        return axis * (up.length if now.y > start.y else -up.length)
    return axis * (_on_line(view, pivot, axis, now) - _on_line(view, pivot, axis, start))


def turned_by(view: View, pivot: Vector, before: Vector, now: Vector) -> float:
    """Return the angle from -pi to pi by which the mouse went round `pivot`, counterclockwise on the screen [rad]."""
    centre = view.place(pivot)
    one, two = before - centre, now - centre
    return (atan2(two.y, two.x) - atan2(one.y, one.x) + pi) % tau - pi


def _on_plane(view: View, pivot: Vector, normal: Vector, start: Vector, now: Vector) -> Vector:
    """Return the way between two places of the mouse on a plane through `pivot`; none where the plane is not seen."""
    places = []
    for mouse in (start, now):
        point, sight = view.under(mouse, pivot)
        places.append(intersect_line_plane(point, point + sight, pivot, normal) or pivot)
    way = places[1] - places[0]
    return way - way.project(normal)


def _on_line(view: View, pivot: Vector, axis: Vector, mouse: Vector) -> float:
    """Return where on a line through `pivot` it is nearest to what is under the mouse."""
    point, sight = view.under(mouse, pivot)
    found = intersect_line_line(pivot, pivot + axis, point, point + sight)
    return float((found[0] - pivot).dot(axis)) if found else 0.0

# SPDX-License-Identifier: GPL-3.0-or-later
"""Drawing of a body's held tips, of the area that they support and of its center of mass, in armature space."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from math import pi

import numpy as np
from mathutils import Vector

from ...kinematics.arrays import Array
from .active_body import Balance, DisplayedBody, HeldTip
from .aim_figure import dashed
from .shapes import ArcStroke, LineStroke, Role, Sketch, facing, plane_of

# Shares of the longest reach of the body's tips
_PIN = 0.022  # radius of the head of a pin, which is twice as high above its point
_MASS = 0.035  # radius of the mark of the center of mass
_BELOW = 0.025  # and of the mark of the place below it
_DASH = 0.02

_LEVEL = 0.05  # sine of the angle between a view and the vertical below which there is no upwards in it


def role_of_balance(balance: Balance) -> Role:
    """Return the role that says whether the center of mass is over the feet."""
    return Role.OUTSIDE if balance.outside else Role.BALANCED


def role_of_held(held: HeldTip) -> Role:
    """Return the role that says whether a held tip stays in its place."""
    return Role.AT_LIMIT if held.slips else Role.HELD


def area_role(balance: Balance) -> Role:
    """Return the role of the surface of the area, which is fainter than its outline."""
    return Role.AT_LIMIT if balance.outside else Role.REACHED


def support_area(balance: Balance) -> Array:
    """Return the triangles (n, 3) of the supported area."""
    first, *others = balance.corners
    corners = [(first, *pair) for pair in pairwise(others)]
    return np.array([[corner[:] for corner in triangle] for triangle in corners], np.float32).reshape(-1, 3)


def body_sketch(seen: DisplayedBody, eye: Vector) -> Sketch:
    """Return the strokes of a body; the `eye` (homogeneous) is in armature space."""
    sketch = Sketch()
    for held in seen.held:
        sketch.add(*_pin(held, seen, eye))
        if held.slips:
            sketch.add(*dashed(Role.AT_LIMIT, held.tip, held.place, _DASH * seen.size))
    if seen.balance is not None:
        _add_balance(sketch, seen, seen.balance, eye)
    return sketch


def _pin(held: HeldTip, seen: DisplayedBody, eye: Vector) -> Iterator[ArcStroke | LineStroke]:
    """Yield a pin whose point is where a tip is held."""
    radius, place, role = _PIN * seen.size, held.place, role_of_held(held)
    side, high = _upright(place, seen.up, eye)
    head = place + high * (2.0 * radius)
    yield ArcStroke(role, head, side * radius, high * radius, -pi / 6.0, pi * 7.0 / 6.0)
    for way in (side, -side):  # tangents of the circle: they touch it 30 degrees below its middle
        yield LineStroke(role, head + way * (radius * 3.0**0.5 / 2.0) - high * (radius / 2.0), place)
    yield ArcStroke(role, head, side * (0.3 * radius), high * (0.3 * radius))


def _upright(place: Vector, up: Vector, eye: Vector) -> tuple[Vector, Vector]:
    """Return two unit vectors that face the eye, to its right and upwards."""
    towards = (eye.xyz - place * eye.w).normalized()
    side = up.cross(towards)
    side = side.normalized() if side.length > _LEVEL else plane_of(towards)[0]
    return side, towards.cross(side)


def _add_balance(sketch: Sketch, seen: DisplayedBody, balance: Balance, eye: Vector) -> None:
    """Add the area, the center of mass as a quartered disc, and the place below it: a ring inside, a cross outside."""
    role, corners, size = role_of_balance(balance), balance.corners, seen.size
    if len(corners) > 1:
        sketch.add(*(LineStroke(role, corners[i - 1], corner) for i, corner in enumerate(corners)))
    radius, centre, below = _MASS * size, balance.centre, balance.below
    x, y = _upright(centre, seen.up, eye)
    sketch.add(facing(role, centre, radius, eye))
    for start in (0.0, pi):
        sketch.add(ArcStroke(role, centre, x * radius, y * radius, start, start + pi / 2.0, centre))
    foot = centre + (below - centre).normalized() * min(radius, (below - centre).length)
    sketch.add(*dashed(role, foot, below, _DASH * size))
    x, y = plane_of(seen.up)  # flat on the floor
    x, y = x * (_BELOW * size), y * (_BELOW * size)
    if not balance.outside:
        sketch.add(ArcStroke(role, below, x, y))
        return
    for way in (x + y, x - y):
        sketch.add(LineStroke(role, below - way, below + way))
    sketch.add(*dashed(role, below, balance.nearest, _DASH * size))

# SPDX-License-Identifier: GPL-3.0-or-later
"""Arcs and lines, and the points that show them; needs no window.

Places are in the space of whoever asks, as a rule armature space. An eye is where it is looked from, in homogeneous
coordinates: (x, y, z, 1) for a place, (x, y, z, 0) for the direction towards the viewer where there is no perspective.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import IntEnum, auto
from math import sqrt, tau
from typing import Any, NamedTuple

import numpy as np
from mathutils import Matrix, Vector

Array = np.ndarray[Any, np.dtype[Any]]

_STEPS = 32  # straight pieces of an arc, as many as Blender's own circles have,
_FEWER = 20  # and of a sector: there are many of these, and they are small
_WAIST = 0.1  # of a bone's length: where Blender's octahedral bones are widest, and how wide they are there
_ROUND = tau - 1e-4  # [rad] from here on an arc has no ends to be marked
_EDGES = np.array([(0, i) for i in range(1, 5)] + [(i, i % 4 + 1) for i in range(1, 5)] + [(i, 5) for i in range(1, 5)])
_FACES = np.array([(end, i, i % 4 + 1) for end in (0, 5) for i in range(1, 5)])


class Role(IntEnum):
    """What a stroke stands for; its colour and width come from that."""

    REACH = 0
    X = auto()
    Y = auto()
    Z = auto()
    LIMIT = auto()
    NOW = auto()
    LOCKED = auto()
    TARGET = auto()
    REACHED = auto()
    MISSED = auto()


class Arc(NamedTuple):
    """The places centre + cos(a) x + sin(a) y for angles a from `lower` to `upper` [rad].

    With an `apex` it is a sector: its surface is shown as well, and lines from there to the arc's ends.
    """

    role: Role
    centre: Vector
    x: Vector
    y: Vector
    lower: float = 0.0
    upper: float = tau
    apex: Vector | None = None

    def through(self, linear: Matrix, origin: Vector) -> Arc:
        """The same in another space, that `linear` (3x3) and after it `origin` lead to."""
        apex = None if self.apex is None else origin + linear @ self.apex
        return Arc(
            self.role, origin + linear @ self.centre, linear @ self.x, linear @ self.y, self.lower, self.upper, apex
        )


class Line(NamedTuple):
    """A straight line; what goes on without end is faded out, down to 0."""

    role: Role
    start: Vector
    end: Vector
    start_alpha: float = 1.0
    end_alpha: float = 1.0

    def through(self, linear: Matrix, origin: Vector) -> Line:
        """The same in another space, that `linear` (3x3) and after it `origin` lead to."""
        start, end = origin + linear @ self.start, origin + linear @ self.end
        return Line(self.role, start, end, self.start_alpha, self.end_alpha)


class Strokes(NamedTuple):
    """Places (n, 3), the role of each (n) and its alpha (n): two in a row are a line, or three a triangle."""

    places: Array
    roles: Array
    alphas: Array


@dataclass
class Sketch:
    """What is to be shown."""

    arcs: list[Arc] = field(default_factory=list)
    lines: list[Line] = field(default_factory=list)

    def add(self, *strokes: Arc | Line | None) -> None:
        """Take these in; None is nothing."""
        for stroke in strokes:
            if isinstance(stroke, Arc):
                self.arcs.append(stroke)
            elif stroke is not None:
                self.lines.append(stroke)

    def strokes(self) -> tuple[Strokes, Strokes]:
        """All lines, those of the arcs and their ends included; and the triangles of all sectors."""
        sectors = [arc for arc in self.arcs if arc.apex is not None]
        apices, around, roles = _array([arc.apex for arc in sectors]), _curves(sectors, _FEWER), _roles(sectors)
        ended = np.array([arc.upper - arc.lower < _ROUND for arc in sectors], dtype=bool)
        ends = np.stack((apices[ended], around[ended, 0], apices[ended], around[ended, -1]), axis=1)
        lines = _array([place for line in self.lines for place in (line.start, line.end)])
        bare = [arc for arc in self.arcs if arc.apex is None]
        outlines = (
            (lines, _roles(self.lines).repeat(2)),
            (ends.reshape(-1, 3), roles[ended].repeat(4)),
            (_pieces(around), roles.repeat(2 * _FEWER)),
            (_pieces(_curves(bare, _STEPS)), _roles(bare).repeat(2 * _STEPS)),
        )
        places, owners = (np.concatenate(parts) for parts in zip(*outlines, strict=True))
        alphas = np.ones(len(places), dtype=np.float32)
        alphas[: len(lines)] = [alpha for line in self.lines for alpha in line[3:]]
        middle = np.broadcast_to(apices[:, None], (len(apices), _FEWER, 3))
        fans = np.stack((middle, around[:, :-1], around[:, 1:]), axis=2).reshape(-1, 3)
        whole = np.ones(len(fans), dtype=np.float32)
        return Strokes(places, owners, alphas), Strokes(fans, roles.repeat(3 * _FEWER), whole)


def silhouette(role: Role, centre: Vector, radius: float, eye: Vector) -> Arc | None:
    """The circle that a ball looks like from the `eye`; None from inside it, where it has no outline."""
    towards = eye.xyz - centre * eye.w
    distance = towards.length
    if not eye.w:
        return facing(role, centre, radius, eye)
    if distance <= radius:
        return None
    # From a place the view touches the ball on a smaller circle that stands nearer.
    near = radius / distance
    return facing(role, centre + towards * near * near, radius * sqrt(1.0 - near * near), eye)


def facing(role: Role, centre: Vector, radius: float, eye: Vector, apex: Vector | None = None) -> Arc:
    """A circle that faces the `eye`."""
    x, y = plane_of(eye.xyz - centre * eye.w)
    return Arc(role, centre, x * radius, y * radius, apex=apex)


def plane_of(normal: Vector) -> tuple[Vector, Vector]:
    """Two unit vectors that are square to each other and to a normal of any length."""
    x = normal.orthogonal().normalized()
    return x, normal.normalized().cross(x)


def circle(role: Role, centre: Vector, normal: Vector, radius: float) -> Arc:
    """A circle about a normal of any length."""
    x, y = plane_of(normal)
    return Arc(role, centre, x * radius, y * radius)


def octahedra(points: Sequence[Sequence[float]]) -> tuple[Array, Array]:
    """Bones from each of the points to the next, as Blender draws them: ends of edges (n, 3), triangles (m, 3).

    Two points at the same place have no bone between them.
    """
    joints = np.array([tuple(point) for point in points], dtype=float).reshape(-1, 3)
    starts, along = joints[:-1], np.diff(joints, axis=0)
    lengths = np.linalg.norm(along, axis=1)
    starts, along, lengths = starts[lengths > 0.0], along[lengths > 0.0], lengths[lengths > 0.0, None]
    # Square to a bone is what is square to the axis that it runs along the least.
    least = np.eye(3)[np.abs(along).argmin(axis=1)]
    across = np.cross(along, least)
    across /= np.linalg.norm(across, axis=1, keepdims=True)
    over = np.cross(along / lengths, across)
    waist = starts + along * _WAIST
    corners = [waist + side * lengths * _WAIST for side in (across, over, -across, -over)]
    places = np.stack((starts, *corners, starts + along), axis=1)
    places = places.astype(np.float32)
    return places[:, _EDGES].reshape(-1, 3), places[:, _FACES].reshape(-1, 3)


def _curves(arcs: Sequence[Arc], steps: int) -> Array:
    """The places of each arc, one after the other (arcs, steps + 1, 3)."""
    frames = _array([vector for arc in arcs for vector in (arc.centre, arc.x, arc.y)]).reshape(-1, 3, 1, 3)
    ends = np.array([arc[4:6] for arc in arcs], dtype=np.float32).reshape(-1, 2, 1)
    angles = (ends[:, 0] + (ends[:, 1] - ends[:, 0]) * np.linspace(0.0, 1.0, steps + 1, dtype=np.float32))[..., None]
    result: Array = frames[:, 0] + np.cos(angles) * frames[:, 1] + np.sin(angles) * frames[:, 2]
    return result


def _pieces(curves: Array) -> Array:
    """The straight pieces of curves: two places each."""
    pieces: Array = np.stack((curves[:, :-1], curves[:, 1:]), axis=2).reshape(-1, 3)
    return pieces


def _roles(strokes: Sequence[Arc | Line]) -> Array:
    return np.array([stroke.role for stroke in strokes], dtype=int)


def _array(vectors: Sequence[Vector]) -> Array:
    """The vectors as rows."""
    return np.array([vector[:] for vector in vectors], dtype=np.float32).reshape(-1, 3)

# SPDX-License-Identifier: GPL-3.0-or-later
"""Arcs and lines, and the points that show them; needs no window.

Places are in the space of whoever asks, as a rule armature space. An eye is where it is looked from, in homogeneous
coordinates: (x, y, z, 1) for a place, (x, y, z, 0) for the direction towards the viewer where there is no perspective.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import IntEnum, auto
from math import sqrt, tau
from typing import Any, NamedTuple

import numpy as np
from mathutils import Matrix, Vector

Array = np.ndarray[Any, np.dtype[Any]]

_STEPS = 64  # straight pieces of an arc: at 1000 pixels across it is off by half a pixel
_SHARES = np.linspace(0.0, 1.0, _STEPS + 1)
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

    def through(self, matrix: Matrix) -> Arc:
        """The same in the space that `matrix` (4x4) leads to."""
        linear = matrix.to_3x3()
        apex = None if self.apex is None else matrix @ self.apex
        return self._replace(centre=matrix @ self.centre, x=linear @ self.x, y=linear @ self.y, apex=apex)


class Line(NamedTuple):
    """A straight line; what goes on without end is faded out, down to 0."""

    role: Role
    start: Vector
    end: Vector
    start_alpha: float = 1.0
    end_alpha: float = 1.0

    def through(self, matrix: Matrix) -> Line:
        """The same in the space that `matrix` (4x4) leads to."""
        return self._replace(start=matrix @ self.start, end=matrix @ self.end)


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

    def outlines(self) -> Strokes:
        """All lines, those of the arcs and their ends included."""
        places = [np.array([(*line.start, *line.end) for line in self.lines]).reshape(-1, 3)]
        roles = [np.repeat([line.role for line in self.lines], 2)]
        faded = np.array([(line.start_alpha, line.end_alpha) for line in self.lines]).reshape(-1)
        curves = _curves(self.arcs)
        places.append(np.stack((curves[:, :-1], curves[:, 1:]), axis=2).reshape(-1, 3))
        roles.append(np.repeat([arc.role for arc in self.arcs], 2 * _STEPS))
        ended = [i for i, arc in enumerate(self.arcs) if arc.apex is not None and arc.upper - arc.lower < _ROUND]
        apices = np.repeat([self.arcs[i].apex[:] for i in ended], 2, axis=0).reshape(-1, 1, 3)
        ends = curves[ended][:, (0, -1)].reshape(-1, 1, 3)
        places.append(np.concatenate((apices, ends), axis=1).reshape(-1, 3))
        roles.append(np.repeat([self.arcs[i].role for i in ended], 4))
        return _strokes(np.concatenate(places), np.concatenate(roles), faded)

    def surfaces(self) -> Strokes:
        """The triangles of all sectors."""
        sectors = [arc for arc in self.arcs if arc.apex is not None]
        curves = _curves(sectors)
        apices = np.array([arc.apex[:] for arc in sectors]).reshape(-1, 1, 3).repeat(_STEPS, axis=1)
        places = np.stack((apices, curves[:, :-1], curves[:, 1:]), axis=2).reshape(-1, 3)
        return _strokes(places, np.repeat([arc.role for arc in sectors], 3 * _STEPS))


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
    return places[:, _EDGES].reshape(-1, 3), places[:, _FACES].reshape(-1, 3)


def _curves(arcs: Sequence[Arc]) -> Array:
    """The places of each arc, one after the other (arcs, steps + 1, 3)."""
    frames = np.array([(*arc.centre, *arc.x, *arc.y) for arc in arcs]).reshape(-1, 3, 1, 3)
    ends = np.array([(arc.lower, arc.upper) for arc in arcs]).reshape(-1, 2, 1)
    angles = (ends[:, 0] + (ends[:, 1] - ends[:, 0]) * _SHARES)[..., None]
    result: Array = frames[:, 0] + np.cos(angles) * frames[:, 1] + np.sin(angles) * frames[:, 2]
    return result


def _strokes(places: Array, roles: Array, alphas: Iterable[float] = ()) -> Strokes:
    """Strokes whose first alphas are given; all others are 1."""
    full = np.ones(len(places))
    first = np.fromiter(alphas, float)
    full[: len(first)] = first
    return Strokes(places, roles.astype(int), full)

# SPDX-License-Identifier: GPL-3.0-or-later
"""Strokes that the overlay draws: arcs and lines, their vertices as arrays, and their colours from the theme.

Arcs and lines, and their vertices as arrays; needs no window.

Points are in the caller's space, usually armature space. The `eye` is the viewpoint in homogeneous coordinates:
(x, y, z, 1) for a point, (x, y, z, 0) for the direction towards the viewer in an orthographic view.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import IntEnum, auto
from math import sqrt, tau
from typing import NamedTuple

import numpy as np
from bpy.types import Theme
from mathutils import Matrix, Vector

from ...kinematics.arrays import Array

_STEPS = 32  # line segments of an arc, as many as in Blender's own circles,
_FEWER = 20  # and of a sector: sectors are many and small
_WAIST = 0.1  # of a bone's length: where Blender's octahedral bones are widest, and how wide they are there
_ROUND = tau - 1e-4  # [rad] from this angle on an arc counts as a full circle and has no ends
_EDGES = np.array([(0, i) for i in range(1, 5)] + [(i, i % 4 + 1) for i in range(1, 5)] + [(i, 5) for i in range(1, 5)])
_FACES = np.array([(end, i, i % 4 + 1) for end in (0, 5) for i in range(1, 5)])

_BRIGHT = 0.4  # luminance from which a background is bright
_LUMINANCE = 0.2126, 0.7152, 0.0722  # of red, green and blue (Rec. 709)

_DISC = 0.5  # alpha of the quarters of a center of mass
_OTHERS = 0.85
_OTHER_SURFACES = 0.08
GHOST = 0.6, 0.12  # alpha of a ghost's edges and faces


class Role(IntEnum):
    """Meaning of a stroke, which decides its colour and width."""

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
    COMING = auto()
    JOINT = auto()
    AT_LIMIT = auto()
    HELD = auto()
    BALANCED = auto()
    OUTSIDE = auto()
    WAITING = auto()


class ArcStroke(NamedTuple):
    """The points centre + cos(a) x + sin(a) y for angles a from `lower` to `upper` [rad].

    With an `apex` it is a sector: its surface is drawn as well, and lines from the apex to the arc's ends.
    """

    role: Role
    centre: Vector
    x: Vector
    y: Vector
    lower: float = 0.0
    upper: float = tau
    apex: Vector | None = None

    def through(self, linear: Matrix, origin: Vector) -> ArcStroke:
        """Return the stroke in another space: transformed by `linear` (3x3), then translated by `origin`."""
        apex = None if self.apex is None else origin + linear @ self.apex
        return ArcStroke(
            self.role, origin + linear @ self.centre, linear @ self.x, linear @ self.y, self.lower, self.upper, apex
        )


class LineStroke(NamedTuple):
    """Straight line; an end of something infinite is faded out to alpha 0."""

    role: Role
    start: Vector
    end: Vector
    start_alpha: float = 1.0
    end_alpha: float = 1.0

    def through(self, linear: Matrix, origin: Vector) -> LineStroke:
        """Return the stroke in another space: transformed by `linear` (3x3), then translated by `origin`."""
        start, end = origin + linear @ self.start, origin + linear @ self.end
        return LineStroke(self.role, start, end, self.start_alpha, self.end_alpha)


Stroke = ArcStroke | LineStroke


class Strokes(NamedTuple):
    """Vertices (n, 3), their roles (n) and alphas (n): each two in a row are a line, or each three a triangle."""

    places: Array
    roles: Array
    alphas: Array

    def among(self, roles: Array) -> Strokes:
        """Return the strokes whose roles are True in this table."""
        which = roles[self.roles]
        return Strokes(*(part[which] for part in self))


@dataclass
class Sketch:
    """The arcs and lines to draw."""

    arcs: list[ArcStroke] = field(default_factory=list)
    lines: list[LineStroke] = field(default_factory=list)

    def add(self, *strokes: Stroke | None) -> None:
        """Add strokes; None is ignored."""
        for stroke in strokes:
            if isinstance(stroke, ArcStroke):
                self.arcs.append(stroke)
            elif stroke is not None:
                self.lines.append(stroke)

    def strokes(self) -> tuple[Strokes, Strokes]:
        """Return the lines, including those of arcs and sectors, and the triangles of all sectors."""
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


def silhouette(role: Role, centre: Vector, radius: float, eye: Vector) -> ArcStroke | None:
    """Return the outline of a sphere seen from the `eye`, a circle; None if the eye is inside the sphere."""
    towards = eye.xyz - centre * eye.w
    distance = towards.length
    if not eye.w:
        return facing(role, centre, radius, eye)
    if distance <= radius:
        return None
    # With perspective, the lines of sight touch the sphere in a smaller circle nearer to the eye.
    near = radius / distance
    return facing(role, centre + towards * near * near, radius * sqrt(1.0 - near * near), eye)


def facing(role: Role, centre: Vector, radius: float, eye: Vector) -> ArcStroke:
    """Return a circle that faces the `eye`."""
    x, y = plane_of(eye.xyz - centre * eye.w)
    return ArcStroke(role, centre, x * radius, y * radius)


def plane_of(normal: Vector) -> tuple[Vector, Vector]:
    """Return two unit vectors orthogonal to each other and to the normal, which may have any length."""
    x = normal.orthogonal().normalized()
    return x, normal.normalized().cross(x)


def circle(role: Role, centre: Vector, normal: Vector, radius: float) -> ArcStroke:
    """Return a circle about a normal of any length."""
    x, y = plane_of(normal)
    return ArcStroke(role, centre, x * radius, y * radius)


def octahedra(points: Sequence[Sequence[float]]) -> tuple[Array, Array]:
    """Return octahedral bones from each point to the next, as Blender draws them: edges (n, 3), triangles (m, 3).

    Coincident points have no bone between them.
    """
    joints = np.array([tuple(point) for point in points], dtype=float).reshape(-1, 3)
    return octahedra_between(joints[:-1], joints[1:])[:2]


def octahedra_between(heads: Array, tails: Array) -> tuple[Array, Array, Array]:
    """Return octahedral bones from heads to tails (b, 3 each): edges (n, 3), triangles (m, 3), and which bones (b).

    Bones without length are left out: the mask tells which have one.
    """
    starts, along = heads, tails - heads
    lengths = np.linalg.norm(along, axis=1)
    drawn = lengths > 0.0
    starts, along, lengths = starts[drawn], along[drawn], lengths[drawn, None]
    # The coordinate axis least parallel to a bone gives a well-conditioned cross product.
    least = np.eye(3)[np.abs(along).argmin(axis=1)]
    across = np.cross(along, least)
    across /= np.linalg.norm(across, axis=1, keepdims=True)
    over = np.cross(along / lengths, across)
    waist = starts + along * _WAIST
    corners = [waist + side * lengths * _WAIST for side in (across, over, -across, -over)]
    places = np.stack((starts, *corners, starts + along), axis=1)
    places = places.astype(np.float32)
    return places[:, _EDGES].reshape(-1, 3), places[:, _FACES].reshape(-1, 3), drawn


def _curves(arcs: Sequence[ArcStroke], steps: int) -> Array:
    """Return the points of each arc (arcs, steps + 1, 3)."""
    frames = _array([vector for arc in arcs for vector in (arc.centre, arc.x, arc.y)]).reshape(-1, 3, 1, 3)
    ends = np.array([arc[4:6] for arc in arcs], dtype=np.float32).reshape(-1, 2, 1)
    angles = (ends[:, 0] + (ends[:, 1] - ends[:, 0]) * np.linspace(0.0, 1.0, steps + 1, dtype=np.float32))[..., None]
    result: Array = frames[:, 0] + np.cos(angles) * frames[:, 1] + np.sin(angles) * frames[:, 2]
    return result


def _pieces(curves: Array) -> Array:
    """Return the line segments of curves, two points each (n, 3)."""
    pieces: Array = np.stack((curves[:, :-1], curves[:, 1:]), axis=2).reshape(-1, 3)
    return pieces


def _roles(strokes: Sequence[Stroke]) -> Array:
    return np.array([stroke.role for stroke in strokes], dtype=int)


def _array(vectors: Sequence[Vector]) -> Array:
    """Return the vectors as rows (n, 3)."""
    return np.array([vector[:] for vector in vectors], dtype=np.float32).reshape(-1, 3)


# Alpha of lines; _OTHERS for the other roles
_OUTLINE = {Role.REACH: 0.45, Role.LOCKED: 0.7, Role.TARGET: 0.7, Role.JOINT: 0.6, Role.WAITING: 0.45}
_SURFACE = {
    Role.REACH: 1.0,
    Role.MISSED: 0.1,
    Role.BALANCED: _DISC,
    Role.OUTSIDE: _DISC,
}  # alpha of surfaces; that of a shell comes from its shading
IS_BOLD = np.isin(list(Role), (Role.NOW, Role.REACHED, Role.MISSED, Role.OUTSIDE))  # for each role, True for wide lines


class Palette(NamedTuple):
    """RGBA of lines and of surfaces, a row for each role."""

    outlines: Array
    surfaces: Array


def palette(theme: Theme) -> Palette:
    """Return the colours for a theme, which contrast with its viewport background."""
    interface, viewport = theme.user_interface, theme.view_3d
    state = interface.wcol_state
    colours = {
        Role.X: interface.axis_x,
        Role.Y: interface.axis_y,
        Role.Z: interface.axis_z,
        Role.LIMIT: interface.gizmo_primary,
        Role.TARGET: interface.gizmo_secondary,
        Role.REACHED: _clear(state.success, theme),
        Role.MISSED: _clear(state.error, theme),
        Role.AT_LIMIT: _clear(state.warning, theme),
        Role.BALANCED: _clear(state.success, theme),
        Role.OUTSIDE: _clear(state.warning, theme),
        Role.REACH: viewport.bone_pose,
    }
    plain = viewport.space.text_hi
    rows = np.array([tuple(colours.get(role, plain))[:3] for role in Role], dtype=np.float32)
    alphas = ([_OUTLINE.get(role, _OTHERS) for role in Role], [_SURFACE.get(role, _OTHER_SURFACES) for role in Role])
    return Palette(*(np.column_stack((rows, np.array(each, dtype=np.float32))) for each in alphas))


def ghostly(theme: Theme) -> tuple[float, float, float]:
    """Return the default colour of ghosts."""
    return tuple(theme.view_3d.bone_pose)


def plain_text(theme: Theme) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return the colour of texts, and that of an outline in which they can be read before anything."""
    text: tuple[float, ...] = tuple(theme.view_3d.space.text_hi)[:3]
    bright = sum(part * share for part, share in zip(text, _LUMINANCE, strict=True)) > 0.5
    return text, (0.0, 0.0, 0.0) if bright else (1.0, 1.0, 1.0)


def _clear(colour: Sequence[float], theme: Theme) -> list[float]:
    """Return a colour at full brightness, or unchanged over a bright viewport background."""
    background = theme.view_3d.space.gradients.high_gradient
    bright = sum(background[i] * _LUMINANCE[i] for i in range(3)) > _BRIGHT
    return list(colour[:3]) if bright else [part / max(*colour[:3], 1e-3) for part in colour[:3]]

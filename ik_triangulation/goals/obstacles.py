# SPDX-License-Identifier: GPL-3.0-or-later
"""Obstacles that links stay out of: balls, boxes and capsules of a body, as a soft goal and as tasks for many poses.

Source: repulsive obstacles, Khatib 1986, "Real-time obstacle avoidance for manipulators and mobile robots", as a soft
constraint of "Inverse Kinematics - Improved Methods" (seed document gradient-methods). The residual of a link is the
penetration depth of its deepest point.

Capsules move with a body. The error of a link in a capsule is how much nearer it is to the axis than it may be.
Distances are between the nearest points of two segments, so the row of a link is the velocity of its nearest point.
Source of these: Ericson 2005, "Real-Time Collision Detection", 5.1.9.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from math import isfinite
from typing import NamedTuple, Protocol, Self

import numpy as np
from mathutils import Matrix, Vector

from ..errors import SettingError
from ..kinematics import Pose
from ..kinematics.arrays import Columns, Indices, Numbers, einsum
from ..kinematics.batch import Geometry
from ..kinematics.batch.algebra import at, cross, dot, lengths
from .goal import JointAxis, Residual
from .shapes import check_finite, check_weight
from .task import AngleTask, Missing

BISECTIONS = 12  # of a link, to find its deepest point


class Obstacle(Protocol):
    """A convex volume to stay out of: along a line its depth has a single maximum."""

    def depth(self, point: Vector) -> tuple[float, Vector]:
        """Penetration depth of a point (armature space; negative outside), and the unit vector that leads out."""


@dataclass(frozen=True)
class Ball:
    """All points within `radius` of `centre`. Raises SettingError for a centre or radius that is not valid."""

    centre: Vector
    radius: float

    def __post_init__(self) -> None:
        check_finite("Obstacle", self.centre)
        if not (isfinite(self.radius) and self.radius > 0.0):
            raise SettingError(f"Obstacle radius {self.radius} is not a distance. Give it a length above zero.")

    def depth(self, point: Vector) -> tuple[float, Vector]:
        offset = point - self.centre
        distance = offset.length
        return self.radius - distance, offset / distance if distance else Vector((0.0, 0.0, 1.0))


@dataclass(frozen=True)
class Block:
    """A box: `frame` (4x4) maps the cube from -1 to 1 on each axis to it; `margin` [Blender units] is added around it.

    Its axes should be orthogonal. Raises SettingError for a flat or non-finite box and for a negative margin.
    """

    frame: Matrix
    margin: float = 0.0

    def __post_init__(self) -> None:
        check_finite("Obstacle", [number for row in self.frame for number in row])
        if not (isfinite(self.margin) and self.margin >= 0.0):
            raise SettingError(f"Obstacle margin {self.margin} is not a distance. Give it a length from 0 up.")
        if not min(column.length for column in self.frame.to_3x3().col) > 0.0:
            raise SettingError("Obstacle is a box without volume. Give it a size on every axis.")

    def depth(self, point: Vector) -> tuple[float, Vector]:
        offset = point - self.frame.to_translation()
        axes = [column.normalized() for column in self.frame.to_3x3().col]
        sizes = [column.length for column in self.frame.to_3x3().col]
        along = [offset.dot(axis) for axis in axes]
        beyond = [abs(place) - size for place, size in zip(along, sizes, strict=True)]
        out = [axis if place >= 0.0 else -axis for axis, place in zip(axes, along, strict=True)]
        nearest = max(range(3), key=beyond.__getitem__)
        if beyond[nearest] <= 0.0:  # inside: out by the nearest side
            return self.margin - beyond[nearest], out[nearest]
        away = sum((axis * max(0.0, most) for axis, most in zip(out, beyond, strict=True)), Vector())
        return self.margin - away.length, away.normalized()


@dataclass(frozen=True)
class Avoid:
    """Keep the links out of the `obstacles` (armature space)."""

    obstacles: Sequence[Obstacle]
    weight: float = 1.0
    can_be_met = True

    def __post_init__(self) -> None:
        check_weight("Avoid", self.weight)

    def residuals(self, pose: Pose, dofs: Sequence[JointAxis]) -> Iterator[Residual]:
        scale = self.weight / pose.chain.reach
        for i in range(len(pose)):
            head, link = pose.head(i), pose.end(i) - pose.head(i)
            for obstacle in self.obstacles:
                point = deepest(obstacle, head, link)
                depth, out = obstacle.depth(point)
                if depth > 0.0:
                    row = [-scale * dof.velocity(point).dot(out) if dof.joint <= i else 0.0 for dof in dofs]
                    yield scale * depth, row


def deepest(obstacle: Obstacle, head: Vector, link: Vector) -> Vector:
    """The point of a link deepest in an obstacle, by bisection; the middle of a link too far away to touch it."""
    least, most, middle = 0.0, 1.0, 0.5
    depth, out = obstacle.depth(head + link * middle)
    if depth <= -link.length / 2.0:
        return head + link * middle
    for _ in range(BISECTIONS):
        if out.dot(link) < 0.0:
            least = middle
        else:
            most = middle
        middle = (least + most) / 2.0
        depth, out = obstacle.depth(head + link * middle)
    return head + link * middle


class AvoidedVolume(Protocol):
    """A convex volume to stay out of, at each pose."""

    def depth(self, points: Numbers) -> tuple[Numbers, Numbers]:
        """Depths (n, F) of points (n, 3, F), negative outside, and the unit vectors (n, 3, F) that lead out."""

    def nearest(self, segments: Segments) -> Nearest:
        """Nearest places of segments (3, F) to its surface: arrays (1, ..., F); distances inside are negative."""

    def take(self, columns: Columns) -> Self:
        """The volume at those poses."""


class Balls(NamedTuple):
    """A ball: all points within `radius` (F or 1) of `centre` (3, F or 1)."""

    centre: Numbers
    radius: Numbers

    def depth(self, points: Numbers) -> tuple[Numbers, Numbers]:
        """Depths of points, and the directions out."""
        offset = points - self.centre
        distance = lengths(offset)
        nowhere = distance == 0.0
        out = np.where(nowhere[:, None], np.array((0.0, 0.0, 1.0))[:, None], offset)
        return self.radius - distance, out / np.where(nowhere, 1.0, distance)[:, None]

    def nearest(self, segments: Segments) -> Nearest:
        """Nearest places of segments."""
        way = segments.end - segments.begin
        along = dot(self.centre - segments.begin, way) / np.maximum(dot(way, way), _LEAST)
        return _at_shares(self, segments, np.clip(along, 0.0, 1.0)[None])

    def take(self, columns: Columns) -> Balls:
        """The ball at those poses."""
        return Balls(at(self.centre, columns), at(self.radius, columns))


class Blocks(NamedTuple):
    """A box: unit `axes` (3, 3, F or 1), a column each, half sides `sizes` (3, F or 1), and a `margin` (F or 1)."""

    centre: Numbers
    axes: Numbers
    sizes: Numbers
    margin: Numbers

    def depth(self, points: Numbers) -> tuple[Numbers, Numbers]:
        """Depths of points, and the directions out."""
        depths, ways = self._depth(einsum("ijf,nif->njf", self.axes, points - self.centre))
        return depths, einsum("ijf,njf->nif", self.axes, ways)

    def nearest(self, segments: Segments) -> Nearest:
        """Nearest places of segments, by bisection."""
        ends = np.stack((segments.begin - self.centre, segments.end - segments.begin))
        begin, way = einsum("ijf,nif->njf", self.axes, ends)
        least, most = np.zeros((1, way.shape[-1])), np.ones((1, way.shape[-1]))
        for _ in range(BISECTIONS):
            middle = 0.5 * (least + most)
            falls = dot(self._depth(begin + middle[:, None] * way)[1], way) < 0.0
            least, most = np.where(falls, middle, least), np.where(falls, most, middle)
        return _at_shares(self, segments, 0.5 * (least + most))

    def _depth(self, along: Numbers) -> tuple[Numbers, Numbers]:
        """The same of points along the axes, and the directions along these."""
        beyond = np.abs(along) - self.sizes
        signs = np.where(along >= 0.0, 1.0, -1.0)
        outside = np.maximum(beyond, 0.0)
        away = lengths(outside)
        inside = away == 0.0
        nearest = np.arange(3)[:, None] == beyond.argmax(1)[:, None]
        ways = np.where(inside[:, None], nearest, outside / np.where(inside, 1.0, away)[:, None]) * signs
        return self.margin - np.where(inside, beyond.max(1), away), ways

    def take(self, columns: Columns) -> Blocks:
        """The box at those poses."""
        return Blocks(*(at(each, columns) for each in self))


@dataclass(frozen=True, kw_only=True)
class AvoidTask(AngleTask):
    """Keep the links of a chain out of `volumes`, within `tolerance`, a share of the reach.

    A link that is outside has neither error nor row.
    """

    volumes: Sequence[AvoidedVolume]
    joints: int
    reach: float

    @property
    def count(self) -> int:
        """Number of rows: one for each link and volume."""
        return self.joints * len(self.volumes)

    def measure(self, geometry: Geometry) -> Missing:
        """Measure how deep the deepest point of each link is in each volume."""
        heads = geometry.heads
        links = np.concatenate((heads[1:], geometry.tip()[None])) - heads
        found = [_deepest(volume, heads, links) for volume in self.volumes]
        depths = np.maximum(np.concatenate([each[0] for each in found]), 0.0) / self.reach
        points, out = (np.concatenate([each[number] for each in found]) for number in (1, 2))
        return Missing(depths * self.length, depths.max(0), (points, out))

    def rows(self, geometry: Geometry, axes: Numbers, measured: Missing, out: Numbers) -> None:
        """Write the velocities of the deepest points along the directions out."""
        tree, (points, ways) = geometry.tree, measured.more
        for row in range(self.count):
            deep = measured.errors[row] > 0.0
            if deep.any():
                columns, joints = tree.moving(row % self.joints)
                velocity = cross(axes[columns], points[row] - geometry.heads[joints])
                out[row, columns] = dot(velocity, ways[row][None]) * deep * (self.length / self.reach)

    def ways(self, root: Numbers, place: Numbers) -> Numbers:
        """Nothing: obstacles are no goals to follow."""
        return np.zeros(0)

    def take(self, columns: Columns) -> AvoidTask:
        """The task of those poses."""
        volumes = [volume.take(columns) for volume in self.volumes]
        return replace(self, volumes=volumes, tolerance=at(self.tolerance, columns))


def volumes_of(obstacles: Sequence[Sequence[object]]) -> list[AvoidedVolume] | None:
    """Return the volumes of obstacles given pose by pose; None if they are not the same ones at every pose."""
    if len({tuple(map(type, each)) for each in obstacles}) > 1:
        return None
    found: list[AvoidedVolume] = []
    for each in zip(*obstacles, strict=True):
        if all(isinstance(one, Ball) for one in each):
            balls = [one for one in each if isinstance(one, Ball)]
            found.append(Balls(np.array([one.centre[:] for one in balls]).T, np.array([one.radius for one in balls])))
        elif all(isinstance(one, Block) for one in each):
            blocks = [one for one in each if isinstance(one, Block)]
            frames = np.moveaxis(np.array([one.frame.copy() for one in blocks], float), 0, -1)
            sizes = lengths(frames[:3, :3].swapaxes(0, 1))
            margins = np.array([one.margin for one in blocks])
            found.append(Blocks(np.ascontiguousarray(frames[:3, 3]), frames[:3, :3] / sizes, sizes, margins))
        else:
            return None
    return found


def _deepest(volume: AvoidedVolume, heads: Numbers, links: Numbers) -> tuple[Numbers, Numbers, Numbers]:
    """Depths (n, F), points (n, 3, F) and directions out of the points of links deepest in a volume, by bisection."""
    least, most = np.zeros(links[:, 0].shape), np.ones(links[:, 0].shape)
    middle = np.full(least.shape, 0.5)
    depth, out = volume.depth(heads + links * 0.5)
    if (depth <= -lengths(links) / 2.0).all():
        return depth, heads + links * 0.5, out
    for _ in range(BISECTIONS):
        falls = dot(out, links) < 0.0
        least, most = np.where(falls, middle, least), np.where(falls, most, middle)
        middle = (least + most) / 2.0
        depth, out = volume.depth(heads + links * middle[:, None])
    return depth, heads + links * middle[:, None], out


_ON_A_LINE = 1e-12  # of squared lengths: segments that are parallel
_LEAST = 1e-300


class Segments(NamedTuple):
    """Segments between points `begin` and `end` (..., 3, F), armature space."""

    begin: Numbers
    end: Numbers


class Nearest(NamedTuple):
    """Distances (..., F) of segments from others, their shares (..., F) where they are nearest, and the gradients
    (..., 3, F) of the distances by the places there."""

    distances: Numbers
    shares: Numbers
    gradients: Numbers


class Axes(NamedTuple):
    """The axes of c capsules in F poses (c, 3, F), the unit vectors across them, and their flatness (c).

    Along these vectors a distance counts less by the share `flat`: they are as much broader than they are deep.
    """

    segments: Segments
    across: Numbers
    flat: Numbers

    def take(self, columns: Columns) -> Axes:
        """The axes in those of the poses."""
        begin, end = (each[..., columns] for each in self.segments)
        return Axes(Segments(begin, end), self.across[..., columns], self.flat)

    def nearest(self, segments: Segments) -> Nearest:
        """Return where segments (3, F) are nearest to each of the axes (c)."""
        some = Segments(*(self._narrowed(each) for each in segments))
        others = Segments(*(self._narrowed(each) for each in self.segments))
        distances, shares, way = _nearest(some, others)
        return Nearest(distances, shares, self._narrowed(way / np.maximum(distances, _LEAST)[:, None]))

    def _narrowed(self, vectors: Numbers) -> Numbers:
        narrowed: Numbers = vectors - (self.flat[:, None] * dot(vectors, self.across))[:, None] * self.across
        return narrowed


def _nearest(some: Segments, others: Segments) -> tuple[Numbers, Numbers, Numbers]:
    """Return the distances (..., F) of segments, shares of the first ones, and the vectors to these."""
    u, v, w = some.end - some.begin, others.end - others.begin, some.begin - others.begin
    a, b, e, c, f = dot(u, u), dot(u, v), dot(v, v), dot(u, w), dot(v, w)
    s = np.clip((b * f - c * e) / np.maximum(a * e - b * b, _ON_A_LINE * (a + e) ** 2 + _LEAST), 0.0, 1.0)
    t = np.clip((b * s + f) / np.maximum(e, _LEAST), 0.0, 1.0)
    s = np.clip((b * t - c) / np.maximum(a, _LEAST), 0.0, 1.0)
    way = w + s[..., None, :] * u - t[..., None, :] * v
    return lengths(way), s, way


def _at_shares(volume: AvoidedVolume, segments: Segments, shares: Numbers) -> Nearest:
    """Return where the points of segments (3, F) at shares (1, F) are from the surface of a volume."""
    depths, out = volume.depth(segments.begin + shares[:, None] * (segments.end - segments.begin))
    return Nearest(-depths, shares, out)


class Around(NamedTuple):
    """All that links stay out of: the axes of capsules, and after them volumes, to whose surfaces distances are."""

    axes: Axes
    volumes: Sequence[AvoidedVolume]

    def take(self, columns: Columns) -> Around:
        """The same in those of the poses."""
        return Around(self.axes.take(columns), [volume.take(columns) for volume in self.volumes])

    def nearest(self, segments: Segments) -> Nearest:
        """Return where segments (3, F) are nearest to each of them."""
        found = [self.axes.nearest(segments), *(volume.nearest(segments) for volume in self.volumes)]
        return Nearest(*map(np.concatenate, zip(*found, strict=True)))


@dataclass(frozen=True, kw_only=True)
class ClearTask(AngleTask):
    """Keep links of a limb at `least` distances (l, c, F or 1) from c `axes`, within `tolerance` [Blender units].

    Links (l) lead from each of `joints` to the next joint, the last one to the tip. One that is away has neither error
    nor row. Each of the axes counts by its weight (c or 1, F or 1).
    """

    axes: Axes | Around
    least: Numbers
    joints: Indices
    weights: Numbers = field(default_factory=lambda: np.ones((1, 1)))

    @property
    def count(self) -> int:
        """Number of rows: one for each link and capsule."""
        return int(np.prod(self.least.shape[:2]))

    def measure(self, geometry: Geometry) -> Missing:
        """Measure how much too near each link is."""
        heads, places, gradients, depths = geometry.heads, [], [], []
        for joint, least in zip(self.joints.tolist(), self.least, strict=True):
            end = heads[joint + 1] if joint + 1 < len(heads) else geometry.tip(self.tip)
            near = self.axes.nearest(Segments(heads[joint], end))
            depths.append(np.maximum(least - near.distances, 0.0))
            places.append(heads[joint] + near.shares[:, None] * (end - heads[joint]))
            gradients.append(near.gradients)
        deep = np.concatenate(depths)
        return Missing(deep, deep.max(0), (np.concatenate(places), np.concatenate(gradients)))

    def rows(self, geometry: Geometry, axes: Numbers, measured: Missing, out: Numbers) -> None:
        """Write the velocities of the nearest points along the gradients."""
        tree, (places, gradients), each = geometry.tree, measured.more, self.least.shape[1]
        for row in range(self.count):
            deep = measured.errors[row] > 0.0
            if deep.any():
                columns, joints = tree.moving(int(self.joints[row // each]))
                velocity = cross(axes[columns], places[row] - geometry.heads[joints])
                out[row, columns] = dot(velocity, gradients[row][None]) * deep

    def ways(self, root: Numbers, place: Numbers) -> Numbers:
        """Nothing: obstacles are no goals to follow."""
        return np.zeros(0)

    def take(self, columns: Columns) -> ClearTask:
        """The task of those poses."""
        axes, least = self.axes.take(columns), at(self.least, columns)
        weights = at(self.weights, columns)
        return replace(self, axes=axes, least=least, weights=weights, tolerance=at(self.tolerance, columns))

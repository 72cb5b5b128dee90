# SPDX-License-Identifier: GPL-3.0-or-later
"""The floor under a body and the area that its held feet support, with the tasks of both; heels that lift.

The area is that of static balance, the support polygon: the convex hull of the contacts seen from above. The centre of
mass is kept above it.

The ankle of a foot that stands flat bends as the shin leans ahead. People bend it by 25 to 30 degrees in a squat and
then rise onto the balls of their feet. So the orientation of a planted foot depends on the shin: flat up to a lean,
then turned about its ball along with the shin, with a smooth beginning. Source: none; the range is that of the
weight-bearing lunge, as in Bennell et al. 1998, "Intra-rater and inter-rater reliability of a weight-bearing lunge
measure of ankle dorsiflexion".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from math import radians
from typing import NamedTuple

import numpy as np

from ..kinematics.arrays import Columns, Indices, Mask, Numbers, einsum
from ..kinematics.batch import Geometry, Tree
from ..kinematics.batch.algebra import at, compose, cross, dot, exponential, lengths, matrices, rotate_back, square_to
from ..kinematics.body_anatomy import ARM_PARTS
from .orientation import OrientTask
from .task import Level, Missing, WrappedTask

_NOTHING = 1e-300
_BEYOND = 1e-6  # of its distance from the middle, that a corner is put beyond a point: rounding leaves that inside


@dataclass(frozen=True, kw_only=True)
class FloorTask:
    """Keep p points at least at their `heights` (p, F or 1) along `up` (3), within `tolerance` [Blender units].

    `points` (p, 3) are in the frames of their `joints` (p). Above its height a point has neither error nor rows.
    """

    joints: Indices
    points: Numbers
    up: Numbers
    heights: Numbers
    tolerance: Numbers
    level: int = Level.REACH
    tip = 0  # of no tip

    @property
    def count(self) -> int:
        """Number of rows: one for each point."""
        return len(self.joints)

    def measure(self, geometry: Geometry) -> Missing:
        """Measure how far the points are below their heights."""
        below = np.maximum(self.heights - self.above(geometry), 0.0)
        return Missing(below, below.max(0, initial=0.0))

    def above(self, geometry: Geometry) -> Numbers:
        """Heights (p, F) at which the points are."""
        heights: Numbers = einsum("i,pif->pf", self.up, self._places(geometry))
        return heights

    def rows(self, geometry: Geometry, axes: Numbers, measured: Missing, out: Numbers) -> None:
        """Write the velocities along `up` of the points that are too low."""
        tree, places = geometry.tree, self._places(geometry)
        root = tree.size * (tree.root_ways @ self.up)[:, None]
        for row, joint in enumerate(self.joints.tolist()):
            low = measured.errors[row] > 0.0
            if not low.any():
                continue
            columns, joints = tree.moving(joint)
            velocity = cross(axes[columns], places[row] - geometry.heads[joints])
            out[row, columns] = einsum("i,kif->kf", self.up, velocity) * low
            out[row, len(tree.joint_of) :] = root * low

    def ways(self, root: Numbers, place: Numbers) -> Numbers:
        """Nothing: a bound is no goal that is followed."""
        return np.zeros(0)

    def of_points(self, numbers: Indices) -> FloorTask:
        """The task of some of the points."""
        joints, points, heights = (array[numbers] for array in (self.joints, self.points, self.heights))
        return replace(self, joints=joints, points=points, heights=heights)

    def take(self, columns: Columns) -> FloorTask:
        """The task of those poses."""
        return replace(self, heights=at(self.heights, columns), tolerance=at(self.tolerance, columns))

    def at_level(self, level: int) -> FloorTask:
        """The same task with another priority."""
        return replace(self, level=level)

    def within(self, tolerance: Numbers) -> FloorTask:
        """The same task with another tolerance."""
        return replace(self, tolerance=tolerance)

    def _places(self, geometry: Geometry) -> Numbers:
        """Places of the points (p, 3, F), armature space."""
        frames, points = geometry.frames[self.joints], self.points[:, :, None, None]
        places: Numbers = frames[:, :, 3] + frames[:, :, 0] * points[:, 0]
        places += frames[:, :, 1] * points[:, 1]
        places += frames[:, :, 2] * points[:, 2]
        return places


@dataclass(frozen=True)
class Support:
    """Convex polygons seen from above: `corners` (c, 2, F or 1), counter-clockwise, along unit vectors `across` (2, 3).

    A polygon of fewer corners repeats its last one; a single point and a line are allowed.
    """

    corners: Numbers
    across: Numbers

    @classmethod
    def under(cls, contacts: Numbers, up: Numbers, margin: float = 0.0) -> Support:
        """The hulls of contacts (c, 3, F or 1) seen along `up` (3), shrunk to their middles by a share `margin`."""
        across = np.stack([each[:, 0] for each in square_to(up[:, None])])
        seen = einsum("ij,cjf->cif", across, contacts)
        if (seen == seen[..., :1]).all():
            seen = seen[..., :1]
        hulls = [_hull(seen[..., n]) for n in range(seen.shape[-1])]
        corners = _stacked(hulls)
        middle = np.stack([_middle(hull) for hull in hulls], -1)
        return cls(middle + (corners - middle) * (1.0 - margin), across)

    @cached_property
    def _sides(self) -> tuple[Numbers, Mask]:
        """The sides (c, 2, F or 1), from each corner to the next, and whether they enclose an area (F or 1)."""
        sides = np.roll(self.corners, -1, 0) - self.corners
        return sides, (np.abs(sides).sum((0, 1)) > 0.0) & (_area(self.corners) > 0.0)

    def nearest(self, points: Numbers) -> tuple[Numbers, Numbers]:
        """The points inside that are nearest to points (2, F), and the distances to them (F), zero for those inside."""
        corners, (sides, is_area) = self.corners, self._sides
        away = points[None] - corners
        inside = is_area & (sides[:, 0] * away[:, 1] - sides[:, 1] * away[:, 0] >= 0.0).all(0)
        if inside.all():
            return points, np.zeros(points.shape[-1])
        share = np.clip((away * sides).sum(1) / np.maximum((sides * sides).sum(1), _NOTHING), 0.0, 1.0)
        on_sides = corners + share[:, None] * sides
        squares = ((on_sides - points[None]) ** 2).sum(1)
        best = squares.argmin(0)
        near = np.take_along_axis(on_sides, best[None, None], 0)[0]
        return np.where(inside, points, near), np.where(inside, 0.0, np.sqrt(squares.min(0)))

    def widened(self, points: Numbers) -> Support:
        """The hulls with points (2, F) as well, where these are outside."""
        outside = self.nearest(points)[1] > 0.0
        if not outside.any():
            return self
        corners = np.broadcast_to(self.corners, (*self.corners.shape[:2], len(outside)))
        beyond = points + _BEYOND * (points - corners.mean(0))
        hulls = [
            _hull(np.concatenate((corners[..., n], beyond[None, :, n]))) if out else corners[..., n]
            for n, out in enumerate(outside.tolist())
        ]
        return Support(_stacked(hulls), self.across)

    def take(self, columns: Columns) -> Support:
        """The polygons of those of the poses."""
        return self if self.corners.shape[-1] == 1 else Support(at(self.corners, columns), self.across)


def _stacked(hulls: list[Numbers]) -> Numbers:
    """Corners (c, 2, F) of polygons (c, 2), of which those with fewer repeat their last one."""
    most = max(map(len, hulls))
    return np.stack([np.concatenate((hull, np.repeat(hull[-1:], most - len(hull), 0))) for hull in hulls], -1)


def _area(corners: Numbers) -> Numbers:
    after = np.roll(corners, -1, 0)
    area: Numbers = (corners[:, 0] * after[:, 1] - corners[:, 1] * after[:, 0]).sum(0)
    return area


def _middle(hull: Numbers) -> Numbers:
    """The middle (2) of the sides of a polygon (c, 2), each by its length.

    Not that of the corners: whether a contact on a side is one of these is decided by rounding, and would move it.
    """
    after = np.roll(hull, -1, 0)
    sides = lengths((after - hull).T)
    if not sides.any():
        sides = np.ones(len(hull))
    middle: Numbers = sides @ (hull + after) / (2.0 * sides.sum())
    return middle


def _hull(points: Numbers) -> Numbers:
    """Corners of the convex hull of points (c, 2), counter-clockwise. Source: Andrew 1979, monotone chain."""
    order = sorted(set(map(tuple, points.tolist())))
    if len(order) < 3:
        return np.array(order)

    def half(given: list[tuple[float, float]]) -> list[tuple[float, float]]:
        found: list[tuple[float, float]] = []
        for x, y in given:
            while len(found) > 1:
                (ax, ay), (bx, by) = found[-2:]
                if (bx - ax) * (y - ay) - (by - ay) * (x - ax) > 0.0:
                    break
                found.pop()
            found.append((x, y))
        return found[:-1]

    return np.array(half(order) + half(order[::-1]))


@dataclass(frozen=True, kw_only=True)
class BalanceTask:
    """Keep the centre of mass above a support, within `tolerance` [Blender units]; inside there is nothing to do.

    `masses` (n) are those of the joints, their sum one, and `centres` (n, 3, F or 1) where they are in their frames.
    Poses without any contact are not `present` (F or 1): 0 instead of 1.
    """

    masses: Numbers
    centres: Numbers
    support: Support
    tolerance: Numbers
    present: Numbers = field(default_factory=lambda: np.ones(1))
    level: int = Level.BALANCE
    tip = 0  # of no tip
    count = 2

    def centre(self, geometry: Geometry) -> Numbers:
        """Centre of mass (3, F), armature space."""
        if self.centres.shape[-1] > 1:
            own: Numbers = np.tensordot(self.masses, self._places(geometry), 1)
            return own
        shares = self.masses[:, None] * np.concatenate((self.centres[..., 0], np.ones((len(self.masses), 1))), 1)
        centre: Numbers = einsum("nk,nikf->if", shares, geometry.frames)
        return centre

    def gathered(self, geometry: Geometry, joints: Sequence[int]) -> BalanceTask:
        """The same task for some of the joints, with their parents, on which all others hang as they do in poses."""
        parents, rows = geometry.tree.parents, {joint: row for row, joint in enumerate(joints)}
        shares = np.zeros((len(joints), len(parents)))
        for joint, parent in enumerate(parents):
            rows.setdefault(joint, rows.get(parent, 0))
            shares[rows[joint], joint] = self.masses[joint]
        masses, frames = shares.sum(1), geometry.frames[list(joints)]
        moments = np.tensordot(shares, self._places(geometry), 1) - masses[:, None, None] * frames[:, :, 3]
        centres = rotate_back(frames[:, :, :3], moments) / np.maximum(masses, _NOTHING)[:, None, None]
        return replace(self, masses=masses, centres=centres)

    def allowing(self, geometry: Geometry) -> BalanceTask:
        """The same task for which the centre of mass may be where these poses have it: they need not be in balance."""
        return replace(self, support=self.support.widened(self.support.across @ self.centre(geometry)))

    def measure(self, geometry: Geometry) -> Missing:
        """Measure the vectors, seen from above, to the support."""
        seen = self.support.across @ self.centre(geometry)
        near, away = self.support.nearest(seen)
        away = away * self.present
        return Missing((near - seen) * self.present, away, ((away > 0.0).astype(float),))

    def rows(self, geometry: Geometry, axes: Numbers, measured: Missing, out: Numbers) -> None:
        """Write the velocities of the centre of mass, for the poses that are outside their support.

        Arms that swing out for balance are a fall: trunk and legs bring the centre back.
        """
        tree, (outside,) = geometry.tree, measured.more
        if not outside.any():
            return
        velocities = cross(axes, self.levers(geometry)[tree.joint_of])
        for i, way in enumerate(self.support.across):
            out[i, : len(tree.joint_of)] = einsum("j,kjf->kf", way, velocities) * outside * _balancing(tree)
            out[i, len(tree.joint_of) :] = tree.size * (tree.root_ways @ way)[:, None] * outside

    def levers(self, geometry: Geometry) -> Numbers:
        """Vectors (n, 3, F) whose cross product with a joint's axis is the velocity of the centre of mass."""
        hanging = geometry.tree.above * self.masses  # [i, j]: mass of joint j that rotates with joint i
        levers: Numbers = np.tensordot(hanging, self._places(geometry), 1)
        levers -= hanging.sum(1)[:, None, None] * geometry.heads
        return levers

    def ways(self, root: Numbers, place: Numbers) -> Numbers:
        """Nothing: a support is no goal that is followed."""
        return np.zeros(0)

    def take(self, columns: Columns) -> BalanceTask:
        """The task of those poses."""
        own = self.support, self.tolerance, self.present, self.centres
        some = self.support.take(columns), *(at(each, columns) for each in own[1:])
        if all(one is two for one, two in zip(own, some, strict=True)):
            return self  # it is the same in all poses
        support, tolerance, present, centres = some
        return replace(self, support=support, tolerance=tolerance, present=present, centres=centres)

    def at_level(self, level: int) -> BalanceTask:
        """The same task with another priority."""
        return replace(self, level=level)

    def within(self, tolerance: Numbers) -> BalanceTask:
        """The same task with another tolerance."""
        return replace(self, tolerance=tolerance)

    def _places(self, geometry: Geometry) -> Numbers:
        """Centres of the segments (n, 3, F)."""
        frames, centres = geometry.frames, self.centres
        places: Numbers = frames[:, :, 3] + frames[:, :, 0] * centres[:, 0, None]
        places += frames[:, :, 1] * centres[:, 1, None]
        places += frames[:, :, 2] * centres[:, 2, None]
        return places


@lru_cache(maxsize=32)
def _balancing(tree: Tree) -> Numbers:
    """Shares (c, 1) of the columns that rotate in what brings the centre of mass back: none of arms."""
    return np.array([[float(tree.anatomy.parts[j] not in ARM_PARTS)] for j in tree.joint_of])


def balance_task(tree_masses: Numbers, centres: Numbers, support: Support, size: float) -> BalanceTask:
    """The task for masses (n) in any unit, with a tolerance of a thousandth of `size`."""
    shares = tree_masses / tree_masses.sum()
    return BalanceTask(masses=shares, centres=centres[:, :, None], support=support, tolerance=np.array([1e-3 * size]))


_FROM, _TO = radians(20.0), radians(34.0)  # lean of the shin at which a heel begins to lift, and to turn as the shin


class Heel(NamedTuple):
    """The joints of a leg that begin at `knee` and `ankle`, and how its planted foot lifts its heel.

    `across` (3, F or 1) is the axis of armature space about which shin and foot turn ahead, `upright` (3, F or 1) the
    direction from ankle to knee in which the ankle is not bent.
    """

    knee: int
    ankle: int
    across: Numbers
    upright: Numbers

    def shin(self, heads: Numbers) -> Numbers:
        """Vectors (3, F) from ankle to knee along which the foot may turn, of poses with these heads (n, 3, F)."""
        shin = heads[self.knee] - heads[self.ankle]
        flat: Numbers = shin - dot(shin, self.across) * self.across
        return flat

    @property
    def directions(self) -> Numbers:
        """Directions (2, 3, F or 1) in which the ends of a shin tell how far it leans: ahead, and upright."""
        upright = self.upright - dot(self.upright, self.across) * self.across
        return np.stack(np.broadcast_arrays(cross(self.across, self.upright), upright))

    def lift(self, heads: Numbers, directions: Numbers | None = None) -> tuple[Numbers, Numbers]:
        """Return angles (F) [rad] by which the foot turns, and their slopes by the lean of the shin.

        Its `directions` need not be found again.
        """
        directions = self.directions if directions is None else directions
        lean = np.arctan2(*einsum("kif,if->kf", directions, heads[self.knee] - heads[self.ankle]))
        if lean.max(initial=_FROM) <= _FROM:
            return np.zeros_like(lean), np.zeros_like(lean)
        slope = np.clip((lean - _FROM) / (_TO - _FROM), 0.0, 1.0)
        return np.where(lean > _TO, lean - 0.5 * (_FROM + _TO), 0.5 * (lean - _FROM) * slope), slope

    def turned(self, rotations: Numbers, heads: Numbers) -> Numbers:
        """Return rotations (3, 3, F or 1) of a foot that is flat as they are with its heel lifted."""
        turns = matrices(exponential(self.across * self.lift(heads)[0]))
        return compose(turns, rotations)

    def take(self, columns: Columns) -> Heel:
        """The heel of those poses."""
        return self._replace(across=at(self.across, columns), upright=at(self.upright, columns))


@dataclass(frozen=True, kw_only=True)
class HeelTask(WrappedTask):
    """Turn a planted foot as its `task` says, with its heel lifted as the shin leans."""

    task: OrientTask
    heel: Heel

    @property
    def length(self) -> float:
        """Distance that counts as much as one radian."""
        return self.task.length

    @cached_property
    def _directions(self) -> Numbers:
        return self.heel.directions

    @cached_property
    def _turned(self) -> tuple[Numbers, Numbers]:
        """Matrices (3, 3, F or 1) that come to the rotation by the sine of the lift, and by one minus its cosine."""
        across, flat = self.heel.across[None], self.task.rotation.swapaxes(0, 1)
        once = cross(across, flat)
        return once.swapaxes(0, 1), cross(across, once).swapaxes(0, 1)

    def measure(self, geometry: Geometry) -> Missing:
        """Measure the rotation vectors that are missing."""
        angle, slope = self.heel.lift(geometry.heads, self._directions)
        if not slope.any():
            return self.task.measure(geometry)._replace(more=(slope,))
        by_sine, by_cosine = self._turned
        rotation = self.task.rotation + np.sin(angle) * by_sine + (1.0 - np.cos(angle)) * by_cosine
        return self.task.missing_to(rotation, geometry)._replace(more=(slope,))

    def rows(self, geometry: Geometry, axes: Numbers, measured: Missing, out: Numbers) -> None:
        """Write the axes of the columns, without the turn of the foot by the shin."""
        heel, heads = self.heel, geometry.heads
        self.task.rows(geometry, axes, measured, out)
        (slope,) = measured.more
        if not slope.any():
            return
        shin = heel.shin(heads)
        along = cross(heads[heel.knee] - heads[heel.ankle], cross(heel.across, shin)) / np.maximum(
            dot(shin, shin), 1e-12
        )
        columns, _ = geometry.tree.moving(heel.knee)
        leans = einsum("kif,if->kf", axes[columns], along * np.ones(len(slope)))
        for i in range(3):
            out[i, columns] -= self.length * heel.across[i] * slope * leans

    def ways(self, root: Numbers, place: Numbers) -> Numbers:
        """Angles of the foot's own rotation from pose to pose."""
        return self.task.ways(root, place)

    def take(self, columns: Columns) -> HeelTask:
        """The task of those poses, with what is known of its heel."""
        some = HeelTask(task=self.task.take(columns), heel=self.heel.take(columns))
        if "_directions" in self.__dict__:
            some.__dict__["_directions"] = at(self._directions, columns)
        return some

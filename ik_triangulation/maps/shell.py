# SPDX-License-Identifier: GPL-3.0-or-later
"""Reach volumes of a chain, and surfaces around them: around the cells of a grid, and as triangles around the root.

A volume is a grid of targets around the root, with the cost of the solution for each.

Source of the surface: Gibson 1998, "Constrained Elastic Surface Nets": a corner between eight cells of which some are
reached and some are not, a face between two cells that differ. Each missed cell knows how far it is from what is
reached, and so where the surface crosses the line to a cell beside it; a corner is in the middle of these crossings.
The corners are then smoothed, each within its eight cells, so that the surface stays between what is reached and what
is not; by the filter of Taubin 1995, "A Signal Processing Approach to Fair Surface Design", which does not shrink what
is small.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import permutations, product
from math import pi, tau
from pathlib import Path
from typing import NamedTuple

import numpy as np
from mathutils import Vector
from numpy.typing import NDArray

from ..cooperative import Job, cooperative
from ..errors import SettingError
from ..goals import Goal, Point
from ..kinematics import Free, Pose
from ..kinematics.arrays import Array, Indices, Mask, Numbers
from ..solvers import SolverSettings, solve_goal
from .many_targets import Grid, solve_targets
from .metric_map import Metrics, ends_of, metrics_from, metrics_of, numbers_of, reach_of, write_npy

_CELLS = tuple(product((0, 1), repeat=3))  # around a corner
_ROUNDS = 4
_FACTORS = 0.5, -0.53  # of each round: smooth, then swell
_CROSSING = 0.05, 0.95  # of the distance from a missed cell to the reached one beside it

_RINGS, _AROUND = 28, 56  # vertices of a sphere from pole to pole, and around it
_FINE, _COARSE = 20, 14  # points across the reach, of few joints (about a second for an arm) and of many
_THIN = 0.2  # of the points reached: how many with others all around there are at most in a surface
_THICK = 0.75  # of the distance between two points: half the thickness that a surface is given
_MANY = 10  # joints from which on a shell is coarse, as it takes several times longer
_EVEN = 3, (0.6, -0.62)  # rounds of smoothing, and the factors of each (Taubin 1995): _evened, then swell


@dataclass(frozen=True)
class Shell:
    """Corners (n, 3) of a closed surface, and its quads (m, 4), counter-clockwise from outside.

    `around` (8, n) are the numbers of the reached cells among the eight around a corner, in order; -1 for others.
    """

    corners: Numbers
    faces: Indices
    around: Indices

    def spread(self, values: Numbers) -> Numbers:
        """Return for each corner (n) the mean of the values of the reached cells around it; each of these has one."""
        there = self.around >= 0
        means: Numbers = np.where(there, values[self.around], 0.0).sum(0) / there.sum(0)
        return means


def shell_around(distances: Numbers, first: Numbers, spacing: float) -> Shell:
    """Return the surface around the reached cells of a grid: those with a distance of 0.

    `distances` (a, b, c) are those of the cells from what is reached, and more than 0 at all sides of the grid; `first`
    (3) is the centre of its first cell, `spacing` the size of each [all in the same unit].
    """
    reached = distances == 0.0
    numbers = np.where(reached, np.cumsum(reached).reshape(reached.shape) - 1, -1)
    eight, away = _eight(numbers), _eight(distances)
    mixed = (eight >= 0).any(0) & (eight < 0).any(0)
    around = eight[:, mixed]
    if not around.size:
        return Shell(np.zeros((0, 3)), np.zeros((0, 4), np.intp), around)
    named = np.full(mixed.shape, -1, np.intp)
    named[mixed] = np.arange(around.shape[1])
    faces = np.concatenate([_faces(reached, named, axis) for axis in range(3)])
    cells = np.argwhere(mixed)
    corners = _smoothed(cells + _crossings(around >= 0, away[:, mixed] / spacing), cells, faces)
    return Shell(corners * spacing + first, faces, around)


def _eight(values: Numbers) -> Numbers:
    """Return the values (8, a - 1, b - 1, c - 1) at the eight cells around each corner, in the order of _CELLS."""
    return np.array(
        [values[tuple(slice(s, n - 1 + s) for s, n in zip(shift, values.shape, strict=True))] for shift in _CELLS]
    )


def _crossings(reached: Mask, away: Numbers) -> Numbers:
    """Return the means (n, 3) of the places where the surface crosses the edges between eight cells.

    `reached` and `away` (8, n) are of the cells, whose places are _CELLS; `away` is in cells.
    """
    total, count = np.zeros((3, reached.shape[1])), np.zeros(reached.shape[1])
    for one, other in permutations(range(8), 2):
        step = np.subtract(_CELLS[other], _CELLS[one])
        if abs(step).sum() == 1:  # an edge, from a missed cell to a reached one
            there = ~reached[one] & reached[other]
            place = np.array(_CELLS[one])[:, None] + step[:, None] * np.clip(away[one], *_CROSSING)
            total += np.where(there, place, 0.0)
            count += there
    means: Numbers = (total / count).T
    return means


def _faces(reached: Mask, named: Indices, axis: int) -> Indices:
    """Return the quads (m, 4) between cells that differ along an axis."""
    # Axes in cyclic order, so that a quad that goes round from the second to the third faces along the first.
    order = axis, (axis + 1) % 3, (axis + 2) % 3
    turned, names = reached.transpose(order), named.transpose(order)
    before, after = turned[:-1], turned[1:]
    found = []
    for low, high, around in ((before, after, 1), (after, before, -1)):
        a, b, c = np.nonzero(low & ~high)
        quad = np.stack([names[a, b - 1, c - 1], names[a, b, c - 1], names[a, b, c], names[a, b - 1, c]], axis=1)
        found.append(quad[:, ::around])
    return np.concatenate(found)


def _smoothed(corners: Numbers, cells: Indices, faces: Indices) -> Numbers:
    """Return the corners (n, 3) nearer to those beside them, each within its eight cells, of which `cells` is first."""
    ends = np.unique(np.sort(np.stack((faces, np.roll(faces, -1, axis=1)), axis=-1).reshape(-1, 2), axis=1), axis=0)
    one, other = np.concatenate((ends, ends[:, ::-1])).T
    count = len(corners)
    degree = np.bincount(one, minlength=count)[:, None]
    for factor in _FACTORS * _ROUNDS:
        sums = np.stack([np.bincount(one, corners[other, axis], count) for axis in range(3)], axis=1)
        corners = np.clip(corners + factor * (sums / degree - corners), cells, cells + 1.0)
    return corners


class Surface(NamedTuple):
    """Vertices (n, 3), their unit normals (n, 3) and triangles (m, 3) of a smooth closed surface.

    They are as a graphics card takes them: numbers of four bytes.
    """

    places: Array
    normals: Array
    triangles: Array


def spheres(pose: Pose) -> tuple[Surface, ...]:
    """Return the outer and, unless its radius is 0, the inner sphere that bound the reach without joint limits.

    Both are around the origin [Blender units].
    """
    return tuple(
        unit._replace(places=unit.places * radius)
        for unit in (_unit_sphere(),)
        for radius in reversed(pose.chain.reaches[0])
        if radius > 0.0
    )


def is_free(pose: Pose) -> bool:
    """Tell whether the spheres are the boundary: every joint is a ball joint without limits."""
    return all(isinstance(joint.freedom, Free) for joint in pose.chain.joints)


@cooperative
def reach_shell(pose: Pose) -> Job[Surface]:
    """Return the boundary of what a chain reaches within its limits, around its root, in the axes of its base.

    Yields the parts done and those in all. Raises what map_volume() does.
    """
    settings = SolverSettings(solver="GAUSS_NEWTON")
    resolution = _FINE if len(pose) < _MANY else _COARSE
    made = yield from map_volume.steps(pose, settings, resolution=resolution)
    shell = shell_around(_thickened(made, pose.chain.reach), made.first, made.spacing)
    places = _evened(shell.corners - np.array(pose.head(0)), shell.faces)
    places = _rounded(places, pose.chain.reaches[0], made.spacing) @ np.linalg.inv(np.array(pose.base.to_3x3())).T
    triangles = _split(shell.faces, len(shell.corners))
    return Surface(places.astype(np.float32), _normals(places, triangles).astype(np.float32), triangles)


def _thickened(made: VolumeMap, reach: float) -> Numbers:
    """Return the distances of a map; of a limb that reaches only a surface, such as one of parallel hinges, less by so
    much that the surface is as thick as the grid needs it to be closed.
    """
    reached = made.distances == 0.0
    inner = reached.copy()
    for axis in range(3):
        for step in (1, -1):
            inner &= np.roll(reached, step, axis)
    if inner.sum() > _THIN * reached.sum():
        return made.distances
    at = (np.arange(len(reached)) - (len(reached) - 1) / 2.0) * made.spacing
    inside = at[:, None, None] ** 2 + at[:, None] ** 2 + at**2 < reach**2
    return np.where(inside, np.maximum(made.distances - _THICK * made.spacing, 0.0), made.distances)


def _evened(corners: Numbers, faces: Indices) -> Numbers:
    """Return corners (n, 3) of quads (m, 4) evened out, and after them the middles of the quads."""
    count = len(corners)
    one = faces.ravel()
    degree = np.maximum(np.bincount(one, minlength=count), 1)[:, None]
    rounds, factors = _EVEN
    for factor in factors * rounds:
        middles = corners[faces].mean(1)
        sums = np.stack([np.bincount(one, np.repeat(middles[:, axis], 4), count) for axis in range(3)], axis=1)
        corners = corners + factor * (sums / degree - corners)
    return np.concatenate((corners, corners[faces].mean(1)))


def _rounded(places: Numbers, radii: tuple[float, float], spacing: float) -> Numbers:
    """Return places (n, 3) moved onto the spheres that no pose leaves, where these are nearer than a cell of the grid.

    There the boundary is known better than by the grid.
    """
    distances = np.linalg.norm(places, axis=1)
    wanted = distances.copy()
    for radius in radii:
        away = np.abs(distances - radius) / spacing
        wanted += np.clip(2.0 - 2.0 * away, 0.0, 1.0) * (radius - distances) * (radius > 0.0)
    moved: Numbers = places * (wanted / np.maximum(distances, 1e-12))[:, None]
    return moved


def _split(faces: Indices, corners: int) -> Array:
    """Return the triangles (4 m, 3) of quads (m, 4) around their middles, whose numbers follow those of the corners."""
    middles = np.repeat(np.arange(len(faces)) + corners, 4)
    return np.stack((faces.ravel(), np.roll(faces, -1, axis=1).ravel(), middles), axis=1).astype(np.int32)


def _normals(places: Numbers, triangles: Array) -> Numbers:
    """Return unit normals (n, 3): those of the triangles around each vertex, by their area."""
    a, b, c = (places[triangles[:, i]] for i in range(3))
    faced = np.cross(b - a, c - a)
    sums = np.zeros_like(places)
    for i in range(3):
        np.add.at(sums, triangles[:, i], faced)
    normals: Numbers = sums / np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-12)
    return normals


@lru_cache(maxsize=1)
def _unit_sphere() -> Surface:
    """Return a sphere of radius 1 around the origin."""
    polar, around = np.linspace(0.0, pi, _RINGS), np.arange(_AROUND) * (tau / _AROUND)
    rings = np.stack(
        (
            np.outer(np.sin(polar), np.cos(around)),
            np.outer(np.sin(polar), np.sin(around)),
            np.repeat(np.cos(polar)[:, None], _AROUND, axis=1),
        ),
        axis=-1,
    ).reshape(-1, 3)
    row, column = (part.ravel() for part in np.mgrid[: _RINGS - 1, :_AROUND])
    after = (column + 1) % _AROUND
    a, b = row * _AROUND + column, row * _AROUND + after
    c, d = b + _AROUND, a + _AROUND
    triangles = np.concatenate((np.stack((a, d, c), axis=1), np.stack((a, c, b), axis=1)))
    places = rings.astype(np.float32)
    return Surface(places, places, triangles.astype(np.int32))


_MOST = 95.0  # percent


@dataclass(frozen=True)
class VolumeMap:
    """Targets that were reached, rows of x, y, z in armature space, and their metrics.

    They are `spacing` apart on a grid, of which `targets` are in the ball of the chain's reach. `metrics` are as those
    of a MetricMap, an entry for each target reached. `distances` (n, n, n) of this grid, with one cell more at each
    side, are those from the nearest place that was found or, outside the ball, from the ball [Blender units]; 0 where
    targets are reached. The centre of its first cell is `first`.
    """

    places: Numbers
    metrics: Metrics
    targets: int
    spacing: float
    distances: Numbers
    first: Numbers

    @property
    def coverage(self) -> float:
        """Percent of the targets that were reached."""
        return 100.0 * len(self.places) / self.targets

    def metric(self, name: str) -> Numbers:
        """Return a metric by its name. Raises SettingError for a name not in METRICS."""
        return numbers_of(self.metrics, name)

    def ends(self, metric: str) -> tuple[float, float]:
        """Return the values at both ends of the colours; the upper one is the 95th percentile, to ignore outliers.

        Raises SettingError for an unknown metric.
        """
        values = self.metric(metric)
        return ends_of(metric, float(np.percentile(values, _MOST, method="higher")) if len(values) else 0.0)

    def save_npy(self, path: Path | str, metric: str = "iterations") -> None:
        """Write rows of x, y, z and a metric to a file as numpy.load() reads it. Raises OSError, SettingError."""
        write_npy(path, np.column_stack((self.places, self.metric(metric))))


@cooperative
def map_volume(
    start: Pose, settings: SolverSettings | None = None, *, resolution: int = 16, tolerance: float = 0.01
) -> Job[VolumeMap]:
    """Map the ball around the root whose radius is the reach, target by target, each solved from the pose `start`.

    `resolution` is the number of targets across the ball, `tolerance` a share of the reach. With Finish all targets are
    solved together (see solve_targets()), unless bones are scaled. Yields the targets done and those in all. Raises
    SettingError for a resolution below 1, ChainError for a chain without length, and both as solve() does.
    """
    reach, root = reach_of(start), start.head(0)
    settings = settings or SolverSettings()
    away, inside = _grid(resolution)
    targets = np.array(root) + away * reach
    if settings.finish and start.chain.plain:
        work = solve_targets(start, targets.T, Grid(inside, 2.0 / resolution), settings, tolerance * reach)
        metrics = yield from metrics_from(work, reach, len(targets))
    else:
        rows = []
        for number, target in enumerate(targets):
            goal = Goal(Point(Vector(target)), tolerance=tolerance * reach)
            rows.append(metrics_of(solve_goal(start, goal, settings), reach))
            yield number + 1, len(targets)
        metrics = Metrics(*map(np.array, zip(*rows, strict=True)))
    reached = np.asarray(metrics.reached)
    found = Metrics(*(values[reached] for values in metrics))
    spacing = 2.0 * reach / resolution
    distances = (np.linalg.norm(_cells(resolution, 1), axis=-1) - 1.0) * reach
    distances[1:-1, 1:-1, 1:-1][inside] = np.where(reached, 0.0, metrics.error * reach)
    first = np.array(root) - (reach + 0.5 * spacing)
    return VolumeMap(targets[reached], found, len(targets), spacing, distances, first)


def _grid(resolution: int) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return the centres of those cells of the cube -1..1 that lie in its inscribed ball (n, 3), and these cells."""
    if resolution < 1:
        raise SettingError(f"A resolution of {resolution} makes no map. Give it a number from 1 up.")
    cells = _cells(resolution)
    inside: NDArray[np.bool_] = np.linalg.norm(cells, axis=-1) <= 1.0
    return cells[inside], inside


def _cells(resolution: int, more: int = 0) -> NDArray[np.float64]:
    """Return the centres (n, n, n, 3) of the cells of the cube -1..1, and of more cells at each side."""
    at = (np.arange(-more, resolution + more) + 0.5) / resolution * 2.0 - 1.0
    return np.stack(np.meshgrid(at, at, at, indexing="ij"), axis=-1)

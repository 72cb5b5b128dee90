# SPDX-License-Identifier: GPL-3.0-or-later
"""Reach volume of a chain: a grid of targets around its root, with the cost of the solution for each."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from mathutils import Vector
from numpy.typing import NDArray

from ..cooperative import Job, cooperative
from ..errors import SettingError
from ..goals import Goal, Point
from ..kinematics import Pose
from ..kinematics.arrays import Numbers
from ..solvers import SolverSettings, solve_goal
from .many_targets import Grid, solve_targets
from .metric_map import Metrics, ends_of, metrics_from, metrics_of, numbers_of, reach_of, write_npy

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
        """Return the metric of that name. Raises SettingError for a name not in METRICS."""
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
    """Return the centres (n, n, n, 3) of the cells of the cube -1..1, and of so many more at each side."""
    at = (np.arange(-more, resolution + more) + 0.5) / resolution * 2.0 - 1.0
    return np.stack(np.meshgrid(at, at, at, indexing="ij"), axis=-1)

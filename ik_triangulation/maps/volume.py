# SPDX-License-Identifier: GPL-3.0-or-later
"""Reach volume of a chain: a grid of targets around its root, with the cost of the solution for each."""

from dataclasses import dataclass
from itertools import product
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
from .metric_map import METRICS, Metrics, check_shown, coloured, ends_of, metrics_of, numbers_of, reach_of
from .npy import write_npy

_MOST = 95.0  # percent


@dataclass(frozen=True)
class VolumeMap:
    """Targets that were reached, rows of x, y, z in armature space, and their metrics.

    They are `spacing` apart on a grid, of which `targets` are in the ball of the chain's reach. `metrics` are as those
    of a MetricMap, an entry for each target reached.
    """

    places: Numbers
    metrics: Metrics
    targets: int
    spacing: float

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

    def colours(self, metric: str = "iterations", scale: str = "HUE") -> NDArray[np.float64]:
        """Return a colour for each target reached, sRGB in 0..1. Raises SettingError for an unknown metric or scale."""
        check_shown(metric, scale)
        return coloured(self.metric(metric), scale, *self.ends(metric))

    def save_npy(self, path: Path | str, metric: str = "iterations") -> None:
        """Write rows of x, y, z and a metric to a file as numpy.load() reads it. Raises OSError, SettingError."""
        write_npy(path, np.column_stack((self.places, self.metric(metric))))


@cooperative
def map_volume(
    start: Pose, settings: SolverSettings | None = None, *, resolution: int = 16, tolerance: float = 0.01
) -> Job[VolumeMap]:
    """Map the ball around the root whose radius is the reach, target by target, each solved from the pose `start`.

    `resolution` is the number of targets across the ball, `tolerance` a share of the reach. Yields the targets done and
    those in all. Raises SettingError for a resolution below 1, ChainError for a chain without length, and both as
    solve() does.
    """
    reach, root = reach_of(start), start.head(0)
    away = _grid(resolution) * reach
    places, rows = [], []
    for number, offset in enumerate(away):
        target = root + Vector(offset)
        solution = solve_goal(start, Goal(Point(target), tolerance=tolerance * reach), settings or SolverSettings())
        if solution.reached:
            places.append(target)
            rows.append(metrics_of(solution, reach))
        yield number + 1, len(away)
    columns = zip(*rows, strict=True) if rows else [()] * len(METRICS)
    found = np.array(places, dtype=float).reshape(-1, 3)
    return VolumeMap(found, Metrics(*map(np.array, columns)), len(away), 2.0 * reach / resolution)


def _grid(resolution: int) -> NDArray[np.float64]:
    """Return the centres of those cells of the cube -1..1 that lie in its inscribed ball (n, 3)."""
    if resolution < 1:
        raise SettingError(f"A resolution of {resolution} makes no map. Give it a number from 1 up.")
    at = (np.arange(resolution) + 0.5) / resolution * 2.0 - 1.0
    cells = np.array(list(product(at, repeat=3)))
    inside: NDArray[np.float64] = cells[np.linalg.norm(cells, axis=1) <= 1.0]
    return inside

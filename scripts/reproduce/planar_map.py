# SPDX-License-Identifier: GPL-3.0-or-later
"""Metric maps of planar chains, worked out with the vectorised engine."""

from collections.abc import Sequence

from mathutils import Vector

from ik_triangulation.maps.metric_map import MetricMap, laid_out, map_pose, pixels
from ik_triangulation.solvers import SolverSettings

from .planar import planar_chain, solve_planar
from .planar_steps import STEPS


def map_planar(
    lengths: Sequence[float],
    solver: str = "CCD",
    size: int = 300,
    tolerance: float = 0.01,
    iterations: int = 10,
) -> MetricMap:
    """The map of the paper: a planar chain with these `lengths`, for each pixel straight along +x at first.

    The vectorised engine does it where it knows the method, solve() on the same chain where not; then see map_pose().
    Raises ChainError and SettingError as solve_planar() does.
    """
    if solver not in STEPS:
        start = planar_chain(lengths).rest_pose()
        x, y = Vector((1.0, 0.0, 0.0)), Vector((0.0, 1.0, 0.0))
        settings = SolverSettings(solver=solver, iterations=iterations, finish=False)
        return map_pose(start, Vector(), x, y, settings, size=size, tolerance=tolerance)
    places, inside = pixels(size)
    reach = sum(lengths)
    solutions = solve_planar(lengths, places[inside] * reach, STEPS[solver], tolerance * reach, iterations)
    solutions = solutions._replace(error=solutions.error / reach, travel=solutions.travel / reach)
    return laid_out(solutions, inside, iterations)

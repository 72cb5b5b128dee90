# SPDX-License-Identifier: GPL-3.0-or-later
"""Many poses at once take the steps that each takes alone."""

import numpy as np
import pytest

from ik_triangulation.kinematics.batch import Geometry, Tree
from ik_triangulation.maps.metric_map import map_plane, pixels
from ik_triangulation.maps.own import Asked, _one_by_one
from ik_triangulation.maps.own_steps import STEPS, walk_on
from ik_triangulation.maps.walk import WalkedChain
from ik_triangulation.solvers import SolverSettings

from ..limited import limited_chains


def disc(start, size):
    """Targets in the plane of a pose (3, F)."""
    origin, along, across = (np.array(vector)[:, None] for vector in map_plane(start))
    places, inside = pixels(size)
    return origin + start.chain.reach * (along * places[inside].real + across * places[inside].imag)


def alone(*given):
    work = _one_by_one(*given)
    while True:
        try:
            next(work)
        except StopIteration as end:
            return end.value


@pytest.mark.parametrize("solver", STEPS)
@pytest.mark.parametrize("name", limited_chains())
def test_poses_distances_counts_and_costs_are_those_of_the_method(solver, name):
    chain = limited_chains()[name]
    start, tree, tolerance = chain.rest_pose(), Tree.of(chain), 0.01 * chain.reach
    targets = disc(start, 12)
    asked = Asked(targets, tolerance, np.full(targets.shape[1], tolerance))
    own = alone(start, tree, asked, SolverSettings(solver=solver, iterations=10))
    walked = WalkedChain(chain, tree.states([start]), tree)
    walk, error, count = walk_on(walked, STEPS[solver], targets, tolerance, asked.enough, 10)
    same = (count == own.iterations) & (abs(error - own.error) < 1e-4 * chain.reach)
    assert same.mean() > 0.95  # where two ways are equally good, rounding decides
    reached = same & (error <= tolerance)
    assert (walk.turns == own.turns)[reached].all()
    assert walk.total_angle[reached] == pytest.approx(own.total_angle[reached], abs=1e-3)
    assert walk.travel[reached] == pytest.approx(own.travel[reached], abs=1e-4 * chain.reach)
    tips = Geometry(tree, walk.states()).tip()
    assert tips == pytest.approx(walk.tip, abs=1e-5 * chain.reach)
    assert (walk.states().angles >= tree.lower - 1e-9).all()
    assert (walk.states().angles <= tree.upper + 1e-9).all()

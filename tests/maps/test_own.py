# SPDX-License-Identifier: GPL-3.0-or-later
"""A method takes its own steps as in solve(), at once or one by one."""

import numpy as np
import pytest

from ik_triangulation.kinematics.batch import Geometry, Tree
from ik_triangulation.maps.many_targets import MapTargets, nothing_yet, own_part
from ik_triangulation.solvers import SolverSettings

from ..limited import limited_chains
from .discs import disc


def finished(work):
    shares = []
    while True:
        try:
            shares.append(next(work))
        except StopIteration as end:
            return end.value, shares


@pytest.mark.parametrize("solver", ["TRIANGULATION", "FABRIK", "ROSENBROCK"])
def test_its_states_are_as_far_from_the_targets_as_it_says(solver):
    chain = limited_chains()["arm"]
    start, tree = chain.rest_pose(), Tree.of(chain)
    start.project()
    targets = disc(start, 8)
    count, tolerance = targets.shape[1], 0.01 * chain.reach
    wanted = MapTargets(targets, tolerance, np.full(count, tolerance))
    own, shares = finished(own_part(start, tree, wanted, SolverSettings(solver=solver, iterations=5)))
    those = np.arange(count)[::3]
    away = np.linalg.norm(targets[:, those] - Geometry(tree, own.states(those)).tip(), axis=0)
    assert own.error[those] == pytest.approx(away, abs=1e-5 * chain.reach)
    assert own.iterations.min() >= 0
    assert own.iterations.max() <= 5
    assert shares == sorted(shares)
    assert 0.0 <= shares[0] <= shares[-1] <= 1.0


def test_without_a_step_every_target_has_the_start():
    chain = limited_chains()["cones"]
    start, tree = chain.rest_pose(), Tree.of(chain)
    own = nothing_yet(start, tree, 5)
    assert np.isinf(own.error).all()
    assert not own.iterations.any()
    tips = Geometry(tree, own.states(np.array([1, 4]))).tip()
    assert tips == pytest.approx(np.repeat(np.array(start.tip)[:, None], 2, 1))

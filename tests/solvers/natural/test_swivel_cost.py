# SPDX-License-Identifier: GPL-3.0-or-later
"""A swivel costs what its pose turns off the reference, and allowed spans are those of the limits."""

import numpy as np
import pytest

from ik_triangulation.kinematics import Cone, EulerLimits, Free
from ik_triangulation.kinematics.batch.limit_arrays import LimitArrays
from ik_triangulation.solvers.natural.swivel import SwivelCost, best_swivels
from ik_triangulation.solvers.natural.two_bones import TwoBones

from ...trees import orient_task, place_task
from .arms import arm, motion

LIMITS = [Cone(1.2, -0.9, 0.9), Free(), EulerLimits("XYZ", (-0.7, -0.9, -0.7), (0.7, 0.9, 0.7))]


def limb_of(seed, freedoms=None):
    tree, there = motion(arm(seed, freedoms), seed)
    tasks = [place_task(tree, there), orient_task(tree, there)]
    return TwoBones(tree, there, tasks, tree.rotations(there.take([0]))), tree, there


@pytest.mark.parametrize("seed", range(5))
def test_a_reference_that_meets_the_goals_costs_nothing_and_is_where_the_cost_is_least(seed):
    limb, _, _ = limb_of(seed)
    cost, first = SwivelCost(limb), np.array([0])
    assert cost(np.zeros((1, 1)), first)[0, 0] == pytest.approx(0.0, abs=1e-6)
    assert cost(np.array([[-0.1], [0.1]]), first).min() > 1e-4


def test_no_drift_leads_away_from_a_reference_that_meets_the_goals_on_every_frame():
    tree, there = motion(arm(3), 3)
    tasks = [place_task(tree, there), orient_task(tree, there)]
    assert np.abs(TwoBones(tree, there, tasks, tree.rotations(there)).drift(False)).max() < 1e-9


@pytest.mark.parametrize("seed", range(8))
def test_spans_are_inside_the_limits_and_what_is_just_beyond_is_not(seed):
    limb, tree, there = limb_of(seed, LIMITS)
    cost, count = SwivelCost(limb), len(there)
    spans = cost.spans(np.zeros(count))
    cost.go_on(spans, np.zeros(count), np.arange(count))
    low, high, below, above, _ = spans
    for good, bad in ((low, below), (high, above)):
        edge = np.flatnonzero(good != bad)
        good[edge] = cost.last_allowed(good[edge], bad[edge], edge)
    limited = [(i, LimitArrays(tree.joints[i].freedom)) for i in (0, 2)]
    here = np.flatnonzero(np.isfinite(low))
    assert (np.isfinite(low) == np.isfinite(high)).all()
    for share in (0.0, 0.3, 1.0):
        swivels = np.where(np.isfinite(low), low + share * (high - low), 0.0)
        rotations = limb.rotations(swivels)
        assert all((limits.excess(rotations[i])[here] < 1e-6).all() for i, limits in limited)
    for ends, step in ((low, -0.01), (high, 0.01)):
        edge = here[np.abs(ends[here]) < 0.8]
        rotations = limb.rotations(np.where(np.isfinite(ends), ends + step, 0.0))
        beyond = sum(limits.excess(rotations[i]) for i, limits in limited)
        assert (beyond[edge] > 0.0).all()


def test_a_swivel_beyond_a_limit_costs_more_than_the_worst_posture_while_another_is_allowed():
    limb, _, there = limb_of(2, LIMITS)
    cost, frames = SwivelCost(limb), np.arange(len(there))
    grid = np.linspace(-np.pi, np.pi, cost.choices, endpoint=False)
    costs = cost(np.broadcast_to(grid[:, None], (cost.choices, len(frames))), frames)
    rotations = [limb.rotations(np.full(len(there), swivel)) for swivel in grid]
    inside = np.array([sum(LimitArrays(LIMITS[i]).excess(each[i]) for i in (0, 2)) < 1e-7 for each in rotations])
    both = inside.any(0) & ~inside.all(0)
    assert both.any()
    for k in np.flatnonzero(both):
        assert inside[costs[:, k].argmin(), k]


@pytest.mark.parametrize("seed", range(4))
def test_looking_at_few_limits_finds_the_swivels_that_looking_at_all_of_them_does(seed):
    limb, _, there = limb_of(seed, LIMITS)
    cost, count = SwivelCost(limb), len(there)
    drift = 0.3 * np.cos(np.arange(count))

    class Everywhere:
        def spans(self, swivels):
            spans = cost.spans(swivels)
            cost.go_on(spans, swivels, np.arange(len(swivels)))
            return spans

        def outside(self, swivels, frames):
            return np.ones(len(frames))

        last_allowed = cost.last_allowed

    few, every = (
        best_swivels(cost, count, 1.0, cost.choices, limits, inside=cost.posture, drift=drift, searched=searched)
        for limits, searched in ((cost, cost.searched), (Everywhere(), None))
    )
    assert (few == every).all()
    assert np.abs(few).max() > 0.05


@pytest.mark.parametrize("seed", range(4))
def test_where_no_limit_is_met_its_spans_are_not_looked_for_and_would_change_nothing(seed):
    wide = [Cone(3.0, -3.0, 3.0), Free(), EulerLimits("XYZ", (-3.0, -1.5, -3.0), (3.0, 1.5, 3.0))]
    limb, _, there = limb_of(seed, wide)
    cost, looked_for = SwivelCost(limb), []

    class Limits:
        last_allowed, go_on = cost.last_allowed, cost.go_on

        def __init__(self, outside):
            self.outside = outside

        def spans(self, swivels):
            looked_for.append(len(swivels))
            return cost.spans(swivels)

    def found(limits):
        given = {"inside": cost.posture, "searched": cost.searched, "drift": 0.03 * np.cos(0.2 * np.arange(len(there)))}
        return best_swivels(cost, len(there), 1.0, cost.choices, limits, **given)

    free = found(Limits(cost.outside))
    assert looked_for == []
    assert np.abs(free).max() > 0.01
    assert np.abs(free - found(Limits(lambda _, frames: np.ones(len(frames))))).max() < 1e-9
    assert looked_for == [len(there)]

# SPDX-License-Identifier: GPL-3.0-or-later
"""Offsets lead from a reference to states and back, and their changes over time are measured as the cost says."""

import numpy as np
import pytest

from ik_triangulation.kinematics import Hinge
from ik_triangulation.kinematics.batch import Geometry, Tree
from ik_triangulation.solvers.natural.posture import (
    Posture,
    interpolated_offsets,
    nearest_states,
    roughness,
    time_weight,
)

from ...trees import special
from .motions import CHAINS, Motion, angles_between, at_rest, chain_of

SEEDS = range(20)


@pytest.mark.parametrize("name", CHAINS)
def test_offsets_lead_back_to_the_states(name):
    for seed in SEEDS:
        motion, other = Motion.of(CHAINS[name], seed, 12), Motion.of(CHAINS[name], seed + 100, 12)
        posture = Posture(motion.tree, other.states)
        states = posture.states(posture.offsets(motion.states))
        assert angles_between(motion.tree.rotations(states), motion.rotations).max() < 1e-5


@pytest.mark.parametrize("name", CHAINS)
def test_a_small_change_of_columns_changes_the_offsets_by_what_was_asked_for(name):
    for seed in SEEDS:
        motion = Motion.of(CHAINS[name], seed, 8)
        posture = Posture(motion.tree, motion.states)
        wanted = 1e-4 * np.random.default_rng(seed).normal(size=(motion.tree.columns, 8))
        wanted[: motion.tree.angles] = np.clip(
            wanted[: motion.tree.angles],
            motion.tree.lower - motion.states.angles,
            motion.tree.upper - motion.states.angles,
        )
        geometry = Geometry(motion.tree, motion.states)
        moved = motion.tree.moved(motion.states, geometry.frames, posture.columns(geometry, wanted))
        assert np.abs(posture.offsets(moved) - wanted).max() < 1e-6


def test_rotations_of_every_kind_of_joint_are_moved_inside_their_limits():
    for seed in SEEDS:
        chain = special(seed, 6)
        tree, pose = Tree.of(chain), chain.rest_pose()
        rotations = np.random.default_rng(seed).normal(size=(6, 4, 5))
        rotations /= np.linalg.norm(rotations, axis=1, keepdims=True)
        rest = tree.states([pose]).take(np.zeros(5, np.intp))
        states = nearest_states(tree, rest, rotations)
        inside = nearest_states(tree, rest, tree.rotations(states))
        assert ((states.angles >= tree.lower) & (states.angles <= tree.upper)).all()
        assert angles_between(tree.rotations(states), tree.rotations(inside)).max() < 1e-3
        assert np.array_equal(states.balls, rotations[tree.balls])


@pytest.mark.parametrize("cyclic", [False, True])
def test_roughness_is_the_derivative_of_the_squared_changes(cyclic):
    values = np.random.default_rng(1).normal(size=(3, 7))

    def cost(offsets):
        change = np.diff(offsets, axis=1, append=offsets[:, :1]) if cyclic else np.diff(offsets, axis=1)
        return 0.5 * (change**2).sum()

    found = roughness(values, cyclic)
    for i, k in np.ndindex(values.shape):
        aside = np.zeros_like(values)
        aside[i, k] = 1e-6
        assert found[i, k] == pytest.approx((cost(values + aside) - cost(values - aside)) / 2e-6, abs=1e-6)
    assert not roughness(values[:, :1], cyclic).any()


@pytest.mark.parametrize("cyclic", [False, True])
def test_knots_are_kept_and_smooth_curves_followed_between_them(cyclic):
    every = np.arange(120)
    curve = np.sin(2.0 * np.pi * every / 120.0 * np.array([[1.0], [2.0]]))
    knots = np.arange(1 if cyclic else 0, 120, 4)
    if not cyclic:
        knots = np.append(knots, 119)
    found = interpolated_offsets(curve[:, knots], knots, 120, cyclic)
    assert np.abs(found - curve)[:, knots].max() < 1e-12
    assert np.abs(found - curve).max() < 0.02


def test_what_stands_still_hardly_swings_back_before_a_fast_move():
    random = np.random.default_rng(3)
    for _ in range(20):
        begin, gap = int(random.integers(3, 40)), int(random.integers(1, 6))
        knots = np.array([0, begin, begin + gap, begin + 2 * gap, begin + 30])
        moved = random.normal(size=(6, 1))
        values = moved * [0.0, 0.0, 1.0, 2.0, 2.0]
        found = interpolated_offsets(values, knots, begin + 31)
        assert np.abs(found[:, : begin + 1] / moved).max() < 0.08, "six times as much without a bound"
        steady = interpolated_offsets(moved * knots, knots, begin + 31)
        assert np.abs(steady - moved * np.arange(begin + 31)).max() < 1e-9


def test_a_motion_costs_the_same_at_every_frame_rate():
    def cost(fps):
        curve = np.sin(np.arange(0.0, 10.0, 1.0 / fps))
        return time_weight(fps) * (np.diff(curve) ** 2).sum() / fps

    assert cost(60.0) == pytest.approx(cost(24.0), rel=0.02)


def test_smoothing_raises_the_weight_of_change_up_to_ten_times():
    assert [time_weight(24.0, each) / time_weight(24.0) for each in (0.0, 0.5, 1.0)] == pytest.approx([1.0, 5.5, 10.0])


def test_an_angle_without_ends_is_compared_the_short_way_round():
    tree = Tree.of(chain_of((1.0,), (0,), [Hinge((1.0, 0.0, 0.0))]))
    states, other = at_rest(tree, 1), at_rest(tree, 1)
    states.angles[:], other.angles[:] = 3.0, -3.0
    assert Posture(tree, other).offsets(states)[0, 0] == pytest.approx(6.0 - 2.0 * np.pi)

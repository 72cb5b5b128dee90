# SPDX-License-Identifier: GPL-3.0-or-later
"""Second derivatives of the place of a chain's end, beside differences of forward kinematics."""

import numpy as np
import pytest

from ik_triangulation.kinematics.batch import Geometry
from ik_triangulation.kinematics.batch.algebra import cross, dot
from ik_triangulation.kinematics.batch.geometry import curvature, nesting

from ...trees import KINDS, batch_of

STEP = 1e-4  # [rad]
EDGE = 9.0  # [rad] opening of cones and ends of ranges that no state comes near


def without_ends(tree):
    """The tree with ranges that end nowhere near the states, so that differences do not meet a bound."""
    tree.lower, tree.upper = np.full_like(tree.lower, -99.0), np.full_like(tree.upper, 99.0)
    if tree.cones:
        tree.cones.lower, tree.cones.upper = tree.lower[tree.cones.rows], tree.upper[tree.cones.rows]
        tree.cones.opening = np.full_like(tree.cones.opening, EDGE)
    return tree


def derivatives(tree, states, along):
    """Curvature as the descent asks for it."""
    geometry = Geometry(tree, states)
    levers, axes = geometry.tip() - geometry.heads, geometry.axes()
    velocities = cross(axes, levers[tree.joint_of])
    return curvature(tree, states, axes, velocities, levers, along, nesting(tree))


def differences(tree, states, along):
    """The same by differences of the place of the tip."""
    frames, unit = Geometry(tree, states).frames, STEP * np.eye(tree.columns)[:, :, None]

    def height(change):
        every = np.broadcast_to(change, (tree.columns, len(states)))
        return dot(along, Geometry(tree, tree.moved(states, frames, every)).tip())

    result = np.empty((len(states), tree.columns, tree.columns))
    for i, a in enumerate(unit):
        for j, b in enumerate(unit):
            result[:, i, j] = height(a + b) - height(a - b) - height(b - a) + height(-a - b)
    return result / (4.0 * STEP * STEP)


@pytest.mark.parametrize("build", KINDS.values(), ids=list(KINDS))
def test_second_derivatives_are_those_of_forward_kinematics(build, long):
    for seed in range(2 if long else 1):
        tree, states = batch_of(build(seed, 5), 4, seed)
        tree, along = without_ends(tree), np.random.default_rng(seed).normal(size=(3, len(states)))
        assert derivatives(tree, states, along) == pytest.approx(differences(tree, states, along), abs=1e-4)


def test_a_swing_that_hardly_bends_has_the_derivatives_of_a_swing_that_does_not():
    tree, states = batch_of(KINDS["mixed"](1, 6), 4, 1)
    assert tree.cones
    rows = np.arange(tree.cones.rows.start, tree.cones.rows.stop, 3)
    along = np.random.default_rng(0).normal(size=(3, len(states)))
    found = []
    for swing in (0.999e-3, 1.001e-3):  # on both sides of the series
        states.angles[rows], states.angles[rows + 1] = 0.8 * swing, 0.6 * swing
        found.append(derivatives(tree, states, along))
    assert found[0] == pytest.approx(found[1], abs=1e-4)

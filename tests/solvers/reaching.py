# SPDX-License-Identifier: GPL-3.0-or-later
"""What one step of a method reaches, against the best that the lengths of a free chain allow."""

from ik_triangulation.goals import Point
from ik_triangulation.solvers import solve

CLOSE = 1e-5  # of the reach


def optimum(chain, distance):
    """Distance that must remain to a target so far from the root, whatever the joints do."""
    nearest, farthest = chain.reaches[0]
    return max(0.0, distance - farthest, nearest - distance)


def one_pass(pose, target, solver="TRIANGULATION"):
    """One pass from a pose; returns how far it misses the best there is, as a share of the reach."""
    solution = solve(pose, Point(target), solver=solver, tolerance=1e-12 * pose.chain.reach, iterations=1, finish=False)
    assert solution.iterations <= 1
    distance = (target - pose.head(0)).length
    return (solution.error - optimum(pose.chain, distance)) / pose.chain.reach, solution.pose


def some_distance(random, chain):
    """A distance from the root: anywhere up to beyond the reach, or right at an edge of it."""
    nearest, farthest = chain.reaches[0]
    edge = random.choice((nearest, farthest))
    return random.choice(
        (
            random.uniform(0.0, 1.3 * farthest),
            random.uniform(nearest, farthest),
            edge,
            edge * (1.0 + random.choice((-1.0, 1.0)) * 10.0 ** random.uniform(-7.0, -2.0)),
        )
    )

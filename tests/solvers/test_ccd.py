# SPDX-License-Identifier: GPL-3.0-or-later
"""Cyclic coordinate descent: the figures of the 2007 paper's experiment, and hinges that stay hinges."""

from math import pi
from random import Random
from statistics import mean

import pytest
from mathutils import Vector

from ik_triangulation.kinematics import Hinge
from ik_triangulation.solvers import solve
from ik_triangulation.targets import Point
from tests.chains import PAPER, straight

X = Vector((1.0, 0.0, 0.0))


def test_the_iterations_are_those_of_the_paper():
    """Section 5: a cube of side 60, tolerance 0.5, at most 99 iterations; 8.351 in the mean, 92.12 % within 20."""
    random = Random(2007)
    counts, missed = [], 0
    while len(counts) + missed < 5000:
        target = Vector([random.uniform(-30.0, 30.0) for _ in range(3)])
        if target.length <= sum(PAPER):
            pose = straight(PAPER).rest_pose()
            solution = solve(pose, Point(target), "CCD", tolerance=0.5, iterations=99, finish=False)
            if solution.reached:
                counts.append(solution.iterations)
            else:
                missed += 1
    assert mean(counts) == pytest.approx(8.4, rel=0.05)
    assert sum(count <= 20 for count in counts) / 5000 == pytest.approx(0.924, abs=0.015)


def test_hinges_about_one_axis_keep_the_chain_in_its_plane():
    chain = straight((1.0, 1.0, 1.0), [Hinge(X)] * 3)
    solution = solve(chain.rest_pose(), Point((0.7, 1.0, 1.2)), "CCD", finish=False)
    for i in range(3):
        assert abs(solution.pose.link(i).x) < 1e-6
    assert solution.error == pytest.approx(0.7, abs=1e-3)


def test_a_limited_hinge_stops_at_its_limit():
    chain = straight((1.0, 1.0), [Hinge(X, -0.1, 0.1), Hinge(X, 0.0, pi / 2.0)])
    solution = solve(chain.rest_pose(), Point((0.0, -1.0, 1.0)), "CCD", finish=False)
    for freedom, rotation in zip((joint.freedom for joint in chain.joints), solution.pose.rotations, strict=True):
        assert freedom.nearest(rotation) is rotation
    assert not solution.reached

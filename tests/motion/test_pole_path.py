# SPDX-License-Identifier: GPL-3.0-or-later
"""The side of a bend is that of the elbow, goes over to that of the hinge where the limb is straight, and is exact."""

import numpy as np
import pytest

from ik_triangulation.motion.pole_path import (
    Bend,
    StretchSearch,
    bend_sides,
    mean_angle,
    turned_about,
    turns_between,
)

COUNT = 50


def arm(heights, side=(0.0, 1.0, 0.0)):
    """Arms along X with elbows at these heights above their middle."""
    count = len(heights)
    roots, wrists = np.zeros((count, 3)), np.tile((2.0, 0.0, 0.0), (count, 1))
    return Bend(roots, 0.5 * wrists + np.outer(heights, side), wrists, 2.0)


def test_a_bent_limb_shows_its_elbow_and_a_straight_one_its_hinge():
    hinges = np.tile((0.3, 0.0, 1.0), (2, 1))
    sides = bend_sides(arm([0.5, 0.0]), hinges)
    assert sides == pytest.approx(np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]), abs=1e-12)


def test_the_side_goes_over_without_a_jump():
    sides = bend_sides(arm(np.linspace(0.02, 0.0, COUNT)), np.tile((0.0, 0.0, 1.0), (COUNT, 1)))
    assert np.linalg.norm(sides, axis=1) == pytest.approx(np.ones(COUNT))
    assert np.linalg.norm(np.diff(sides, axis=0), axis=1).max() < 0.2


@pytest.mark.parametrize("seed", range(5))
def test_angles_about_the_line_are_those_that_were_turned(seed):
    random = np.random.default_rng(seed)
    lines = random.normal(size=(COUNT, 3))
    lines /= np.linalg.norm(lines, axis=1, keepdims=True)
    sides = np.cross(lines, random.normal(size=(COUNT, 3)))
    angles = random.uniform(-3.1, 3.1, COUNT)
    turned = turned_about(sides, lines, angles)
    assert turns_between(sides, turned, lines) == pytest.approx(angles)


def test_the_mean_of_angles_goes_round_the_circle_and_leaves_out_what_has_no_weight():
    assert abs(mean_angle(np.array([3.1, -3.1, 1.0]), np.array([1.0, 1.0, 0.0]))) == pytest.approx(np.pi, abs=1e-9)
    assert mean_angle(np.array([1.0]), np.zeros(1)) == 0.0


@pytest.mark.parametrize("height", [0.0, 0.01, 0.4])
def test_the_scale_that_gives_the_height_is_found_though_bones_answer_weakly(height):
    wanted = arm([height])
    search = StretchSearch(wanted)
    for _ in range(8):
        length = np.hypot(1.0, 0.05) * (1.0 + 0.4 * (search.scales[0] - 1.0)) + 0.02 * (height > 0.1)
        shown = arm([np.sqrt(max(length**2 - 1.0, 0.0))])
        search.step(shown)
    assert np.linalg.norm(shown.offsets[0]) == pytest.approx(height, abs=0.01)

# SPDX-License-Identifier: GPL-3.0-or-later
"""The side of a bend is that of the elbow, goes over to that of the hinge where the limb is straight, and is exact."""

import numpy as np
import pytest

from ik_triangulation.motion.pole_path import (
    Bend,
    StretchSearch,
    bend_sides,
    calm_sides,
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


def turned(angles):
    """Sides turned about X from Y by these angles [rad]."""
    return np.stack([np.zeros(len(angles)), np.cos(angles), np.sin(angles)], axis=1)


def calm(heights, angles, frames=None):
    """Angles [rad] of the calm sides of arms whose elbows are at these heights and angles; their hinge bends to Y."""
    count = len(heights)
    bend = arm(heights, (0.0, 1.0, 0.0))
    bend = bend._replace(elbows=0.5 * bend.wrists + np.asarray(heights)[:, None] * turned(angles))
    hinges = np.tile((0.0, 1.0, 0.0), (count, 1))
    sides = calm_sides(bend, hinges, np.arange(count, dtype=float) if frames is None else frames)
    assert np.linalg.norm(sides, axis=1) == pytest.approx(np.ones(count))
    return np.arctan2(sides[:, 2], sides[:, 1])


def test_an_elbow_that_goes_aside_at_once_turns_its_limb_over_some_frames():
    angles = np.where(np.arange(COUNT) < COUNT // 2, 0.0, np.radians(20.0))
    found = calm(np.full(COUNT, 0.2), angles)
    assert np.abs(np.diff(found)).max() < np.radians(10.0)
    assert found[[0, -1]] == pytest.approx(angles[[0, -1]], abs=0.01)
    assert 0.1 * np.abs(2.0 * np.sin((found - angles) / 2.0)).max() < 0.012  # of the reach


def test_a_calm_side_is_that_of_an_elbow_which_turns_evenly_even_all_around():
    angles = np.linspace(0.0, 7.0, COUNT)
    off = calm(np.full(COUNT, 0.4), angles)[5:-5] - angles[5:-5]
    assert np.abs(np.sin(off / 2.0)).max() < 0.01


def test_between_bends_a_straight_limb_turns_the_short_way_and_alone_it_is_on_its_hinge():
    heights = np.where(np.abs(np.arange(COUNT) - COUNT // 2) < 8, 1e-5, 0.2)
    random = np.random.default_rng(3)
    angles = np.where(heights > 0.1, 0.3, random.uniform(-3.1, 3.1, COUNT))
    assert calm(heights, angles) == pytest.approx(np.full(COUNT, 0.3), abs=0.05)
    assert calm(np.zeros(COUNT), angles) == pytest.approx(np.zeros(COUNT), abs=1e-6)


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

# SPDX-License-Identifier: GPL-3.0-or-later
"""A heel stays down while the shin leans little, lifts smoothly, and then turns as the shin does."""

from math import cos, radians, sin

import numpy as np
import pytest

from ik_triangulation.goals.support import Heel

ACROSS, UP = np.array([[1.0], [0.0], [0.0]]), np.array([[0.0], [0.0], [1.0]])
HEEL = Heel(knee=0, ankle=1, across=ACROSS, upright=UP)


def heads(*leans):
    """Heads (2, 3, F) of a shin of one meter that leans by these angles [degrees] about the axis across."""
    knees = [[0.0, -sin(radians(lean)), cos(radians(lean))] for lean in leans]
    return np.stack((np.array(knees).T, np.zeros((3, len(leans)))))


def test_a_foot_stays_flat_until_the_shin_leans_by_20_degrees():
    lifts, slopes = HEEL.lift(heads(-60.0, 0.0, 10.0, 19.9))
    assert not lifts.any()
    assert not slopes.any()


def test_beyond_34_degrees_the_foot_turns_as_the_shin():
    lifts, slopes = HEEL.lift(heads(40.0, 50.0, 90.0))
    assert np.allclose(slopes, 1.0)
    assert np.diff(lifts) == pytest.approx([radians(10.0), radians(40.0)])


def test_a_lift_begins_smoothly_and_its_slope_is_that_of_its_angle():
    leans = np.arange(15.0, 45.0, 0.01)
    lifts, slopes = HEEL.lift(heads(*leans))
    found = np.gradient(lifts, np.radians(leans))
    assert np.abs(found - slopes).max() < 1e-3
    assert (np.diff(lifts) >= 0.0).all()


def test_a_foot_is_turned_about_the_axis_across_by_its_lift():
    (lift,), _ = HEEL.lift(heads(60.0))
    turned = HEEL.turned(np.eye(3)[:, :, None], heads(60.0))[..., 0]
    assert turned @ ACROSS[:, 0] == pytest.approx(ACROSS[:, 0])
    assert (turned @ UP[:, 0]) @ UP[:, 0] == pytest.approx(cos(lift))

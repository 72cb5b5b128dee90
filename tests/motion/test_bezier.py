# SPDX-License-Identifier: GPL-3.0-or-later
"""Slopes of curves are fitted to values between the keys."""

import numpy as np
import pytest

from ik_triangulation.motion.frames import flowing, straight, through

TIMES = np.array([1.0, 2.0, 4.0, 5.0, 8.0])
RANDOM = np.random.default_rng(4)
VALUES = RANDOM.normal(size=(5, 3))


def inner(times, count):
    """Times evenly between the keys (keys - 1, count)."""
    return times[:-1, None] + np.diff(times)[:, None] * np.arange(1, count + 1) / (count + 1)


@pytest.mark.parametrize("begin", [straight, flowing])
@pytest.mark.parametrize("count", [1, 2])
def test_up_to_two_values_between_two_keys_are_met(begin, count):
    between = RANDOM.normal(size=(4, count, 3))
    fitted = through(begin(TIMES, VALUES), between, np.ones(4, bool))
    assert fitted.at(inner(TIMES, count).ravel()).reshape(between.shape) == pytest.approx(between)
    assert fitted.at(TIMES) == pytest.approx(VALUES)


def test_a_single_value_changes_both_ends_alike():
    curves = flowing(TIMES, VALUES)
    fitted = through(curves, RANDOM.normal(size=(4, 1, 3)), np.ones(4, bool))
    assert fitted.right[:-1] - curves.right[:-1] == pytest.approx(curves.left[1:] - fitted.left[1:])


def test_more_values_are_met_as_nearly_as_a_cubic_can():
    wave = np.sin(TIMES)[:, None]
    between = np.sin(inner(TIMES, 5))[:, :, None]
    before, fitted = flowing(TIMES, wave), through(flowing(TIMES, wave), between, np.ones(4, bool))
    errors = [np.abs(curves.at(inner(TIMES, 5).ravel())[:, 0] - between.ravel()).max() for curves in (before, fitted)]
    assert errors[1] < 0.2 * errors[0]


def test_other_segments_stay_as_they_are():
    curves = flowing(TIMES, VALUES)
    fitted = through(curves, RANDOM.normal(size=(4, 1, 3)), np.array([False, True, False, False]))
    assert (fitted.right[[0, 2, 3]] == curves.right[[0, 2, 3]]).all()
    assert (fitted.left[[0, 1, 3, 4]] == curves.left[[0, 1, 3, 4]]).all()
    assert (fitted.right[1] != curves.right[1]).any()


def test_what_lies_on_the_curves_changes_nothing():
    curves = flowing(TIMES, VALUES)
    between = curves.at(inner(TIMES, 3).ravel()).reshape(4, 3, 3)
    fitted = through(curves, between, np.ones(4, bool))
    assert fitted.right == pytest.approx(curves.right)
    assert fitted.left == pytest.approx(curves.left)

# SPDX-License-Identifier: GPL-3.0-or-later
"""As many handles are Auto Clamped as leave the motion within what is allowed."""

import numpy as np
import pytest

from ik_triangulation.cooperative import finished
from ik_triangulation.motion.frames import Curves
from ik_triangulation.motion.handles import clamp

KEYS, FRAMES = np.arange(0.0, 51.0, 10.0), np.arange(51.0)


class Full:
    """A full bake that goes where the fitted curves go, of numbers that are apart by their difference."""

    times = FRAMES

    def __init__(self, fitted):
        self.values = fitted.at(FRAMES)

    def exceeding(self, curves, tolerance):
        apart = np.abs(curves.at(FRAMES) - self.values).max(1)
        yield
        return apart > tolerance, float(apart.max())


def fitted(seed=1):
    random = np.random.default_rng(seed)
    slopes = random.normal(size=(6, 3))
    right = slopes.copy()
    right[2, 0] += 1.0  # a corner
    return Curves(KEYS, random.normal(size=(6, 3)), slopes, right)


def clamped(curves, change):
    """Slopes on both sides where those of a mask differ from the fitted ones by `change` (keys x channels)."""

    def placed(given, which):
        assert given is curves
        both = 0.5 * (curves.left + curves.right) + change
        return np.where(which, both, curves.left), np.where(which, both, curves.right)

    return placed


def inner():
    which = np.ones((6, 3), bool)
    which[[0, -1]] = False
    which[2, 0] = False
    return which


def test_all_but_ends_and_corners_are_clamped_where_that_changes_too_little():
    curves = fitted()
    change = np.full((6, 3), 1e-4)
    found = finished(clamp(Full(curves), curves, 1e-2, clamped(curves, change)))
    assert np.array_equal(found.which, inner())
    assert 0.0 < found.deviation < 1e-2
    left, right = clamped(curves, change)(curves, inner())
    assert np.array_equal(found.curves.left, left)
    assert np.array_equal(found.curves.right, right)


def test_handles_around_what_goes_too_far_are_fitted_and_the_others_stay_clamped():
    curves, change = fitted(), np.zeros((6, 3))
    change[3, 1] = 0.5
    found = finished(clamp(Full(curves), curves, 1e-2, clamped(curves, change)))
    wanted = inner()
    wanted[2:5, 1] = False
    assert np.array_equal(found.which, wanted)
    assert found.deviation == pytest.approx(0.0, abs=1e-9)


def test_of_several_channels_the_worst_yields_first():
    curves, change = fitted(), np.zeros((6, 3))
    change[3] = 0.0, 0.5, 0.02
    found = finished(clamp(Full(curves), curves, 0.06, clamped(curves, change)))
    assert found.which[3].tolist() == [True, False, True]
    assert 0.0 < found.deviation <= 0.06


def test_keys_that_have_no_neighbours_on_both_sides_stay_as_they_were_fitted():
    curves = Curves(KEYS[[0, -1]], np.zeros((2, 1)), np.zeros((2, 1)), np.zeros((2, 1)))
    found = finished(clamp(Full(curves), curves, 1e-3, clamped(curves, np.ones((2, 1)))))
    assert not found.which.any()
    assert found.curves is curves


def test_frames_that_fitted_handles_miss_already_are_not_blamed_on_clamped_ones():
    curves = fitted()
    full = Full(curves)
    full.values = full.values.copy()
    full.values[[12, 33]] += 1.0
    found = finished(clamp(full, curves, 1e-2, clamped(curves, np.full((6, 3), 1e-4))))
    assert np.array_equal(found.which, inner())
    assert found.deviation == pytest.approx(1.0, abs=1e-2)

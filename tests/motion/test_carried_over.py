# SPDX-License-Identifier: GPL-3.0-or-later
"""What is shown changes as two solves differ, and not where it has to stay."""

import numpy as np
import pytest

from ik_triangulation.kinematics.batch.algebra import conjugated, exponential, normalized, product, rotation_vectors
from ik_triangulation.motion.faded_path import carried_over, end_fades, without_ends

FRAMES = np.arange(1.0, 22.0)


@pytest.fixture
def poses():
    rng = np.random.default_rng(3)
    some = [normalized(rng.normal(size=(3, 4, 1)) + 0.2 * rng.normal(size=(3, 4, len(FRAMES)))) for _ in range(2)]
    return some[0], product(some[0], exponential(0.3 * rng.normal(size=(3, 3, len(FRAMES))))), some[1]


def far(a, b):
    return np.abs(rotation_vectors(product(conjugated(a), b))).max()


def test_what_is_as_before_becomes_as_after(poses):
    before, after, shown = poses
    free = end_fades(FRAMES, 11.0, begins=False, ends=False)
    assert far(carried_over(before, before, after, free), after) < 1e-12
    turned = carried_over(shown, before, after, free)
    assert far(product(conjugated(shown), turned), product(conjugated(before), after)) < 1e-12


def test_the_ends_stay_and_the_edited_frame_changes_in_full(poses):
    before, after, shown = poses
    turned = carried_over(shown, before, after, end_fades(FRAMES, 11.0, begins=True, ends=True))
    assert far(turned[..., [0, -1]], shown[..., [0, -1]]) < 1e-12
    whole = carried_over(shown, before, after, end_fades(FRAMES, 11.0, begins=False, ends=False))
    assert far(turned[..., 10:11], whole[..., 10:11]) < 1e-12


def test_fades_are_smooth_on_the_sides_that_stay():
    fades = end_fades(FRAMES, 6.0, begins=False, ends=True)
    assert not fades[0].any()
    assert fades[1, 0] == fades[1, 5] == 0.0
    assert fades[1, -1] == 1.0
    assert (np.diff(fades[1, 5:]) > 0.0).all()
    assert np.abs(without_ends(np.ones((2, len(FRAMES))), fades)[:, -1]).max() == 0.0

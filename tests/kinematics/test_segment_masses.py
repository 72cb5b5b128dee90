# SPDX-License-Identifier: GPL-3.0-or-later
"""The masses of known parts are those of a human body, however many bones share them."""

import pytest

from ik_triangulation.kinematics.body_anatomy import HEAD, OF_LIMBS, TRUNK, anatomical_masses

LEGS = [(part, side) for side in "LR" for part in ("thigh", "shin", "foot")]
ARMS = [(part, side) for side in "LR" for part in ("upper_arm", "forearm", "hand")]
WHOLE = [("hips", ""), ("spine", ""), ("head", ""), *ARMS, *LEGS]


def test_a_whole_body_weighs_one():
    assert sum(anatomical_masses(WHOLE, [1.0] * len(WHOLE))) == pytest.approx(1.0, abs=1e-3)
    assert TRUNK + HEAD + 2.0 * sum(OF_LIMBS.values()) == pytest.approx(1.0, abs=1e-3)


def test_bones_of_one_part_share_its_mass_by_their_lengths():
    parts = [("hips", ""), ("spine", ""), ("thigh", "L"), ("thigh", "L"), ("thigh", "R")]
    masses = anatomical_masses(parts, [1.0, 3.0, 1.0, 1.0, 5.0])
    assert masses[1] == pytest.approx(3.0 * masses[0])
    assert masses[2] + masses[3] == pytest.approx(masses[4]) == pytest.approx(OF_LIMBS["thigh"])


def test_fingers_and_unknown_bones_have_none():
    masses = anatomical_masses([("thigh", "L"), None, ("index", "L")], [1.0, 1.0, 1.0])
    assert masses[1:] == [0.0, 0.0]


def test_bones_without_length_do_not_divide_by_zero():
    assert anatomical_masses([("hips", ""), ("thigh", "L")], [0.0, 0.0]) == [0.0, pytest.approx(OF_LIMBS["thigh"])]


def test_without_legs_nothing_is_known():
    assert anatomical_masses([("upper_arm", "L"), ("spine", "")], [1.0, 1.0]) is None

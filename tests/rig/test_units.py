# SPDX-License-Identifier: GPL-3.0-or-later
"""Lengths and angles are written as people read them."""

from math import radians

import bpy
import pytest

from ik_triangulation.rig.units import degrees_text, distance_text, is_seen, length_text

pytestmark = pytest.mark.usefixtures("empty_scene")


@pytest.mark.parametrize(
    ("angle", "text"),
    [
        (140.0, "140°"),
        (-140.4, "-140°"),
        (17.26, "17°"),
        (9.97, "10°"),
        (9.94, "9.9°"),
        (0.57, "0.6°"),
        (0.1, "0.1°"),
        (0.04, "0°"),
        (2.2e-5, "0°"),
        (-2.2e-5, "0°"),
    ],
)
def test_angles_have_whole_degrees_from_ten_on_and_nothing_below_a_tenth(angle, text):
    assert degrees_text(radians(angle)) == text
    assert is_seen(radians(angle)) == (text != "0°")


def test_no_angle_is_not_seen():
    assert not is_seen(None)


@pytest.mark.parametrize(
    ("length", "text"),
    [
        (0.0, "0"),
        (1234.56, "1235"),
        (0.25, "0.25"),
        (-1.0, "-1"),
        (1.5e-5, "0.000015"),
        (2e-9, "0"),
        (12.345, "12.3"),
        (1e999, "an infinite distance"),
    ],
)
def test_lengths_have_three_digits_and_no_exponent(length, text):
    assert length_text(length) == text
    bpy.context.scene.unit_settings.system = "NONE"
    assert distance_text(length, bpy.context.scene) == text

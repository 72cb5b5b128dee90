# SPDX-License-Identifier: GPL-3.0-or-later
"""The legend of a map: colours from end to end, told in the units of the metric."""

import numpy as np
import pytest

from ik_triangulation.maps.metric_map import _dots, in_words, labels, with_strip

pytestmark = pytest.mark.usefixtures("empty_scene")


def test_the_ends_of_the_colours_are_told_in_the_units_of_the_metric():
    assert labels("iterations", 1.0, 20.0) == ("1", "20")
    assert labels("error", 0.0, 0.123456) == ("0%", "12.3%")
    assert labels("total_angle", 0.0, 12.0) == ("0°", "688°")
    assert labels("travel", 0.0, 123.456) == ("0%", "12346%")
    assert in_words("turns", "VIOLET_YELLOW", 0.0, 7.0) == "Turns: 0 (violet) to 7 (yellow)"
    assert in_words("iterations", "HUE", 1.0, 1.0) == "Steps: 1 (blue)"


@pytest.mark.parametrize("size", [8, 30, 100, 300])
def test_a_strip_of_any_size_runs_from_the_first_to_the_last_colour(size):
    picture = np.zeros((size, size, 4), np.uint8)
    joined = with_strip(picture, "total_angle", "HUE", 0.0, 9.99)
    assert np.array_equal(joined[:size], picture)
    assert len(joined) == size + max(size // 8, 7)
    assert tuple(joined[size, 0]) == (0, 0, 255, 255)
    assert tuple(joined[size, -1]) == (255, 0, 0, 255)


def test_labels_are_in_the_middle_of_the_strip_and_at_its_ends():
    picture = np.zeros((296, 300, 4), np.uint8)
    plain, written = (with_strip(picture, "error", "HUE", 0.0, greatest)[296:] for greatest in (0.0, 0.5))
    rows, columns = np.nonzero((written[:, 150:] != plain[:, 150:]).any(2))
    assert abs(rows.min() - (len(written) - 1 - rows.max())) <= 1
    rows, columns = np.nonzero((written == 255).all(2) | (written == (0, 0, 0, 255)).all(2))
    assert columns.min() == 299 - columns.max() > 0
    assert abs(rows.min() - (len(written) - 1 - rows.max())) <= 1


DIGITS = """
### .#. ### ### #.# ### ### ### ### ### ... ... ### #.# .#.
#.# ##. ..# ..# #.# #.. #.. ..# #.# #.# ... ... #.# ..# #.#
#.# .#. ### ### ### ### ### .#. ### ### ... ### ### .#. .#.
#.# .#. #.. ..# ..# ..# #.# .#. #.# ..# ... ... #.. #.. ...
### ### ### ### ..# ### ### .#. ### ### .#. ... ### #.# ...
"""


def test_the_signs_of_a_legend_are_drawn_by_dots():
    rows = ["".join(".#"[dot] for dot in row) for row in _dots("0123456789.-e%°").astype(int)]
    assert rows == [" ".join(row.split()).replace(" ", ".") for row in DIGITS.strip().splitlines()]


@pytest.mark.parametrize(("size", "height", "scale"), [(56, 7, 1), (112, 14, 1), (300, 37, 5), (480, 60, 8)])
def test_signs_are_as_large_as_strip_and_picture_allow(size, height, scale):
    """The 1 at the left end is five dots high and begins a dot off the border."""
    strip = with_strip(np.zeros((size, size, 4), np.uint8), "iterations", "HUE", 1.0, 9.0)[size:]
    assert strip.shape == (height, size, 4)
    assert (strip[..., 3] == 255).all()
    rows, columns = np.nonzero((strip[:, : size // 4] == 255).all(2))
    assert np.ptp(rows) + 1 == 5 * scale
    assert (columns.min(), np.ptp(columns) + 1) == (scale, 3 * scale)


def test_labels_without_room_are_left_out():
    strip = with_strip(np.zeros((8, 8, 4), np.uint8), "travel", "HUE", 0.0, 123.456)[8:]
    assert not (strip == 255).all(2).any()
    assert not (strip[..., :3] == 0).all(2).any()

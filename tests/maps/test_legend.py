# SPDX-License-Identifier: GPL-3.0-or-later
"""The legend of a map: colours from end to end, told in the units of the metric."""

import numpy as np
import pytest

from ik_triangulation.maps.metric_map import in_words, labels, with_strip

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

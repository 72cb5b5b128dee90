# SPDX-License-Identifier: GPL-3.0-or-later
"""Maps as files of numbers."""

import numpy as np
import pytest

from ik_triangulation.maps.metric_map import labels, with_strip

pytestmark = pytest.mark.usefixtures("empty_scene")


def test_values_next_to_nothing_are_written_as_well():
    picture = np.zeros((80, 400, 4), np.uint8)
    assert labels("error", 0.0, 1e-7) == ("0%", "1e-05%")
    plain, tiny = (with_strip(picture, "error", "HUE", 0.0, greatest) for greatest in (0.0, 1e-7))
    assert (plain != tiny).any()

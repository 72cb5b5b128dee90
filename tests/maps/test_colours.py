# SPDX-License-Identifier: GPL-3.0-or-later
"""Colour scales look as evenly spaced as they claim."""

import numpy as np
import pytest

from ik_triangulation.maps.metric_map import SCALES, coloured, hue, lined, oklab, srgb

SHARES = np.linspace(0.0, 1.0, 257)
every_uniform_scale = pytest.mark.parametrize("scale", [name for name in SCALES if name != "HUE"])


def test_the_hue_scale_runs_from_blue_over_green_to_red():
    colours = hue(np.array([0.0, 0.25, 0.5, 0.75, 1.0]))
    assert colours.tolist() == [[0, 0, 1], [0, 1, 1], [0, 1, 0], [1, 1, 0], [1, 0, 0]]


@every_uniform_scale
def test_a_uniform_scale_grows_lighter_all_the_way(scale):
    lightness = oklab(SCALES[scale](SHARES))[:, 0]
    assert (np.diff(lightness) > 0.0).all()
    assert lightness[0] > 0.2  # black, for what was not reached, stands out from its dark end
    assert lightness[-1] - lightness[0] > 0.5


@every_uniform_scale
def test_equal_steps_of_a_uniform_scale_look_equally_large(scale):
    steps = np.linalg.norm(np.diff(oklab(SCALES[scale](SHARES)), axis=0), axis=1)
    assert steps.min() / steps.max() > 0.9  # a little less at the corners, which a step cuts


@pytest.mark.parametrize("scale", SCALES)
def test_colours_are_colours_whatever_the_shape_of_the_shares(scale):
    colours = SCALES[scale](SHARES[:256].reshape(16, 16))
    assert colours.shape == (16, 16, 3)
    assert (colours >= 0.0).all()
    assert (colours <= 1.0).all()


def test_oklab_is_what_its_author_published():
    """Ottosson's own values for red and white; and there and back is the same colour."""
    assert oklab(np.array([1.0, 0.0, 0.0])) == pytest.approx([0.62796, 0.22486, 0.12585], abs=1e-4)
    assert oklab(np.ones(3)) == pytest.approx([1.0, 0.0, 0.0], abs=1e-4)
    colours = np.random.default_rng(1).random((500, 3))
    assert srgb(oklab(colours)) == pytest.approx(colours, abs=1e-6)


CORNERS = {
    "VIOLET_YELLOW": [(0.27, 0.12, 0.47), (0.14, 0.44, 0.60), (0.30, 0.70, 0.42), (0.98, 0.92, 0.30)],
    "PLUM_CREAM": [(0.25, 0.14, 0.38), (0.66, 0.20, 0.38), (0.94, 0.52, 0.22), (0.99, 0.95, 0.72)],
}


@every_uniform_scale
def test_a_uniform_scale_goes_through_its_colours_from_end_to_end(scale):
    colours = SCALES[scale](np.linspace(0.0, 1.0, 4001))
    assert colours[[0, -1]] == pytest.approx(np.array(CORNERS[scale])[[0, -1]], abs=1e-6)
    away = np.linalg.norm(colours[:, None] - np.array(CORNERS[scale]), axis=2)
    assert away.min(0) == pytest.approx(0.0, abs=1e-3)
    assert (np.diff(away.argmin(0)) > 0).all()


def test_values_have_the_colours_of_their_share_of_the_span_and_those_outside_its_ends():
    colours = coloured(np.array([-1.0, 2.0, 3.0, 4.0, 9.0]), "HUE", 2.0, 4.0)
    assert colours.tolist() == [[0, 0, 1], [0, 0, 1], [0, 1, 0], [1, 0, 0], [1, 0, 0]]
    assert coloured(np.array([2.0, 3.0]), "HUE", 2.0, 2.0).tolist() == [[0, 0, 1]] * 2
    assert coloured(np.array([2.0, 3.0]), "HUE", 2.0, 1.0).tolist() == [[0, 0, 1]] * 2


def test_lines_are_black_on_light_colours_and_white_on_dark_ones():
    greys = np.repeat(np.array([0.1, 0.2, 0.3, 0.35, 0.9])[:, None], 3, axis=1)
    drawn = lined(greys, np.ones(5, bool))[:, 0]
    assert drawn.tolist() == [1.0, 1.0, 0.0, 0.0, 0.0]
    assert (lined(greys, np.zeros(5, bool)) == greys).all()

# SPDX-License-Identifier: GPL-3.0-or-later
"""A tip rests on what it is near to and still on, whatever moves, scales or shakes; what slides or passes does not."""

import numpy as np
import pytest

from ik_triangulation.motion.contacts import Planted, Stay, Touchable, placed_on, planted, stays_on

ARM, FADE = 0.5, 8


def eased(t):
    t = np.clip(t, 0.0, 1.0)
    return t**3 * (10.0 - 15.0 * t + 6.0 * t * t)


def visit(fps, first=0.8, last=2.0, seconds=3.0, slide=0.0):
    """Places of a hand on a thing, and its distance: it comes, rests there from first to last [s], and goes."""
    t = np.arange(round(seconds * fps)) / fps
    away = 1.0 - eased((t - first + 0.6) / 0.6) + eased((t - last) / 0.6)
    zero = np.zeros_like(t)
    return np.array(
        (0.4 * away + slide * (np.clip(t, first, last) - first), zero, 0.01 + 0.1 * away)
    ), 0.01 + 0.1 * away


def within(stay, fps, first=0.8, last=2.0):
    return abs(stay.first - first * fps) <= 0.1 * fps + 1 and abs(stay.last - last * fps) <= 0.1 * fps + 1


@pytest.mark.parametrize("fps", [24.0, 30.0, 60.0, 120.0])
@pytest.mark.parametrize("size", [0.01, 1.0, 100.0])
def test_a_rest_is_found_at_every_frame_rate_and_size(fps, size):
    places, away = visit(fps)
    (stay,) = stays_on([Touchable("cup", size * places, size * away)], size * ARM, fps, FADE)
    assert stay.on == "cup"
    assert within(stay, fps)


def test_what_slides_along_passes_or_is_away_is_no_rest():
    places, away = visit(30.0, slide=0.16)
    assert stays_on([Touchable("rail", places, away)], ARM, 30.0, FADE) == []
    places, away = visit(30.0, first=1.0, last=1.0)
    assert stays_on([Touchable("wall", places, away)], ARM, 30.0, FADE) == []
    places, away = visit(30.0)
    assert stays_on([Touchable("table", places, away + 0.1)], ARM, 30.0, FADE) == []
    assert stays_on([], ARM, 30.0, FADE) == []


def test_a_rest_amid_a_slow_slide_is_found_and_the_slide_is_not():
    t = np.arange(150) / 30.0
    way = 0.2 * np.clip(t - 0.5, 0.0, 1.0) + 0.2 * np.clip(t - 3.5, 0.0, 1.0)
    places = np.array((way, 0.0 * t, 0.0 * t))
    (before, rest, after) = stays_on([Touchable("rail", places, 0.01 + 0.0 * t)], ARM, 30.0, FADE)
    assert (before.first, after.last) == (0, 149)
    assert abs(rest.first - 45) <= 3
    assert abs(rest.last - 105) <= 3


def test_noise_of_a_recording_leaves_a_rest_whole():
    places, away = visit(60.0)
    noisy = places + np.random.default_rng(3).normal(0.0, 0.004, places.shape)
    (stay,) = stays_on([Touchable("cup", noisy, away)], ARM, 60.0, FADE)
    assert within(stay, 60.0)


def test_of_several_things_that_wins_on_which_the_tip_is_still_for_longest():
    t = np.arange(120) / 30.0
    zero = np.zeros_like(t)
    lifted = np.array((zero, zero, 0.4 * eased((t - 1.5) / 1.0)))  # the cup leaves the table
    still, near = np.zeros((3, len(t))), np.full(len(t), 0.01)
    table = Touchable("table", lifted, near + lifted[2])
    assert stays_on([table, Touchable("cup", still, near)], ARM, 30.0, FADE) == [Stay("cup", 0, 119)]


def turning(count):
    """Matrices (4, 4, F) of something that turns, goes and is twice as large as it was made."""
    angles = np.linspace(0.0, 2.0, count)
    found = np.zeros((4, 4, count))
    found[0, 0] = found[1, 1] = 2.0 * np.cos(angles)
    found[1, 0], found[0, 1] = 2.0 * np.sin(angles), -2.0 * np.sin(angles)
    found[2, 2], found[3, 3], found[0, 3] = 2.0, 1.0, np.linspace(0.0, 3.0, count)
    return found


def test_a_tip_is_planted_on_what_carries_it_and_fades_from_there():
    count, frames = 40, np.arange(40.0)
    carried = turning(count)
    places = np.random.default_rng(2).normal(0.0, 0.02, (3, count)) + carried[:3, 3] + 0.5 * carried[:3, 0]
    inside = slice(10, 26)
    span = Planted.of((10.0, 25.0), places[:, inside], "table", carried[..., inside])
    result = planted(places, frames, [span], 5.0, {"table": carried})
    assert np.ptp(placed_on(carried, result)[:, inside], axis=1).max() < 1e-12
    assert np.array_equal(result[:, :4], places[:, :4])
    assert np.array_equal(result[:, 32:], places[:, 32:])
    ways = np.linalg.norm(result - places, axis=0)
    assert ways[9] < ways[10]
    assert ways[26] < ways[25]

# SPDX-License-Identifier: GPL-3.0-or-later
"""Spans in which a foot is planted are found whatever the scale, frame rate and noise; holding them is smooth."""

import numpy as np
import pytest

from ik_triangulation.motion.contacts import (
    Planted,
    faded,
    floor_height,
    joined_spans,
    planted,
    planted_spans,
    shares_of_spans,
    unhurried,
)

UP, LEG, FADE = np.array((0.0, 0.0, 1.0)), 0.9, 8
STANCE, SWING, STRIDE = 0.6, 0.4, 1.3  # [s], [s], [m]


def walk(fps=30.0, seconds=4.0, slide=0.0, phase=0.0, rise=0.0):
    """Places of a foot and of the hips, and whether the foot stands, in steps that slide by a share of the way."""
    t = np.arange(round(seconds * fps)) / fps
    cycle, share = np.divmod(t + phase, STANCE + SWING)
    moving = np.clip((share - STANCE) / SWING, 0.0, 1.0)
    eased = moving**3 * (10.0 - 15.0 * moving + 6.0 * moving**2)
    hips = STRIDE * t / (STANCE + SWING)
    foot = STRIDE * (cycle + eased) + slide * hips
    height = 0.05 + 0.15 * np.sin(np.pi * moving) ** 2 + rise * (cycle + eased)
    zero = np.zeros_like(t)
    body = np.array((hips * (1.0 + slide), zero, 0.9 + zero + rise * t))
    return np.array((foot, zero, height)), body, share <= STANCE


def spans_of(places, hips, fps=30.0, leg=LEG):
    return planted_spans([places], hips, UP, [leg], fps, FADE)[0]


def in_spans(spans, count):
    found = np.zeros(count, bool)
    for first, last in spans:
        found[first : last + 1] = True
    return found


@pytest.mark.parametrize("slide", [0.0, 0.15])
@pytest.mark.parametrize("fps", [24.0, 30.0, 60.0, 120.0])
def test_the_steps_of_a_walk_are_found_at_every_frame_rate(fps, slide):
    places, hips, stands = walk(fps, slide=slide)
    spans = spans_of(places, hips, fps)
    assert len(spans) == 4
    found = in_spans(spans, len(stands))
    assert (found & ~stands).sum() <= 0.12 * len(stands)  # a foot leaves slowly
    assert (stands & ~found).sum() <= 0.05 * len(stands)


@pytest.mark.parametrize("size", [0.01, 100.0])
def test_the_size_of_a_figure_does_not_matter(size):
    places, hips, _ = walk(slide=0.15)
    assert spans_of(size * places, size * hips, leg=size * LEG) == spans_of(places, hips)


@pytest.mark.parametrize("seed", range(5))
def test_noise_does_not_cut_spans(seed):
    places, hips, _ = walk(slide=0.15)
    noisy = places + np.random.default_rng(seed).normal(0.0, 0.003, places.shape)
    spans = spans_of(noisy, hips)
    assert len(spans) == 4
    for (first, last), (begin, end) in zip(spans, spans_of(places, hips), strict=True):
        assert abs(first - begin) <= 2
        assert abs(last - end) <= 2


@pytest.mark.parametrize("begin", [2, 3, FADE, FADE + 5])
def test_a_span_that_begins_or_ends_soon_gives_way_to_the_step_beside_it(begin):
    count = 80
    frames = np.arange(count)
    late = np.clip(begin + 3 - frames, 0, None) - np.clip(frames - (count - 4 - begin), 0, None)  # it still moves there
    places = np.array((0.1 * late, np.zeros(count), np.zeros(count)))
    for fade in (FADE, 2.5):
        (span,) = unhurried([(begin, count - 1 - begin)], places, fade, 5)
        assert begin < span[0] <= begin + FADE
        assert sum(span) == count - 1  # both ends alike


def test_stairs_are_stood_on():
    places, hips, _ = walk(rise=0.2)
    assert len(spans_of(places, hips)) == 4


def test_a_foot_that_is_held_in_the_air_beside_one_that_stands_is_not_planted():
    count = 90
    standing = np.tile(((0.0,), (0.0,), (0.05,)), count)
    raised = standing.copy()
    t = np.clip((np.arange(count) - 20.0) / 10.0, 0.0, 1.0) - np.clip((np.arange(count) - 60.0) / 10.0, 0.0, 1.0)
    raised[2] += 0.5 * t * t * (3.0 - 2.0 * t)
    hips = np.tile(((0.0,), (0.0,), (0.9,)), count)
    one, other = planted_spans([standing, raised], hips, UP, [LEG, LEG], 30.0, FADE)
    assert one == [(0, count - 1)]
    assert [span for span in other if span[0] > 25 and span[1] < 60] == []
    assert len(other) == 2


def test_a_foot_that_never_rests_and_motions_of_no_length_have_no_spans():
    t = np.arange(60) / 30.0
    fast = np.array((3.0 * t, 0.0 * t, 0.3 * np.sin(9.0 * t)))
    assert spans_of(fast, np.zeros((3, 60))) == []
    assert spans_of(fast[:, :2], np.zeros((3, 2))) == []
    assert planted_spans([], np.zeros((3, 60)), UP, [], 30.0, FADE) == []


def held(places, spans, fade=FADE):
    frames = np.arange(places.shape[1], dtype=float)
    still = [Planted.of(span, places[:, span[0] : span[1] + 1]) for span in spans]
    return planted(places, frames, still, fade)


def test_a_planted_foot_stands_still_and_hardly_hurries():
    places, hips, _ = walk(slide=0.15)
    spans = spans_of(places, hips)
    result = held(places, spans)
    steps = [np.linalg.norm(np.diff(each), axis=0) for each in (places, result)]
    for first, last in spans:
        assert np.ptp(places[0, first : last + 1]) > 0.05
        assert np.ptp(result[:, first : last + 1], axis=1).max() < 1e-12
        for window in (slice(max(0, first - FADE), first), slice(last, last + FADE)):
            assert not steps[0][window].size or steps[1][window].max() <= 1.2 * steps[0][window].max()
    assert np.abs(np.diff(result - places, axis=1)).max() < 0.03  # no pop


def test_away_from_spans_the_animation_stays():
    places = np.cumsum(np.random.default_rng(1).normal(size=(3, 60)), axis=1)
    result = held(places, [(20, 29)], 5)
    assert np.array_equal(result[:, :15], places[:, :15])
    assert np.array_equal(result[:, 35:], places[:, 35:])
    assert not np.array_equal(result[:, 30], places[:, 30])
    assert np.array_equal(held(places, [(20, 29)], 0)[:, 30:], places[:, 30:])


def test_half_frames_of_a_span_are_at_the_same_place():
    places = np.cumsum(np.ones((3, 21)), axis=1)
    frames = np.arange(21) / 2.0
    result = planted(places, frames, [Planted.of((2.0, 5.0), places[:, 4:11:2])], 2.0)
    assert np.ptp(result[:, 4:11]) == 0.0


def test_two_spans_share_the_gap_between_them():
    places = np.zeros((3, 30))
    places[0] = np.linspace(0.0, 1.0, 30)
    result = held(places, [(0, 12), (16, 29)])
    assert np.all(np.diff(result[0, 12:17]) > 0.0)
    assert result[0, 14] == pytest.approx(places[0, 14], abs=0.02)


def test_a_fade_goes_from_one_to_nothing():
    shares = faded(np.arange(10.0), 8.0)
    assert shares[0] == 1.0
    assert shares[9] == 0.0
    assert np.all(np.diff(shares) < 0.0)
    assert faded(np.array((1.0,)), 0.0) == 0.0


@pytest.mark.parametrize("fade", [0.0, 3.0, 40.0])
@pytest.mark.parametrize("frames", [np.arange(60.0), np.arange(0.0, 60.0, 0.5)], ids=["frames", "half frames"])
def test_shares_of_spans_fade_within_half_of_the_gap_to_the_next_one(frames, fade):
    spans = [(5, 8), (14, 20), (23, 30), (50, 52)]
    nothing = np.zeros(3)
    shares = shares_of_spans(frames, [Planted(span, nothing, nothing, nothing) for span in spans], fade)

    def share(frame, number):
        first, last = spans[number]
        if first <= frame <= last:
            return 1.0
        before = frame < first
        other = number + (-1 if before else 1)
        gap = np.inf
        if 0 <= other < len(spans):
            gap = first - spans[other][1] if before else spans[other][0] - last
        away = first - frame if before else frame - last
        t = min(away / (min(fade, (gap - 1.0) / 2.0) + 1.0), 1.0)
        return 0.0 if away >= gap else 1.0 - (6.0 * t**5 - 15.0 * t**4 + 10.0 * t**3)

    expected = [[share(frame, number) for frame in frames.tolist()] for number in range(len(spans))]
    assert shares == pytest.approx(np.array(expected), abs=1e-12)
    assert (shares.sum(0) <= 1.0 + 1e-12).all()


def test_the_floor_is_where_a_foot_is_slow_and_a_foot_that_never_is_tells_none():
    places, hips, _ = walk()
    for raised in (0.0, 1.7):
        height = floor_height(places + raised * UP[:, None], hips, UP, LEG, 30.0)
        assert height == pytest.approx(0.05 + raised, abs=0.02)
    fast = np.cumsum(np.full((3, 60), 0.3), axis=1)
    assert floor_height(fast, 0.0 * fast, UP, LEG, 30.0) is None
    assert floor_height(places[:, :2], hips[:, :2], UP, LEG, 30.0) is None


@pytest.mark.parametrize(
    ("gap", "apart", "joined"), [(1, 0.0, True), (2, 0.0, True), (30, 0.0, False), (1, 3.0, False)]
)
def test_spans_that_a_short_gap_parts_at_one_place_are_one(gap, apart, joined):
    first, second = (5, 14), (15 + gap, 30 + gap)
    places = np.zeros((3, 70))
    places[0, second[0] :] = apart
    spans = [first, second]
    found = joined_spans(spans, places, 30.0)
    assert found == ([(5, 30 + gap)] if joined else spans)

# SPDX-License-Identifier: GPL-3.0-or-later
"""The swivel of every frame: the cheapest path, smooth, inside its spans, and closed where it is a cycle."""

import numpy as np
import pytest

from ik_triangulation.solvers.natural.swivel import SwivelSpans, _by_all, _cheapest, best_swivels, solved_tridiagonal


def valley(middle, depth=1.0):
    """A cost that is least at a swivel (F) of each frame."""
    return lambda swivels, frames: depth * 2.0 * (1.0 - np.cos(swivels - middle[frames]))


def total(swivels, cost, time, cyclic=False):
    change = np.diff(swivels, append=swivels[:1]) if cyclic else np.diff(swivels)
    return float(cost(swivels[None], np.arange(len(swivels)))[0].sum() + time * (change**2).sum())


@pytest.mark.parametrize("count", [1, 2, 5, 9, 60, 301])
def test_without_a_price_of_change_every_frame_is_at_its_own_best(count):
    middle = np.sin(np.linspace(0.0, 3.0, count))
    assert np.abs(best_swivels(valley(middle), count, 0.0, 24) - middle).max() < 1e-4


@pytest.mark.parametrize("seed", range(6))
def test_no_small_change_of_a_swivel_makes_the_path_cheaper(seed):
    random, count = np.random.default_rng(seed), 80
    middle = np.cumsum(random.normal(size=count) * 0.15)
    cost = valley(middle, 0.5)
    swivels = best_swivels(cost, count, 2.0, 24)
    best = total(swivels, cost, 2.0)
    for _ in range(40):
        assert total(swivels + 1e-3 * random.normal(size=count), cost, 2.0) > best - 1e-9


def test_a_price_of_change_smooths_what_jumps():
    middle = np.where(np.arange(60) < 30, 0.0, 1.2)
    swivels = best_swivels(valley(middle), 60, 20.0, 24)
    assert np.abs(np.diff(swivels)).max() < 0.25
    assert swivels[0] == pytest.approx(0.0, abs=0.05)
    assert swivels[-1] == pytest.approx(1.2, abs=0.05)


def test_of_two_valleys_the_path_takes_the_one_that_is_cheaper_over_all_frames():
    every = np.arange(60)

    def cost(swivels, frames):
        deeper = np.where(every < 10, 0.8, 1.2)[frames]  # of the valley at 2, which is the worse one only at first
        return 1.0 - np.exp(-4.0 * (swivels + 1.0) ** 2) - deeper * np.exp(-4.0 * (swivels - 2.0) ** 2)

    assert np.abs(best_swivels(cost, 60, 5.0, 72) - 2.0).max() < 0.05


def test_swivels_stay_inside_their_spans_and_leave_them_smoothly():
    count = 80
    middle = np.zeros(count)
    low = np.where((np.arange(count) > 30) & (np.arange(count) < 50), 0.6, -np.inf)

    class Limits:
        def spans(self, swivels):
            near = np.where(np.isfinite(low), low + 0.2, low), np.full(count, np.inf)
            return SwivelSpans(*near, np.where(np.isfinite(low), low - 0.1, low), near[1].copy())

        def go_on(self, spans, swivels, frames):
            raise AssertionError("all of the spans is known")

        def last_allowed(self, good, bad, frames):
            assert (bad < low[frames]).all()
            return low[frames]

    swivels = best_swivels(valley(middle, 0.2), count, 8.0, 24, Limits())
    assert (swivels >= low - 1e-12).all()
    assert np.abs(np.diff(swivels)).max() < 0.2
    assert np.abs(swivels[40] - 0.6) < 1e-12  # the end of the span, not the nearest that was tried


def test_held_frames_have_no_swivel():
    swivels = best_swivels(valley(np.full(40, 0.5)), 40, 0.5, 24, held=np.array([0, 39]))
    assert swivels[0] == swivels[39] == 0.0
    assert swivels[20] == pytest.approx(0.5, abs=1e-3)


def test_a_cycle_closes_and_does_not_know_of_its_first_frame():
    count = 90
    middle = 0.8 * np.sin(np.linspace(0.0, 2.0 * np.pi, count, endpoint=False))
    swivels = best_swivels(valley(middle, 0.3), count, 2.0, 24, cyclic=True)
    shifted = best_swivels(valley(np.roll(middle, 37), 0.3), count, 2.0, 24, cyclic=True)
    assert np.abs(np.roll(swivels, 37) - shifted).max() < 1e-4
    assert abs(swivels[0] - swivels[-1]) < 1.5 * np.abs(np.diff(swivels)).max()


@pytest.mark.parametrize(
    ("count", "cyclic"),
    # A ring of two would have two couplings between them.
    [(1, False), (2, False), (3, False), (17, False), (200, False), (3, True), (17, True), (200, True)],
)
def test_the_tridiagonal_system_is_solved(count, cyclic):
    random = np.random.default_rng(count)
    side, right = -2.0 * random.random(count), random.normal(size=count)
    if not cyclic:
        side[-1] = 0.0
    diagonal = 0.2 - side - np.roll(side, 1)
    whole = np.diag(diagonal)
    for k in range(count):
        if side[k]:
            whole[k, (k + 1) % count] += side[k]
            whole[(k + 1) % count, k] += side[k]
    assert np.abs(solved_tridiagonal(diagonal, side, right, cyclic) - np.linalg.solve(whole, right)).max() < 1e-8


@pytest.mark.parametrize("time", [0.0, 0.05, 0.3, 3.0])
@pytest.mark.parametrize("cyclic", [False, True])
def test_choices_that_are_left_out_of_the_search_are_on_no_cheapest_path(time, cyclic):
    random, grid = np.random.default_rng(5), np.linspace(-np.pi, np.pi, 24, endpoint=False)
    for count in (1, 2, 3, 8, 33):
        costs = 3.0 * random.random((24, 1)) * random.random((24, count)) + 20.0 * (random.random((24, count)) < 0.3)
        shifts, order = random.integers(-4, 5, count), np.tile(np.arange(count), 3 if cyclic and count > 1 else 1)
        change = time * 2.0 * (1.0 - np.cos(grid[:, None] - grid))
        every = _by_all(costs, change, order, shifts)
        whole = every[count : 2 * count] if len(every) > count else every
        assert (_cheapest(costs, time, grid, cyclic, shifts) == whole).all()


@pytest.mark.parametrize("laps", [0, 1, -1])
@pytest.mark.parametrize("count", [40, 150])
def test_no_small_change_of_a_cycle_makes_it_cheaper_also_where_it_winds_round(count, laps):
    """The change from the last frame to the first one is that between any two others, whole turns aside."""
    random = np.random.default_rng(count + laps)
    share = np.arange(count) / count
    middle = 2.0 * np.pi * laps * share + 0.4 * np.sin(2.0 * np.pi * (share + random.uniform()))
    cost, every = valley(middle, 0.5), np.arange(count)

    def total(swivels):
        change = np.diff(swivels, append=swivels[0] + 2.0 * np.pi * laps)
        return float(cost(swivels[None], every)[0].sum() + 1.5 * (change**2).sum())

    swivels = best_swivels(cost, count, 1.5, 24, cyclic=True)
    best = total(swivels)
    assert best < total(middle)
    for _ in range(40):
        assert total(swivels + 1e-3 * random.normal(size=count)) > best - 1e-9
    shifted = best_swivels(valley(np.roll(middle, count // 3), 0.5), count, 1.5, 24, cyclic=True)
    turned = np.roll(swivels, count // 3) - shifted
    assert np.abs(turned - 2.0 * np.pi * np.rint(turned / (2.0 * np.pi))).max() < 1e-3

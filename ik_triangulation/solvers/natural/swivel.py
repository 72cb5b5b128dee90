# SPDX-License-Identifier: GPL-3.0-or-later
"""The swivel of a limb over all frames: where its posture costs least, and changes least from frame to frame.

With phi the swivel of each frame the sum of  cost(phi) + t (change of phi - drift)^2  is minimised: by dynamic
programming over a few swivels at every fourth frame (Viterbi 1967), then by Newton's method on all frames, whose system
is tridiagonal and solved by parallel cyclic reduction (Hockney and Jesshope 1981). The tip is exact whatever the swivel
is, so smoothing costs no reach. Frames are the last axis of every array.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple, Protocol

import numpy as np

from ...kinematics.arrays import Indices, Numbers

SwivelCosts = Callable[[Numbers, Indices], Numbers]  # of swivels (k, n) at n frames, given by their indices

_STRIDE = 4  # frames from one that the search looks at to the next
_STEPS, _PRECISE = 10, 1e-5  # of Newton's method at most, and the change [rad] that ends it
_LARGEST = 0.2  # change of a step [rad]
_APART = 0.03  # of the three swivels whose costs give the first and second derivative [rad]
_APART_ROUNDS = 256  # unknowns on either side of a round of a ring, at least
_WIDENED = 3  # times that ends of spans are looked for where the path leans on them
_DEAD = 1e-14  # coupling, relative to the diagonal, that changes nothing
_FIXED = 1e9  # curvature that leaves a swivel where it is
_LEAST_CURVATURE = 0.2  # keeps a step from running away where the cost has none


class SwivelSpans(NamedTuple):
    """Spans of swivels (F) that are allowed, from `low` to `high`; infinite where none is.

    They end somewhere before `below` and `above`, which are not allowed; where these are the same, they end there.
    """

    low: Numbers
    high: Numbers
    below: Numbers
    above: Numbers


class SwivelLimits(Protocol):
    """Limits of swivels."""

    def spans(self, swivels: Numbers) -> SwivelSpans:
        """Spans around the nearest swivels to these (F)."""

    def last_allowed(self, good: Numbers, bad: Numbers, frames: Indices) -> Numbers:
        """The last swivels allowed between those (n) that are and those that are not, at these frames."""


def best_swivels(
    cost: SwivelCosts,
    count: int,
    time: float,
    choices: int,
    limits: SwivelLimits | None = None,
    cyclic: bool = False,
    held: Indices | None = None,
    inside: SwivelCosts | None = None,
    drift: Numbers | None = None,
) -> Numbers:
    """Return the swivels (F) of `count` frames; `time` is the weight of their change, `choices` those of the search.

    They stay inside the spans that the limits allow around what the search finds; `inside` is the cost there, if it is
    simpler. Frames `held` have the swivel 0. `drift` (F) is the change to the next frame that costs nothing. With
    `cyclic` the first frame follows the last one.
    """
    frames = np.arange(0, count, _STRIDE) if count > 2 * _STRIDE else np.arange(count)
    if frames[-1] != count - 1 and not cyclic:
        frames = np.append(frames, count - 1)
    grid = np.linspace(-np.pi, np.pi, choices, endpoint=False)
    stride = max(1.0, (count - 1) / max(1, len(frames) - 1))
    costs = stride * cost(grid[:, None], frames)
    drift = np.zeros(count) if drift is None else drift
    total = np.concatenate(([0.0], np.cumsum(drift)))
    ends = np.append(frames, count)
    shifts = np.diff(np.rint(total[ends] / (grid[1] - grid[0]))).astype(np.intp)
    chosen = grid[_cheapest(costs, time / stride, grid, cyclic, shifts)]
    if cyclic:
        frames, chosen = ends, np.append(chosen, chosen[0])
    every = np.arange(count)
    off = np.unwrap(chosen - total[frames])
    swivels = total[:-1] + np.interp(every, frames, off)
    nowhere = np.full(count, -np.inf), np.full(count, np.inf)
    spans = limits.spans(swivels) if limits else SwivelSpans(*nowhere, *nowhere)
    blocked = np.flatnonzero(~np.isfinite(spans.low))
    if held is not None:
        for end in spans:
            end[held] = 0.0

    def refining(tried: Numbers, frames: Indices) -> Numbers:
        if inside is None or len(blocked) == count:
            return cost(tried, frames)
        values = inside(tried, frames)
        if len(blocked):
            values[:, blocked] = cost(tried[:, blocked], blocked)
        return values

    for number in range(_WIDENED + 1):  # each time from the same swivels, as there are several valleys
        refined = _refined(
            refining, np.clip(swivels, spans.low, spans.high), (spans.low, spans.high), time, cyclic, drift
        )
        if limits is None or number == _WIDENED or not _widened(spans, refined, limits):
            break
    return refined


def _widened(spans: SwivelSpans, swivels: Numbers, limits: SwivelLimits) -> bool:
    """Find the ends of spans that swivels (F) lean on, in place; return whether there are any."""
    ends = (spans.low, spans.below), (spans.high, spans.above)
    frames = [np.flatnonzero((swivels == good) & (good != bad)) for good, bad in ends]
    good, bad = (np.concatenate([end[side][some] for end, some in zip(ends, frames, strict=True)]) for side in (0, 1))
    found = limits.last_allowed(good, bad, np.concatenate(frames))
    for (good, bad), some, last in zip(ends, frames, np.split(found, [len(frames[0])]), strict=True):
        good[some] = bad[some] = last
    return len(found) > 0


def _cheapest(costs: Numbers, time: float, grid: Numbers, cyclic: bool, shifts: Indices) -> Indices:
    """The cheapest path through costs (k, n): an index for each of the n frames.

    The index changes by the `shifts` (n) to the next frame at no cost.
    """
    change = time * 2.0 * (1.0 - np.cos(grid[:, None] - grid))  # [before, after]: the square of small changes
    count = costs.shape[1]
    # A cycle is gone round three times: what the middle one chooses does not know of the ends.
    order = np.tile(np.arange(count), 3) if cyclic and count > 1 else np.arange(count)
    total, before = costs[:, order[0]].copy(), []
    every = np.arange(len(grid))
    for last, k in pairwise(order.tolist()):
        shifted = (every - shifts[last]) % len(grid)
        ways = total[shifted][:, None] + change
        best = ways.argmin(0)
        before.append(shifted[best])
        total = ways[best, every] + costs[:, k]
    path = [int(total.argmin())]
    for best in reversed(before):
        path.append(int(best[path[-1]]))
    whole = np.array(path[::-1])
    return whole[count : 2 * count] if len(whole) > count else whole


def _refined(
    cost: SwivelCosts, swivels: Numbers, span: tuple[Numbers, Numbers], time: float, cyclic: bool, drift: Numbers
) -> Numbers:
    """Newton's method on the whole path; swivels that would leave their span stay at its end."""
    every, (low, high) = np.arange(len(swivels)), span
    lap = 2.0 * np.pi * np.rint((swivels[-1] + drift[-1] - swivels[0]) / (2.0 * np.pi)) if cyclic else 0.0
    offsets = np.array([[-_APART], [0.0], [_APART]])
    for _ in range(_STEPS):
        below, here, above = cost(swivels + offsets, every)
        slope = (above - below) / (2.0 * _APART)
        curvature = np.maximum((above - 2.0 * here + below) / _APART**2, _LEAST_CURVATURE)
        slope, diagonal, side = _with_changes(slope, curvature, swivels, time, cyclic, lap, drift)
        held = ((swivels <= low) & (slope > 0.0)) | ((swivels >= high) & (slope < 0.0))
        diagonal, slope = np.where(held, _FIXED, diagonal), np.where(held, 0.0, slope)
        step = np.clip(_solved(diagonal, side, slope, cyclic), -_LARGEST, _LARGEST)
        before, swivels = swivels, np.clip(swivels - step, low, high)
        if np.abs(swivels - before).max() < _PRECISE:
            break
    return swivels


def _with_changes(
    slope: Numbers, curvature: Numbers, swivels: Numbers, time: float, cyclic: bool, lap: float, drift: Numbers
) -> tuple[Numbers, Numbers, Numbers]:
    """Slope and diagonal with those of the changes, and what couples each frame with the next one (F)."""
    change = np.diff(swivels, append=swivels[:1] + lap) - drift
    side = np.full(len(swivels), -2.0 * time)
    if not cyclic or len(swivels) == 1:
        change[-1], side[-1] = 0.0, 0.0
    pull = 2.0 * time * (np.roll(change, 1) - change)
    return slope + pull, curvature - side - np.roll(side, 1), side


def _solved(diagonal: Numbers, side: Numbers, right: Numbers, cyclic: bool) -> Numbers:
    """Solve a symmetric tridiagonal system, in a ring if cyclic, by parallel cyclic reduction.

    `side` (F) couples each unknown with the next one. The couplings die away double exponentially, as the diagonal
    is larger than both of them together; so a ring is solved as several rounds in a row, of which the middle one knows
    nothing of the ends.
    """
    count, rounds = len(diagonal), 0
    if cyclic and count > 1:
        rounds = 1 + _APART_ROUNDS // count
        diagonal, side, right = (np.tile(each, 2 * rounds + 1) for each in (diagonal, side, right))
    lower, upper = np.zeros(len(diagonal)), side.copy()
    lower[1:], upper[-1] = side[:-1], 0.0
    reach = 1
    while reach < len(diagonal):
        a, c = -lower[reach:] / diagonal[:-reach], -upper[:-reach] / diagonal[reach:]
        if not (np.abs(a).max() > _DEAD or np.abs(c).max() > _DEAD):
            break
        diagonal, right, before, known, beyond = diagonal.copy(), right.copy(), diagonal, right, upper
        diagonal[reach:] += a * upper[:-reach]
        diagonal[:-reach] += c * lower[reach:]
        right[reach:] += a * known[:-reach]
        right[:-reach] += c * known[reach:]
        upper, under = np.zeros(len(before)), lower
        lower = np.zeros(len(before))
        lower[2 * reach :] = a[reach:] * under[reach:-reach]
        upper[: -2 * reach] = c[:-reach] * beyond[reach:-reach]
        reach *= 2
    solved: Numbers = (right / diagonal)[rounds * count : (rounds + 1) * count]
    return solved

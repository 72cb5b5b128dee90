# SPDX-License-Identifier: GPL-3.0-or-later
"""The swivel of an elbow or knee about the line from root to wrist or ankle, and its cost.

The swivel of a limb over all frames: where its posture costs least, and changes least from frame to frame. With phi the
swivel of each frame the sum of cost(phi) + t (change of phi - drift)^2 is minimised: by dynamic programming over a few
swivels at every fourth frame (Viterbi 1967), then by Newton's method on all frames, whose system is tridiagonal and
solved by parallel cyclic reduction (Hockney and Jesshope 1981). Swivels that no cheapest path has, by a bound on what
their changes cost, are left out of the search: neither their limits are looked at, nor the paths through them. The tip
is exact whatever the swivel is, so smoothing costs no reach. Frames are the last axis of every array.

Cost of the posture of a limb of two bones, as a function of its swivel. The weights were found on recorded arms and
legs, and hold when each clip is left out. Frames are the last axis.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import NamedTuple, Protocol

import numpy as np

from ...kinematics import Free
from ...kinematics.arrays import Indices, Mask, Numbers
from ...kinematics.batch.limit_arrays import LimitArrays
from .two_bones import TwoBones

SwivelCosts = Callable[[Numbers, Indices], Numbers]  # of swivels (k, n) at n frames, given by their indices
SearchedCosts = Callable[[Numbers, Indices, float], Numbers]  # of a grid (k) at n frames, and the price of a change

_STRIDE = 4  # frames from one that the search looks at to the next
_STEPS, _PRECISE = 10, 1e-5  # of Newton's method at most, and the change [rad] that ends it
_LARGEST = 0.2  # change of a step [rad]
_APART = 0.03  # of the three swivels whose costs give the first and second derivative [rad]
_APART_ROUNDS = 256  # unknowns on either side of a round of a ring, at least
_WIDENED = 3  # times that ends of spans are looked for where the path leans on them
_DEAD = 1e-14  # coupling, relative to the diagonal, that changes nothing
_FIXED, _ENDS = 1e9, 12  # curvature that leaves a swivel where it is; times that those which pass an end are looked for
_LEAST_CURVATURE = 0.2  # keeps a step from running away where the cost has none

UPPER, END, SWING = 1.0, 0.5, 0.25  # turn of the upper bone and of the end, and swing of the end, off the reference
SWIVEL = 1.0  # of a limb whose end does not turn by itself
POLE = 100.0  # of the deviation from a pole
ALONG = 0.5  # of the end's turn from frame to frame: the change of swivel that costs nothing
BEYOND = 1e3, 1e2  # squared angle beyond the limits of the root and of the end [rad^2]
FORBIDDEN = 20.0  # of a swivel beyond a limit, while another one is allowed
_INSIDE = 1e-7  # [rad] beyond a limit that is rounding
_FREE_CHOICES, _CHOICES = 24, 72  # swivels to choose from without and with limits, whose allowed spans may be narrow
_AROUND = np.radians([-48, -32, -21, -14, -9, -6, -4, -2, 0, 2, 4, 6, 9, 14, 21, 32, 48])  # where spans are looked for
_NEAR = slice(6, 11)  # of these are looked at first
_AROUND_NEAR = _AROUND[_NEAR][-1]  # [rad]
_HALVINGS = 16  # of the distance between two of these
_TIED = 1e-9  # difference of costs that rounding explains
_FEW, _SOME = 6, 32  # choices left of which all paths are looked at as a tree, and one frame after the other


class SwivelSpans(NamedTuple):
    """Spans of swivels (F) that are allowed, from `low` to `high`; infinite where none is.

    They end somewhere before `below` and `above`, which are not allowed; where these are the same, they end there. Of
    those that are `near` (F; None: of none) only swivels around were looked at, and they may go on.
    """

    low: Numbers
    high: Numbers
    below: Numbers
    above: Numbers
    near: Mask | None = None

    def leaning(self, touched: Mask) -> Indices:
        """The frames of those that have `touched` (F) the ends of their spans, of which more has to be looked at."""
        return np.flatnonzero(False if self.near is None else touched & self.near)


class SwivelLimits(Protocol):
    """Limits of swivels."""

    def spans(self, swivels: Numbers) -> SwivelSpans:
        """Spans around the nearest swivels to these (F), of which some may go on."""

    def outside(self, swivels: Numbers, frames: Indices) -> Numbers:
        """Largest angle (n) [rad] by which swivels (n) are beyond a limit at n frames."""

    def go_on(self, spans: SwivelSpans, swivels: Numbers, frames: Indices) -> None:
        """Look at all of the spans around swivels (F) at these frames; in place."""

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
    searched: SearchedCosts | None = None,
) -> Numbers:
    """Return the swivels (F) of `count` frames; `time` is the weight of their change, `choices` those of the search.

    They stay inside the spans that the limits allow around what the search finds; `inside` is the cost there, if it is
    simpler. Frames `held` have the swivel 0. `drift` (F) is the change to the next frame that costs nothing. With
    `cyclic` the first frame follows the last one. `searched` are the costs of the search, if they are simpler.
    """
    frames = np.arange(0, count, _STRIDE) if count > 2 * _STRIDE else np.arange(count)
    if frames[-1] != count - 1 and not cyclic:
        frames = np.append(frames, count - 1)
    grid = np.linspace(-np.pi, np.pi, choices, endpoint=False)
    stride = max(1.0, (count - 1) / max(1, len(frames) - 1))
    costs = stride * (searched(grid, frames, time / stride**2) if searched else cost(grid[:, None], frames))
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
    if held is not None:
        swivels[held] = nowhere[0][held] = nowhere[1][held] = 0.0
    if limits is None or inside is not None:  # limits that are not met are not looked for, as that takes longer
        free, _ = _refined(inside or cost, swivels, nowhere, time, cyclic, drift)
        near = np.abs(free - swivels).max() <= _AROUND_NEAR
        if limits is None or (near and limits.outside(free, every).max() <= _INSIDE):
            return free
    spans = limits.spans(swivels)
    blocked = np.flatnonzero(~np.isfinite(spans.low))
    if held is not None:
        for end in spans[:4]:
            end[held] = 0.0
        if spans.near is not None:
            spans.near[held] = False

    def refining(tried: Numbers, frames: Indices) -> Numbers:
        if inside is None or len(blocked) == count:
            return cost(tried, frames)
        values = inside(tried, frames)
        if len(blocked):
            values[:, blocked] = cost(tried[:, blocked], blocked)
        return values

    number = 0
    while True:  # each time from the same swivels, as there are several valleys
        begun = np.clip(swivels, spans.low, spans.high)
        refined, touched = _refined(refining, begun, (spans.low, spans.high), time, cyclic, drift)
        leaning = spans.leaning(touched)
        if len(leaning):
            limits.go_on(spans, swivels, leaning)
        elif number == _WIDENED or not _widened(spans, refined, limits):
            return refined
        else:
            number += 1


def _widened(spans: SwivelSpans, swivels: Numbers, limits: SwivelLimits) -> bool:
    """Find the ends of spans that swivels (F) lean on, in place; return whether there are any."""
    ends = (spans.low, spans.below), (spans.high, spans.above)
    frames = [np.flatnonzero((swivels == good) & (good != bad)) for good, bad in ends]
    good, bad = (np.concatenate([end[side][some] for end, some in zip(ends, frames, strict=True)]) for side in (0, 1))
    found = limits.last_allowed(good, bad, np.concatenate(frames))
    for (good, bad), some, last in zip(ends, frames, np.split(found, [len(frames[0])]), strict=True):
        good[some] = bad[some] = last
    return len(found) > 0


def worthwhile(costs: Numbers, grid: Numbers, time: float) -> Mask:
    """Tell which of the costs (k, n) of a grid (k) a cheapest path may have, where a change has the weight `time`.

    The path could have the cheapest choice of a frame in place of any other. By that its changes to and from this frame
    cost more by at most 4 sin(d / 2) each, if both choices are d apart, as a change by c costs 2 (1 - cos c).
    """
    least = costs.argmin(0)
    apart = np.abs(np.sin(0.5 * (grid[:, None] - grid)))
    worth: Mask = costs <= costs[least, np.arange(costs.shape[1])] + _TIED + 8.0 * time * apart[:, least]
    return worth


def _cheapest(costs: Numbers, time: float, grid: Numbers, cyclic: bool, shifts: Indices) -> Indices:
    """The cheapest path through costs (k, n): an index for each of the n frames.

    The index changes by the `shifts` (n) to the next frame at no cost.
    """
    change = time * 2.0 * (1.0 - np.cos(grid[:, None] - grid))  # [before, after]: the square of small changes
    count = costs.shape[1]
    # A cycle is gone round three times: what the middle one chooses does not know of the ends.
    order = np.tile(np.arange(count), 3) if cyclic and count > 1 else np.arange(count)
    worth = worthwhile(costs, grid, time)
    some = int(worth.sum(0).max())
    if some <= _SOME:
        left = np.argsort(~worth, axis=0, kind="stable")[:some]  # the choices (s, n) that are left, and some more
        before, after = left[:, order[:-1]] + shifts[order[:-1]], left[:, order[1:]]
        changes = change[before.T[:, :, None] % len(grid), after.T[:, None, :]]
        values = np.take_along_axis(costs, left, 0)[:, order].T
        path = (_by_halves if some <= _FEW else _by_frames)(values, changes)
        whole = left[path, order]
    else:
        whole = _by_all(costs, change, order, shifts)
    return whole[count : 2 * count] if len(whole) > count else whole


def _by_halves(costs: Numbers, changes: Numbers) -> Indices:
    """The cheapest path through costs (n, s) with `changes` (n - 1, s, s): of two parts at a time the best middle."""
    if len(costs) == 1:
        return costs.argmin(1)
    parts, middles = changes + costs[1:, None], list[Indices]()
    parts[0] += costs[0, :, None]
    while len(parts) > 1:
        even = len(parts) - len(parts) % 2
        before, after = parts[0:even:2], parts[1:even:2]
        least = before[:, :, :1] + after[:, :1]
        middle = np.zeros(least.shape, np.intp)
        for k in range(1, costs.shape[1]):
            sums = before[:, :, k : k + 1] + after[:, k : k + 1]
            np.copyto(middle, k, where=sums < least)
            np.minimum(least, sums, out=least)
        middles.append(middle)
        parts = np.concatenate((least, parts[even:]))
    path = np.array(np.unravel_index(parts[0].argmin(), parts[0].shape))
    for middle in reversed(middles):
        pairs = len(middle)
        longer = np.empty(len(path) + pairs, np.intp)
        longer[: 2 * pairs + 1 : 2], longer[2 * pairs :] = path[: pairs + 1], path[pairs:]
        longer[1 : 2 * pairs : 2] = middle[np.arange(pairs), path[:pairs], path[1 : pairs + 1]]
        path = longer
    return path


def _by_frames(costs: Numbers, changes: Numbers) -> Indices:
    """The same, one frame after the other."""
    total, before, every = costs[0], list[Indices](), np.arange(costs.shape[1])
    for cost, change in zip(costs[1:], changes, strict=True):
        ways = total[:, None] + change
        best = ways.argmin(0)
        before.append(best)
        total = ways[best, every] + cost
    path = [int(total.argmin())]
    for best in reversed(before):
        path.append(int(best[path[-1]]))
    return np.array(path[::-1])


def _by_all(costs: Numbers, change: Numbers, order: Indices, shifts: Indices) -> Indices:
    """The same of all choices (k, n), with one table of changes (k, k), without an array of all frames."""
    total, before = costs[:, order[0]].copy(), list[Indices]()
    every = np.arange(len(costs))
    for last, k in pairwise(order.tolist()):
        shifted = (every - shifts[last]) % len(costs)
        ways = total[shifted][:, None] + change
        best = ways.argmin(0)
        before.append(shifted[best])
        total = ways[best, every] + costs[:, k]
    path = [int(total.argmin())]
    for best in reversed(before):
        path.append(int(best[path[-1]]))
    return np.array(path[::-1])


def _refined(
    cost: SwivelCosts, swivels: Numbers, span: tuple[Numbers, Numbers], time: float, cyclic: bool, drift: Numbers
) -> tuple[Numbers, Mask]:
    """Newton's method on the whole path, each step of which ends inside the spans; and who has touched their ends."""
    every, (low, high) = np.arange(len(swivels)), span
    lap = 2.0 * np.pi * np.rint((swivels[-1] + drift[-1] - swivels[0]) / (2.0 * np.pi)) if cyclic else 0.0
    offsets, touched = np.array([[-_APART], [0.0], [_APART]]), np.zeros(len(swivels), bool)
    for _ in range(_STEPS):
        below, here, above = cost(swivels + offsets, every)
        slope = (above - below) / (2.0 * _APART)
        curvature = np.maximum((above - 2.0 * here + below) / _APART**2, _LEAST_CURVATURE)
        slope, diagonal, side = _with_changes(slope, curvature, swivels, time, cyclic, lap, drift)
        ends = np.maximum(low - swivels, -_LARGEST), np.minimum(high - swivels, _LARGEST)
        before, swivels = swivels, np.clip(swivels + _bounded(diagonal, side, -slope, ends, cyclic), low, high)
        touched |= (swivels == low) | (swivels == high)
        if np.abs(swivels - before).max() < _PRECISE:
            break
    return swivels, touched


def _with_changes(
    slope: Numbers, curvature: Numbers, swivels: Numbers, time: float, cyclic: bool, lap: float, drift: Numbers
) -> tuple[Numbers, Numbers, Numbers]:
    """Slope and diagonal with those of the changes, and what couples each frame with the next one (F)."""
    change = np.diff(swivels, append=swivels[:1] + lap) - drift
    side = np.full(len(swivels), -2.0 * time)
    if not cyclic or len(swivels) == 1:
        change[-1], side[-1] = 0.0, 0.0
    pull = 2.0 * time * (_of_before(change) - change)
    return slope + pull, curvature - side - _of_before(side), side


def _of_before(values: Numbers) -> Numbers:
    """The value (F) of the frame before each; numpy's roll() takes much longer for few."""
    return np.concatenate((values[-1:], values[:-1]))


def _bounded(diagonal: Numbers, side: Numbers, right: Numbers, ends: tuple[Numbers, Numbers], cyclic: bool) -> Numbers:
    """Minimise d A d / 2 - right d between ends (F), A being the symmetric tridiagonal matrix of solved_tridiagonal().

    Unknowns that would pass an end are put there, and freed where the others pull them back. As A couples neighbours
    with the same sign this ends at the minimum. Source: Hintermueller, Ito and Kunisch 2002, the primal-dual active set
    strategy.
    """
    low, high = ends
    at_low, at_high = np.zeros(len(right), bool), np.zeros(len(right), bool)
    for _ in range(_ENDS):
        held = at_low | at_high
        fixed = _FIXED * np.where(at_low, low, high)
        found = solved_tridiagonal(np.where(held, _FIXED, diagonal), side, np.where(held, fixed, right), cyclic)
        after = np.concatenate((found[1:], found[:1]))
        pull = right - diagonal * found - side * after - _of_before(side * found)
        before = at_low, at_high
        at_low, at_high = (
            np.where(at_low, pull < 0.0, ~at_high & (found < low)),
            np.where(at_high, pull > 0.0, ~at_low & (found > high)),
        )
        if (at_low == before[0]).all() and (at_high == before[1]).all():
            break
    return np.clip(found, low, high)


def solved_tridiagonal(diagonal: Numbers, side: Numbers, right: Numbers, cyclic: bool) -> Numbers:
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


class SwivelCost:
    """The cost of swivels [rad^2]; `choices` is the number of them worth looking at.

    `firmness` multiplies the cost of limits; with less than all of it none forbids a swivel.
    """

    def __init__(self, limb: TwoBones, firmness: float = 1.0) -> None:
        self._angles = [(UPPER, limb.turn_of_upper())]
        if limb.end is not None:
            self._angles += [(END, limb.turn_of_end()), (SWING, limb.swing_of_end())]
        self._plain = 0.0 if limb.end is not None else SWIVEL
        self._pole = None if limb.pole is None else limb.swivel_to(limb.pole.location, limb.pole.angle)
        self._limits = [
            (LimitArrays(freedom), turns, firmness * weight)
            for (freedom, turns), weight in zip(limb.freedoms, BEYOND, strict=False)
            if not isinstance(freedom, Free)
        ]
        self._forbidden = FORBIDDEN if firmness == 1.0 else 0.0
        self.choices = _CHOICES if self._limits and self._forbidden else _FREE_CHOICES

    @property
    def is_limited(self) -> bool:
        """Whether a joint that the swivel turns has limits."""
        return bool(self._limits)

    def __call__(self, swivels: Numbers, frames: Indices) -> Numbers:
        """The costs (k, n) of swivels (k, n or 1) at n frames, given by their indices."""
        cost = self.posture(swivels, frames)
        if self._limits:
            outside = np.zeros(cost.shape, bool)
            for beyond, weight in self._beyond(swivels, frames):
                cost += weight * beyond * beyond
                outside |= beyond > _INSIDE
            if len(swivels) == self.choices:
                cost += self._forbidden * (outside & ~outside.all(0))
        return cost

    def searched(self, grid: Numbers, frames: Indices, time: float) -> Numbers:
        """The costs (k, n) of a grid of swivels (k) at n frames; infinite where no cheapest path has them.

        `time` is the weight of changes. Limits are looked at only where they may matter, as they take longest.
        """
        costs = self.posture(grid[:, None], frames)
        if not self._limits:
            return costs
        least, every = costs.argmin(0), np.arange(len(frames))
        fits = self._allowed(grid[least][None], frames)[0]
        worth = worthwhile(costs, grid, time) | ~fits
        costs[~worth] = np.inf
        worth[least, every] &= ~fits  # whose limits are known
        rows, columns = np.nonzero(worth)
        outside = np.zeros(costs.shape, bool)
        for beyond, weight in self._beyond(grid[rows][None], frames[columns]):
            costs[rows, columns] += weight * beyond[0] * beyond[0]
            outside[rows, columns] |= beyond[0] > _INSIDE
        costs += self._forbidden * (outside & ~outside.all(0))
        return costs

    def posture(self, swivels: Numbers, frames: Indices) -> Numbers:
        """The same costs without those of the limits, which are 0 inside them."""
        cosine, sine = np.cos(swivels), np.sin(swivels)
        cost = np.zeros((len(swivels), len(frames)))
        cost += 2.0 * self._plain * (1.0 - cosine)
        for weight, (a, b, c) in self._angles:
            terms = a[frames] + b[frames] * cosine + c[frames] * sine
            angle = np.arccos(np.minimum(np.maximum(terms, -1.0, out=terms), 1.0, out=terms), out=terms)
            cost += weight * angle * angle
        if self._pole is not None:
            cost += 2.0 * POLE * (1.0 - np.cos(swivels - self._pole[frames]))
        return cost

    def spans(self, swivels: Numbers) -> SwivelSpans:
        """Swivels allowed around the nearest ones to these (F) that are, among some around them."""
        near = np.ones(len(swivels), bool)
        low, high, below, above = self._spans(swivels, np.arange(len(swivels)), _AROUND[_NEAR])
        spans = SwivelSpans(low, high, below, above, near)
        allowed = np.isfinite(spans.low) & (spans.low <= swivels) & (swivels <= spans.high)
        self.go_on(spans, swivels, np.flatnonzero(~allowed))
        return spans

    def go_on(self, spans: SwivelSpans, swivels: Numbers, frames: Indices) -> None:
        """Look at all of the spans around swivels (F) at these frames; in place."""
        if spans.near is not None and len(frames):
            found = self._spans(swivels[frames], frames, _AROUND)
            for end, values in zip((spans.low, spans.high, spans.below, spans.above), found, strict=True):
                end[frames] = values
            spans.near[frames] = False

    def _spans(self, swivels: Numbers, frames: Indices, around: Numbers) -> Numbers:
        """Both ends of the spans among swivels `around` those (n) at these frames, and what is before and after."""
        every, last = np.arange(len(swivels)), len(around) - 1
        fits = self._allowed(swivels + around[:, None], frames)
        middle = np.where(fits, np.abs(around)[:, None], np.inf).argmin(0)
        rows = np.arange(len(around))[:, None]
        below = np.where(~fits & (rows < middle), rows, -1).max(0)
        above = np.where(~fits & (rows > middle), rows, last + 1).min(0)
        ends = below + 1, above - 1, np.maximum(below, 0), np.minimum(above, last)
        found, outer = fits[middle, every], np.array([-np.inf, np.inf, -np.inf, np.inf])[:, None]
        return np.where(found, swivels + around[np.array(ends)], outer)

    def nearest_allowed(self, swivels: Numbers, frames: Indices) -> Numbers:
        """The nearest allowed swivels to these (n) at n frames, among some around them; infinite where none is."""
        tried = swivels + _AROUND[:, None]
        fits = self._allowed(tried, frames)
        row = np.where(fits, np.abs(_AROUND)[:, None], np.inf).argmin(0)
        column = np.arange(len(swivels))
        found = np.where(fits[row, column], tried[row, column], np.inf)
        moved = np.flatnonzero(np.isfinite(found) & (found != swivels))
        found[moved] = self.last_allowed(found[moved], swivels[moved], frames[moved])
        return found

    def outside(self, swivels: Numbers, frames: Indices) -> Numbers:
        """Largest angle (n) [rad] by which swivels (n) are beyond a limit at n frames."""
        found = np.zeros(len(swivels))
        for beyond, _ in self._beyond(swivels[None], frames):
            found = np.maximum(found, beyond[0])
        return found

    def last_allowed(self, good: Numbers, bad: Numbers, frames: Indices) -> Numbers:
        """The last swivels allowed between those (n) that are and those that are not, at these frames."""
        for _ in range(_HALVINGS if len(frames) else 0):
            middle = 0.5 * (good + bad)
            fits = self._allowed(middle[None], frames)[0]
            good, bad = np.where(fits, middle, good), np.where(fits, bad, middle)
        return good

    def _allowed(self, swivels: Numbers, frames: Indices) -> Mask:
        inside = np.ones((len(swivels), len(frames)), bool)
        for beyond, _ in self._beyond(swivels, frames):
            inside &= beyond <= _INSIDE
        return inside

    def _beyond(self, swivels: Numbers, frames: Indices) -> Iterator[tuple[Numbers, float]]:
        """Angles (k, n) [rad] beyond each of the limits, and their weight.

        Rotations are A cos(swivel / 2) + B sin(swivel / 2).
        """
        cosine, sine = np.cos(0.5 * swivels), np.sin(0.5 * swivels)
        for limits, turns, weight in self._limits:
            a, b = (each[:, None, frames] for each in turns)
            rotations = a * cosine + b * sine
            yield limits.excess(rotations.reshape(4, -1)).reshape(rotations.shape[1:]), weight

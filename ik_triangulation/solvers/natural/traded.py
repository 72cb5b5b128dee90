# SPDX-License-Identifier: GPL-3.0-or-later
"""The turn of a hand or foot given up over a whole shot, at a price: solved in blocks.

A hand or foot that cannot always turn as told: its rotation is traded over the whole shot, never in one frame. Unknowns
are the swivel of the limb and the coordinates of its wrist or ankle in every frame, inside their range. With e the
angle by which the end is turned wrong, the sum over the frames of

    posture + price (sqrt(e^2 + r^2) - r) + time (changes of swivel and wrist)^2 + what changes that are too fast cost

is minimised. The price is linear in e but for a small r, an exact penalty: it is more than posture ever pays, so e is 0
wherever a calm motion allows it, and a hand that cannot get there is pulled no harder the farther it is off. A branch
in one frame, as the nearest rotation inside the range has many, is never cheap: changes are counted in coordinates of
the wrist in which its range is convex. A search over some choices in every fourth frame (Viterbi 1967) finds the
valley, and the Gauss-Newton method (damped: Levenberg 1944, Marquardt 1963; angles reweighted: Weiszfeld 1937) goes
down in it for all frames together.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple, TypeVar

import numpy as np

from ...kinematics.arrays import Indices, Mask, Numbers
from ...kinematics.batch.algebra import (
    compose,
    conjugated,
    cross,
    dot,
    lengths,
    matrices,
    product,
    quaternions,
    rotation_vectors,
    turn_vectors,
)
from .swivel import END, POLE, SWING, UPPER
from .tip_limb import PosedLimbs, TipLimb

_State = TypeVar("_State")
_Seen = TypeVar("_Seen")

_TRIES = 6  # dampings of one step
_LEAST, _MORE, _LESS = 1e-8, 6.0, 0.2  # least damping; factors after a step that raised the cost, and one that did not

PRICE = 60.0  # of a radian by which the end is turned wrong: several times what posture pays for a radian of anything
ROUNDED = np.radians([6.0, 2.0, 0.5])  # within which that counts by its square, from start to end
OUTSIDE, SHORT = 1e4, 1e5  # of the squared angle [rad] beyond other limits, and of what the limb is too short [length]
CALM = 4.0  # times the weight of changes in shots that are not traded
FAST_SWIVEL, FAST_END = np.radians(6.0), np.radians(10.0)  # changes of a frame at 30 a second that are fast; of the
# end those that its target makes are not
HURRY = 2000.0, 1000.0  # of their squares beyond that
_STRIDE, _CHOICES = 4, 24  # frames from one to the next that the search looks at, and swivels there
_LEAP = 4.0  # times the fast change of a swivel, which is sudden
_AIMS = 4  # rounds in which a choice of the wrist and the place of its bone fit themselves to each other
_APART = 1e-4  # of the differences that give derivatives
_STEPS = 20, 60  # of Newton's method at most for each of ROUNDED, and for the last one
_LARGEST, _PRECISE = 0.3, 1e-5  # change of a step, and that which ends it [rad]
_DAMPING = 1e-2  # to begin with
FIXED, _ENDS = 1e9, 4  # curvature that leaves a frame where it is; times that ends of the range are looked for


class DampedSteps(NamedTuple):
    """Bounds of a descent: steps at most, the damping to begin with, and the change that ends it."""

    most: int
    damping: float
    precise: float


def damped_descent(
    state: _State,
    look: Callable[[_State], tuple[float, _Seen]],
    aim: Callable[[_State, _Seen], Callable[[float], _State]],
    change: Callable[[_State, _State], float],
    steps: DampedSteps,
) -> tuple[_State, float]:
    """Return the state of the least cost in the valley of one, or some steps on the way there, and its cost.

    `look` returns the cost of a state and what was seen there. With that `aim` makes a model of the cost and returns
    the step for each damping, of which `change` tells the size.
    """
    damping, (cost, seen) = steps.damping, look(state)
    for _ in range(steps.most):
        step = aim(state, seen)
        for _ in range(_TRIES):
            found = step(damping)
            size = change(state, found)
            after, there = look(found)
            better = after < cost
            damping = max(damping * (_LESS if better else _MORE), _LEAST)
            if better or size < steps.precise:
                break
        if not better:
            break
        state, cost, seen = found, after, there
        if size < steps.precise:
            break
    return state, cost


def solve_blocks(diagonal: Numbers, side: Numbers, right: Numbers) -> Numbers:
    """Solve a symmetric block tridiagonal system for `right` (F, m) by odd-even (cyclic) reduction.

    `diagonal` (F, m, m) has positive definite blocks; `side` (F - 1, m) are the diagonals of the blocks that couple
    each frame with the next one. Source: Heller 1976, "Some aspects of the cyclic reduction algorithm for block
    tridiagonal linear systems".
    """
    return solve_coupled_blocks(diagonal, side[:, :, None] * np.eye(side.shape[1]), right)


def solve_coupled_blocks(diagonal: Numbers, side: Numbers, right: Numbers) -> Numbers:
    """Solve the same for whole blocks `side` (F - 1, m, m), by row of a frame and column of the next one."""
    count, size = right.shape
    if count == 1:
        single: Numbers = np.linalg.solve(diagonal, right[:, :, None])[:, :, 0]
        return single
    odd = slice(1, None, 2)
    number = count // 2
    # Each odd frame in terms of the even ones before and after it.
    into = np.zeros((number, size, 2 * size + 1))
    into[:, :, :size] = side[0::2].swapaxes(1, 2)
    after = side[1::2]
    into[: len(after), :, size : 2 * size] = after
    into[:, :, -1] = right[odd]
    into = np.linalg.solve(diagonal[odd], into)
    left, beyond, own = into[:, :, :size], into[:, :, size : 2 * size], into[:, :, -1]
    less, rest = diagonal[0::2].copy(), right[0::2].copy()
    ahead, back = side[0::2], after.swapaxes(1, 2)
    less[:number] -= ahead @ left
    rest[:number] -= (ahead @ own[:, :, None])[:, :, 0]
    less[1 : 1 + len(back)] -= back @ beyond[: len(back)]
    rest[1 : 1 + len(back)] -= (back @ own[: len(back), :, None])[:, :, 0]
    between = -(ahead[: len(back)] @ beyond[: len(back)])
    even = solve_coupled_blocks(less, between, rest)
    result = np.empty_like(right)
    result[0::2] = even
    result[odd] = own - (left @ even[:number, :, None])[:, :, 0]
    result[odd][: len(back)] -= (beyond[: len(back)] @ even[1 : 1 + len(back), :, None])[:, :, 0]
    return result


class WristPath(NamedTuple):
    """Swivels (F) and coordinates of the wrist (size, F) over time [rad]."""

    swivels: Numbers
    wrist: Numbers


class Trade:
    """A stretch of F frames of a limb whose end is told to turn to `told` (3, 3, F).

    `price` multiplies that of the turn, `times` are the weights of changes of the swivel and of the wrist, `rate` is 30
    by the frames a second. Frames that are `fixed` (F) keep the path that is given. `pole` (F) are the swivels that a
    pole asks for, if there is one.
    """

    def __init__(
        self,
        limb: TipLimb,
        told: Numbers,
        price: float,
        times: tuple[float, float],
        rate: float,
        fixed: Mask,
        pole: Numbers | None = None,
    ) -> None:
        self.limb, self.told, self.price, self.fixed, self.pole = limb, told, PRICE * price, fixed, pole
        size = limb.range.size
        self._time = CALM * np.array([times[0], *[times[1]] * size])
        turned = lengths(turn_vectors(compose(told[..., 1:], told[..., :-1].swapaxes(0, 1))))
        self._fast = np.stack((np.full_like(turned, FAST_SWIVEL * rate), np.maximum(FAST_END * rate, turned)))
        self._hurry = np.array(HURRY) / rate**2
        self.reference = limb.range.nearest(quaternions(limb.turned[2]))

    # -- cost of a frame

    def residuals(self, posed: PosedLimbs, swivels: Numbers, some: Indices) -> tuple[Numbers, Numbers]:
        """Residuals (m, n), whose squares are the cost of posture and limits, and the turn (3, n) the end lacks."""
        limb, reference = self.limb, self.limb.turned[2][..., some]
        off = turn_vectors(compose(posed.upper, limb.reference_upper[..., some].swapaxes(0, 1)))
        own = rotation_vectors(product(conjugated(quaternions(reference)), posed.wrist))
        swung = _between(reference[:, 1], matrices(posed.wrist)[:, 1])
        rows = [UPPER**0.5 * off, END**0.5 * own, SWING**0.5 * swung, SHORT**0.5 * posed.beyond[None]]
        rows += [OUTSIDE**0.5 * each[None] for each in limb.outside(posed)]
        if self.pole is not None:
            rows.append(2.0 * POLE**0.5 * np.sin(0.5 * (swivels - self.pole[some]))[None])
        missing = turn_vectors(compose(self.told[..., some], posed.end.swapaxes(0, 1)))
        return np.concatenate(rows), missing

    def _paid(self, off: Numbers, within: float) -> Numbers:
        """Price (n) of angles by which the end is turned wrong."""
        paid: Numbers = self.price * (np.sqrt(off * off + within * within) - within)
        return paid

    # -- cost of changes

    def _changes(self, path: WristPath) -> Numbers:
        """Changes (1 + size, F - 1) from each frame to the next."""
        wrist = self.limb.range.difference(path.wrist[:, 1:], path.wrist[:, :-1])
        return np.concatenate((np.diff(path.swivels)[None], wrist))

    def _hurried(self, changes: Numbers, fasts: Numbers, gap: float = 1.0) -> Numbers:
        """Cost of changes (1 + size, ...) over some frames; those beyond `fasts` (2, ...) a frame cost more."""
        total = np.einsum("i,i...->...", self._time, changes * changes) / gap
        speeds = np.abs(changes[0]), np.sqrt((changes[1:] ** 2).sum(0))
        for speed, fast, hurry in zip(speeds, fasts, self._hurry, strict=True):
            total += gap * hurry * np.maximum(speed / gap - fast, 0.0) ** 2
        found: Numbers = total
        return found

    def _hurry_terms(self, changes: Numbers) -> tuple[Numbers, Numbers]:
        """Slope (1 + size, F - 1) of the cost of changes, and its curvature, without what couples coordinates."""
        slope, curve = self._time[:, None] * changes, np.repeat(self._time[:, None], changes.shape[1], 1)
        speeds = np.abs(changes[0]), np.sqrt((changes[1:] ** 2).sum(0))
        for rows, speed, fast, hurry in zip(
            (slice(0, 1), slice(1, None)), speeds, self._fast, self._hurry, strict=True
        ):
            over = np.maximum(speed - fast, 0.0)
            slope[rows] += hurry * over / np.maximum(speed, 1e-12) * changes[rows]
            curve[rows] += np.where(over > 0.0, hurry, 0.0)
        return 2.0 * slope, 2.0 * curve

    def cost(self, path: WristPath) -> float:
        """The whole cost of a path."""
        return self._rounded_cost(path, float(ROUNDED[-1]))

    def _rounded_cost(self, path: WristPath, within: float) -> float:
        """The same with a price that is rounded `within` an angle."""
        every = np.arange(len(path.swivels))
        rows, missing = self.residuals(self.limb.at(*path, every), path.swivels, every)
        paid = (rows * rows).sum() + self._paid(lengths(missing), within).sum()
        return float(paid + self._hurried(self._changes(path), self._fast).sum())

    # -- search

    def best(self, given: WristPath) -> WristPath:
        """The cheapest path that is found, from a search or from the path that is given.

        A search that skips frames takes a large turn of the limb for one that is spread over them. Where limits in
        between have left it in a single frame, another search counts every turn as one in a single frame.
        """
        found = self.refine(self.search(given))
        starts = []
        if (np.abs(np.diff(found.swivels)) > _LEAP * self._fast[0]).any():
            starts.append(self.search(given, sudden=True))
        if self.cost(found) >= self.cost(given):
            starts.append(given)
        return min([found, *map(self.refine, starts)], key=self.cost)

    def search(self, given: WristPath, sudden: bool = False) -> WristPath:
        """The cheapest path through choices in some of the frames, of which the path that is given is one.

        With `sudden` all of a turn of the limb between two of these frames is made in a single one.
        """
        count = len(given.swivels)
        knots = np.unique(np.append(np.arange(0, count, _STRIDE), [count - 1, *np.flatnonzero(self.fixed)]))
        swivels, wrist, costs = self._choices(given, knots)
        gaps = np.diff(knots)
        costs *= np.minimum(_STRIDE, 0.5 * (np.append(gaps, 0) + np.insert(gaps, 0, 0)).clip(1.0))
        costs[:-1, self.fixed[knots]] = np.inf
        total, before = costs[:, 0], []
        for k, gap in enumerate(gaps.tolist()):
            turn = swivels[None, :, k + 1] - swivels[:, None, k]
            turn -= 2.0 * np.pi * np.rint(turn / (2.0 * np.pi))
            change = self.limb.range.difference(wrist[:, None, :, k + 1], wrist[:, :, None, k])
            fast = self._fast[:, knots[k] : knots[k + 1]].mean(1)
            ways = total[:, None] + self._hurried(np.concatenate((turn[None], change)), fast, float(gap))
            if sudden:
                ways += self._hurry[0] * np.maximum(np.abs(turn) - gap * fast[0], 0.0) ** 2
            before.append(ways.argmin(0))
            total = ways.min(0) + costs[:, k + 1]
        row = [int(total.argmin())]
        for best in reversed(before):
            row.append(int(best[row[-1]]))
        rows, columns = np.array(row[::-1]), np.arange(len(knots))
        turns, angles = np.unwrap(swivels[rows, columns]), wrist[:, rows, columns]
        angles = np.concatenate(
            (angles[:, :1], angles[:, :1] + np.cumsum(self.limb.range.difference(angles[:, 1:], angles[:, :-1]), 1)), 1
        )
        every = np.arange(count)
        found = WristPath(np.interp(every, knots, turns), np.array([np.interp(every, knots, row) for row in angles]))
        found.wrist[:, self.fixed] = given.wrist[:, self.fixed]
        return found

    def _choices(self, given: WristPath, knots: Indices) -> tuple[Numbers, Numbers, Numbers]:
        """Swivels (c, k) and wrists (size, c, k) to choose from at k frames, and their costs (c, k).

        Each swivel comes with the nearest wrist in each part of its range; the last choice is what is given.
        """
        grid, limb = np.linspace(-np.pi, np.pi, _CHOICES, endpoint=False), self.limb
        swivels, some = np.repeat(grid, len(knots)), np.tile(knots, _CHOICES)
        told, start = self.told[..., some], self.reference[:, some]
        parts, found = limb.range.parts, []
        for part in range(parts):
            values = start
            for _ in range(_AIMS):
                wanted = limb.wanted(limb.at(swivels, values, some), told)
                values = limb.range.nearest_in_part(part, wanted)
            found.append(values)
        wrist = np.concatenate([*found, given.wrist[:, knots]], 1)
        all_swivels = np.concatenate([*[swivels] * parts, given.swivels[knots]])
        every = np.concatenate([*[some] * parts, knots])
        rows, missing = self.residuals(limb.at(all_swivels, wrist, every), all_swivels, every)
        costs = (rows * rows).sum(0) + self._paid(lengths(missing), float(ROUNDED[1]))
        shape = parts * _CHOICES + 1, len(knots)
        return all_swivels.reshape(shape), wrist.reshape(-1, *shape), costs.reshape(shape)

    # -- descent

    def refine(self, path: WristPath) -> WristPath:
        """The path with the least cost in the valley of one."""
        for within in ROUNDED.tolist():
            path = self._refined(path, within)
        return path

    def _refined(self, path: WristPath, within: float) -> WristPath:
        """The same with a price that is rounded `within` an angle.

        One damping for all frames: with one for each, frames whose limits have stopped a step were held for good, and
        paths ended anywhere in a flat valley, by rounding of the skeleton.
        """

        def look(there: WristPath) -> tuple[float, None]:
            return self._rounded_cost(there, within), None

        def aim(here: WristPath, _: None) -> Callable[[float], WristPath]:
            return partial(self._stepped, here, *self._model(here, within))

        def change(here: WristPath, there: WristPath) -> float:
            turns = np.abs(there.swivels - here.swivels).max(), np.abs(there.wrist - here.wrist).max()
            return float(max(turns))

        steps = _STEPS[int(within <= ROUNDED[-1])]
        return damped_descent(path, look, aim, change, DampedSteps(steps, _DAMPING, _PRECISE))[0]

    def _model(self, path: WristPath, within: float) -> tuple[Numbers, Numbers, Numbers]:
        """Slope (F, 1 + size) and curvature of the cost of a path, and that of its changes (1 + size, F - 1)."""
        count, wide = len(path.swivels), 1 + self.limb.range.size
        offsets = np.concatenate((np.zeros((wide, 1)), _APART * np.eye(wide)), 1)
        some = np.tile(np.arange(count), wide + 1)
        values = np.concatenate((path.swivels[None], path.wrist))[:, None] + offsets[:, :, None]
        values = values.reshape(wide, -1)
        rows, missing = self.residuals(self.limb.at(values[0], values[1:], some), values[0], some)
        rows, missing = (each.reshape(len(each), wide + 1, count) for each in (rows, missing))
        off = lengths(missing[:, 0])
        rounded = np.sqrt(off * off + within * within)
        rows[:, 1:] -= rows[:, :1]
        missing[:, 1:] -= missing[:, :1]
        slope = 2.0 * np.einsum("rif,rf->fi", rows[:, 1:], rows[:, 0])
        slope += np.einsum("rif,rf->fi", missing[:, 1:], self.price / rounded * missing[:, 0])
        # A price that is linear in the angle has no curvature along it, but for its rounding.
        towards = missing[:, 0] / np.maximum(off, 1e-12)
        less = (1.0 - within / rounded) * (towards[:, None] * missing[:, 1:]).sum(0)
        across = np.sqrt(0.5 * self.price / rounded) * (missing[:, 1:] - towards[:, None] * less)
        slopes = np.concatenate((rows[:, 1:], across)) / _APART
        curvature, slope = 2.0 * np.einsum("rif,rjf->fij", slopes, slopes), slope / _APART
        first, second = self._hurry_terms(self._changes(path))
        slope[:-1] -= first.T
        slope[1:] += first.T
        return slope, curvature, second

    def _stepped(
        self, path: WristPath, slope: Numbers, curvature: Numbers, second: Numbers, damping: float
    ) -> WristPath:
        """A path after a step of the damped Gauss-Newton method inside the range of the wrist."""
        slope, blocks = slope.copy(), curvature.copy()
        rows = np.arange(slope.shape[1])
        blocks[:-1, rows, rows] += second.T
        blocks[1:, rows, rows] += second.T
        blocks[:, rows, rows] += damping * (1.0 + blocks[:, rows, rows])
        self.limb.range.hold_ends(path.wrist, slope[:, 1:], blocks[:, 1:, 1:])
        slope[self.fixed] = 0.0
        blocks[self.fixed] += FIXED * np.eye(len(rows))
        for _ in range(_ENDS):  # what would leave its range goes to the end of it, and the others with that
            step = np.clip(-solve_blocks(blocks, -second.T, slope), -_LARGEST, _LARGEST)
            step[self.fixed] = 0.0
            if not self.limb.range.stop_at_ends(path.wrist, step[:, 1:].T, slope[:, 1:], blocks[:, 1:, 1:]):
                break
        return WristPath(path.swivels + step[:, 0], self.limb.range.inside(path.wrist + step[:, 1:].T))


def _between(start: Numbers, end: Numbers) -> Numbers:
    """Rotation vectors (3, n) of the least turns between unit vectors."""
    turn = cross(start, end)
    sine = lengths(turn)
    found: Numbers = turn * np.where(sine > 1e-12, np.arctan2(sine, dot(start, end)) / np.maximum(sine, 1e-12), 1.0)
    return found

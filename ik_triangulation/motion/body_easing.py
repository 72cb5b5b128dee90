# SPDX-License-Identifier: GPL-3.0-or-later
"""Easing of the turns of a body: hasty ones averaged over time, and missed frames led over at a soft edge of the reach.

A body that stretches to the edge of its reach unbends by the square root of the distance, so all of it snaps straight
within a frame or two. Its goals say where the hand is, not that the trunk leans only when the arm is used up. With what
the goals leave free averaged over time, the trunk leans some frames earlier, and every goal is met where it was. When
the body is brought back to its goals, the joints that turn hastily are the stiff ones, so that others share their turn.
Source: none.

In frames that are missed in any case all joints go on from the last frame that is reached, with the speed they have
there, and come back to the next one, as critically damped springs (Bollo 2018, "Inertialization"; Holden 2021,
"Spring-it-on"). What is held stays; every frame that is reached stays as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..cooperative import Work
from ..goals.support import BalanceTask
from ..goals.task import Task
from ..kinematics.arrays import Indices, Mask, Numbers, smoothstep
from ..kinematics.batch import Geometry, States, Tree
from ..kinematics.batch.algebra import angles_between
from ..solvers.batch.change import System
from ..solvers.batch.descent import Descent
from ..solvers.body.priorities import at_two_levels, exactly
from ..solvers.natural.posture import Posture, Relaxation
from ..solvers.natural.soft_edge import Pace, runs_of

_AS_MEANT = 1.1  # times a turn that is meant: one that is no hastier
_SMALL, _LARGE = 0.1, 0.22  # turns [rad] that are never hasty, and that are if they are more than _OVER the median
_OVER, _FAR_OVER = 1.5, 3.0  # times the median of a joint's turns; from the second on all but small ones are hasty
_STILL = 0.005  # [rad] turn of a joint that does not count for the median
_MARGIN, _PASSES = 8, 2  # frames on either side of a hasty turn that may move: with more it would sway long before
_ROUNDS, _AVERAGES = 6, 6  # in each pass, and averagings over time in each round
_CALMER = 0.98  # share of the excess that is left at most
_WIDER, _SWAY = 1.6, 0.015  # times the range of the hips before, and more of the size: what calmer turns may sway by
_UNEVEN = 1.35  # times the unrest before: what calmer turns may cost
_WORTH, _MOST = 0.7, 2.0  # times the square of what is left of a turn, and alone: what much calmer ones may cost
_TRIES, _LESS, _BESIDE = 3, 0.6, 6.0  # shares of a change, each of the one before; frames beside one that is lost
_STEPS = 2  # in each round
_TRADED = 0.7  # of the largest turn of a frame: what is left of it where turns of hands are traded for that, at most
_AROUND = 5  # frames on either side that make a median local
_CALM = 0.01  # [rad] turn beside which no other one is an outlier
_NEAR = 2.0  # times the tolerance of precise tasks: as far as a calmer frame may be off what it met
_FINE = Descent(iterations=12, stall=4)  # after all rounds


def eased(
    tree: Tree,
    posture: Posture,
    states: States,
    tasks: Sequence[Task],
    steady: BalanceTask | None,
    compliance: Numbers | None = None,
) -> Work[States]:
    """Return the states (F) with calmer turns from frame to frame, or as they are; no frame loses a goal.

    Nor do the joints, taken together, travel much less evenly than before, unless that calms turns by far. Of a change
    that costs too much a share is tried, and around a frame that loses a goal for it none. What turns as the reference
    of the `posture` does is meant so. Hips are as firm as the `compliance` (k, 1) of the path has them: they would sway
    for a calmer leg.
    """
    firmly = np.ones((tree.columns, 1))
    if compliance is not None:
        hips = np.append(tree.joint_of == 0, np.ones(tree.columns - len(tree.joint_of), bool))
        firmly[hips] = np.minimum(compliance[hips] / np.maximum(tree.compliance.reshape(-1, 1)[hips], 1e-300), 1.0)
    meant = _turns(tree, posture.reference)
    for _ in range(_PASSES):
        then = _Calm.of(tree, states, meant)
        haste = then.haste
        moving = _moving(haste.max(0, initial=0.0) > 1.0, _MARGIN)
        frames = np.flatnonzero(moving)
        if not len(frames):
            break
        firm = firmly * _stiffened(tree, haste[:, moving[1:]].max(1))
        tried, goals = states.copy(), [task.take(frames) for task in tasks]
        here = posture.take(frames)
        for _ in range(_ROUNDS):
            offsets = posture.offsets(tried)
            for _ in range(_AVERAGES):
                offsets[:, frames] = 0.5 * offsets[:, frames] + 0.25 * (offsets[:, frames - 1] + offsets[:, frames + 1])
            some = here.states(offsets[:, frames])
            relaxation = Relaxation(posture=Posture(tree, some), compliance=firm)
            some = relaxation.run(tree, some, at_two_levels(goals), _STEPS)
            tried.put(frames, some)
            yield
        begun, kept = states.take(frames), [task.within(_NEAR * task.tolerance) for task in goals]
        own, found = Posture(tree, begun), states.copy()
        changes, met, shares = own.offsets(some), System(tree, begun, kept), np.ones(len(frames))
        left = np.split(np.arange(len(frames)), np.flatnonzero(np.diff(frames) > 1) + 1)
        runs = len(left)
        for _ in range(_TRIES):
            some = own.states(shares * changes)
            exactly(tree, some, goals, steady.take(frames) if steady else None, _FINE, frames)
            tried.put(frames, some)
            after = System(tree, some, kept)
            lost = ~after.met & (met.met | (after.value > met.value))
            now, again = _Calm.of(tree, tried, meant), []
            for row in left:
                if lost[row].any():
                    shares[row] *= _faded(len(row), np.flatnonzero(lost[row]), _BESIDE)
                elif now.is_calmer(then, int(frames[row[0]]), int(frames[row[-1]])):
                    found.put(frames[row], some.take(row))
                    continue
                else:
                    shares[row] *= _LESS
                again.append(row)
            left = again
            yield
            if not left:
                break
        if len(left) < runs:
            states = found
    return states


class _Calm(NamedTuple):
    """Turns (n, F - 1) of joints from frame to frame [rad], how hasty these are, and the unrest (F - 2) of a motion.

    With the place (3, F) of the whole body across the vertical, as a share of its size.
    """

    turns: Numbers
    haste: Numbers
    unrest: Numbers
    place: Numbers

    @classmethod
    def of(cls, tree: Tree, states: States, meant: Numbers) -> _Calm:
        """Measure states (F) beside turns (n, F - 1) that are `meant`."""
        turns = _turns(tree, states)
        up = np.zeros(3) if tree.up is None else np.array(tree.up, float)
        return cls(
            turns,
            _haste(turns, meant),
            unrest(tree, states),
            (states.place - np.outer(up, up @ states.place)) / tree.size,
        )

    def is_calmer(self, before: _Calm, first: int, last: int) -> bool:
        """Tell whether a motion is calmer than it was before, in a run of frames that were changed.

        A stiff joint may turn more than it did, where none turns as much as one did. A body that sways for
        it is not calmer.
        """
        sways, swayed = (np.linalg.norm(np.ptp(each.place[:, first - 1 : last + 2], axis=1)) for each in (self, before))
        if sways > _WIDER * swayed + _SWAY:
            return False
        around, bends = slice(first - 1, last + 1), slice(max(first - 2, 0), last + 1)
        uneven = self.unrest[bends].sum() / max(before.unrest[bends].sum(), 1e-300)
        had = before.haste[:, around].max()
        hastier = max(self.haste[:, around].max(), 1.0) / had
        slower = self.turns[:, around].max() / before.turns[:, around].max()
        if hastier <= _CALMER and uneven <= _UNEVEN:
            return True
        return bool(uneven <= _MOST and min(hastier, slower) ** 2 * uneven <= _WORTH)


def largest_turns(tree: Tree, states: States) -> Numbers:
    """Largest turn of any joint [rad] from each frame to the next (F - 1)."""
    turns: Numbers = _turns(tree, states).max(0)
    return turns


def is_worth_trading(tree: Tree, before: States, after: States, others: Sequence[Task]) -> bool:
    """Tell whether states are worth the turns of tips that they give up: by their calm, and by the `others` they meet.

    No frame loses one of these, and either the largest turn is much smaller or more frames meet all of them.
    """
    met, now = (np.array([System(tree, each, [task]).met for task in others]) for each in (before, after))
    if (met & ~now).any():
        return False
    left = largest_turns(tree, after).max() / max(largest_turns(tree, before).max(), 1e-300)
    return bool(left < (1.0 if now.all(0).sum() > met.all(0).sum() else _TRADED))


def unsteadiness(tree: Tree, states: States) -> float:
    """The largest turn from frame to frame beside the median of those around it; 0.0 where all is calm."""
    if len(states) < 3:
        return 0.0
    turns = largest_turns(tree, states)
    half = min(_AROUND, len(turns) - 1)
    around = np.pad(turns, half, mode="reflect")
    window = np.lib.stride_tricks.sliding_window_view(around, 2 * half + 1)
    return float((turns / np.maximum(np.median(window, 1), _CALM)).max())


def unrest(tree: Tree, states: States) -> Numbers:
    """Squares (F - 2) of the second differences over frames of the places of all joints together."""
    places = Geometry(tree, states).frames[:, :, 3]
    return (np.diff(places, 2) ** 2).sum((0, 1))


def _stiffened(tree: Tree, haste: Numbers) -> Numbers:
    """Compliance (k, 1) of the columns with that of hasty joints (n) lessened, so that others move in their stead."""
    firm = tree.compliance.reshape(-1, 1).copy()
    firm[: len(tree.joint_of)] /= np.maximum(haste[tree.joint_of, None], 1.0) ** 2
    return firm


def _moving(hasty: Mask, margin: int) -> Mask:
    """The frames (F) that may move for hasty turns to the next frame (F - 1), none of them the first or the last."""
    moving = np.zeros(len(hasty) + 1, bool)
    for f in np.flatnonzero(hasty).tolist():
        moving[max(f + 1 - margin, 0) : f + 1 + margin] = True
    moving[0] = moving[-1] = False
    return moving


def _turns(tree: Tree, states: States) -> Numbers:
    """Turns (n, F - 1) [rad] of the joints from frame to frame."""
    rotations = tree.rotations(states)
    return angles_between(rotations[..., 1:], rotations[..., :-1])


def _haste(turns: Numbers, meant: Numbers) -> Numbers:
    """Turns (n, F - 1) of the joints from frame to frame, 1.0 being the largest that is not hasty, or that is meant."""
    counted = np.where(turns > _STILL, turns, np.nan)
    some = np.isfinite(counted).any(1)
    median = np.zeros(len(turns))
    median[some] = np.nanmedian(counted[some], 1)
    limit = np.maximum(np.minimum(_FAR_OVER * median, np.maximum(_OVER * median, _LARGE)), _SMALL)
    haste: Numbers = turns / np.maximum(limit[:, None], _AS_MEANT * meant)
    return haste


_QUICKNESS = 0.3  # of the springs, 1 by frames at 30 a second: a trunk takes longer than an arm
_FADE = 6.0  # frames of a change beside one that loses a goal for it, by frames at 30 a second


def led_over(
    tree: Tree,
    posture: Posture,
    states: States,
    tasks: Sequence[Task],
    missed: Mask,
    pace: Pace,
) -> Work[States]:
    """Return the states (F) with joints led over into and out of frames that are `missed` (F); all others stay.

    The `tasks` are those that are met there too. Where a frame loses one of them for it, the change fades out towards
    that frame and in again, so that it does not go back alone; a run that loses one then too stays as it is.
    """
    quickness, offsets, found = _QUICKNESS * pace.rate, posture.offsets(states), states.copy()
    runs = [(run, sides, np.ones(len(run))) for run, *sides in runs_of(missed, pace)]
    for is_last in (False, True):
        if not runs:
            break
        changed, faded = offsets.copy(), list[tuple[Indices, list[tuple[int, int] | None], Numbers]]()
        for run, sides, share in runs:
            changed[:, run] += share * _changes(offsets, missed, run, sides, quickness)
        frames = np.concatenate([run for run, *_ in runs])
        some, goals = posture.take(frames).states(changed[:, frames]), [task.take(frames) for task in tasks]
        yield
        exactly(tree, some, goals, bounds=_FINE)
        before, after = (System(tree, each, goals) for each in (states.take(frames), some))
        is_lost, end = ~(after.met | (after.value <= before.value)), 0
        for run, sides, share in runs:
            own, end = np.arange(end, end + len(run)), end + len(run)
            is_changed = share > 0.0
            lost = np.flatnonzero(is_lost[own] & is_changed)
            if not len(lost):
                found.put(run[is_changed], some.take(own[is_changed]))
            elif not is_last:
                faded.append((run, sides, _faded(len(run), lost, _FADE / pace.rate)))
        runs = faded
    return found


def _faded(count: int, lost: Indices, width: float) -> Numbers:
    """Return the shares (n) of a change, 0 in frames that are `lost` and 1 from so many frames beside them on."""
    return smoothstep(np.abs(np.arange(count)[:, None] - lost).min(1) / width)


def _changes(
    offsets: Numbers, missed: Mask, run: Indices, sides: Sequence[tuple[int, int] | None], quickness: float
) -> Numbers:
    """Return the changes (k, n) by which a run of frames continues the frames on both sides."""
    springs = [
        None if side is None else _Spring.at(offsets, *side, missed, inward, quickness)
        for side, inward in zip(sides, (run, run[::-1]), strict=True)
    ]
    count = len(run) + 1
    if None not in springs:
        a, b = (spring for spring in springs if spring)
        # Each starts at what the other one leaves of the way there: in a short run both would go all of it.
        from_a, from_b = a.share(count), b.share(count)
        one, other = a.start - b.drift(count), b.start - a.drift(count)
        left = 1.0 - from_a * from_b
        springs = [a._replace(start=(one - from_b * other) / left), b._replace(start=(other - from_a * one) / left)]
    t = np.arange(1.0, count)
    found = np.zeros((len(offsets), len(run)))
    for spring, times in zip(springs, (t, count - t), strict=True):
        if spring is not None:
            found += spring.changes(times)
    return found


class _Spring(NamedTuple):
    """Critically damped springs (k) that are let go at `start` with a `speed` a frame, towards 0."""

    start: Numbers
    speed: Numbers
    quickness: Numbers

    @classmethod
    def at(cls, offsets: Numbers, near: int, beyond: int, missed: Mask, run: Indices, quickness: float) -> _Spring:
        """The springs by which a run goes on from the frame `near` it, and the one `beyond` that."""
        beyond = near if beyond < 0 or missed[beyond] else beyond
        first, second = offsets[:, run[0]], offsets[:, run[min(1, len(run) - 1)]]
        own = second - first  # the speed that the run has by itself
        start = offsets[:, near] - (first - own)
        speed = offsets[:, near] - offsets[:, beyond] - own
        # Springs neither swing over nor, where they are let go outwards, far out.
        towards = -speed / np.where(start == 0.0, 1.0, start)
        speed = np.where(towards < 0.0, np.clip(speed, -quickness * np.abs(start), quickness * np.abs(start)), speed)
        return cls(start, speed, np.maximum(towards, quickness))

    def share(self, t: float) -> Numbers:
        """Shares (k) of the start that are left after some frames."""
        found: Numbers = (1.0 + self.quickness * t) * np.exp(-self.quickness * t)
        return found

    def drift(self, t: float) -> Numbers:
        """Ways (k) that the speed makes in some frames."""
        found: Numbers = self.speed * t * np.exp(-self.quickness * t)
        return found

    def changes(self, times: Numbers) -> Numbers:
        """Ways (k, n) from 0 at these times."""
        return np.stack([self.start * self.share(t) + self.drift(t) for t in times.tolist()], axis=-1)

# SPDX-License-Identifier: GPL-3.0-or-later
"""Restarts of many states at once: what is missed is tried again from other poses inside the limits, in rounds.

Source: the annealing of seed document quaternion-ccd ("exercise for the reader"). That several restarts end at the same
distance proves nothing: the wrong local minimum of an ordinary limb is deep. So only a bound by lengths or the last
round ends the search. Targets of animators lie at ends of ranges (a straight knee, a closed fist) more often than
chance would have it, and so do half of the angles drawn.

Most starts lead to a wrong minimum, so they are chosen and thinned out: each is the nearest of several poses drawn,
which costs forward kinematics alone, and after a few steps only the nearest quarter of a round goes on. On hard targets
a start then succeeds two to six times as often, at less than half of its cost.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from ...goals.batch import Task
from ...kinematics.arrays import Indices, Mask, Numbers
from ...kinematics.batch import States, Tree
from ...kinematics.batch.algebra import exponential, normalized, product
from ...kinematics.batch.coordinates import finite_range
from .aligned import aligned
from .descent import CHUNK, PLAIN, Descent, descend
from .system import System

ROUNDS: tuple[int, ...] = (8, 24, 64)  # starts for each state that is still missed
NEARBY = 4  # the first starts of a round stray by a share of the way only, which grows to all of it
AT_ENDS = 0.5  # share of the angles drawn that lie on an end of their range
DRAWN = 8  # poses drawn for each start
TRIAL_STEPS, KEPT = 3, 0.25  # steps of every start of a round, and the share of them that goes on
_FAR = 0.25  # of the squared errors, left by a motion of the whole tree that is made first
_AT_ONCE = 8192  # poses drawn at once, which bounds the memory


def solve_cold(
    tree: Tree,
    states: States,
    tasks: Sequence[Task],
    *,
    seed: int = 0,
    rounds: Sequence[int] = ROUNDS,
    bounds: Descent = PLAIN,
) -> tuple[Mask, Numbers]:
    """Bring states to their tasks from wherever they are, in place; return which are met (F), and the values (F)."""
    if tree.moves_root:
        met, value = _from_start_or_aligned(tree, states, tasks, bounds)
    else:
        met, value = descend(tree, states, tasks, bounds)
    restart(tree, states, tasks, met, value, seed=seed, rounds=rounds, bounds=bounds)
    return met, value


def _from_start_or_aligned(tree: Tree, states: States, tasks: Sequence[Task], bounds: Descent) -> tuple[Mask, Numbers]:
    """Descend from the states as they are and, where that fails, moved as a whole onto their goals; in place.

    Where the motion as a whole takes off most of the errors it comes first; else it would throw a posture away.
    """
    states.own_places()
    moved = aligned(tree, states, tasks)
    before, after = (System(tree, each, tasks).value for each in (states, moved))
    far = np.flatnonzero(after < _FAR * before)
    other = states.copy()
    other.put(np.arange(len(states)), moved)
    other.put(far, states.take(far))
    states.put(far, moved.take(far))
    met, value = descend(tree, states, tasks, bounds)
    missed = np.flatnonzero(~met)
    if len(missed):
        some = other.take(missed)
        got, found = descend(tree, some, [task.take(missed) for task in tasks], bounds)
        better = got | (found < value[missed])
        states.put(missed[better], some.take(np.flatnonzero(better)))
        value[missed[better]], met[missed[better]] = found[better], got[better]
    return met, value


def restart(
    tree: Tree,
    states: States,
    tasks: Sequence[Task],
    met: Mask,
    value: Numbers,
    *,
    seed: int = 0,
    rounds: Sequence[int] = ROUNDS,
    bounds: Descent = PLAIN,
    steps: Indices | None = None,
) -> None:
    """Try the states that are not `met` again; states, `met` and `value` are changed in place where that helps.

    The steps of all starts of each state are added to `steps` (F). Of the poses of a round that meet the tasks after
    equally many steps the one with the least rotation is taken.
    """
    random = np.random.default_rng(seed)
    trial = replace(bounds, iterations=min(TRIAL_STEPS, bounds.iterations), curved=False)
    for count in filter(None, rounds):
        left = np.flatnonzero(~met)
        size = max(1, _AT_ONCE // (count * DRAWN))
        for some in (left[begin : begin + size] for begin in range(0, len(left), size)):
            begun, here = states.take(some), [task.take(some) for task in tasks]
            tries, of = _starts(tree, begun, here, count, random)
            for limits, kept in ((trial, max(1, round(KEPT * count))), (bounds, 1)):
                made = None if steps is None else np.zeros(len(of), int)
                got, found = descend(tree, tries, [task.take(of) for task in here], limits, groups=of, steps=made)
                if steps is not None:
                    np.add.at(steps, some[of], made)
                key = np.where(got, -1.0 / (1.0 + _turned(tree, begun.take(of), tries)), found)
                best = _least(key, len(some), kept)
                tries, of, got, found = tries.take(best), of[best], got[best], found[best]
            better = got | (found < value[some])
            states.put(some[better], tries.take(np.flatnonzero(better)))
            value[some[better]], met[some[better]] = found[better], got[better]


def _starts(
    tree: Tree, states: States, tasks: Sequence[Task], count: int, random: np.random.Generator
) -> tuple[States, Indices]:
    """Draw `count` starts for each state, and return the state of each start too: of several poses the nearest."""
    share = np.minimum(1.0, (np.arange(count) + 1.0) / NEARBY)
    many = np.repeat(np.arange(len(states)), count * DRAWN)
    drawn = strayed(tree, states.take(many), np.tile(np.repeat(share, DRAWN), len(states)), random)
    if tree.moves_root:
        drawn.own_places()
    value = np.empty(len(many))
    for part in _parts(len(many)):
        some, goals = drawn.take(part), [task.take(many[part]) for task in tasks]
        if tree.moves_root:
            some = aligned(tree, some, goals)
            drawn.put(part, some)
        value[part] = System(tree, some, goals).value
    best = _least(value, len(states) * count, 1)
    return drawn.take(best), many[best]


def _parts(count: int) -> Iterator[Indices]:
    for begin in range(0, count, CHUNK):
        yield np.arange(begin, min(begin + CHUNK, count))


def _least(key: Numbers, groups: int, kept: int) -> Indices:
    """Indices of the least keys of each of equally large groups, in the order of the groups."""
    each = key.reshape(groups, -1)
    order = each.argsort(1, kind="stable")[:, :kept] if kept > 1 else each.argmin(1)[:, None]
    best: Indices = (order + np.arange(groups)[:, None] * each.shape[1]).ravel()
    return best


def _turned(tree: Tree, before: States, after: States) -> Numbers:
    """Sum of the squares of all changes of angles (F) between two poses [rad^2]."""
    change = after.angles - before.angles
    turned: Numbers = np.einsum("mf,mf->f", change, change)
    if tree.balls:
        cosine = np.abs(np.einsum("bqf,bqf->bf", before.balls, after.balls))
        turned += 4.0 * (np.arccos(np.minimum(1.0, cosine)) ** 2).sum(0)
    return turned


def strayed(tree: Tree, states: States, share: Numbers, random: np.random.Generator, ends: float = AT_ENDS) -> States:
    """Poses that have gone a share (F) of the way to poses drawn inside the limits, `ends` of the angles at an end."""
    count = len(states)
    angles, balls = states.angles, states.balls
    if tree.angles:
        lower, upper = finite_range(tree.lower, tree.upper)
        drawn, at_end = random.random((2, tree.angles, count))
        drawn = np.where(at_end < 0.5 * ends, 0.0, np.where(at_end < ends, 1.0, drawn))
        angles = tree.inside(angles + share * (lower + drawn * (upper - lower) - angles))
    if tree.balls:
        turns = random.normal(size=(len(tree.balls), 3, count))
        size = share * np.pi * random.random((len(tree.balls), count))
        balls = normalized(product(balls, exponential(normalized(turns) * size[:, None])))
    return States(angles, balls, states.held, states.root, states.place)

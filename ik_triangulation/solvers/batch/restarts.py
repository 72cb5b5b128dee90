# SPDX-License-Identifier: GPL-3.0-or-later
"""Restarts of many states at once: what is missed is tried again from other poses inside the limits, in rounds.

Source: the annealing of seed document quaternion-ccd ("exercise for the reader"). That several restarts end at the same
distance proves nothing: the wrong local minimum of an ordinary limb is deep. So only a bound by lengths or the last
round ends the search. Targets of animators lie at ends of ranges (a straight knee, a closed fist) more often than
chance would have it, and so do a share of the angles drawn.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ...goals.batch import Task
from ...kinematics.arrays import Indices, Mask, Numbers
from ...kinematics.batch import States, Tree
from ...kinematics.batch.algebra import exponential, normalized, product
from ...kinematics.batch.coordinates import finite_range
from .descent import PLAIN, Descent, descend

ROUNDS = (8, 24, 64)  # starts for each state that is still missed
_NEARBY = 4  # the first starts of a round stray by a share of the way only, which grows to all of it
_AT_ENDS = 0.2  # share of the angles drawn that lie on an end of their range
_AT_ONCE = 8192  # starts in memory


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
    met, value = descend(tree, states, tasks, bounds)
    restart(tree, states, tasks, met, value, seed=seed, rounds=rounds, bounds=bounds)
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
) -> None:
    """Try the states that are not `met` again; states, `met` and `value` are changed in place where that helps."""
    random = np.random.default_rng(seed)
    for count in rounds:
        for some in _blocks(np.flatnonzero(~met), max(1, _AT_ONCE // count)):
            many = np.repeat(some, count)
            share = np.tile(np.minimum(1.0, (np.arange(count) + 1.0) / _NEARBY), len(some))
            tries = strayed(tree, states.take(many), share, random)
            got, found = descend(tree, tries, [task.take(many) for task in tasks], bounds, groups=many)
            found = np.where(got, -1.0, found).reshape(len(some), count)
            best = found.argmin(1) + np.arange(len(some)) * count
            better = found.ravel()[best] < value[some]
            states.put(some[better], tries.take(best[better]))
            value[some[better]], met[some[better]] = found.ravel()[best[better]], got[best[better]]


def _blocks(indices: Indices, size: int) -> Iterator[Indices]:
    for begin in range(0, len(indices), size):
        yield indices[begin : begin + size]


def strayed(tree: Tree, states: States, share: Numbers, random: np.random.Generator, ends: float = _AT_ENDS) -> States:
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

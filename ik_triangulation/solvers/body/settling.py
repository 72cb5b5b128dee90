# SPDX-License-Identifier: GPL-3.0-or-later
"""Posture and balance of poses that have reached their goals: steps in what the goals leave free, then exactly back."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...goals.batch import BalanceTask, Task
from ...kinematics.arrays import Numbers
from ...kinematics.batch import States, Tree
from ..batch.descent import Descent, descend, hold
from ..batch.system import System
from ..natural.posture import Posture
from ..natural.relaxation import Relaxation
from .priorities import HELD_SHARE, at_two_levels, held_of
from .stiffness import body_compliance

POSTURE_GAIN = 0.4  # share of the way to the reference in one step: with all of it knees and elbows overshoot
_CORRECTION = Descent(iterations=30, stall=4)
_EDGE = 0.1  # of its tolerance, up to which balance is brought back
_OUTSIDE = 1e3  # cost of a centre of mass that is as far outside as the tree is large, beside radians


def settle(
    tree: Tree,
    states: States,
    reference: States,
    tasks: Sequence[Task],
    steady: BalanceTask | None,
    steps: int,
) -> None:
    """Bring states nearer to a reference and their centres of mass above the support, in place, where goals allow.

    A state is changed only if it stays as near to its goals; what was met stays met.
    """
    posture, compliance = Posture(tree, reference), body_compliance(tree)
    relaxation = Relaxation(posture=posture, compliance=compliance, gain=POSTURE_GAIN)
    every = [*tasks, steady] if steady else list(tasks)
    tried = relaxation.run(tree, states, every, steps)
    exactly(tree, tried, tasks, steady)
    now, before = (System(tree, each, tasks) for each in (tried, states))
    better = _cost(posture, compliance, tried, steady) < _cost(posture, compliance, states, steady)
    better &= now.met | (~before.met & (now.value <= before.value))
    states.put(better, tried.take(better))


def exactly(
    tree: Tree, states: States, tasks: Sequence[Task], steady: BalanceTask | None = None, bounds: Descent = _CORRECTION
) -> None:
    """Bring states that are near their goals to them, in place, held tips last of all.

    Where the centre of mass is outside its support it is brought there as well if all goals can be met with it.
    """
    descend(tree, states, at_two_levels(tasks), bounds)
    if held_of(tasks):
        hold(tree, states, tasks, share=HELD_SHARE)
    if steady is None:
        return
    every = [*at_two_levels(tasks), steady.within(_EDGE * steady.tolerance)]
    outside = np.flatnonzero(~System(tree, states, every[-1:]).met)
    if len(outside):
        some, goals = states.take(outside), [task.take(outside) for task in every]
        met, _ = descend(tree, some, goals, bounds)
        states.put(outside[met], some.take(np.flatnonzero(met)))


def _cost(posture: Posture, compliance: Numbers, states: States, steady: BalanceTask | None) -> Numbers:
    """Cost (F) of the turns off the reference, and of a centre of mass outside its support."""
    tree = posture.tree
    cost: Numbers = (posture.offsets(states) ** 2 / np.maximum(compliance, 1e-6)).sum(0)
    if steady:
        cost += _OUTSIDE * System(tree, states, [steady]).measured[0].off / tree.size
    return cost

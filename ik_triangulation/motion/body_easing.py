# SPDX-License-Identifier: GPL-3.0-or-later
"""Easing of the hasty turns of a body: what its goals leave free of the frames around them is averaged over time.

A body that stretches to the edge of its reach unbends by the square root of the way, so all of it snaps straight within
a frame or two. Its goals say where the hand is, not that the trunk leans only when the arm is used up: averaged, the
trunk leans some frames earlier, and every goal is met where it was. On the way back to the goals the joints that turn
hastily are the stiff ones, so that others share their turn. Source: none.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..cooperative import Work
from ..goals.support import BalanceTask
from ..goals.task import Task
from ..kinematics.arrays import Mask, Numbers
from ..kinematics.batch import Geometry, States, Tree
from ..solvers.batch.change import System
from ..solvers.batch.descent import Descent
from ..solvers.body.priorities import at_two_levels, exactly
from ..solvers.natural.posture import Posture, Relaxation
from .jumps import turns_by_joint

_SMALL, _LARGE = 0.1, 0.22  # turns [rad] that are never hasty, and that are if they are more than _OVER the median
_OVER, _FAR_OVER = 1.5, 3.0  # times the median of a joint's turns; from the second on all but small ones are hasty
_STILL = 0.005  # [rad] turn of a joint that does not count for the median
_MARGINS = (8, 16)  # frames on either side of a hasty turn that may move, one pass after the other
_ROUNDS, _AVERAGES = 6, 6  # in each pass, and averagings over time in each round
_CALMER = 0.98  # share of the excess that is left at most
_UNEVEN = 1.25  # times the unrest before that calmer turns may cost
_STEPS = 2  # in each round
_FINE = Descent(iterations=12, stall=4)  # after all of them


def eased(
    tree: Tree, posture: Posture, states: States, tasks: Sequence[Task], steady: BalanceTask | None
) -> Work[States]:
    """Return the states (F) with calmer turns from frame to frame, or as they are; no frame loses a goal.

    Nor do the joints, taken together, travel much less evenly than before.
    """
    for margin in _MARGINS:
        haste = _haste(tree, states)
        moving = _moving(haste.max(0, initial=0.0) > 1.0, margin)
        frames = np.flatnonzero(moving)
        if not len(frames):
            break
        firm = _firm(tree, haste[:, moving[1:]].max(1))
        tried, goals = states.copy(), [task.take(frames) for task in tasks]
        for _ in range(_ROUNDS):
            offsets = posture.offsets(tried)
            for _ in range(_AVERAGES):
                offsets[:, frames] = 0.5 * offsets[:, frames] + 0.25 * (offsets[:, frames - 1] + offsets[:, frames + 1])
            some = posture.take(frames).states(offsets[:, frames])
            relaxation = Relaxation(posture=Posture(tree, some), compliance=firm)
            some = relaxation.run(tree, some, at_two_levels(goals), _STEPS)
            tried.put(frames, some)
            yield
        exactly(tree, some, goals, steady.take(frames) if steady else None, _FINE, frames)
        tried.put(frames, some)
        now = _haste(tree, tried)
        before_unrest, after_unrest = unrest(tree, states), unrest(tree, tried)
        after, before = (System(tree, each, goals) for each in (some, states.take(frames)))
        lost = ~after.met & (before.met | (after.value > before.value))
        states = states.copy()
        for row in np.split(np.arange(len(frames)), np.flatnonzero(np.diff(frames) > 1) + 1):
            around = slice(frames[row[0]] - 1, frames[row[-1]] + 1)
            calmer = now[:, around].max() <= max(_CALMER * haste[:, around].max(), 1.0)
            bends = slice(max(frames[row[0]] - 2, 0), frames[row[-1]] + 1)
            even = after_unrest[bends].sum() <= _UNEVEN * before_unrest[bends].sum()  # or hips shake for calm arms
            if calmer and even and not lost[row].any():
                states.put(frames[row], some.take(row))
    return states


def unrest(tree: Tree, states: States) -> Numbers:
    """Squares (F - 2) of the second differences over frames of the places of all joints together."""
    places = Geometry(tree, states).frames[:, :, 3]
    return (np.diff(places, 2) ** 2).sum((0, 1))


def _firm(tree: Tree, haste: Numbers) -> Numbers:
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


def _haste(tree: Tree, states: States) -> Numbers:
    """Turns (n, F - 1) of the joints from frame to frame, 1.0 being the largest that is not hasty."""
    turns = turns_by_joint(tree.rotations(states))[:, 1:]
    counted = np.where(turns > _STILL, turns, np.nan)
    some = np.isfinite(counted).any(1)
    median = np.zeros(len(turns))
    median[some] = np.nanmedian(counted[some], 1)
    limit = np.maximum(np.minimum(_FAR_OVER * median, np.maximum(_OVER * median, _LARGE)), _SMALL)
    return turns / limit[:, None]

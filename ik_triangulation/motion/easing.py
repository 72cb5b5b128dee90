# SPDX-License-Identifier: GPL-3.0-or-later
"""Easing of hasty turns: the frames around them are averaged over time and brought back to their goals, repeatedly.

Source: none. A limb that comes into reach unbends by the square root of the way, so a few frames there turn by much
more than the rest; averaging spreads that over the frames in which the limb has room. It keeps to the branch that the
path is on. Frames that miss their goals are as near as the limb comes, and stay.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..cooperative import Work
from ..kinematics.arrays import Indices, Mask
from ..kinematics.batch import States
from ..kinematics.batch.algebra import normalized, signs_along
from ..solvers.batch.descent import PLAIN, Descent, at_one_level, descend
from .shots import Shot, Tracked
from .turns import turns_by_joint

_ROUGH = Descent(iterations=1)  # after all rounds but the last
_CALMER = 0.9  # share of the largest turn that a stretch may have afterwards
_SHARED = 0.5  # of it: the most that a joint may turn afterwards which was calmer, so that it does not pop instead


class Calming(NamedTuple):
    """Amount of easing: frames around a turn that may move, and `averages` in each of so many `rounds`."""

    margin: int = 12
    rounds: int = 5
    averages: int = 12


USUAL = Calming()


def ease(shot: Shot, path: Tracked, hasty: Indices, calming: Calming = USUAL) -> Work[None]:
    """Ease the turns to these frames where that takes off a tenth of the largest and no goal is lost; in place."""
    moving = _moving(shot, path, hasty, calming.margin)
    frames = np.flatnonzero(moving)
    if not len(frames):
        return
    states, before, after = path.states.copy(), *_beside(shot, frames)
    goals = at_one_level(shot.precise_goals(frames))
    for number in range(calming.rounds):
        _average(states, frames, before, after, calming.averages)
        some = states.take(frames)
        descend(shot.tree, some, goals, PLAIN if number == calming.rounds - 1 else _ROUGH)
        states.put(frames, some)
        yield
    eased = shot.system(some, frames)
    turned, other = (turns_by_joint(shot.tree.rotations(each)) for each in (path.states, states))
    turned[:, shot.cuts] = other[:, shot.cuts] = 0.0  # another motion begins there
    for row in np.split(np.arange(len(frames)), np.flatnonzero(np.diff(frames) > 1) + 1):
        around = slice(max(frames[row[0]], 1), frames[row[-1]] + 2)
        most, now = (each[:, around].max(1, initial=0.0) for each in (turned, other))
        calmer = now.max() <= _CALMER * most.max() and (now <= np.maximum(most, _SHARED * most.max())).all()
        if calmer and eased.met[row].all():
            path.put(frames[row], some.take(row), eased.take(row))


def _moving(shot: Shot, path: Tracked, hasty: Indices, margin: int) -> Mask:
    """Frames that may move (F)."""
    moving = np.zeros(len(path.met), bool)
    for k in hasty.tolist():
        moving[max(0, k - 1 - margin) : k + margin + 1] = True
    moving &= path.met
    moving[0] &= not shot.holds_first
    moving[-1] &= shot.last is None
    return moving


def _beside(shot: Shot, frames: Indices) -> tuple[Indices, Indices]:
    """The frames before and after; at an end of a motion the frame itself."""
    before, after = np.maximum(frames - 1, 0), np.minimum(frames + 1, len(shot.frames) - 1)
    before[np.isin(frames, shot.cuts)] += 1
    after[np.isin(after, shot.cuts)] -= 1
    return before, after


def _average(states: States, frames: Indices, before: Indices, after: Indices, times: int) -> None:
    """Average frames so many times with those before and after them, in place."""
    angles, count = states.angles, len(states)
    balls = states.balls * signs_along(states.balls)[:, None]
    every = np.concatenate((angles, balls.reshape(-1, count)))
    for _ in range(times):
        every[:, frames] = 0.5 * every[:, frames] + 0.25 * (every[:, before] + every[:, after])
    states.angles = every[: len(angles)]
    states.balls = normalized(every[len(angles) :].reshape(balls.shape))

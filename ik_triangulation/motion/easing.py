# SPDX-License-Identifier: GPL-3.0-or-later
"""Easing of hasty turns: the frames around them are averaged over time and brought back to their goals, repeatedly.

Source: none. A limb that comes into reach unbends by the square root of the way, so a few frames there turn by much
more than the rest; averaging spreads that over the frames in which the limb has room. It keeps to the branch that the
path is on. Frames that miss their goals are as near as the limb comes, and stay.
"""

from __future__ import annotations

import numpy as np

from ..cooperative import Work
from ..kinematics.arrays import Indices, Mask, Numbers
from ..kinematics.batch.algebra import normalized
from ..solvers.batch.descent import at_one_level, descend
from .shots import Shot, Tracked
from .turns import turns_by_joint

_MARGIN = 12  # frames around a hasty turn that may move
_ROUNDS = 5  # of averaging and bringing back
_AVERAGES = 12  # times that frames are averaged in each
_CALMER = 0.9  # share of the largest turn that a stretch may have afterwards
_SHARED = 0.5  # of it: the most that a joint may turn afterwards which was calmer, so that it does not pop instead


def ease(shot: Shot, path: Tracked, hasty: Indices) -> Work[None]:
    """Ease the turns to these frames where that takes off a tenth of the largest and no goal is lost; in place."""
    moving = _moving(shot, path, hasty)
    frames = np.flatnonzero(moving)
    if not len(frames):
        return
    states, before, after = path.states.copy(), *_beside(shot, frames)
    rough, precise = shot.goals(frames), shot.precise_goals(frames)
    for tasks in [*[rough] * (_ROUNDS - 1), precise]:
        for _ in range(_AVERAGES):
            states.angles[:, frames] = _averaged(*(states.angles[:, k] for k in (before, frames, after)))
            balls = [states.balls[..., k] for k in (before, frames, after)]
            states.balls[..., frames] = normalized(_averaged(*(_alike(each, balls[1]) for each in balls)))
        some = states.take(frames)
        descend(shot.tree, some, at_one_level(tasks))
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


def _moving(shot: Shot, path: Tracked, hasty: Indices) -> Mask:
    """Frames that may move (F)."""
    moving = np.zeros(len(path.met), bool)
    for k in hasty.tolist():
        moving[max(0, k - 1 - _MARGIN) : k + _MARGIN + 1] = True
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


def _averaged(before: Numbers, now: Numbers, after: Numbers) -> Numbers:
    return 0.5 * now + 0.25 * (before + after)


def _alike(balls: Numbers, others: Numbers) -> Numbers:
    """The same rotations (b, 4, F) by those of both quaternions that are nearer to others."""
    against = np.einsum("bif,bif->bf", balls, others) < 0.0
    return np.where(against[:, None], -balls, balls)

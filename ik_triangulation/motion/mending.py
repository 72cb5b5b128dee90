# SPDX-License-Identifier: GPL-3.0-or-later
"""Removal of jumps from a path of all frames: the frames around each are solved anew, then other knots and branches.

Frames are replaced only if no more of them are missed and the largest turn is at least halved, so that a calm limb is
not exchanged for another one that is hardly calmer.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..cooperative import Work
from ..kinematics.arrays import Indices, Numbers
from ..kinematics.batch import States
from .branches import other_branches
from .tracking import KNOT_WAY, Method, Shot, Tracked, corrected, interpolated, smooth, track
from .turns import jumps_of, turns_along

_OTHER_WAYS = (0.3, 0.15, 0.7)  # of the reach between knots, tried where the first path jumps
_MARGINS = (4, 8, 16, 32, 64)  # frames around a jump that are solved anew, tried in this order
_AVERAGES = 40  # times that coordinates are averaged for the maximum of smoothing
_HALVINGS = 4  # of a smoothing that costs a frame its goal
_HALF = 0.5  # share of the largest turn that another path may have at most


def track_without_jumps(shot: Shot, method: Method, seed: int = 0) -> Work[Tracked]:
    """Solve all frames so that joints jump only where they must."""
    best = yield from _mended(shot, (yield from track(shot, method, KNOT_WAY, seed)), method, seed)
    for way in _OTHER_WAYS:
        if not len(jumps_in(shot, best)):
            return best
        other = yield from track(shot, method, way, seed)
        best = _better(shot, best, (yield from _mended(shot, other, method, seed)))
    if len(jumps_in(shot, best)):
        for states in other_branches(shot, best, seed):
            other = yield from corrected(shot, states, method, seed)
            best = _better(shot, best, (yield from _mended(shot, other, method, seed)))
    return best


def _mended(shot: Shot, path: Tracked, method: Method, seed: int) -> Work[Tracked]:
    """Solve the frames around each jump anew, more and more of them."""
    for margin in _MARGINS:
        jumping = jumps_in(shot, path)
        if not len(jumping):
            break
        for begin, end in _windows(shot, jumping, margin):
            yield from _anew(shot, path, begin, end, method, seed)
    return path


def relaxed(shot: Shot, path: Tracked, amount: float, method: Method, seed: int = 0) -> Work[Tracked]:
    """Smooth the joints' curves by an `amount` in 0..1, less where that would cost a frame its goal."""
    for halving in range(_HALVINGS):
        states = path.states.copy()
        smooth(states, round(_AVERAGES * amount * 0.5**halving), shot.cuts)
        other = yield from corrected(shot, states, method, seed)
        if other.met.sum() >= path.met.sum():
            return other
    return path


def jumps_in(shot: Shot, path: Tracked) -> Indices:
    """Frames at which joints jump and the goal does not."""
    return jumps_of(_turns(shot, path), shot.ways, shot.cuts)


def _turns(shot: Shot, path: Tracked) -> Numbers:
    return turns_along(shot.tree.rotations(path.states))


def _better(shot: Shot, path: Tracked, other: Tracked) -> Tracked:
    """The other path if it is clearly calmer where this one jumps, and misses no more frames."""
    if other.met.sum() < path.met.sum():
        return path
    return other if _largest(shot, other) <= _HALF * _largest(shot, path) else path


def _largest(shot: Shot, path: Tracked) -> float:
    """Sum of the turns [rad] of all jumps."""
    along = _turns(shot, path)
    return float(along[jumps_of(along, shot.ways, shot.cuts)].sum())


def _windows(shot: Shot, jumping: Indices, margin: int) -> Iterator[tuple[int, int]]:
    """First and last frame around each jump; windows end at jumps of the goal, where another motion begins."""
    last = len(shot.frames) - 1
    for k in jumping.tolist():
        begin = max(0, k - 1 - margin, *(c for c in shot.cuts.tolist() if c <= k - 1))
        end = min(last, k + margin, *(c - 1 for c in shot.cuts.tolist() if c > k))
        yield begin, end


def _anew(shot: Shot, path: Tracked, begin: int, end: int, method: Method, seed: int) -> Work[None]:
    """Interpolate between two frames and bring those between them to their goals; in place if that is calmer."""
    window = np.arange(begin, end + 1)
    last = path.states.take([end]) if end + 1 < len(path.met) or shot.last is not None else None
    part = Shot(
        shot.tree,
        shot.frames.take(window),
        [task.take(window) for task in shot.tasks],
        path.states.take([begin]),
        last,
        shot.ways[window],
        np.zeros(0, np.intp),
    )
    before = path.states.take(window)
    states = interpolated(shot.tree, np.array([0, end - begin]), before.take([0, -1]), part.frames)
    after = yield from corrected(part, states, _Part(method, begin), seed)
    calmer = _most(shot, after.states) <= _HALF * _most(shot, before)
    if calmer and after.met.sum() >= path.met[window].sum():
        path.put(window, after.states, after)


def _most(shot: Shot, states: States) -> float:
    """Largest turn [rad] of a joint from state to state."""
    return float(turns_along(shot.tree.rotations(states)).max())


class _Part:
    """The method of a path on some of its frames, from `begin` on."""

    def __init__(self, method: Method, begin: int) -> None:
        self._method, self._begin = method, begin

    def follow(self, frames: Indices) -> Work[States]:
        return (yield from self._method.follow(frames + self._begin))

    def refine(self, frames: Indices, states: States) -> Work[States]:
        return (yield from self._method.refine(frames + self._begin, states))

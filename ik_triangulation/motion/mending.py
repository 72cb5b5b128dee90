# SPDX-License-Identifier: GPL-3.0-or-later
"""Removal of jumps from a path of all frames: other knots, then the frames around each jump anew, then other branches.

A path replaces the one before only if it misses no more frames and at least halves the turn of the largest jump, so
that a calm limb is not exchanged for another one that is hardly calmer.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..cooperative import Work
from ..kinematics.arrays import Indices, Numbers
from .branches import other_branches
from .tracking import KNOT_WAY, Method, Shot, Tracked, corrected, interpolated, smooth, track
from .turns import jumps_of, turns_along

_OTHER_WAYS = (0.25, 0.15, 0.6)  # of the reach between knots, tried where the first path jumps
_MARGINS = (4, 8, 16, 32, 64)  # frames around a jump that are solved anew, tried in this order
_AVERAGES = 40  # times that coordinates are averaged for the maximum of smoothing
_HALVINGS = 4  # of a smoothing that costs a frame its goal
_HALF = 0.5  # share of the largest turn that another path may have at most


def track_without_jumps(shot: Shot, method: Method, seed: int = 0) -> Work[Tracked]:
    """Solve all frames so that joints jump only where they must."""
    best = yield from track(shot, method, KNOT_WAY, seed)
    yield
    for way in _OTHER_WAYS:
        if not len(jumps_in(shot, best)):
            return best
        best = _better(shot, best, (yield from track(shot, method, way, seed)))
        yield
    for margin in _MARGINS:
        for begin, end in _windows(shot, best, margin):
            best = _better(shot, best, (yield from _anew(shot, best, begin, end, method, seed)))
            yield
    if len(jumps_in(shot, best)):
        for other in other_branches(shot, best, seed):
            best = _better(shot, best, (yield from corrected(shot, other, method, seed)))
            yield
    return best


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


def _windows(shot: Shot, path: Tracked, margin: int) -> Iterator[tuple[int, int]]:
    """First and last frame around each jump; windows end at jumps of the goal, where another motion begins."""
    last = len(path.met) - 1
    for k in jumps_in(shot, path):
        begin = max([0, int(k) - 1 - margin, *(int(c) for c in shot.cuts if c <= k - 1)])
        end = min([last, int(k) + margin, *(int(c) - 1 for c in shot.cuts if c > k)])
        yield begin, end


def _anew(shot: Shot, path: Tracked, begin: int, end: int, method: Method, seed: int) -> Work[Tracked]:
    """The path with the frames between two of them interpolated and brought to their goals."""
    states = path.states.copy()
    inner = np.arange(begin + 1, end)
    if not len(inner):
        return path
    ends = path.states.take([begin, end])
    part = shot.frames.take(np.arange(begin, end + 1))
    between = interpolated(shot.tree, np.array([0, end - begin]), ends, part)
    states.put(inner, between.take(inner - begin))
    return (yield from corrected(shot, states, method, seed, inner))

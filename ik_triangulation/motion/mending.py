# SPDX-License-Identifier: GPL-3.0-or-later
"""Removal of jumps from a path of all frames.

Where the joints have room, the frames around a jump are interpolated anew and brought to their goals. If the limb's own
method leads from one branch to another too often for that, Gauss-Newton leads from knot to knot, which rotates the
joints least. Around what is left other branches are searched. All but the second look only at a window of the path, so
that the work grows with the number of jumps and not with the length of the path.

Frames are replaced only if no more of them are missed and the largest turn is at least halved, so that a calm limb is
not exchanged for another one that is hardly calmer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from ..cooperative import Work
from ..kinematics.arrays import Indices, Numbers
from ..kinematics.batch import States
from .branches import other_branches
from .tracking import KNOT_WAY, Method, Shot, Tracked, corrected, interpolated, smooth, track
from .turns import jumps_of, turns_of

Proposal = Callable[[Shot, Tracked, int], Iterator[States]]  # other states of a part, from its present path

_MARGINS = (4, 8, 16, 32, 64)  # frames around a jump that are solved anew, tried in this order
_FEW_JUMPS = 3  # that are removed from the path of the limb's own method
_SEARCHED = 64  # frames around a jump in which other branches are searched
_SEARCHES = 8  # at most
_AVERAGES = 40  # times that coordinates are averaged for the maximum of smoothing
_HALVINGS = 4  # of a smoothing that costs a frame its goal
_HALF = 0.5  # share of the largest turn that another path may have at most


def track_without_jumps(shot: Shot, method: Method, seed: int = 0) -> Work[Tracked]:
    """Solve all frames so that joints jump only where they must."""
    path = yield from track(shot, method, KNOT_WAY, seed)
    if len(jumps_in(shot, path)) <= _FEW_JUMPS:
        yield from _mend(shot, path, method, seed)
    if len(jumps_in(shot, path)):
        path = _better(shot, path, (yield from track(shot, method.calmest(), KNOT_WAY, seed)))
        yield from _mend(shot, path, method, seed)
    for begin, end in [*_windows(shot, jumps_in(shot, path), _SEARCHED)][:_SEARCHES]:
        yield from _replace(shot, path, begin, end, method, seed, other_branches)
    return path


def _mend(shot: Shot, path: Tracked, method: Method, seed: int) -> Work[None]:
    """Interpolate the frames around each jump anew, more and more of them; in place."""
    for margin in _MARGINS:
        jumping = jumps_in(shot, path)
        if not len(jumping):
            break
        for begin, end in _windows(shot, jumping, margin):
            yield from _replace(shot, path, begin, end, method, seed, _through)


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
    return turns_of(shot.tree, path.states)


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


def _through(part: Shot, path: Tracked, seed: int) -> Iterator[States]:
    """The frames between both ends, interpolated."""
    ends = np.array([0, len(path.met) - 1])
    yield interpolated(part.tree, ends, path.states.take(ends), part.frames)


def _replace(
    shot: Shot, path: Tracked, begin: int, end: int, method: Method, seed: int, propose: Proposal
) -> Work[None]:
    """Replace the frames between two by what is proposed, brought to their goals, if that is calmer; in place."""
    window = np.arange(begin, end + 1)
    held = end + 1 < len(path.met) or shot.last is not None
    part = Shot(
        shot.tree,
        shot.frames.take(window),
        [task.take(window) for task in shot.tasks],
        path.states.take([begin]),
        path.states.take([end]) if held else None,
        shot.ways[window],
        np.zeros(0, np.intp),
    )
    before = Tracked(part, path.states.take(window))
    for states in propose(part, before, seed):
        after = yield from corrected(part, states, _Part(method, begin), seed)
        if _most(shot, after.states) <= _HALF * _most(shot, before.states) and after.met.sum() >= before.met.sum():
            path.put(window, after.states, after)
            return


def _most(shot: Shot, states: States) -> float:
    """Largest turn [rad] of a joint from state to state."""
    return float(turns_of(shot.tree, states).max())


class _Part(Method):
    """The method of a path on some of its frames, from `begin` on."""

    def __init__(self, method: Method, begin: int) -> None:
        self._method, self._begin = method, begin

    def follow(self, frames: Indices) -> Work[States]:
        return (yield from self._method.follow(frames + self._begin))

    def refine(self, frames: Indices, states: States) -> Work[States]:
        return (yield from self._method.refine(frames + self._begin, states))

    def calmest(self) -> Method:
        return _Part(self._method.calmest(), self._begin)

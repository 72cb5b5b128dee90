# SPDX-License-Identifier: GPL-3.0-or-later
"""Removal of jumps from a path of all frames: other knots, then the frames around each jump anew, then other branches.

A path replaces the one before only if it misses no more frames and at least halves the turn of the largest jump, so
that a calm limb is not exchanged for another one that is hardly calmer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from ..cooperative import Work
from ..kinematics.arrays import Indices
from .branches import other_branches
from .tracking import KNOT_WAY, Method, Shot, Tracked, corrected, interpolated, smooth, track
from .turns import jumps_of, turns_of

_OTHER_WAYS = (0.25, 0.15, 0.6)  # of the reach between knots, tried where the first path jumps
_STRETCH = 256  # frames around a jump that other knots or branches may change
_MARGINS = (4, 8, 16, 32, 64)  # frames around a jump that are solved anew, tried in this order
_AVERAGES = 40  # times that coordinates are averaged for the maximum of smoothing
_HALVINGS = 4  # of a smoothing that costs a frame its goal
_HALF = 0.5  # share of the largest turn that another path may have at most

Attempt = Callable[[Shot, Tracked, Method], Iterator[Work[Tracked]]]  # other paths of a shot, each as work


def track_without_jumps(shot: Shot, method: Method, seed: int = 0) -> Work[Tracked]:
    """Solve all frames so that joints jump only where they must.

    Each attempt is bounded to frames around the jumps that are left, so that the work is in proportion to the number of
    frames and of jumps, not to their product.
    """
    path = yield from track(shot, method, KNOT_WAY, seed)
    for way in _OTHER_WAYS:
        yield from _mended(shot, path, method, _STRETCH, partial(_by_other_knots, way, seed))
    for margin in _MARGINS:
        yield from _mended(shot, path, method, margin, partial(_anew, seed))
    yield from _mended(shot, path, method, _STRETCH, partial(_by_other_branches, seed))
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
    return jumps_of(turns_of(shot.tree, path.states), shot.ways, shot.cuts)


def _mended(shot: Shot, path: Tracked, method: Method, margin: int, attempt: Attempt) -> Work[None]:
    """Try other paths in windows around the jumps, and keep the better ones, in place."""
    yield
    for begin, end in _windows(shot, path, margin):
        window, frames = _part(shot, path, begin, end), slice(begin, end + 1)
        best = before = Tracked(path.states.take(frames), path.met[frames], path.value[frames])
        if not len(jumps_in(window, before)):  # another window has removed them
            continue
        for work in attempt(window, before, method.part(begin, window.first)):
            best = _better(window, best, (yield from work))
            yield
            if not len(jumps_in(window, best)):
                break
        if best is not before:
            path.states.put(frames, best.states)
            path.met[frames], path.value[frames] = best.met, best.value


def _part(shot: Shot, path: Tracked, begin: int, end: int) -> Shot:
    """The shot from one frame to another, both of which stay as they are in the path unless the shot ends there."""
    frames = slice(begin, end + 1)
    is_end = end == len(path.met) - 1
    inside = shot.cuts[(shot.cuts > begin) & (shot.cuts <= end)]
    return Shot(
        shot.tree,
        shot.frames.take(frames),
        [task.take(frames) for task in shot.tasks],
        path.states.take([begin]),
        shot.last if is_end else path.states.take([end]),
        shot.ways[frames],
        inside - begin,
    )


def _better(shot: Shot, path: Tracked, other: Tracked) -> Tracked:
    """The other path if it is clearly calmer where this one jumps, and misses no more frames."""
    if other.met.sum() < path.met.sum():
        return path
    return other if _largest(shot, other) <= _HALF * _largest(shot, path) else path


def _largest(shot: Shot, path: Tracked) -> float:
    """Sum of the turns [rad] of all jumps."""
    along = turns_of(shot.tree, path.states)
    return float(along[jumps_of(along, shot.ways, shot.cuts)].sum())


def _windows(shot: Shot, path: Tracked, margin: int) -> Iterator[tuple[int, int]]:
    """First and last frame around each jump that no window before covers.

    Narrow windows end at jumps of the goal, where another motion begins.
    """
    last, covered = len(path.met) - 1, -1
    cuts = shot.cuts if margin < _STRETCH else shot.cuts[:0]
    for k in jumps_in(shot, path).tolist():
        if k > covered:
            covered = min([last, k + margin, *(cuts[cuts > k] - 1).tolist()])
            yield max([0, k - 1 - margin, *cuts[cuts < k].tolist()]), covered


def _by_other_knots(way: float, seed: int, shot: Shot, _: Tracked, method: Method) -> Iterator[Work[Tracked]]:
    """The path with other knots, every `way` of the reach."""
    yield track(shot, method, way, seed)


def _anew(seed: int, shot: Shot, path: Tracked, method: Method) -> Iterator[Work[Tracked]]:
    """The path with all frames interpolated between its ends and brought to their goals."""
    last = len(path.met) - 1
    if last > 1:
        ends = path.states.take([0, last])
        window = shot._replace(last=path.states.take([last]))
        yield corrected(window, interpolated(shot.tree, np.array([0, last]), ends, shot.frames), method, seed)


def _by_other_branches(seed: int, shot: Shot, path: Tracked, method: Method) -> Iterator[Work[Tracked]]:
    """Paths through other poses at the knots."""
    for states in other_branches(shot, path, seed):
        yield corrected(shot, states, method, seed)

# SPDX-License-Identifier: GPL-3.0-or-later
"""Repair of a path of all frames: jumps removed, hasty turns eased.

Easing of hasty turns: the frames around them are averaged over time and brought back to their goals, repeatedly.
Source: none. A limb that comes into reach unbends by the square root of the way, so a few frames there turn by much
more than the rest; averaging spreads that over the frames in which the limb has room. It keeps to the branch that the
path is on. Frames that miss their goals are as near as the limb comes, and stay.

Removal of jumps from a path of all frames. Where the joints have room, the frames around a jump are interpolated anew
and brought to their goals. If the limb's own method leads from one branch to another too often for that, Gauss-Newton
leads from knot to knot, which rotates the joints least. Around what is left other distances between knots are tried,
then other branches are searched. All but the second look only at a window of the path, so that the work grows with the
number of jumps and not with the length of the path.

Frames are replaced only if none of them is lost, the largest turn is at least halved, and that is worth the distance
from the path given, so that a calm limb is not exchanged for another one that is hardly calmer. What is left of hasty
turns in the end is eased.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from ..cooperative import Work
from ..goals.task import PlaceTask
from ..kinematics.arrays import Indices, Mask, Numbers
from ..kinematics.batch import States
from ..kinematics.batch.algebra import normalized, signs_along
from ..kinematics.batch.tree import joined
from ..solvers.batch.descent import PLAIN, Descent, at_one_level, descend
from .jumps import (
    HASTY,
    NEAR,
    PAID,
    WORTH_EASING,
    apart,
    beyond_speed_of,
    jumps_of,
    standing_out,
    turns_by_joint,
    turns_of,
)
from .knots import other_branches
from .tracking import (
    KnotSolver,
    Tracked,
    Tracking,
    corrected,
    interpolated,
    knot_way,
    meet_like,
    prioritise,
    smooth,
    track,
)

_ROUGH = Descent(iterations=1)  # after all rounds but the last
_CALMER = 0.9  # share of the largest turn that a stretch may have afterwards
_SHARED = 0.5  # of it: the most that a joint may turn afterwards which was calmer, so that it does not pop instead

Judge = Callable[[Tracking, Tracked, Tracked], bool]  # tells whether the second path is calmer
Proposal = Callable[[Tracking, Tracked, KnotSolver, int], Iterator[Work[Tracked]]]  # other paths of a part

_MARGINS = (4, 8, 16, 32, 64)  # frames around a jump that are solved anew, tried in this order
_NARROW = 8  # the most of them where a frame near by is out of reach
_MENDED = 24  # jumps that are looked at in one round
_FEW_JUMPS, _RARE = 3, 0.002  # jumps, also as a share of the frames, that are removed from the method's own path
_OTHER_WAYS = (0.25, 0.15)  # of the reach between knots
_STRETCH = 128  # frames around a jump in which these are tried
_SEARCHED = 64  # frames around a jump in which other branches are searched
_SEARCHES = 8  # at most
_AVERAGES = 40  # times that coordinates are averaged for the maximum of smoothing
_HALVINGS = 4  # of a smoothing that costs a frame its goal
_HALF = 0.5  # share of the largest turn that another path may have at most
_FARTHER = 0.1  # of the reach: the most that a frame that is missed may get farther from its goal


class Calming(NamedTuple):
    """Amount of easing: frames around a turn that may move, and `averages` in each of so many `rounds`."""

    margin: int = 12
    rounds: int = 5
    averages: int = 12


USUAL = Calming()


def ease(shot: Tracking, path: Tracked, hasty: Indices, calming: Calming = USUAL) -> Work[None]:
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


def _moving(shot: Tracking, path: Tracked, hasty: Indices, margin: int) -> Mask:
    """Frames that may move (F)."""
    moving = np.zeros(len(path.met), bool)
    for k in hasty.tolist():
        moving[max(0, k - 1 - margin) : k + margin + 1] = True
    moving &= path.met
    moving[0] &= not shot.holds_first
    moving[-1] &= shot.last is None
    return moving


def _beside(shot: Tracking, frames: Indices) -> tuple[Indices, Indices]:
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


def track_without_jumps(
    shot: Tracking, method: KnotSolver, seed: int = 0, known: Tracked | None = None
) -> Work[Tracked]:
    """Solve all frames so that joints jump only where they must.

    Of frames that a `known` path misses none is searched; those which come nearer there have its poses.
    """
    if known is not None:
        _learn(shot, known, method)
    path = yield from track(shot, method, knot_way(shot.tree), seed, search=known is None)
    if known is not None:
        yield from meet_like(shot, path, known, method, seed)
    _learn(shot, path, method)
    along = _turns(shot, path)
    if len(_jumping(shot, path, along)):
        path = yield from _mended(shot, path, method, seed)
        along = _turns(shot, path)
    yield from ease(shot, path, _hasty(shot, path, along))
    return path


def _learn(shot: Tracking, path: Tracked, method: KnotSolver) -> None:
    """Spare knots the search for poses that reach where a path has found none."""
    if isinstance(shot.tasks[0], PlaceTask):
        method.learn(np.where(path.met, 0.0, path.off[0]))


def _mended(shot: Tracking, path: Tracked, method: KnotSolver, seed: int) -> Work[Tracked]:
    """The path, or another one, with as few jumps as can be found."""
    avoidable = len(avoidable_jumps(shot, path))
    calmest = method.calmest()
    if avoidable <= max(_FEW_JUMPS, _RARE * len(path.met)) or calmest is method:
        yield from mend(shot, path, method, seed)
    if calmest is not method and len(avoidable_jumps(shot, path)):
        other = yield from track(shot, calmest, knot_way(shot.tree), seed, search=False)
        yield from meet_like(shot, other, path, calmest, seed)
        path = calmer(shot, path, other)
        yield from mend(shot, path, method, seed)
    if not shot.holds_first and len(jumps_in(shot, path)):
        path = calmer(shot, path, (yield from _from_the_end(shot, path, calmest, seed)))
    yield from _search(shot, path, method, seed)
    return path


def mend_windows(shot: Tracking, path: Tracked, method: KnotSolver, seed: int) -> Work[None]:
    """Solve the frames around jumps anew, and ease what is left of them, so that all others stay; in place.

    A turn that stands out only since those around it are gone is not searched, which takes longest, but eased.
    """
    jumping = jumps_in(shot, path)
    if not len(jumping):
        return
    yield from mend(shot, path, method, seed)
    yield from _search(shot, path, method, seed, jumping)
    yield from ease(shot, path, jumps_in(shot, path))


def _search(shot: Tracking, path: Tracked, method: KnotSolver, seed: int, among: Indices | None = None) -> Work[None]:
    """Try other distances between knots, then other branches, around the jumps that are left `among` some; in place."""

    def left() -> Indices:
        jumping = avoidable_jumps(shot, path)
        return jumping if among is None else np.intersect1d(jumping, among)

    calmest = method.calmest()
    for way in _OTHER_WAYS:
        for begin, end in [*_windows(shot, left(), _STRETCH)][:_MENDED]:
            yield from _replace(shot, path, begin, end, calmest, seed, partial(_by_other_knots, way), _jumps_less)
    for begin, end in [*_windows(shot, left(), _SEARCHED)][:_SEARCHES]:
        yield from _replace(shot, path, begin, end, method, seed, _by_other_branches, _turns_less)


def _from_the_end(shot: Tracking, path: Tracked, method: KnotSolver, seed: int) -> Work[Tracked]:
    """The path that leads from the last frame back to the first one, on the branch that it ends on."""
    end = len(path.met) - 1
    begun = path.states.take([end])
    back = yield from track(shot.backwards(begun), method.part(end, begun, -1), knot_way(shot.tree), seed, search=False)
    return Tracked(shot, back.states.take(slice(None, None, -1)))


def avoidable_jumps(shot: Tracking, path: Tracked) -> Indices:
    """Jumps that neither the goal explains nor a frame near them that is out of reach."""
    jumping = jumps_in(shot, path)
    missed = np.concatenate(([0], np.cumsum(~path.met)))
    first, last = np.maximum(jumping - NEAR, 0), np.minimum(jumping + NEAR, len(path.met))
    return np.asarray(jumping[missed[last] == missed[first]], np.intp)


def mend(shot: Tracking, path: Tracked, method: KnotSolver, seed: int) -> Work[None]:
    """Interpolate the frames around each jump anew, more and more of them; in place."""
    for margin in _MARGINS:
        jumping = jumps_in(shot, path) if margin <= _NARROW else avoidable_jumps(shot, path)
        if not len(jumping):
            break
        for windows in _apart([*_windows(shot, jumping, margin)][:_MENDED]):
            for (begin, end), states in zip(windows, _through(shot, path, windows), strict=True):
                part, window = _part(shot, path, begin, end), np.arange(begin, end + 1)
                before, after = Tracked(part, path.states.take(window)), Tracked(part, states)
                if _improves(part, before, after, _turns_less):
                    path.put(window, after.states, after)
            yield


def relaxed(shot: Tracking, path: Tracked, amount: float, method: KnotSolver, seed: int = 0) -> Work[Tracked]:
    """Smooth the joints' curves by an `amount` in 0..1, less where that would cost a frame its goal."""
    for halving in range(_HALVINGS):
        states = path.states.copy()
        smooth(states, round(_AVERAGES * amount * 0.5**halving), shot.cuts)
        other = yield from corrected(shot, states, method, seed, search=False)
        if other.met.sum() >= path.met.sum() and not (path.urgent & ~other.urgent).any():
            other.steps += path.steps
            return other
    return path


def jumps_in(shot: Tracking, path: Tracked) -> Indices:
    """Frames at which joints jump and the goal explains it neither by a jump nor by its speed."""
    return _jumping(shot, path, _turns(shot, path))


def _jumping(shot: Tracking, path: Tracked, along: Numbers) -> Indices:
    return beyond_speed_of(shot.tree, path.states, shot.ways, jumps_of(along, shot.ways, shot.cuts))


def hasty_in(shot: Tracking, path: Tracked) -> Indices:
    """Frames at which joints turn faster than around them, and than the goal explains; jumps among them."""
    return _hasty(shot, path, _turns(shot, path))


def fast_in(shot: Tracking, path: Tracked, most: float) -> Indices:
    """Frames at which joints turn by more than `most` [rad], and than the goal explains."""
    found = np.setdiff1d(np.flatnonzero(_turns(shot, path) > most), shot.cuts)
    return beyond_speed_of(shot.tree, path.states, shot.ways, found)


def _hasty(shot: Tracking, path: Tracked, along: Numbers) -> Indices:
    return beyond_speed_of(shot.tree, path.states, shot.ways, standing_out(along, WORTH_EASING, HASTY))


def _turns(shot: Tracking, path: Tracked) -> Numbers:
    return turns_of(shot.tree, path.states)


def calmer(shot: Tracking, path: Tracked, other: Tracked) -> Tracked:
    """The other path if it is clearly calmer where this one jumps, and loses no frame."""
    if _loses(shot, path, other):
        return path
    return other if _largest(shot, other) <= _HALF * _largest(shot, path) else path


def _largest(shot: Tracking, path: Tracked) -> float:
    """Sum of the turns [rad] of all jumps."""
    along = _turns(shot, path)
    return float(along[jumps_of(along, shot.ways, shot.cuts)].sum())


def _windows(shot: Tracking, jumping: Indices, margin: int) -> Iterator[tuple[int, int]]:
    """First and last frame around each jump that is not in a window before.

    Windows end at jumps of the goal, where another motion begins.
    """
    last, covered, cuts = len(shot.frames) - 1, -1, shot.cuts
    for k in jumping.tolist():
        if k > covered:
            covered = min(last, k + margin, *(cuts[cuts > k] - 1).tolist())
            yield max(0, k - 1 - margin, *cuts[cuts < k].tolist()), covered


def _apart(windows: Sequence[tuple[int, int]]) -> Iterator[list[tuple[int, int]]]:
    """Groups of windows that have no frame in common but their ends."""
    while windows:
        group: list[tuple[int, int]] = [windows[0]]
        rest: list[tuple[int, int]] = []
        for window in windows[1:]:
            (group if window[0] >= group[-1][1] else rest).append(window)
        yield group
        windows = rest


def _through(shot: Tracking, path: Tracked, windows: Sequence[tuple[int, int]]) -> list[States]:
    """The states of windows whose frames are interpolated between both ends, and all brought to their goals at once."""
    found = []
    for begin, end in windows:
        ends, window = np.array([begin, end]), np.arange(begin, end + 1)
        found.append(interpolated(shot.tree, ends - begin, path.states.take(ends), shot.frames.take(window)))
    held = [end + 1 < len(path.met) or shot.last is not None for _, end in windows]
    inner = [np.arange(begin + 1, end + 1 - last) for (begin, end), last in zip(windows, held, strict=True)]
    some = joined([states.take(slice(1, 1 + len(own))) for states, own in zip(found, inner, strict=True)])
    frames = np.concatenate(inner)
    descend(shot.tree, some, at_one_level(shot.precise_goals(frames)))
    if shot.has_priorities:
        _put_first(shot, some, frames)
    place = 0
    for states, own in zip(found, inner, strict=True):
        states.put(slice(1, 1 + len(own)), some.take(slice(place, place + len(own))))
        place += len(own)
    return found


def _put_first(shot: Tracking, some: States, frames: Indices) -> None:
    """Meet the most urgent goals of frames, whose states these are, where not all are met; in place."""
    missed = np.flatnonzero(~shot.system(some, frames).met)
    if len(missed):
        part, own = shot._replace(tasks=shot.goals(frames[missed])), some.take(missed)
        path = Tracked(part, own)
        prioritise(part, path, np.arange(len(missed)))
        some.put(missed, path.states)


def _by_other_knots(
    way: float, part: Tracking, path: Tracked, method: KnotSolver, seed: int
) -> Iterator[Work[Tracked]]:
    """The path with knots every `way` of the reach."""
    yield track(part, method, way, seed, search=False)


def _by_other_branches(part: Tracking, path: Tracked, method: KnotSolver, seed: int) -> Iterator[Work[Tracked]]:
    """Paths through other poses at the knots."""
    for states in other_branches(part, path, seed):
        yield corrected(part, states, method, seed, search=False)


def _replace(
    shot: Tracking,
    path: Tracked,
    begin: int,
    end: int,
    method: KnotSolver,
    seed: int,
    propose: Proposal,
    is_calmer: Judge,
) -> Work[None]:
    """Replace the frames between two by what is proposed, brought to their goals, if that is calmer; in place."""
    window, part = np.arange(begin, end + 1), _part(shot, path, begin, end)
    before = Tracked(part, path.states.take(window))
    for work in propose(part, before, method.part(begin, part.first), seed):
        after = yield from work
        if _improves(part, before, after, is_calmer):
            path.put(window, after.states, after)
            return


def _part(shot: Tracking, path: Tracked, begin: int, end: int) -> Tracking:
    """The frames between two, both of which stay but for a last frame that need not."""
    held = end + 1 < len(path.met) or shot.last is not None
    last = path.states.take([end]) if held else None
    return shot.part(np.arange(begin, end + 1), path.states.take([begin]), last)


def _improves(part: Tracking, before: Tracked, after: Tracked, is_calmer: Judge) -> bool:
    """Tell whether other frames are calmer, lose nothing, and are worth the distance from those before."""
    return not _loses(part, before, after) and is_calmer(part, before, after) and pays(part, before, after)


def _loses(shot: Tracking, before: Tracked, after: Tracked) -> bool:
    """Tell whether a frame is missed that was met, if only in its urgent goals, or one missed is farther off."""
    farther = np.sqrt(after.value) > np.sqrt(before.value) + _FARTHER * shot.tree.size
    lost = (before.met & ~after.met) | (before.urgent & ~after.urgent) | (farther & ~after.met)
    return bool(lost.any())


def pays(shot: Tracking, before: Tracked, after: Tracked) -> bool:
    """Tell whether the turns taken off are worth the distance from the path given; both count as in viterbi."""
    given, found = (shot.tree.rotations(each.states) for each in (before, after))
    was, steps = ((apart(each[..., 1:], each[..., :-1]) ** 2).sum() for each in (given, found))
    return bool(steps + PAID * (apart(given, found) ** 2).sum() < was)


def _turns_less(shot: Tracking, before: Tracked, after: Tracked) -> bool:
    """Tell whether the largest turn is at least halved."""
    return most_turned(shot, after) <= _HALF * most_turned(shot, before)


def _jumps_less(shot: Tracking, before: Tracked, after: Tracked) -> bool:
    """Tell whether the turns of all jumps are at least halved, and no turn is larger than before."""
    return calmer(shot, before, after) is after and most_turned(shot, after) <= most_turned(shot, before)


def most_turned(shot: Tracking, path: Tracked) -> float:
    """Largest turn [rad] of a joint from frame to frame."""
    return float(_turns(shot, path).max())

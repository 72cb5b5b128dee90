# SPDX-License-Identifier: GPL-3.0-or-later
"""Repair of a path of all frames: jumps removed, hasty turns eased.

Easing of hasty turns: the frames around them are averaged over time and brought back to their goals, repeatedly.
Source: none. A limb that comes into reach unbends by the square root of the distance, so a few frames there turn by
much more than the rest; averaging spreads that over the frames in which the limb has room. It keeps to the branch that
the path is on. Frames that miss their goals are as near as the limb comes, and stay.

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
from ..kinematics.arrays import Indices, Mask
from ..kinematics.batch import States
from ..kinematics.batch.algebra import normalized, signs_along
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
    """Amount of easing: frames around a turn that may move, and `averages` in each of `rounds`."""

    margin: int = 12
    rounds: int = 5
    averages: int = 12


USUAL = Calming()


def ease(tracking: Tracking, path: Tracked, hasty: Indices, calming: Calming = USUAL) -> Work[None]:
    """Ease the turns to these frames where that takes off a tenth of the largest and no goal is lost; in place."""
    moving = _moving(tracking, path, hasty, calming.margin)
    frames = np.flatnonzero(moving)
    if not len(frames):
        return
    states, before, after = path.states.copy(), *_beside(tracking, frames)
    goals = at_one_level(tracking.precise_goals(frames))
    for number in range(calming.rounds):
        _average(states, frames, before, after, calming.averages)
        some = states.take(frames)
        descend(tracking.tree, some, goals, PLAIN if number == calming.rounds - 1 else _ROUGH)
        states.put(frames, some)
        yield
    eased = tracking.system(some, frames)
    turned, other = (turns_by_joint(tracking.tree.rotations(each)) for each in (path.states, states))
    turned[:, tracking.cuts] = other[:, tracking.cuts] = 0.0  # another motion begins there
    for row in np.split(np.arange(len(frames)), np.flatnonzero(np.diff(frames) > 1) + 1):
        around = slice(max(frames[row[0]], 1), frames[row[-1]] + 2)
        most, now = (each[:, around].max(1, initial=0.0) for each in (turned, other))
        calmer = now.max() <= _CALMER * most.max() and (now <= np.maximum(most, _SHARED * most.max())).all()
        if calmer and eased.met[row].all():
            path.put(frames[row], some.take(row), eased.take(row))


def _moving(tracking: Tracking, path: Tracked, hasty: Indices, margin: int) -> Mask:
    """Frames that may move (F)."""
    moving = np.zeros(len(path.met), bool)
    for k in hasty.tolist():
        moving[max(0, k - 1 - margin) : k + margin + 1] = True
    moving &= path.met
    moving[0] &= not tracking.holds_first
    moving[-1] &= tracking.last is None
    return moving


def _beside(tracking: Tracking, frames: Indices) -> tuple[Indices, Indices]:
    """The frames before and after; at an end of a motion the frame itself."""
    before, after = np.maximum(frames - 1, 0), np.minimum(frames + 1, len(tracking.frames) - 1)
    before[np.isin(frames, tracking.cuts)] += 1
    after[np.isin(after, tracking.cuts)] -= 1
    return before, after


def _average(states: States, frames: Indices, before: Indices, after: Indices, times: int) -> None:
    """Average frames with those before and after them, in place, `times` times."""
    angles, count = states.angles, len(states)
    balls = states.balls * signs_along(states.balls)[:, None]
    every = np.concatenate((angles, balls.reshape(-1, count))).T.copy()  # frames first, as some are taken out often
    own = every[frames]
    for _ in range(times):
        own = 0.5 * own + 0.25 * (every[before] + every[after])
        every[frames] = own
    every = every.T.copy()
    states.angles = every[: len(angles)]
    states.balls = normalized(every[len(angles) :].reshape(balls.shape))


def track_without_jumps(
    tracking: Tracking, method: KnotSolver, seed: int = 0, known: Tracked | None = None
) -> Work[Tracked]:
    """Solve all frames so that joints jump only where they must.

    Of frames that a `known` path misses none is searched; those which come nearer there have its poses.
    """
    if known is not None:
        _learn(tracking, known, method)
    path = yield from track(tracking, method, knot_way(tracking.tree), seed, search=known is None)
    if known is not None:
        yield from meet_like(tracking, path, known, method, seed)
    _learn(tracking, path, method)
    if len(jumps_in(tracking, path)):
        path = yield from _mended(tracking, path, method, seed)
    yield from ease(tracking, path, hasty_in(tracking, path))
    return path


def _learn(tracking: Tracking, path: Tracked, method: KnotSolver) -> None:
    """Spare knots the search for poses that reach where a path has found none."""
    if isinstance(tracking.tasks[0], PlaceTask):
        method.learn(np.where(path.met, 0.0, path.off[0]))


def _mended(tracking: Tracking, path: Tracked, method: KnotSolver, seed: int) -> Work[Tracked]:
    """The path, or another one, with as few jumps as can be found."""
    avoidable = len(avoidable_jumps(tracking, path))
    calmest = method.calmest()
    if avoidable <= max(_FEW_JUMPS, _RARE * len(path.met)) or calmest is method:
        yield from mend(tracking, path)
    if calmest is not method and len(avoidable_jumps(tracking, path)):
        other = yield from track(tracking, calmest, knot_way(tracking.tree), seed, search=False)
        yield from meet_like(tracking, other, path, calmest, seed)
        path = calmer(tracking, path, other)
        yield from mend(tracking, path)
    if not tracking.holds_first and len(jumps_in(tracking, path)):
        path = calmer(tracking, path, (yield from _from_the_end(tracking, path, calmest, seed)))
    yield from _search(tracking, path, method, seed)
    return path


def mend_windows(tracking: Tracking, path: Tracked, method: KnotSolver, seed: int) -> Work[None]:
    """Solve the frames around jumps anew, and ease what is left of them, so that all others stay; in place.

    A turn that became an outlier only as those around it went is eased, as a search takes longest.
    """
    jumping = jumps_in(tracking, path)
    if not len(jumping):
        return
    yield from mend(tracking, path)
    yield from _search(tracking, path, method, seed, jumping)
    yield from ease(tracking, path, jumps_in(tracking, path))


def _search(
    tracking: Tracking, path: Tracked, method: KnotSolver, seed: int, among: Indices | None = None
) -> Work[None]:
    """Try other distances between knots, then other branches, around the jumps that are left `among` some; in place."""

    def left() -> Indices:
        jumping = avoidable_jumps(tracking, path)
        return jumping if among is None else np.intersect1d(jumping, among)

    calmest = method.calmest()
    for way in _OTHER_WAYS:
        for begin, end in [*_windows(tracking, left(), _STRETCH)][:_MENDED]:
            yield from _replace(tracking, path, begin, end, calmest, seed, partial(_by_other_knots, way), _jumps_less)
    for begin, end in [*_windows(tracking, left(), _SEARCHED)][:_SEARCHES]:
        yield from _replace(tracking, path, begin, end, method, seed, _by_other_branches, _turns_less)


def _from_the_end(tracking: Tracking, path: Tracked, method: KnotSolver, seed: int) -> Work[Tracked]:
    """The path that leads from the last frame back to the first one, on the branch that it ends on."""
    end = len(path.met) - 1
    begun = path.states.take([end])
    back = yield from track(
        tracking.backwards(begun), method.part(end, begun, -1), knot_way(tracking.tree), seed, search=False
    )
    return Tracked(tracking, back.states.take(slice(None, None, -1)))


def avoidable_jumps(tracking: Tracking, path: Tracked) -> Indices:
    """Jumps that neither the goal explains nor a frame near them that is out of reach."""
    jumping = jumps_in(tracking, path)
    missed = np.concatenate(([0], np.cumsum(~path.met)))
    first, last = np.maximum(jumping - NEAR, 0), np.minimum(jumping + NEAR, len(path.met))
    return np.asarray(jumping[missed[last] == missed[first]], np.intp)


def mend(tracking: Tracking, path: Tracked) -> Work[None]:
    """Interpolate the frames around each jump anew, more and more of them; in place."""
    for margin in _MARGINS:
        jumping = jumps_in(tracking, path) if margin <= _NARROW else avoidable_jumps(tracking, path)
        if not len(jumping):
            break
        for windows in _apart([*_windows(tracking, jumping, margin)][:_MENDED]):
            for (begin, end), after in zip(windows, _through(tracking, path, windows), strict=True):
                window = np.arange(begin, end + 1)
                if _improves(tracking, path.take(window), after, _turns_less):
                    path.put(window, after.states, after)
            yield


def relaxed(tracking: Tracking, path: Tracked, amount: float, method: KnotSolver, seed: int = 0) -> Work[Tracked]:
    """Smooth the joints' curves by an `amount` in 0..1, less where that would cost a frame its goal."""
    for halving in range(_HALVINGS):
        states = path.states.copy()
        smooth(states, round(_AVERAGES * amount * 0.5**halving), tracking.cuts)
        other = yield from corrected(tracking, states, method, seed, search=False)
        if other.met.sum() >= path.met.sum() and not (path.urgent & ~other.urgent).any():
            other.steps += path.steps
            return other
    return path


def jumps_in(tracking: Tracking, path: Tracked) -> Indices:
    """Frames at which joints jump and the goal explains it neither by a jump nor by its speed."""
    found = jumps_of(path.turns, tracking.ways, tracking.cuts)
    return beyond_speed_of(tracking.tree, path.states, tracking.ways, found)


def hasty_in(tracking: Tracking, path: Tracked) -> Indices:
    """Frames at which joints turn faster than around them, and than the goal explains; jumps among them."""
    return beyond_speed_of(tracking.tree, path.states, tracking.ways, standing_out(path.turns, WORTH_EASING, HASTY))


def fast_in(tracking: Tracking, path: Tracked, most: float) -> Indices:
    """Frames at which joints turn by more than `most` [rad], and than the goal explains."""
    found = np.setdiff1d(np.flatnonzero(path.turns > most), tracking.cuts)
    return beyond_speed_of(tracking.tree, path.states, tracking.ways, found)


def calmer(tracking: Tracking, path: Tracked, other: Tracked) -> Tracked:
    """The other path if it is clearly calmer where this one jumps, and loses no frame."""
    if _loses(tracking, path, other):
        return path
    return other if _largest(tracking, other) <= _HALF * _largest(tracking, path) else path


def _largest(tracking: Tracking, path: Tracked) -> float:
    """Sum of the turns [rad] of all jumps."""
    return float(path.turns[jumps_of(path.turns, tracking.ways, tracking.cuts)].sum())


def _windows(tracking: Tracking, jumping: Indices, margin: int) -> Iterator[tuple[int, int]]:
    """First and last frame around each jump that is not in a window before.

    Windows end at jumps of the goal, where another motion begins.
    """
    last, covered, cuts = len(tracking.frames) - 1, -1, tracking.cuts
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


def _through(tracking: Tracking, path: Tracked, windows: Sequence[tuple[int, int]]) -> list[Tracked]:
    """The path in windows whose frames are interpolated between both ends, and all brought to their goals at once."""
    ends, sizes = np.array(windows), np.array([end + 1 - begin for begin, end in windows])
    every, after = np.concatenate([np.arange(begin, end + 1) for begin, end in windows]), np.cumsum(sizes)
    knots = np.stack((after - sizes, after - 1), 1).ravel()
    states = interpolated(tracking.tree, knots, path.states.take(ends.ravel()), tracking.frames.take(every))
    moving = np.ones(len(every), bool)
    moving[knots] = False
    moving[-1] = ends[-1, 1] + 1 == len(path.met) and tracking.last is None
    inner = np.flatnonzero(moving)
    some, part = states.take(inner), tracking._replace(tasks=tracking.goals(every[inner]))
    descend(tracking.tree, some, at_one_level(tracking.precise_goals(every[inner])))
    if tracking.has_priorities:
        _put_first(tracking, some, every[inner])
    whole, found = Tracked(part, some), list[Tracked]()
    parts = np.split(np.arange(len(inner)), np.searchsorted(inner, after[:-1]))
    for (begin, end), columns in zip(windows, parts, strict=True):
        window, own = path.take(np.arange(begin, end + 1)), whole.take(columns)
        window.put(slice(1, 1 + len(columns)), own.states, own)
        found.append(window)
    return found


def _put_first(tracking: Tracking, some: States, frames: Indices) -> None:
    """Meet the most urgent goals of frames, whose states these are, where not all are met; in place."""
    missed = np.flatnonzero(~tracking.system(some, frames).met)
    if len(missed):
        part, own = tracking._replace(tasks=tracking.goals(frames[missed])), some.take(missed)
        path = Tracked(part, own)
        prioritise(part, path, np.arange(len(missed)))
        some.put(missed, path.states)


def _by_other_knots(
    way: float, part: Tracking, path: Tracked, method: KnotSolver, seed: int
) -> Iterator[Work[Tracked]]:
    """The path with a knot for each `way` as a share of the reach."""
    yield track(part, method, way, seed, search=False)


def _by_other_branches(part: Tracking, path: Tracked, method: KnotSolver, seed: int) -> Iterator[Work[Tracked]]:
    """Paths through other poses at the knots."""
    for states in other_branches(part, path, seed):
        yield corrected(part, states, method, seed, search=False)


def _replace(
    tracking: Tracking,
    path: Tracked,
    begin: int,
    end: int,
    method: KnotSolver,
    seed: int,
    propose: Proposal,
    is_calmer: Judge,
) -> Work[None]:
    """Replace the frames between two by what is proposed, brought to their goals, if that is calmer; in place."""
    window, part = np.arange(begin, end + 1), _part(tracking, path, begin, end)
    before = path.take(window)
    for work in propose(part, before, method.part(begin, part.first), seed):
        after = yield from work
        if _improves(part, before, after, is_calmer):
            path.put(window, after.states, after)
            return


def _part(tracking: Tracking, path: Tracked, begin: int, end: int) -> Tracking:
    """The frames between two, both of which stay but for a last frame that need not."""
    held = end + 1 < len(path.met) or tracking.last is not None
    last = path.states.take([end]) if held else None
    return tracking.part(np.arange(begin, end + 1), path.states.take([begin]), last)


def _improves(tracking: Tracking, before: Tracked, after: Tracked, is_calmer: Judge) -> bool:
    """Tell whether other frames are calmer, lose nothing, and are worth the distance from those before."""
    return not _loses(tracking, before, after) and is_calmer(tracking, before, after) and pays(tracking, before, after)


def _loses(tracking: Tracking, before: Tracked, after: Tracked) -> bool:
    """Tell whether a frame is missed that was met, if only in its urgent goals, or one missed is farther off."""
    farther = np.sqrt(after.value) > np.sqrt(before.value) + _FARTHER * tracking.tree.size
    lost = (before.met & ~after.met) | (before.urgent & ~after.urgent) | (farther & ~after.met)
    return bool(lost.any())


def pays(tracking: Tracking, before: Tracked, after: Tracked) -> bool:
    """Tell whether the turns taken off are worth the distance from the path given; both count as in viterbi."""
    given, found = (tracking.tree.rotations(each.states) for each in (before, after))
    was, steps = ((apart(each[..., 1:], each[..., :-1]) ** 2).sum() for each in (given, found))
    return bool(steps + PAID * (apart(given, found) ** 2).sum() < was)


def _turns_less(tracking: Tracking, before: Tracked, after: Tracked) -> bool:
    """Tell whether the largest turn is at least halved."""
    return bool(after.turns.max() <= _HALF * before.turns.max())


def _jumps_less(tracking: Tracking, before: Tracked, after: Tracked) -> bool:
    """Tell whether the turns of all jumps are at least halved, and no turn is larger than before."""
    return calmer(tracking, before, after) is after and bool(after.turns.max() <= before.turns.max())

# SPDX-License-Identifier: GPL-3.0-or-later
"""Trade of a hand's or foot's turn where only a leap would meet it, over a shot and while a limb is dragged.

Search for places in a shot where the rotation of a hand or foot has to be traded, and the trade there. A shot whose end
can turn as told by a calm motion stays as it is. Frames are the last axis of every array.

A single pose that follows another one: where the best pose for a goal is a leap away, it is traded for a near one. A
limb that is dragged has no shot, but the pose before it. With that as a first frame that stays, the second one is what
a shot of both makes of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from ...goals import Goal, Orientation
from ...goals.from_goals import RADIAN
from ...goals.orientation import OrientTask
from ...goals.task import PlaceTask, Task
from ...kinematics import Free, Pose
from ...kinematics.arrays import Indices, Mask, Numbers
from ...kinematics.batch import States, Tree
from ...kinematics.batch.algebra import (
    at,
    compose,
    cross,
    dot,
    lengths,
    matrices,
    rotate,
    turn_vectors,
)
from ...kinematics.rotation import rotation_angle
from ..batch.change import System
from ..batch.descent import descend, precisely
from ..solver import LimbForm
from .one_limb import place_in_reach, pose_or_give_way, suits_one
from .one_trade import trade_one
from .swivel import SwivelCost
from .tip_limb import TipLimb
from .traded import Trade, WristPath
from .two_bones import TwoBones

_LEAPS, _EXPLAINED_IN_A_FRAME = (
    np.radians(12.0),
    2.0,
)  # turn of a joint in a frame at 30 a second; times what the target explains
_OUTSIDE = 1e-5  # [rad] beyond a limit that is no rounding
_AROUND, _APART = 24, 90  # frames at 30 a second: traded before and after a place; as one where that is all between
_NEAR, _SHIFTED = np.radians([1.0, 1.5])  # turn up to which it is made exact, and the change of swivel for that; fading

_LEAP, _EXPLAINED_IN_A_MOVE = np.radians(20.0), 2.0  # turn of a joint in a move; times what the target explains
_SAME = 1e-6  # of the reach: a limb that is so near is left as it is
_MOVES = 12.0  # a second: a move of a drag may change as much as a frame would at this rate


class Tempo(NamedTuple):
    """Weights of changes of swivel and wrist from frame to frame, frames a second, and whether it is a cycle."""

    swivel: float
    wrist: float
    fps: float
    cyclic: bool

    @property
    def rate(self) -> float:
        """30 by the frames a second."""
        return 30.0 / self.fps


def traded(
    tasks: Sequence[Task],
    told: Numbers,
    limb: TwoBones,
    cost: SwivelCost,
    flexion: Numbers | None,
    swivels: Numbers,
    rotations: Numbers,
    held: Indices,
    tempo: Tempo,
) -> tuple[States, Mask] | None:
    """Return the states of limbs at `swivels` (F), whose joints have these rotations (3, 4, F), with the turn of their
    end traded where it has to be, and where (F).

    Returns None if that is nowhere. The tasks are in reach, and so is the turn of the end in `limb`, which `told`
    (3, 3, F) need not be; `cost` is that of the swivels.
    """
    tree, frames = limb.tree, limb.frames
    if limb.end is None or isinstance(tree.joints[2].freedom, Free) or len(frames) < 2:
        return None
    stretches = list(_stretches(_in_trouble(limb, cost, swivels, rotations, tempo), tempo))
    if not stretches:
        return None
    rotations, where = rotations.copy(), np.zeros(len(frames), bool)
    orient = next(each for each in tasks if isinstance(each, OrientTask))
    price = orient.length / (RADIAN * tree.size)
    for some in stretches:
        inner = some[_middle(some, len(frames))]
        fixed = np.isin(some, held)
        if len(some) <= len(frames) + 1:
            fixed[0] |= some[0] != 0 or tempo.cyclic
            fixed[-1] |= some[-1] != len(frames) - 1 or tempo.cyclic
        found = traded_in(limb, told[..., some], cost, flexion, rotations[..., some], some, fixed, price, tempo)
        rotations[..., inner] = found[..., _middle(some, len(frames))]
        where[inner] = True
    states = tree.posed(rotations, frames)
    put_in_place(tree, states, tasks, np.flatnonzero(where))
    return states, where


def _in_trouble(limb: TwoBones, cost: SwivelCost, swivels: Numbers, rotations: Numbers, tempo: Tempo) -> Mask:
    """Frames (F) whose end cannot turn as told at these swivels, or from which a joint leaps to the next one."""
    every = np.arange(len(swivels))
    trouble = cost.outside(swivels, every) > _OUTSIDE
    after = np.roll(every, -1) if tempo.cyclic else np.minimum(every + 1, every[-1])
    alike = np.abs(np.einsum("nif,nif->nf", rotations, rotations[..., after])).min(0)
    turns = 2.0 * np.arccos(np.minimum(1.0, alike))
    assert limb.end is not None
    cosine = 0.5 * (np.einsum("ijf,ijf->f", limb.end, limb.end[..., after]) - 1.0)
    explained = np.arccos(np.clip(cosine, -1.0, 1.0))
    explained += np.arctan2(lengths(cross(limb.axis, limb.axis[:, after])), dot(limb.axis, limb.axis[:, after]))
    leaps = turns > np.maximum(_LEAPS * tempo.rate, _EXPLAINED_IN_A_FRAME * explained)
    trouble |= leaps
    trouble[after[leaps]] = True
    found: Mask = trouble
    return found


def _stretches(trouble: Mask, tempo: Tempo) -> Iterator[Indices]:
    """Frames around those in trouble, as one where they are near to each other. A cycle that has no calm part is gone
    round twice: what is in the middle does not know of the ends."""
    count, frames = len(trouble), np.flatnonzero(trouble)
    if not len(frames):
        return
    around, apart = (max(4, round(number / tempo.rate)) for number in (_AROUND, _APART))
    if tempo.cyclic:
        gaps = np.diff(np.append(frames, frames[0] + count))
        widest = int(gaps.argmax())
        if gaps[widest] <= apart + 2 * around:
            if gaps[widest] > 1:  # from a calm frame round to the same
                cut = frames[widest] + gaps[widest] // 2
                yield np.arange(cut, cut + count + 1) % count
                return
            half = count // 2
            yield np.arange(-half, count + half) % count
            return
        frames = np.concatenate((frames[widest + 1 :], frames[: widest + 1] + count))
    cuts = np.flatnonzero(np.diff(frames) > apart + 2 * around) + 1
    for part in np.split(frames, cuts):
        first, last = part[0] - around, part[-1] + around
        if not tempo.cyclic:
            first, last = max(first, 0), min(last, count - 1)
        yield np.arange(first, last + 1) % count


def _middle(some: Indices, count: int) -> slice:
    """Of a cycle that is gone round twice one whole round."""
    return slice((len(some) - count) // 2, (len(some) - count) // 2 + count) if len(some) > count else slice(None)


def traded_in(
    limb: TwoBones,
    told: Numbers,
    cost: SwivelCost,
    flexion: Numbers | None,
    rotations: Numbers,
    some: Indices,
    fixed: Mask,
    price: float,
    tempo: Tempo,
) -> Numbers:
    """Rotations (3, 4, n) of a stretch of frames of which those `fixed` (n) stay, where it has been traded.

    The end is `told` (3, 3, n) to turn; the other arguments are those of traded().
    """
    assert limb.end is not None
    tip = np.array(limb.tree.tips[0].place, float)[:, None]
    tips = TipLimb(limb, limb.goal + rotate(limb.end, tip), flexion, some)
    pole = None if limb.pole is None else tips.swivels_to(limb.pole_from_root(some), at(limb.pole.angle, some))
    trade = Trade(tips, told, price, (tempo.swivel, tempo.wrist), tempo.rate, fixed, pole)
    given = _path_of(tips, rotations, np.arange(len(some)))
    given = given._replace(swivels=np.unwrap(given.swivels))
    return _made_exact(tips, limb, cost, trade.best(given), some, fixed, rotations)


def _path_of(tips: TipLimb, rotations: Numbers, frames: Indices) -> WristPath:
    """The path of a limb with these rotations (3, 4, n) of its joints at some frames."""
    upper = compose(np.broadcast_to(tips.rests[0], (3, 3, len(frames))), matrices(rotations[0]))
    wrist = tips.range.nearest(rotations[2])
    return WristPath(tips.swivels_of(upper, wrist, frames), wrist)


def _made_exact(
    tips: TipLimb, limb: TwoBones, cost: SwivelCost, path: WristPath, some: Indices, fixed: Mask, given: Numbers
) -> Numbers:
    """Rotations of a path, without its rounding where the end turns nearly as told and can do so; this fades."""
    assert limb.end is not None
    every = np.arange(len(some))
    posed = tips.at(*path, every)
    rotations = tips.rotations(posed)
    off = lengths(turn_vectors(compose(limb.end[..., some], posed.end.swapaxes(0, 1))))
    near = np.flatnonzero(off < _NEAR)
    if len(near):
        at_shot = some[near]
        wanted = limb.swivels_of(posed.upper[..., near], at_shot)
        swivels = cost.nearest_allowed(wanted, at_shot)
        share = _fading(off[near] / _NEAR) * _fading(np.abs(swivels - wanted) / _SHIFTED)
        kept = share > 0.0
        exact = limb.rotations_at(swivels[kept], at_shot[kept])
        rotations[..., near[kept]] = _between(tips, path, exact, near[kept], share[kept])
    rotations[..., fixed] = given[..., fixed]
    return rotations


def _fading(amount: Numbers) -> Numbers:
    """Shares that are 1 up to half of an amount, and 0 from all of it on."""
    found: Numbers = np.clip(2.0 - 2.0 * amount, 0.0, 1.0)
    return found


def _between(tips: TipLimb, path: WristPath, exact: Numbers, frames: Indices, share: Numbers) -> Numbers:
    """Rotations (3, 4, n) of a path at these frames, brought by shares (n) to `exact` ones; the tip stays."""
    part = np.flatnonzero(share < 1.0)
    some, swivels, wrist = frames[part], path.swivels[frames[part]], path.wrist[:, frames[part]]
    goal = _path_of(tips, exact[..., part], some)
    turn = goal.swivels - swivels
    turn -= 2.0 * np.pi * np.rint(turn / (2.0 * np.pi))
    wrist = wrist + share[part] * tips.range.difference(goal.wrist, wrist)
    exact[..., part] = tips.rotations(tips.at(swivels + share[part] * turn, wrist, some))
    return exact


def put_in_place(tree: Tree, states: States, tasks: Sequence[Task], some: Indices) -> None:
    """Bring the end to its place in frames where limits of other joints keep it off, whatever that turns; in place."""
    place = [each.take(some) for each in precisely(tree, tasks) if isinstance(each, PlaceTask)]
    mine = states.take(some)
    off = np.flatnonzero(~System(tree, mine, place).met)
    if len(off):
        other = mine.take(off)
        descend(tree, other, [each.take(off) for each in place])
        states.put(some[off], other)


def followed(reference: Pose, goal: Goal, form: LimbForm, before: Pose, last: Goal) -> Pose | None:
    """Return the pose of a limb for a goal after the pose `before`, for the `last` goal, if that is found at once.

    It is that of natural_pose(), as trailing() leaves it. Where ranges forbid what the end is told, as near as giving
    way could bring it, its turn is traded from the pose before on, as that of a shot is. None for goals and limbs of
    other kinds, and where the limb is where it should be already.
    """
    told = any(isinstance(each, Orientation) for each in goal.soft)
    if not (told and suits_one(reference, goal, form)) or _missing(reference, goal) <= _SAME * reference.chain.reach:
        return None
    found = reference.copy()
    found.project()
    if pose_or_give_way(found, goal, form):
        return trailing(reference, goal, form, before, last, found)
    if not _is_traded(reference, last):
        return None
    place = place_in_reach(reference, goal.target.closest(before.tip))
    nearer = trade_one(reference, goal, form, before, last, place, None, 30.0 / _MOVES)
    return nearer if (nearer.tip - place).length <= goal.tolerance else None


def _is_traded(reference: Pose, last: Goal) -> bool:
    """Tell whether the end of a limb may lack some of its turn; not where that is requested from now on."""
    ranged = not isinstance(reference.chain.joints[2].freedom, Free)
    return ranged and any(isinstance(each, Orientation) for each in last.soft)


def trailing(reference: Pose, goal: Goal, form: LimbForm, before: Pose, last: Goal, found: Pose) -> Pose:
    """Return the pose `found` for a goal; if that is a leap from the pose `before`, for the `last` goal, a nearer one.

    The place of the tip is met by both; what is traded is the turn of the hand or foot. `reference` is the pose made by
    hand. Poses and goals of other kinds than a limb with an end are found() as they are.
    """
    told = any(isinstance(each, Orientation) for each in goal.soft)
    if not (told and suits_one(reference, goal, form) and _is_traded(reference, last)):
        return found
    turn = _largest_turn(before, found)
    if turn <= max(_LEAP, _EXPLAINED_IN_A_MOVE * _explained(before, last, goal)):
        return found
    nearer = trade_one(reference, goal, form, before, last, found.tip, found, 30.0 / _MOVES)
    met = _missing(nearer, goal) <= max(goal.tolerance, _missing(found, goal))
    return nearer if met and _largest_turn(before, nearer) < turn else found


def _missing(pose: Pose, goal: Goal) -> float:
    return (pose.tip - goal.target.closest(pose.tip)).length


def _largest_turn(before: Pose, after: Pose) -> float:
    """Largest turn [rad] of a joint between two poses."""
    return max(map(rotation_angle, before.rotations, after.rotations))


def _explained(before: Pose, last: Goal, goal: Goal) -> float:
    """Turn [rad] that the target has made since the last goal: its own, and that of the line from the root to it."""
    root = before.base @ before.chain.joints[0].offset
    to = goal.target.closest(before.tip) - root
    line = (before.tip - root).angle(to, 0.0)
    then, now = (next((e.rotation for e in each.soft if isinstance(e, Orientation)), None) for each in (last, goal))
    return float(line + (rotation_angle(then, now) if then and now else 0.0))

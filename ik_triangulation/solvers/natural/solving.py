# SPDX-License-Identifier: GPL-3.0-or-later
"""Natural solves of many frames, and of a single pose."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from mathutils import Quaternion, Vector

from ...cooperative import Work, finished
from ...goals import Goal, Point
from ...goals.from_goals import BATCHED, Refusal, tasks_of
from ...goals.task import PlaceTask, Task
from ...kinematics import Locked, Pose
from ...kinematics.arrays import Indices, Mask, Numbers
from ...kinematics.batch import States, Tree
from ...kinematics.batch.algebra import at, lengths, rotate_back
from ..batch.change import System
from ..batch.descent import PRECISE, descend, hold, precisely
from ..batch.restarts import is_batched, tree_of
from ..solver import PLAIN_LIMB, LimbForm
from .chains import spread
from .giving_way import in_reach, limbs_giving_way
from .one_chain import pose_chain, suits_chain
from .one_limb import pose_or_give_way, suits_one
from .posture import USUAL_FPS, time_weight
from .soft_edge import Pace, nearer_edge, slowed_limb, soft_edge
from .swivel import ALONG, SwivelCost, best_swivels
from .trading import Tempo, traded
from .two_bones import MISS, TwoBones, suits

_SOFTLY = 0.02  # of the cost of limits that count softly


class NaturalPath(NamedTuple):
    """States of F frames, which of them are `met` (F), and for which lengths alone do not prove that they cannot be.

    Frames `held` (indices; the first and the last one at most) are as in the reference. `measured` are the states with
    their tasks; None where that is not known.
    """

    states: States
    met: Mask
    possible: Mask
    held: Indices
    measured: System | None


def natural_path(
    tree: Tree,
    frames: States,
    tasks: Sequence[Task],
    form: LimbForm = PLAIN_LIMB,
    *,
    fps: float = USUAL_FPS,
    smoothing: float = 0.0,
    cyclic: bool = False,
    first: int = 0,
    edge: Pace | None = None,
) -> Work[NaturalPath]:
    """Return states that meet the tasks and keep to `frames`, the reference at each of F frames, inside the limits.

    These follow one another at `fps` frames a second; with `cyclic` the first follows the last. `first` is the number
    of the first one if they are part of a longer path. `smoothing` from 0 to 1 calms the motion. With the pace of an
    `edge` that of the reach is soft: a limb straightens over some frames beyond it. A first or last frame
    whose reference meets its tasks stays as that is, and so does a path that meets them all. A frame that cannot be met
    comes as near as it can from where it is; if the limb is too short for it, the end's rotation is relaxed. Yields
    between parts of a long path.
    """
    given = frames
    held = np.empty(0, np.intp) if cyclic else ends_met(tree, given, tasks)
    if len(held) == 2:
        measured = System(tree, given, tasks)
        if measured.met.all():  # somebody made this motion already
            return NaturalPath(given, measured.met, measured.met, held, measured)
    reference = _reference(tree, given)
    given_way: Callable[[Indices], tuple[States, Mask]] | None = None
    where, soft = np.zeros((2, len(frames)), bool)
    if suits(tree, tasks, form.has_end):
        time = time_weight(fps, smoothing)
        along = ALONG * time_weight(fps) / time  # what smoothing calms is the elbow, so it goes less with the hand
        states, possible, given_way, where, soft = _two_bones(
            tree, frames, tasks, reference, form, time, cyclic, held, along, fps, edge
        )
    else:
        states = yield from spread(
            tree, frames, tasks, reference, fps=fps, smoothing=smoothing, cyclic=cyclic, first=first
        )
        possible = _within(tree, frames, tasks)
    states.put(held, given.take(held))
    precise = precisely(tree, tasks)
    measured = System(tree, states, tasks)
    met = measured.within(precise)
    met[held] = True
    # Of a frame whose end is traded the place is met, or out of reach, and nothing else is looked for: its swivel is
    # that of the trade, and the limb would swing round between it and one beside it with another.
    if where.any():
        placed = System(tree, states, [each for each in tasks if isinstance(each, PlaceTask)]).met
        where &= ~met & (placed | soft | ~_within(tree, frames, tasks))
        possible = possible & ~where
    missed, changed = np.flatnonzero(~met & ~where), False
    if len(missed):
        rough, near = ([task.take(missed) for task in each] for each in (tasks, precise))
        some, fits = given_way(missed) if given_way else (states.take(missed), np.zeros(len(missed), bool))
        searched = np.flatnonzero((possible[missed] | ~fits) & ~soft[missed])
        other = some.take(searched)
        descend(tree, other, [task.take(searched) for task in near])
        hold(tree, other, [task.take(searched) for task in rough], share=PRECISE)
        some.put(searched, other)
        states.put(missed, some)
        met[missed], changed = System(tree, some, rough).met, True
    if soft.any() and edge is not None:
        places = [each for each in tasks if isinstance(each, PlaceTask)]
        beyond = ~System(tree, states, places).met
        beyond[held] = False
        states, changed = slowed_limb(tree, states, beyond, edge), True
    return NaturalPath(states, met, possible, held, None if changed else measured)


def ends_met(tree: Tree, states: States, tasks: Sequence[Task]) -> Indices:
    """Return the numbers of the first and the last one of states, of those that meet the tasks."""
    ends = np.unique([0, len(states) - 1]).astype(np.intp)
    return ends[System(tree, states.take(ends), [task.take(ends) for task in tasks]).met]


def _reference(tree: Tree, frames: States) -> Numbers:
    """The rotations (n, 4, F) of states, which most often are one pose."""
    one = frames.take(slice(1))
    alike = (frames.angles == one.angles).all() and (frames.balls == one.balls).all()
    found = tree.rotations(one if alike and frames.held.shape[-1] == 1 else frames)
    return np.broadcast_to(found, (*found.shape[:2], len(frames)))


class _TwoBones(NamedTuple):
    """States of limbs of two bones; where lengths allow the goal (F), what gives way in some of the frames (None if
    nothing can), where the turn of the end is traded (F), and where the edge of reach is soft (F)."""

    states: States
    possible: Mask
    given_way: Callable[[Indices], tuple[States, Mask]] | None
    traded: Mask
    soft: Mask


def _two_bones(
    tree: Tree,
    frames: States,
    tasks: Sequence[Task],
    reference: Numbers,
    form: LimbForm,
    time: float,
    cyclic: bool,
    held: Indices,
    along: float,
    fps: float,
    edge: Pace | None,
) -> _TwoBones:
    """The states of a limb of two bones, with the swivel of the reference in frames that are `held`.

    The swivel goes with a share `along` of the end's turn from frame to frame.
    """
    flexion = None if form.flexion is None else np.array(form.flexion, float)[:, None]
    limb = TwoBones(tree, frames, tasks, reference, flexion)
    possible, told, soft = limb.possible, limb.end, np.zeros(len(frames), bool)
    if not possible.all():
        tasks, soft = _within_limits_of_length(tree, frames, tasks, limb, edge)
        limb = TwoBones(tree, frames, tasks, reference, flexion)
    cost = SwivelCost(limb)

    swivels = best_swivels(
        cost,
        len(frames),
        time,
        cost.choices,
        cost if cost.is_limited else None,
        cyclic,
        held,
        inside=cost.posture if cost.is_limited else None,
        drift=along * limb.drift(cyclic),
        searched=cost.searched,
    )

    def given_way(some: Indices) -> tuple[States, Mask]:
        goals = [task.take(some) for task in tasks]
        return limbs_giving_way(tree, frames.take(some), goals, at(reference, some), flexion, swivels[some])

    rotations = limb.rotations(swivels)
    tempo = Tempo((1.0 - along) * time, along * time, fps, cyclic)
    if told is not None:
        found = traded(tasks, told, limb, cost, flexion, swivels, rotations, held, tempo)
        if found is not None:
            return _TwoBones(found[0], possible, given_way, found[1], soft)
    states = tree.posed(rotations, frames)
    return _TwoBones(states, possible, None if told is None else given_way, np.zeros(len(frames), bool), soft)


def _within_limits_of_length(
    tree: Tree, frames: States, tasks: list[Task], limb: TwoBones, edge: Pace | None
) -> tuple[list[Task], Mask]:
    """Return the tasks of a limb that is too short for some of them, within reach, and where that has a soft edge."""
    hard = np.zeros(len(frames), bool)
    if limb.end is not None:
        found = soft_edge(tree, frames, tasks, edge) if edge else None
        return (found.tasks, found.soft) if found else (in_reach(tree, frames, tasks), hard)
    if edge is None:
        return tasks, hard
    place = next(each for each in tasks if isinstance(each, PlaceTask))
    nearer, soft = nearer_edge(tree, frames, place, limb.longest, edge)
    return [nearer if each is place else each for each in tasks], soft


def swivelled(
    tree: Tree,
    frames: States,
    tasks: Sequence[Task],
    reference: Numbers,
    form: LimbForm,
    fps: float = USUAL_FPS,
    smoothing: float = 0.0,
) -> Numbers:
    """Return the rotations (n, 4, F) of a limb of two bones at its best swivels, in which limits count softly.

    The tasks are those of a limb that suits. A first or last frame whose reference meets them has the swivel of that.
    """
    given = tree.posed(reference, frames)
    held = ends_met(tree, given, tasks)
    flexion = None if form.flexion is None else np.array(form.flexion, float)[:, None]
    time = time_weight(fps, smoothing)
    limb = TwoBones(tree, frames, tasks, reference, flexion)
    cost = SwivelCost(limb, _SOFTLY)
    along, carried = ALONG * time_weight(fps) / time, limb.transport(False)
    drift = carried + along * (limb.drift(False) - carried) if limb.end is not None else carried
    return limb.rotations(best_swivels(cost, len(frames), time, cost.choices, held=held, drift=drift))


def _within(tree: Tree, frames: States, tasks: Sequence[Task]) -> Mask:
    """Tell where the length of the whole chain allows a place (F)."""
    possible = np.ones(len(frames), bool)
    for task in tasks:
        if isinstance(task, PlaceTask) and task.target.shape is None:
            away = lengths(rotate_back(frames.root, task.target.place - frames.place) - tree.offsets[0])
            possible &= away <= (1.0 + MISS) * tree.size
    return possible


def natural_pose(pose: Pose, goal: Goal, form: LimbForm = PLAIN_LIMB) -> bool:
    """Rotate the joints of a pose, which is the reference, as natural_path() does for one frame.

    Returns False, with the pose as it was, where there is no such form of the chain or of the goal: a scaled chain, or
    a target of a shape that has no formula on arrays; and where nothing can move. Soft goals other than orientation,
    direction and pole are left out.
    """
    soft = tuple(each for each in goal.soft if isinstance(each, BATCHED))
    goal = goal._replace(soft=soft)
    if suits_one(pose, goal, form) and pose_or_give_way(pose, goal, form):
        return True
    if suits_chain(pose, goal, form) and pose_chain(pose, goal):
        return True
    tasks = tasks_of([goal], pose.chain.reach) if is_batched(pose) else Refusal("a bone is scaled unevenly")
    if isinstance(tasks, Refusal) or not any(joint.freedom.moves for joint in pose.chain.joints):
        return False
    tree = tree_of(pose.chain)
    reference = np.array([rotation[:] for rotation in pose.rotations], float)[:, :, None]
    path = finished(natural_path(tree, tree.posed(reference, tree.states([pose])), tasks, form))
    found = tree.rotations(path.states)
    for i, joint in enumerate(pose.chain.joints):
        if not isinstance(joint.freedom, Locked):
            rotation = joint.freedom.nearest(Quaternion(found[i, :, 0]))
            if rotation != pose.rotations[i]:
                pose.put(i, rotation)
    return True


def step(pose: Pose, aim: Vector) -> None:
    """Reach a point, with the pose as the reference."""
    natural_pose(pose, Goal(Point(aim), (), 1e-3 * pose.chain.reach))

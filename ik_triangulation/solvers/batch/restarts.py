# SPDX-License-Identifier: GPL-3.0-or-later
"""Restarts of many poses at once: aligned and random starts, in rounds; and one pose out of many starts.

The motion of a whole body that brings its tips nearest to their goals: a start for solving from far away. Source: Wahba
1965 for directions, Kabsch 1976 for points: a singular value decomposition.

Restarts of many states at once: what is missed is tried again from other poses inside the limits, in rounds. Source:
the annealing of seed document quaternion-ccd ("exercise for the reader"). That several restarts end at the same
distance proves nothing: the wrong local minimum of an ordinary limb is deep. So only a bound by lengths or the last
round ends the search. Targets of animators lie at ends of ranges (a straight knee, a closed fist) more often than
chance would have it, and so do half of the angles drawn.

Most starts lead to a wrong minimum, so they are chosen and thinned out: each is the nearest of several poses drawn,
which costs forward kinematics alone, and after a few steps only the nearest quarter of a round goes on. On hard targets
a start then succeeds two to six times as often, at less than half of its cost.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np
from mathutils import Quaternion

from ...goals.orientation import AlongTask, LookTask, OrientTask
from ...goals.task import Level, PlaceTask, Task, unwrapped
from ...kinematics import Chain, Pose
from ...kinematics.arrays import Indices, Mask, Numbers, averaged_in_time
from ...kinematics.batch import Geometry, States, Tree
from ...kinematics.batch.algebra import conjugated, exponential, matrices, normalized, product, quaternions, rotate
from ...kinematics.batch.coordinates import finite_range
from ...kinematics.body_anatomy import Part
from .change import System
from .descent import CHUNK, PLAIN, Descent, descend

_MORE_URGENT = 3.0  # weight of held places
PER_RADIAN = 0.05  # weight of a direction beside that of a place that is as far as the tree is large

ROUNDS: tuple[int, ...] = (8, 24, 64)  # starts for each state that is still missed
NEARBY = 4  # the first starts of a round stray by a share of the way only, which grows to all of it
AT_ENDS = 0.5  # share of the angles drawn that lie on an end of their range
DRAWN = 8  # poses drawn for each start
TRIAL_STEPS, KEPT = 3, 0.25  # steps of every start of a round, and the share of them that goes on
_FAR = 0.25  # of the squared errors, left by a motion of the whole tree that is made first
_AT_ONCE = 8192  # poses drawn at once, which bounds the memory

_AS_IT_IS = 0.05  # weight of the direction in which a body faces where it turns about the vertical alone
_RIGID = 1e-5  # deviation of a base from a rotation that rounding explains


def aligned(
    tree: Tree,
    states: States,
    tasks: Sequence[Task],
    per_radian: float = PER_RADIAN,
    of_tips: Sequence[float] | None = None,
    smoothed: int = 0,
    upright: bool = False,
    by_places: bool = False,
) -> States:
    """The states with the root where a rigid motion of the whole tree brings the tips nearest to their goals.

    A direction weighs `per_radian` beside a place that is as far off as the tree is large, and each tip its share
    `of_tips`, by default all the same. Of poses that are frames of one motion, rotations are `smoothed` so many times
    with those beside them: a single frame may tell two as well as each other. The root keeps its limits, and the
    directions in which it moves; with `upright` it turns about the vertical alone, by directions and not by places, as
    feet that step are ahead of each other, unless that is to be `by_places` too. Without a place among the goals, or
    where the root does not move, the states are returned as they are.
    """
    places = [task for task in tasks if isinstance(task, PlaceTask)]
    if not tree.moves_root or not places:
        return states
    geometry = Geometry(tree, states)
    tips = [geometry.tip(task.tip) for task in places]
    shares = [1.0] * len(tree.tips) if of_tips is None else of_tips
    weights = np.array([(_MORE_URGENT if task.level == Level.HOLD else 1.0) * shares[task.tip] for task in places])
    now = np.array(tips)
    nearest = (task.target.closest(tip) for task, tip in zip(places, tips, strict=True))  # one, or one for each state
    wanted = np.array([np.broadcast_to(each, tip.shape) for each, tip in zip(nearest, tips, strict=True)])
    middle, goal = (np.tensordot(weights / weights.sum(), each, 1) for each in (now, wanted))
    of_places = 0.0 if upright and not by_places else 1.0 / tree.size**2
    turn = np.einsum("t,tif,tjf->fij", weights * of_places, now - middle, wanted - goal)
    for task in tasks:
        turn += per_radian * shares[task.tip] * _directions(geometry, task, goal - middle)
    turn = averaged_in_time(turn, smoothed if len(turn) > 1 else 0)
    rotation = _about(tree.up, turn) if upright and tree.up is not None else _rotation(turn)
    turned = _with_root_turned(tree, states, geometry, quaternions(rotation))
    if turned is not states:
        after = Geometry(tree, turned)
        middle = np.tensordot(weights / weights.sum(), np.array([after.tip(task.tip) for task in places]), 1)
    place = states.place + tree.root_ways.T @ (tree.root_ways @ (goal - middle))
    return States(turned.angles, turned.balls, turned.held, turned.root, place)


def _directions(geometry: Geometry, task: Task, way: Numbers) -> Numbers:
    """Products (F, 3, 3) of directions now and as wanted, of a task that is about them; else zero.

    Points are looked at from where the tips are after they have gone this `way` (3, F).
    """
    count = way.shape[-1]
    if isinstance(task, OrientTask):
        wanted = np.broadcast_to(task.rotation, (3, 3, count))
        return np.asarray(np.einsum("icf,jcf->fij", geometry.tip_rotation(task.tip), wanted))
    if isinstance(task, AlongTask | LookTask):
        now = geometry.tip_rotation(task.tip)
        axis = rotate(now, np.broadcast_to(task.axis, now.shape[1:]))
        if isinstance(task, LookTask):
            direction = normalized(task.point - geometry.tip(task.tip) - way + 1e-12)
        else:
            direction = np.broadcast_to(task.direction, axis.shape)
        return np.asarray(np.einsum("if,jf->fij", axis, direction))
    return np.zeros((count, 3, 3))


def tells_tilt(tree: Tree, tasks: Sequence[Task]) -> bool:
    """Tell whether goals tell how far a body leans.

    Held tips do, the rotation of its head or trunk, and places of both hands or head and feet. Neither hands nor feet
    alone do, however they are turned: who hangs from a bar, or lifts a foot, stays upright.
    """
    if tree.up is None or any(task.level == Level.HOLD for task in tasks):
        return True
    ends = {Part.HAND, Part.FOOT}
    parts = [(unwrapped(task), tree.anatomy.parts[tree.tips[task.tip].joint]) for task in tasks]
    if any(isinstance(task, OrientTask) and part not in ends for task, part in parts):
        return True
    placed = {part for task, part in parts if isinstance(task, PlaceTask)}
    return Part.FOOT in placed and bool(placed - {Part.FOOT})


def _about(up: Numbers, products: Numbers) -> Numbers:
    """Rotations (3, 3, F) about the direction up (3) that turn what is now nearest to what is wanted."""
    sine = sum(up[i] * (products[:, i - 2, i - 1] - products[:, i - 1, i - 2]) for i in range(3))
    cosine = np.einsum("fii->f", products) - np.einsum("i,fij,j->f", up, products, up)
    turns = up[:, None] * np.arctan2(sine, cosine + _AS_IT_IS)
    return matrices(exponential(turns))


def _rotation(products: Numbers) -> Numbers:
    """Rotations (3, 3, F) that turn what is now to what is wanted, from their products (F, 3, 3)."""
    u, _, vt = np.linalg.svd(products)
    v, ut = vt.transpose(0, 2, 1), u.transpose(0, 2, 1)
    v[:, :, 2] *= np.sign(np.linalg.det(v @ ut))[:, None]
    rotation: Numbers = (v @ ut).transpose(1, 2, 0)
    return rotation


def _with_root_turned(tree: Tree, states: States, geometry: Geometry, turn: Numbers) -> States:
    """The states with the first joint turned further (4, F), armature space, as far as its limits allow."""
    frame = quaternions(geometry.frames[0, :, :3])
    further = product(product(conjugated(frame), turn), frame)
    if 0 in tree.balls:
        balls, at = states.balls.copy(), tree.balls.index(0)
        balls[at] = normalized(product(balls[at], further))
        return States(states.angles, balls, states.held, states.root, states.place)
    for kind in tree.kinds:
        if 0 in kind.joints:
            rotations = kind.quaternions(states.angles[kind.rows])
            at = list(kind.joints).index(0)
            rotations[at] = normalized(product(rotations[at], further))
            rows = tree.joint_of[: tree.angles] == 0
            angles = states.angles.copy()
            every = states.angles.copy()
            every[kind.rows] = kind.angles(rotations)
            angles[rows] = tree.inside(every)[rows]
            return States(angles, states.balls, states.held, states.root, states.place)
    return states


def solve_cold(
    tree: Tree,
    states: States,
    tasks: Sequence[Task],
    *,
    seed: int = 0,
    rounds: Sequence[int] = ROUNDS,
    bounds: Descent = PLAIN,
) -> tuple[Mask, Numbers]:
    """Bring states to their tasks from wherever they are, in place; return which are met (F), and the values (F)."""
    if tree.moves_root:
        met, value = _from_start_or_aligned(tree, states, tasks, bounds)
    else:
        met, value = descend(tree, states, tasks, bounds)
    restart(tree, states, tasks, met, value, seed=seed, rounds=rounds, bounds=bounds)
    return met, value


def _from_start_or_aligned(tree: Tree, states: States, tasks: Sequence[Task], bounds: Descent) -> tuple[Mask, Numbers]:
    """Descend from the states as they are and, where that fails, moved as a whole onto their goals; in place.

    Where the motion as a whole takes off most of the errors it comes first; else it would throw a posture away.
    """
    states.own_places()
    moved = aligned(tree, states, tasks)
    before, after = (System(tree, each, tasks).value for each in (states, moved))
    far = np.flatnonzero((after < _FAR * before) & tells_tilt(tree, tasks))
    other = states.copy()
    other.put(np.arange(len(states)), moved)
    other.put(far, states.take(far))
    states.put(far, moved.take(far))
    met, value = descend(tree, states, tasks, bounds)
    missed = np.flatnonzero(~met)
    if len(missed):
        some = other.take(missed)
        got, found = descend(tree, some, [task.take(missed) for task in tasks], bounds)
        better = got | (found < value[missed])
        states.put(missed[better], some.take(np.flatnonzero(better)))
        value[missed[better]], met[missed[better]] = found[better], got[better]
    return met, value


def restart(
    tree: Tree,
    states: States,
    tasks: Sequence[Task],
    met: Mask,
    value: Numbers,
    *,
    seed: int = 0,
    rounds: Sequence[int] = ROUNDS,
    bounds: Descent = PLAIN,
    steps: Indices | None = None,
) -> None:
    """Try the states that are not `met` again; states, `met` and `value` are changed in place where that helps.

    The steps of all starts of each state are added to `steps` (F). Of the poses of a round that meet the tasks after
    equally many steps the one with the least rotation is taken.
    """
    random = np.random.default_rng(seed)
    trial = replace(bounds, iterations=min(TRIAL_STEPS, bounds.iterations), curved=False)
    for count in filter(None, rounds):
        left = np.flatnonzero(~met)
        size = max(1, _AT_ONCE // (count * DRAWN))
        for some in (left[begin : begin + size] for begin in range(0, len(left), size)):
            begun, here = states.take(some), [task.take(some) for task in tasks]
            tries, of = _starts(tree, begun, here, count, random)
            for limits, kept in ((trial, max(1, round(KEPT * count))), (bounds, 1)):
                made = None if steps is None else np.zeros(len(of), int)
                got, found = descend(tree, tries, [task.take(of) for task in here], limits, groups=of, steps=made)
                if steps is not None:
                    np.add.at(steps, some[of], made)
                key = np.where(got, -1.0 / (1.0 + _turned(tree, begun.take(of), tries)), found)
                best = _least(key, len(some), kept)
                tries, of, got, found = tries.take(best), of[best], got[best], found[best]
            better = got | (found < value[some])
            states.put(some[better], tries.take(np.flatnonzero(better)))
            value[some[better]], met[some[better]] = found[better], got[better]


def _starts(
    tree: Tree, states: States, tasks: Sequence[Task], count: int, random: np.random.Generator
) -> tuple[States, Indices]:
    """Draw `count` starts for each state, and return the state of each start too: of several poses the nearest."""
    share = np.minimum(1.0, (np.arange(count) + 1.0) / NEARBY)
    many = np.repeat(np.arange(len(states)), count * DRAWN)
    drawn = strayed(tree, states.take(many), np.tile(np.repeat(share, DRAWN), len(states)), random)
    if tree.moves_root:
        drawn.own_places()
    value = np.empty(len(many))
    for part in _parts(len(many)):
        some, goals = drawn.take(part), [task.take(many[part]) for task in tasks]
        if tree.moves_root:
            some = aligned(tree, some, goals)
            drawn.put(part, some)
        value[part] = System(tree, some, goals).value
    best = _least(value, len(states) * count, 1)
    return drawn.take(best), many[best]


def _parts(count: int) -> Iterator[Indices]:
    for begin in range(0, count, CHUNK):
        yield np.arange(begin, min(begin + CHUNK, count))


def _least(key: Numbers, groups: int, kept: int) -> Indices:
    """Indices of the least keys of each of equally large groups, in the order of the groups."""
    each = key.reshape(groups, -1)
    order = each.argsort(1, kind="stable")[:, :kept] if kept > 1 else each.argmin(1)[:, None]
    best: Indices = (order + np.arange(groups)[:, None] * each.shape[1]).ravel()
    return best


def _turned(tree: Tree, before: States, after: States) -> Numbers:
    """Sum of the squares of all changes of angles (F) between two poses [rad^2]."""
    change = after.angles - before.angles
    turned: Numbers = np.einsum("mf,mf->f", change, change)
    if tree.balls:
        cosine = np.abs(np.einsum("bqf,bqf->bf", before.balls, after.balls))
        turned += 4.0 * (np.arccos(np.minimum(1.0, cosine)) ** 2).sum(0)
    return turned


def strayed(tree: Tree, states: States, share: Numbers, random: np.random.Generator, ends: float = AT_ENDS) -> States:
    """Poses that have gone a share (F) of the way to poses drawn inside the limits, `ends` of the angles at an end."""
    count = len(states)
    angles, balls = states.angles, states.balls
    if tree.angles:
        lower, upper = finite_range(tree.lower, tree.upper)
        drawn, at_end = random.random((2, tree.angles, count))
        drawn = np.where(at_end < 0.5 * ends, 0.0, np.where(at_end < ends, 1.0, drawn))
        angles = tree.inside(angles + share * (lower + drawn * (upper - lower) - angles))
    if tree.balls:
        turns = random.normal(size=(len(tree.balls), 3, count))
        size = share * np.pi * random.random((len(tree.balls), count))
        balls = normalized(product(balls, exponential(normalized(turns) * size[:, None])))
    return States(angles, balls, states.held, states.root, states.place)


@lru_cache(maxsize=32)
def tree_of(chain: Chain) -> Tree:
    """Return the tree of a chain, the same one for the same chain."""
    return Tree.of(chain)


def is_batched(pose: Pose) -> bool:
    """Tell whether a pose can be solved on arrays: nothing in it, or above it, is scaled."""
    base = np.array(pose.base.copy(), float)[:3, :3]
    return pose.chain.plain and bool(np.abs(base @ base.T - np.eye(3)).max() < _RIGID) and np.linalg.det(base) > 0.0


def search(
    pose: Pose,
    tasks: Sequence[Task],
    seed: int,
    rounds: Sequence[int] = ROUNDS,
    bounds: Descent = PLAIN,
    stuck: bool = False,
) -> tuple[bool, int]:
    """Solve the tasks of a pose from other poses if not from this one; leaves the best.

    Returns whether they are met, and the number of steps of all starts together. With `stuck` it is known that they
    cannot be met from this one. The rounds after the first are made as one: a single pose costs about the same with few
    starts as with many.
    """
    tree, steps = tree_of(pose.chain), np.zeros(1, int)
    states = tree.states([pose])
    if stuck:
        met, value = np.zeros(1, bool), System(tree, states, tasks).value
    else:
        met, value = descend(tree, states, tasks, bounds, steps=steps)
    at_once = (*rounds[:1], sum(rounds[1:]))
    restart(tree, states, tasks, met, value, seed=seed, rounds=at_once, bounds=bounds, steps=steps)
    for i, (joint, rotation) in enumerate(zip(pose.chain.joints, tree.rotations(states)[:, :, 0], strict=True)):
        if joint.freedom.moves:
            turned = joint.freedom.nearest(Quaternion(rotation).normalized())
            if turned != pose.rotations[i]:
                pose.put(i, turned)
    return bool(met[0]), int(steps[0])

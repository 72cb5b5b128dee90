# SPDX-License-Identifier: GPL-3.0-or-later
"""The motion of a whole body that brings its tips nearest to their goals: a start for solving from far away.

Source: Wahba 1965 for directions, Kabsch 1976 for points: a singular value decomposition.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...goals.batch import AlongTask, Level, LookTask, OrientTask, PlaceTask, Task
from ...kinematics.arrays import Numbers, averaged_in_time
from ...kinematics.batch import Geometry, States, Tree
from ...kinematics.batch.algebra import conjugated, normalized, product, quaternions, rotate

_MORE_URGENT = 3.0  # weight of held places
PER_RADIAN = 0.05  # weight of a direction beside that of a place that is as far as the tree is large


def aligned(
    tree: Tree,
    states: States,
    tasks: Sequence[Task],
    per_radian: float = PER_RADIAN,
    of_tips: Sequence[float] | None = None,
    smoothed: int = 0,
) -> States:
    """The states with the root where a rigid motion of the whole tree brings the tips nearest to their goals.

    A direction weighs `per_radian` beside a place that is as far off as the tree is large, and each tip its share
    `of_tips`, by default all the same. Of poses that are frames of one motion, rotations are `smoothed` so many times
    with those beside them: a single frame may tell two as well as each other. The root keeps its limits, and the
    directions in which it moves. Without a place among the goals, or where the root does not move, the states are
    returned as they are.
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
    turn = np.einsum("t,tif,tjf->fij", weights / tree.size**2, now - middle, wanted - goal)
    for task in tasks:
        turn += per_radian * shares[task.tip] * _directions(geometry, task, goal - middle)
    turn = averaged_in_time(turn, smoothed if len(turn) > 1 else 0)
    rotation = _rotation(turn)
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

# SPDX-License-Identifier: GPL-3.0-or-later
"""A single pose that follows another one: where the best pose for a goal is a leap away, it is traded for a near one.

A limb that is dragged has no shot, but the pose before it. With that as a first frame that stays, the second one is
what a shot of both makes of it.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from mathutils import Quaternion

from ...goals import Goal, Orientation, Point
from ...goals.batch import OrientTask, Refusal, tasks_of
from ...goals.batch.from_goals import RADIAN
from ...kinematics import Free, Pose
from ...kinematics.rotation import rotation_angle
from ..batch.one_pose import tree_of
from .form import LimbForm
from .giving_way import in_reach
from .one_limb import suits_one
from .swivel_cost import SwivelCost
from .trading import Tempo, put_in_place, traded_in
from .two_bones import TwoBones

_LEAP, _EXPLAINED = np.radians(20.0), 2.0  # turn of a joint in a move; times what the target explains
_MOVES = 12.0  # a second: a move of a drag may change as much as a frame would at this rate


def trailing(reference: Pose, goal: Goal, form: LimbForm, before: Pose, last: Goal, found: Pose) -> Pose:
    """Return the pose `found` for a goal; if that is a leap from the pose `before`, for the `last` goal, a nearer one.

    The place of the tip is met by both; what is traded is the turn of the hand or foot. `reference` is the pose made by
    hand. Poses and goals of other kinds than a limb with an end are found() as they are.
    """
    told = next((each for each in goal.soft if isinstance(each, Orientation)), None)
    if told is None or not suits_one(reference, goal, form) or isinstance(reference.chain.joints[2].freedom, Free):
        return found
    if not any(isinstance(each, Orientation) for each in last.soft):  # the rotation is requested from now on
        return found
    turn = _largest_turn(before, found)
    if turn <= max(_LEAP, _EXPLAINED * _explained(before, last, goal)):
        return found
    soft = tuple(replace(each, rotation=before.tip_rotation) if each is told else each for each in goal.soft)
    goals = [goal._replace(target=Point(before.tip), soft=soft), goal._replace(target=Point(found.tip))]
    tree, tasks = tree_of(reference.chain), tasks_of(goals, reference.chain.reach)
    if isinstance(tasks, Refusal):
        return found
    frames = tree.states([before, found])
    hand_made = np.array([rotation[:] for rotation in reference.rotations], float)[:, :, None]
    flexion = None if form.flexion is None else np.array(form.flexion, float)[:, None]
    wanted = TwoBones(tree, frames, tasks, hand_made, flexion).end
    tasks = in_reach(tree, frames, tasks)
    limb = TwoBones(tree, frames, tasks, hand_made, flexion)
    rotations = np.array([[rotation[:] for rotation in pose.rotations] for pose in (before, found)]).transpose(1, 2, 0)
    price = next(each for each in tasks if isinstance(each, OrientTask)).length / (RADIAN * tree.size)
    assert wanted is not None
    both, stays = np.arange(2), np.array([True, False])
    tempo = Tempo(1.0, 1.0, _MOVES, cyclic=False)
    rotations = traded_in(limb, wanted, SwivelCost(limb), flexion, rotations, both, stays, price, tempo)
    states = tree.posed(rotations, frames)
    put_in_place(tree, states, tasks, np.array([1]))
    nearer = Pose(
        reference.chain,
        reference.base,
        [
            joint.freedom.nearest(Quaternion(rotation).normalized())
            for joint, rotation in zip(reference.chain.joints, tree.rotations(states)[..., 1], strict=True)
        ],
    )
    met = (nearer.tip - goal.target.closest(nearer.tip)).length <= max(goal.tolerance, _missing(found, goal))
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

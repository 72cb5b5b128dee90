# SPDX-License-Identifier: GPL-3.0-or-later
"""A body some of whose tips lie on bones of its own, as a hand on the thigh or on the other hand.

The body is solved as if nothing lay on it; then the limbs of these tips follow, alone, to where the bones have come. So
a hand that does not reach the other one leaves the trunk as it is: leaning moves both of them. Source: none.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

import numpy as np

from ..cooperative import Work
from ..goals.task import Task
from ..kinematics import Body, Locked
from ..kinematics.arrays import Numbers
from ..kinematics.batch import States, Tree
from ..solvers.batch.change import System
from .body_path import BodyPath
from .method import Natural
from .shot import Shot

_ROUNDS = 3  # as a hand may lie on a hand that lies on something
_STILL = 2e-5  # of the size: a way of the bones that is none

Carry = Callable[[States], tuple[Sequence[Task], float]]


def carried_path(body: Body, shot: Shot, tips: Collection[int], carry: Carry) -> Work[BodyPath]:
    """Solve a shot of a body whose `tips`, by number, lie on its own bones.

    `carry` returns the tasks of all tips as states have these bones, and the way [Blender units] that they have gone.
    """
    states, others = shot.reference, [task for task in shot.tasks if task.tip not in tips]
    if others:
        states = (yield from Natural().solve(replace(shot, tasks=others))).states
    tasks: Sequence[Task] = shot.tasks
    for number in range(_ROUNDS):
        tasks, way = carry(states)
        if number and way <= _STILL * body.tree.size:
            break
        states = yield from _followed(body, replace(shot, tasks=tasks), states, tips)
    return BodyPath(states, System(body.tree, states, tasks).met)


def _followed(body: Body, shot: Shot, states: States, tips: Collection[int]) -> Work[States]:
    """Return the states with the limbs of some tips solved, and everything else as it is."""
    own = {joint for tip in tips for joint in body.limb(body.tips[tip].name)}
    joints = [each if n in own else replace(each, freedom=Locked()) for n, each in enumerate(body.joints)]
    tree = replace(body, joints=tuple(joints), hips_motion="FIXED").tree
    alone = replace(
        shot,
        tree=tree,
        reference=_as(tree, body.tree.rotations(states), states),
        tasks=[task for task in shot.tasks if task.tip in tips],
        influence={tip: share for tip, share in shot.influence.items() if tip in tips},
        steady=None,
        floor=None,
        compliance=None,
        soft=(),
    )
    found = yield from Natural().solve(alone)
    return _as(body.tree, tree.rotations(found.states), states)


def _as(tree: Tree, rotations: Numbers, states: States) -> States:
    """Return the states of a tree with these rotations (n, 4, F), whose root is where that of others is."""
    count, rotations = len(states), np.ascontiguousarray(rotations)
    none = np.empty((0, count)), np.empty((0, 4, count))
    return tree.posed(rotations, States(*none, rotations[tree.held], states.root, states.place))

# SPDX-License-Identifier: GPL-3.0-or-later
"""The restarts of a single pose as a batch."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from mathutils import Quaternion

from ...goals.batch import Task
from ...kinematics import Chain, Pose
from ...kinematics.batch import Tree
from .descent import PLAIN, Descent, descend
from .restarts import ROUNDS, restart
from .system import System

_RIGID = 1e-5  # deviation of a base from a rotation that rounding explains


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

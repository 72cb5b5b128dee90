# SPDX-License-Identifier: GPL-3.0-or-later
"""A body of which nothing moves but limbs that have no joint in common: each is solved as the limb that it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from ..cooperative import Work
from ..goals.batch import AlongTask, LookTask, OrientTask, PlaceTask, PoleTask, Task
from ..kinematics.batch import Geometry, States, Tree
from ..solvers.body.swivelling import LimbOfBody
from ..solvers.natural.posture import USUAL_FPS
from .limb_motion import limb_motion

_PLAIN = PlaceTask | OrientTask | AlongTask | LookTask | PoleTask


@lru_cache(maxsize=32)
def limbs_of_still_body(tree: Tree) -> tuple[LimbOfBody, ...]:
    """The limbs of a tree in which nothing else moves, and none of them another one; empty if that is not so."""
    moving, limbs, seen = np.unique(tree.joint_of), [], set[int]()
    if tree.moves_root:
        return ()
    for number, tip in enumerate(tree.tips):
        own = moving[tree.above[moving, tip.joint]]
        if seen & set(own.tolist()):
            return ()
        seen |= set(own.tolist())
        if len(own):
            line = np.flatnonzero(tree.above[:, tip.joint] & tree.above[own[0]])
            limbs.append(LimbOfBody.of(tree, line.tolist(), number))
    return tuple(limbs) if len(seen) == len(moving) else ()


def limbs_alone(
    tree: Tree,
    reference: States,
    tasks: Sequence[Task],
    *,
    fps: float = USUAL_FPS,
    smoothing: float = 0.0,
    seed: int = 0,
) -> Work[States | None]:
    """Return a body solved limb by limb, near the reference; None where it has to be solved as a whole.

    That is where something else moves, or goals fade or hang on the body itself. A limb without goals stays as it is.
    """
    limbs = limbs_of_still_body(tree)
    if not limbs or not all(isinstance(task, _PLAIN) for task in tasks):
        return None
    geometry, rotations = Geometry(tree, reference), tree.rotations(reference)
    found = rotations.copy()
    for limb in limbs:
        own = [_of_limb(task, limb, tree) for task in tasks if task.tip == limb.tip]
        if own:
            joints = list(limb.joints)
            there = limb.frames(tree, geometry, rotations)
            how: dict[str, Any] = {"fps": fps, "smoothing": smoothing, "seed": seed}
            path = yield from limb_motion(limb.tree, there, own, rotations[joints], limb.form, **how)
            found[joints] = limb.tree.rotations(path.states)
    return tree.posed(found, reference)


def _of_limb(task: Any, limb: LimbOfBody, tree: Tree) -> Task:
    """The task of a body's tip as that of the limb alone."""
    if isinstance(task, PlaceTask):
        return replace(task, tip=0, level=0)
    moved: Task = replace(task, tip=0, level=1, length=task.length * limb.tree.size / tree.size)
    return moved

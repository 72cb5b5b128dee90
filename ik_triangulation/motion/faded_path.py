# SPDX-License-Identifier: GPL-3.0-or-later
"""A body along a path some of whose goals fade in and out.

It is solved twice: first the tips whose influence is not always 1 are free, which tells where they are without their
goals; then each goes from there the share of the way that its influence says. Nothing pops where the influence begins
or ends, as that share is continuous in it. Source: none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..cooperative import Work
from ..goals.batch import BalanceTask, Task
from ..goals.batch.faded import FadedTask
from ..kinematics.arrays import Numbers
from ..kinematics.batch import States, Tree
from ..solvers.batch.system import System
from ..solvers.body.floor import Floor
from ..solvers.natural.posture import USUAL_FPS
from .body_path import BodyPath, body_path


def faded_path(
    tree: Tree,
    reference: States,
    tasks: Sequence[Task],
    influence: Mapping[int, Numbers],
    steady: BalanceTask | None = None,
    *,
    floor: Floor | None = None,
    compliance: Numbers | None = None,
    fps: float = USUAL_FPS,
    smoothing: float = 0.0,
) -> Work[BodyPath]:
    """Return the same as body_path(), with tasks of tips that have an `influence` (F) from 0 to 1 by their numbers.

    Where it is 0 a tip is free. A task that is on its way counts as met where its share of the way is.
    """
    how: dict[str, Any] = {"floor": floor, "compliance": compliance, "fps": fps, "smoothing": smoothing}
    tasks = floor.raised(tasks) if floor else tasks
    fading = {tip: share for tip, share in influence.items() if (share < 1.0).any()}
    if fading:
        free = [
            FadedTask(task=task, rest=np.zeros((task.count, 1)), present=np.zeros(len(reference)))
            if task.tip in fading
            else task
            for task in tasks
        ]
        found, _ = yield from body_path(tree, reference, free, steady, **how)
        tasks = [
            FadedTask(
                task=task,
                rest=(1.0 - fading[task.tip]) * there.errors,
                # Without influence it stays where it is without its goal, whatever the body does for frames to come.
                present=np.full(len(reference), float(fading[task.tip].any())),
            )
            if task.tip in fading
            else task
            for task, there in zip(tasks, System(tree, found, tasks).measured, strict=True)
        ]
    return (yield from body_path(tree, reference, tasks, steady, **how))

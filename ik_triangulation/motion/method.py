# SPDX-License-Identifier: GPL-3.0-or-later
"""The methods that solve shots: Natural for limbs and bodies, and each published method for a single tip.

A published method solves each frame from the one before. Frames that it misses are tried from other poses, as a target
that can be reached is to be reached, and the frames around jumps are solved anew; all others stay as the method has
them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from mathutils import Matrix

from ..cooperative import Work
from ..goals import Goal
from ..goals.from_goals import Refusal
from ..goals.task import PlaceTask
from ..kinematics import Pose
from ..kinematics.batch.tree import joined
from ..solvers import SolverSettings
from .faded_path import faded_path
from .jumps import leaps_of
from .knots import KnotMethod
from .limb_motion import limb_motion
from .repair import mend_windows, relaxed, track_without_jumps
from .shot import Shot, SolvedPath
from .tracking import Tracked, Tracking, meet_missed

BODY_REFUSAL = Refusal("the published methods work on single limbs")


class Natural:
    """The natural solver, for any shot: limbs and bodies stay near their reference."""

    def solve(self, shot: Shot) -> Work[SolvedPath]:
        """Solve all frames together. Yields between parts of the work."""
        return (yield from limb_motion(shot) if shot.form is not None else faded_path(shot))


class Published(NamedTuple):
    """A published method, for shots of one tip: it goes on from the solved pose `first`.

    The path may begin with another pose where that avoids a jump, unless it `holds_first`; it ends with the pose `last`
    if there is one. `base_at` is the frame of the root's parent at a frame (4x4, armature space), `goal_at` the goal.
    """

    settings: SolverSettings
    first: Pose
    last: Pose | None
    holds_first: bool
    base_at: Callable[[int], Matrix]
    goal_at: Callable[[int], Goal]

    def solve(self, shot: Shot) -> Work[Tracked | Refusal]:
        """Solve all frames together, or refuse. Yields between parts of the work."""
        tree, tasks = shot.tree, shot.tasks
        if len(tree.tips) > 1:
            return BODY_REFUSAL
        if shot.preferences:
            return Refusal("the published methods weigh comfort and obstacles frame by frame")
        first, last = tree.states([self.first]), tree.states([self.last]) if self.last else None
        path = Tracking(tree, shot.reference, tasks, first, last, shot.ways, leaps_of(shot.ways), self.holds_first)
        knots = KnotMethod(tree, tasks, self.first, self.base_at, self.goal_at, self.settings)
        places_alone = len(tasks) == 1 and isinstance(tasks[0], PlaceTask)
        tracked = yield from (own_path if places_alone else track_without_jumps)(path, knots, shot.seed)
        if not self.holds_first:
            path = path._replace(first=tracked.states.take([0]))
        if shot.smoothing:
            tracked = yield from relaxed(path, tracked, shot.smoothing, knots, shot.seed)
        return tracked


def own_path(tracking: Tracking, method: KnotMethod, seed: int = 0) -> Work[Tracked]:
    """Solve all frames by the method, each from the one before; `mended` has those that are not its own in the end."""
    count = len(tracking.frames)
    inner = np.arange(1, count - (tracking.last is not None))
    rotations, steps = yield from method.follow_all(inner, tracking.frames)
    found = [tracking.first, tracking.tree.posed(rotations, tracking.frames.take(inner))]
    path = Tracked(tracking, joined(found if tracking.last is None else [*found, tracking.last]))
    path.steps[inner] = steps
    own = path.states.copy()
    missed = inner[~path.met[inner]]
    if len(missed) and tracking.tree.angles:  # without limits the method has come as near as can be
        yield from meet_missed(tracking, path, missed, method, seed)
    yield from mend_windows(tracking, path, method, seed)
    path.mended = (own.angles != path.states.angles).any(0) | (own.balls != path.states.balls).any((0, 1))
    return path

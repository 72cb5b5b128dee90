# SPDX-License-Identifier: GPL-3.0-or-later
"""Reading a limb's goal at each frame: the target to reach and the soft goals."""

from __future__ import annotations

import numpy as np
from mathutils import Vector

from ..goals import Goal, Point, Target, Transformed
from ..kinematics import Pose
from ..kinematics.arrays import Numbers
from .frames.samples import Samples
from .frames.sampling import Sample
from .limb import Limb
from .looks import Looks
from .soft_goals import has_soft_goals, soft_goals
from .target_shape import build_target


class GoalReader:
    """Reads the goal of a limb at any frame; keeps the target's shape as long as settings and display do not change."""

    def __init__(self) -> None:
        self._read: tuple[Limb, Looks] | None = None

    def at(self, now: Sample, start: Pose) -> Goal:
        """Return the goal (armature space) for a frame's sample; `start` is the pose of the first frame.

        Raises TargetError for a target that does not have the chosen shape, SettingError for an unknown shape.
        """
        limb, frame, into = now.limb, now.target, now.rig.into
        # World space may stretch armature space: the tolerance holds in the direction that it stretches most.
        tolerance, angle = limb.tolerance / now.rig.stretch, limb.angle_tolerance
        if self._read is None or self._read[0] is not limb or self._read[1] != now.looks:
            self._read = limb, now.looks
            self._target: Target | None = build_target(limb, now.looks)
            self._has_soft_goals = has_soft_goals(now)
        if limb.use_offset:
            frame = frame.copy()
            frame.translation = frame @ Vector(limb.offset_location)
        if not self._target and not self._has_soft_goals:
            return Goal(Point(into @ frame.translation), (), tolerance, angle)
        frame = into @ frame
        target = Transformed(self._target, frame) if self._target else Point(frame.to_translation())
        return Goal(target, tuple(soft_goals(now, frame, start)), tolerance, angle)

    def places(self, samples: Samples) -> tuple[Numbers, Numbers] | None:
        """Return places (3, F or 1; armature space) and tolerances (F or 1) of goals that are points and nothing else.

        None where samples differ in more than their matrices, or the goals ask for more.
        """
        first = samples.first
        if not samples.steady or build_target(first.limb, first.looks) or has_soft_goals(first):
            return None
        point = np.array((*(first.limb.offset_location if first.limb.use_offset else (0.0, 0.0, 0.0)), 1.0))
        world_places = np.einsum("ijf,j->if", samples.targets, point)
        into = np.moveaxis(np.linalg.inv(np.moveaxis(samples.worlds, -1, 0)), 0, -1)
        count = max(into.shape[-1], world_places.shape[-1])
        into, world_places = (np.broadcast_to(each, (*each.shape[:-1], count)) for each in (into, world_places))
        places = np.einsum("ijf,jf->if", into[:3], world_places)
        stretch = np.sqrt((samples.worlds[:3, :3] ** 2).sum(0)).max(0)
        return places, first.limb.tolerance / stretch

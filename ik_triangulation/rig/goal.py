# SPDX-License-Identifier: GPL-3.0-or-later
"""What a limb aims at, frame by frame: what to reach, and what to be like."""

from __future__ import annotations

from mathutils import Vector

from ..goals import Goal, Point, Target, Transformed
from ..kinematics import Pose
from .frames.sampling import Sample
from .limb import Limb
from .looks import Looks
from .soft_goals import has_wishes, wishes
from .target_shape import shape


class GoalReader:
    """Reader of the goal of a limb at any frame, from the sample of that frame."""

    def __init__(self) -> None:
        self._read: tuple[Limb, Looks] | None = None

    def at(self, now: Sample, start: Pose) -> Goal:
        """The goal for what a frame's sample says; `start` is the pose that the first frame has.

        Raises TargetError for a target that does not have the shape asked for, SettingError for one that is unknown.
        """
        limb, frame, into = now.limb, now.target, now.rig.into
        # World space may stretch armature space: the tolerance holds in the direction that it stretches most.
        tolerance, angle = limb.tolerance / now.rig.stretch, limb.angle_tolerance
        if self._read is None or self._read[0] is not limb or self._read[1] != now.looks:
            self._read = limb, now.looks
            self._shape: Target | None = shape(limb, now.looks)
            self._wishes = has_wishes(now)
        if limb.use_offset:
            frame = frame.copy()
            frame.translation = frame @ Vector(limb.offset_location)
        if not self._shape and not self._wishes:
            return Goal(Point(into @ frame.translation), (), tolerance, angle)
        frame = into @ frame
        target = Transformed(self._shape, frame) if self._shape else Point(frame.to_translation())
        return Goal(target, tuple(wishes(now, frame, start)), tolerance, angle)

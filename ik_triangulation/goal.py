# SPDX-License-Identifier: GPL-3.0-or-later
"""What a limb aims at, frame by frame: what to reach, and what to be like."""

from __future__ import annotations

from mathutils import Vector

from .blender.limb import Limb
from .blender.sampling import Sample
from .goals import Goal, Point, Transformed
from .kinematics import Pose
from .shape import shape
from .wishes import has_wishes, wishes


class Aim:
    """The goal of a limb at any frame.

    Raises TargetError for a target that does not have the shape asked for, SettingError for one that is unknown.
    """

    def __init__(self, limb: Limb) -> None:
        self._limb = limb
        self._shape = shape(limb)
        self._wishes = has_wishes(limb)

    def at(self, now: Sample, start: Pose) -> Goal:
        """The goal for what a frame's sample says; `start` is the pose that the first frame has."""
        limb, frame, into = self._limb, now.target, now.rig.into
        # World space may stretch armature space: the tolerance holds in the direction that it stretches most.
        tolerance = limb.tolerance / now.rig.stretch
        if limb.use_offset:
            frame = frame.copy()
            frame.translation = frame @ Vector(limb.offset_location)
        if not self._shape and not self._wishes:
            return Goal(Point(into @ frame.translation), tolerance=tolerance)
        frame = into @ frame
        target = Transformed(self._shape, frame) if self._shape else Point(frame.to_translation())
        return Goal(target, tuple(wishes(limb, now, frame, start)), tolerance)

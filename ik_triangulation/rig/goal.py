# SPDX-License-Identifier: GPL-3.0-or-later
"""Reading a limb's goal at each frame: the target to reach and the soft goals."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from mathutils import Quaternion, Vector

from ..goals import Anywhere, Goal, Point, Target, Transformed
from ..kinematics import Pose
from ..kinematics.arrays import Numbers
from .frames.samples import Samples
from .frames.sampling import Sample
from .limb import Limb
from .look_axis import look_of
from .looks import Looks
from .soft_goals import has_soft_goals, orientation_of, soft_goals
from .target_shape import build_target

_FLAT = 1e-9  # [Blender units] length of an axis that has no direction
_SQUARE = 1e-5  # deviation of axes from square ones that rounding explains


class PlacesAndTurns(NamedTuple):
    """Points to reach, `places` (3, F or 1; armature space) within `tolerance` (F or 1), and maybe orientations.

    `rotations` (3, 3, F or 1) or None, within `angle_tolerance` [rad], have this `weight`.
    """

    places: Numbers
    tolerance: Numbers
    rotations: Numbers | None
    angle_tolerance: float
    weight: float


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
            looking = orientation_of(limb, now.looks) == "LOOK"
            self._look = look_of(limb.armature, limb.tip, limb.look_axis) if looking else None
        if self._look:  # the tip is where it likes
            return Goal(Anywhere(), tuple(soft_goals(now, into @ frame, start, self._look)), tolerance, angle)
        if limb.use_offset:
            frame = frame.copy()
            frame.translation = frame @ Vector(limb.offset_location)
        if not self._target and not self._has_soft_goals:
            return Goal(Point(into @ frame.translation), (), tolerance, angle)
        frame = into @ frame
        target = Transformed(self._target, frame) if self._target else Point(frame.to_translation())
        return Goal(target, tuple(soft_goals(now, frame, start)), tolerance, angle)

    def goals(self, samples: Samples) -> PlacesAndTurns | None:
        """Return the goals of all frames as arrays, where they are points, with or without an orientation.

        None where samples differ in more than their matrices, or the goals ask for more.
        """
        first = samples.first
        limb = first.limb
        if not samples.steady or build_target(limb, first.looks):
            return None
        turned = orientation_of(limb, first.looks)
        others = limb.pole_target or first.obstacles or limb.effort_weight or limb.rest_weight
        if others or turned not in ("NONE", "FULL") or (turned == "FULL" and not limb.orient_weight > 0.0):
            return None
        into = np.moveaxis(np.linalg.inv(np.moveaxis(samples.worlds, -1, 0)), 0, -1)
        frames = np.einsum("ijf,jkf->ikf", *np.broadcast_arrays(into, samples.targets))
        point = np.array((*(limb.offset_location if limb.use_offset else (0.0, 0.0, 0.0)), 1.0))
        places = np.einsum("ijf,j->if", frames[:3], point)
        stretch = np.sqrt((samples.worlds[:3, :3] ** 2).sum(0)).max(0)
        rotations = None
        if turned == "FULL":
            rotations = _rotations(frames[:3, :3], limb)
            if rotations is None:
                return None
        return PlacesAndTurns(places, limb.tolerance / stretch, rotations, limb.angle_tolerance, limb.orient_weight)


def _rotations(axes: Numbers, limb: Limb) -> Numbers | None:
    """Rotations (3, 3, F) of frames, with the limb's offset; None if one of them is mirrored, sheared or flat."""
    sizes = np.sqrt((axes**2).sum(0))
    if not sizes.min() > _FLAT:
        return None
    turned = axes / sizes
    square = np.einsum("jif,jkf->ikf", turned, turned)
    if np.abs(square - np.eye(3)[:, :, None]).max() > _SQUARE:
        return None
    if not np.linalg.det(np.moveaxis(turned, -1, 0)).min() > 0.0:
        return None
    if limb.use_offset:
        offset = np.array(Quaternion(limb.offset_rotation).normalized().to_matrix())
        turned = np.einsum("ijf,jk->ikf", turned, offset)
    return turned

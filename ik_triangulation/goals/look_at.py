# SPDX-License-Identifier: GPL-3.0-or-later
"""The goal of looking at a point."""

from dataclasses import dataclass

from mathutils import Quaternion, Vector

from ..errors import SettingError
from ..kinematics.rotation import angle_between
from .checks import check_finite

_BONE = Vector((0.0, 1.0, 0.0)).freeze()


@dataclass(frozen=True)
class LookAt:
    """Point `axis` of the end effector of a body, by default its bone, at `point` (armature space)."""

    point: Vector
    axis: Vector = _BONE

    def __post_init__(self) -> None:
        check_finite("Look At", (*self.point, *self.axis))
        if not self.axis.length:
            raise SettingError("The axis that looks has no length. Give it one.")

    def missing_at(self, place: Vector, rotation: Quaternion) -> float:
        """Angle [rad] from the axis of an end effector there, armature space, to the point."""
        return angle_between(rotation @ self.axis, self.point - place)

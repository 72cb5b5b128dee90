# SPDX-License-Identifier: GPL-3.0-or-later
"""Soft goals for the orientation of the end effector: all of it, or the direction of one axis.

Source: "Inverse Kinematics" (seed document gradient-methods), soft constraints, and the direction bonus of seed
document quaternion-ccd. Residuals are rotation vectors [rad].
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mathutils import Quaternion, Vector

from ..errors import SettingError
from ..kinematics import Pose
from ..kinematics.rotation import angle_between, rejection, rotation_angle, rotation_between, rotation_vector
from .checks import check_finite, check_weight
from .look_at import LookAt
from .soft import JointAxis, Residual, SoftGoal

_BONE = Vector((0.0, 1.0, 0.0)).freeze()


@dataclass(frozen=True)
class Orientation:
    """Orient the end effector like `rotation` (armature space)."""

    rotation: Quaternion
    weight: float = 1.0
    can_be_met = True

    def __post_init__(self) -> None:
        check_finite("Orientation", self.rotation)
        check_weight("Orientation", self.weight)
        if not self.rotation.magnitude:
            raise SettingError("The orientation is no rotation. Give it a unit quaternion.")

    def missing(self, pose: Pose) -> float:
        """Angle [rad] from the orientation of the end effector to `rotation`."""
        return self.missing_at(pose.tip_rotation)

    def missing_at(self, rotation: Quaternion) -> float:
        """Angle [rad] from an orientation of the end effector (armature space) to `rotation`."""
        return rotation_angle(rotation, self.rotation)

    def residuals(self, pose: Pose, dofs: Sequence[JointAxis]) -> Iterator[Residual]:
        missing = rotation_vector(self.rotation @ pose.tip_rotation.conjugated())
        for n in range(3):
            yield self.weight * missing[n], [-self.weight * dof.angular_velocity[n] for dof in dofs]


@dataclass(frozen=True)
class Direction:
    """Point `axis` of the end effector, by default its bone, along `direction` (armature space)."""

    direction: Vector
    axis: Vector = _BONE
    weight: float = 1.0
    can_be_met = True

    def __post_init__(self) -> None:
        check_finite("Direction", (*self.direction, *self.axis))
        check_weight("Direction", self.weight)
        if not (self.direction.length and self.axis.length):
            raise SettingError("The direction to point along, or the axis to point, has no length. Give it one.")

    def missing(self, pose: Pose) -> float:
        """Angle [rad] from the axis of the end effector to `direction`."""
        return self.missing_at(pose.tip_rotation)

    def missing_at(self, rotation: Quaternion) -> float:
        """Angle [rad] from the axis of an end effector of this orientation (armature space) to `direction`."""
        return angle_between(rotation @ self.axis, self.direction)

    def residuals(self, pose: Pose, dofs: Sequence[JointAxis]) -> Iterator[Residual]:
        now = pose.tip_rotation @ self.axis
        missing = rotation_vector(rotation_between(now, self.direction))
        across = [rejection(dof.angular_velocity, now) for dof in dofs]  # a twist about the axis changes nothing
        for n in range(3):
            yield self.weight * missing[n], [-self.weight * axis[n] for axis in across]


def missing_angle(soft: Sequence[SoftGoal], place: Vector, rotation: Quaternion) -> float | None:
    """Angle [rad] from an end effector there, armature space, to the orientation asked for; None if none is."""
    angles = [goal.missing_at(rotation) for goal in soft if isinstance(goal, Orientation | Direction)]
    angles += [goal.missing_at(place, rotation) for goal in soft if isinstance(goal, LookAt)]
    return max(angles, default=None)

# SPDX-License-Identifier: GPL-3.0-or-later
"""The goal of looking at a point."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mathutils import Quaternion, Vector

from ..errors import SettingError
from ..kinematics import Pose
from ..kinematics.rotation import angle_between, rejection, rotation_between, rotation_vector
from .checks import check_finite, check_weight
from .soft import JointAxis, Residual

_BONE, _TIP = Vector((0.0, 1.0, 0.0)).freeze(), Vector((0.0, 0.0, 0.0)).freeze()
_NEAREST = 1e-6  # of the reach: a point nearer than that is in no direction


@dataclass(frozen=True)
class LookAt:
    """Point `axis` of the end effector, by default its bone, at `point` (armature space).

    The look begins at `origin`, seen from the end effector in its own axes [Blender units]: the eyes of a head whose
    end effector is its crown. With `up`, a direction in those axes too, the natural solver turns it to the side about
    what that is at rest, and then up or down, so that a face does not roll.
    """

    point: Vector
    axis: Vector = _BONE
    origin: Vector = _TIP
    up: Vector | None = None
    weight: float = 1.0
    can_be_met = True

    def __post_init__(self) -> None:
        check_finite("Look At", (*self.point, *self.axis, *self.origin, *(self.up or ())))
        check_weight("Look At", self.weight)
        if not self.axis.length:
            raise SettingError("The axis that looks has no length. Give it one.")

    def missing(self, pose: Pose) -> float:
        """Angle [rad] from the axis of the end effector to the point."""
        return self.missing_at(pose.tip, pose.tip_rotation)

    def missing_at(self, place: Vector, rotation: Quaternion) -> float:
        """Angle [rad] from the axis of an end effector there, armature space, to the point."""
        return angle_between(rotation @ self.axis, self.point - place - rotation @ self.origin)

    def residuals(self, pose: Pose, dofs: Sequence[JointAxis]) -> Iterator[Residual]:
        eye, now = pose.tip + pose.tip_rotation @ self.origin, (pose.tip_rotation @ self.axis).normalized()
        line = self.point - eye
        distance = max(line.length, _NEAREST * pose.chain.reach)
        line = line / distance
        missing = rotation_vector(rotation_between(now, line))
        # The axis turns with the joint, and the line to the point by the way of the eye.
        turns = [rejection(dof.angular_velocity, now) + line.cross(dof.velocity(eye)) / distance for dof in dofs]
        for n in range(3):
            yield self.weight * missing[n], [-self.weight * turn[n] for turn in turns]

# SPDX-License-Identifier: GPL-3.0-or-later
"""Soft goals for a pose that is easy to hold: a low centre of gravity, and nearness to a given pose.

Source: "Inverse Kinematics - Improved Methods" (seed document gradient-methods), soft constraints: low effort by the
height of the centre of gravity, and comfort. Deviation: the mass of a link is its length, at the middle of the link.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import isfinite, sqrt

from mathutils import Quaternion, Vector

from ..errors import SettingError
from ..kinematics import Pose
from ..kinematics.rotation import rotation_vector
from .checks import check_weight
from .soft import JointAxis, Residual

HANGING = 1e-6  # height below which a chain hangs straight down; the root has no derivative at 0


@dataclass(frozen=True)
class Effort:
    """Lower the centre of gravity: `down` is the direction of gravity (armature space)."""

    down: Vector
    weight: float = 1.0
    can_be_met = False

    def __post_init__(self) -> None:
        check_weight("Effort", self.weight)
        if not (all(map(isfinite, self.down)) and self.down.length):
            raise SettingError("Effort needs a direction that is down. Give it one.")

    def residuals(self, pose: Pose, dofs: Sequence[JointAxis]) -> Iterator[Residual]:
        up = -self.down.normalized()
        masses, reach = pose.lengths, sum(pose.lengths)
        middles = [(pose.head(i) + pose.end(i)) / 2.0 for i in range(len(pose))]
        centre = sum((middle * mass for middle, mass in zip(middles, masses, strict=True)), Vector()) / reach
        # Divided by the reach, from 0 for a chain that hangs straight down to 2. For a single link it is 1 - cos(angle)
        # and the residual sqrt(2 height) is 2 sin(angle / 2), nearly linear, which suits least squares.
        height = (centre - pose.head(0)).dot(up) / reach * 2.0 + 1.0
        value = sqrt(2.0 * max(height, HANGING))
        scale = 2.0 * self.weight / (value * reach * reach)
        changes = (
            sum(masses[i] * dof.velocity(middles[i]).dot(up) for i in range(dof.joint, len(pose))) for dof in dofs
        )
        yield self.weight * value, [scale * change for change in changes]


@dataclass(frozen=True)
class Near:
    """Keep every joint near its own one of `rotations`, those of a preferred pose.

    Residuals are rotation vectors [rad]. Raises SettingError for a quaternion that is not finite or zero, and for a
    number of rotations other than that of the chain's joints.
    """

    rotations: Sequence[Quaternion]
    weight: float = 1.0
    can_be_met = False

    def __post_init__(self) -> None:
        check_weight("Near", self.weight)
        for number, rotation in enumerate(self.rotations):
            if not (all(map(isfinite, rotation)) and rotation.magnitude):
                raise SettingError(f"Rotation {number} of Near is not valid. Give it a finite, nonzero quaternion.")

    def residuals(self, pose: Pose, dofs: Sequence[JointAxis]) -> Iterator[Residual]:
        if len(self.rotations) != len(pose):
            raise SettingError(
                f"Near has {len(self.rotations)} rotations for a chain of {len(pose)} joints. Give it one for each."
            )
        local = [(dof.joint, _in_joint_frame(pose, dof)) for dof in dofs]
        for i, (rotation, wanted) in enumerate(zip(pose.rotations, self.rotations, strict=True)):
            if pose.chain.joints[i].freedom.moves:
                missing = rotation_vector(wanted.normalized() @ rotation.conjugated())
                for n in range(3):
                    row = [-self.weight * axis[n] if joint == i else 0.0 for joint, axis in local]
                    yield self.weight * missing[n], row


def _in_joint_frame(pose: Pose, dof: JointAxis) -> Vector:
    """Angular velocity of a degree of freedom in its joint's own frame, which may be scaled or mirrored."""
    return Vector(pose.into(dof.joint, Quaternion((0.0, *dof.angular_velocity)))[1:])

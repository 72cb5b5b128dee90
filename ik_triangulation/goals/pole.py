# SPDX-License-Identifier: GPL-3.0-or-later
"""Soft goal for the swivel angle of a chain: the side to which it bends."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import atan2

from mathutils import Quaternion, Vector

from ..kinematics import Pose
from ..kinematics.rotation import rejection
from .checks import check_finite, check_weight
from .soft import JointAxis, Residual

_STRAIGHT = 1e-4  # of the reach: a smaller bend has no direction


@dataclass(frozen=True)
class Pole:
    """Bend the chain towards `location` (armature space), rotated by `angle` [rad] about the line from root to tip.

    The direction of the bend is the sum of the offsets of the joints from that line. The residual is the swivel angle
    from there to the pole [rad]; a straight chain, or a pole on the line, has none.
    """

    location: Vector
    angle: float = 0.0
    weight: float = 1.0
    can_be_met = True

    def __post_init__(self) -> None:
        check_finite("Pole", (*self.location, self.angle))
        check_weight("Pole", self.weight)

    def residuals(self, pose: Pose, dofs: Sequence[JointAxis]) -> Iterator[Residual]:
        root, nowhere = pose.head(0), _STRAIGHT * pose.chain.reach
        line = pose.tip - root
        if line.length <= nowhere:
            return
        line.normalize()
        inner = range(1, len(pose))
        bend = rejection(sum((pose.head(i) - root for i in inner), Vector()), line)
        pole = rejection(self.location - root, line)
        if bend.length <= nowhere or pole.length <= nowhere:
            return
        pole = Quaternion(line, self.angle) @ pole
        missing = atan2(bend.cross(pole).dot(line), bend.dot(pole))
        around = line.cross(bend) / bend.length_squared  # gradient of the swivel angle by the bend
        changes = [sum(dof.velocity(pose.head(i)).dot(around) for i in inner if i > dof.joint) for dof in dofs]
        yield self.weight * missing, [-self.weight * change for change in changes]

# SPDX-License-Identifier: GPL-3.0-or-later
"""Soft constraints that make a pose easy to hold: a low centre of gravity, and joints near a pose of one's choice.

Source: "Inverse Kinematics - Improved Methods" (seed document gradient-methods), soft constraints: low effort by the
height of the centre of gravity, and comfort. Deviation: a link weighs as much as it is long, and lies half way along.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import isfinite, sqrt

from mathutils import Quaternion, Vector

from ..errors import SettingError
from ..kinematics import Pose
from .soft import Row, Turn, check_weight, rotation_vector

_HANGING = 1e-6  # height below which a chain hangs at full length


@dataclass(frozen=True)
class Effort:
    """The centre of gravity shall hang low: `down` is where it is pulled to (armature space)."""

    down: Vector
    weight: float = 1.0
    can_be_met = False

    def __post_init__(self) -> None:
        check_weight("Effort", self.weight)
        if not (all(map(isfinite, self.down)) and self.down.length):
            raise SettingError("Effort needs a direction that is down. Give it one.")

    def rows(self, pose: Pose, turns: Sequence[Turn]) -> Iterator[Row]:
        up = -self.down.normalized()
        masses, reach = pose.lengths, sum(pose.lengths)
        middles = [(pose.head(i) + pose.end(i)) / 2.0 for i in range(len(pose))]
        centre = sum((middle * mass for middle, mass in zip(middles, masses, strict=True)), Vector()) / reach
        # As a share of the reach, from 0 for a chain that hangs at full length to 2; for a single link 1 - cos(angle),
        # whose double has the root 2 sin(angle / 2): nearly linear, as least squares like it.
        height = (centre - pose.head(0)).dot(up) / reach * 2.0 + 1.0
        number = sqrt(2.0 * max(height, _HANGING))
        scale = 2.0 * self.weight / (number * reach * reach)
        changes = (
            sum(masses[i] * turn.moves(middles[i]).dot(up) for i in range(turn.joint, len(pose))) for turn in turns
        )
        yield self.weight * number, [scale * change for change in changes]


@dataclass(frozen=True)
class Near:
    """Every joint shall be near one of `rotations`, its own: those of a pose that looks right.

    Raises SettingError for what is no rotation, and where there is not one for each joint of the chain.
    """

    rotations: Sequence[Quaternion]
    weight: float = 1.0
    can_be_met = False

    def __post_init__(self) -> None:
        check_weight("Near", self.weight)
        for number, rotation in enumerate(self.rotations):
            if not (all(map(isfinite, rotation)) and rotation.magnitude):
                raise SettingError(f"Rotation {number} of Near is none. Give it a quaternion that is finite, not zero.")

    def rows(self, pose: Pose, turns: Sequence[Turn]) -> Iterator[Row]:
        if len(self.rotations) != len(pose):
            raise SettingError(
                f"Near has {len(self.rotations)} rotations for a chain of {len(pose)} joints. Give it one for each."
            )
        own = [(turn.joint, _as_seen(pose, turn)) for turn in turns]
        for i, (rotation, wanted) in enumerate(zip(pose.rotations, self.rotations, strict=True)):
            if pose.chain.joints[i].freedom.moves:
                missing = rotation_vector(wanted.normalized() @ rotation.conjugated())
                for n in range(3):
                    row = [-self.weight * axis[n] if joint == i else 0.0 for joint, axis in own]
                    yield self.weight * missing[n], row


def _as_seen(pose: Pose, turn: Turn) -> Vector:
    """How a joint turns as seen from the frame it turns in, which may be scaled or mirrored."""
    return Vector(pose.into(turn.joint, Quaternion((0.0, *turn.turns)))[1:])

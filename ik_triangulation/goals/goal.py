# SPDX-License-Identifier: GPL-3.0-or-later
"""The goal of one solve: a target, and soft goals, which are weighted preferences for the freedom that reaching leaves.

The interface of soft goals: weighted preferences for the degrees of freedom that reaching and the limits leave. Source:
"Inverse Kinematics" (seed document gradient-methods), soft constraints, and the direction bonus of seed document
quaternion-ccd. Deviation: the source adds them to the error, so that they pull the tip off the target; here reaching
has priority (see solvers/null_space.py), and the residuals share the null space by their weights.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import radians
from typing import NamedTuple, Protocol

from mathutils import Vector

from ..kinematics import Pose
from .shapes import Target


class JointAxis(NamedTuple):
    """One degree of freedom of a joint: rotation about the unit `axis` through `head` (armature space).

    `weight` is the compliance of the joint: the rotation [rad] for a change of the coordinate by 1.
    """

    joint: int
    axis: Vector
    head: Vector
    weight: float

    @property
    def angular_velocity(self) -> Vector:
        """Rotation of everything beyond the joint for a change of the coordinate by 1 [rad]."""
        return self.axis * self.weight

    def velocity(self, point: Vector) -> Vector:
        """Displacement of a point beyond the joint for a change of the coordinate by 1 [Blender units]."""
        return Vector(self.angular_velocity.cross(point - self.head))


LOWER = 0.01  # of the weight of a soft goal that cannot be met, beside one that can

Residual = tuple[float, list[float]]  # its value, and its row of the Jacobian: one derivative for each JointAxis


class SoftGoal(Protocol):
    """A preference whose cost is half the sum of its squared residuals.

    `can_be_met` tells whether all residuals can be 0, so that restarts from other poses are worthwhile while they are
    not.
    """

    can_be_met: bool

    def residuals(self, pose: Pose, dofs: Sequence[JointAxis]) -> Iterator[Residual]:
        """Weighted residuals [rad, or lengths divided by the reach], with their derivatives by each of `dofs`."""


@dataclass(frozen=True)
class _Lower:
    """A soft goal with a smaller weight, ranked below others."""

    goal: SoftGoal
    can_be_met = False

    def residuals(self, pose: Pose, dofs: Sequence[JointAxis]) -> Iterator[Residual]:
        for value, row in self.goal.residuals(pose, dofs):
            yield value * LOWER, [each * LOWER for each in row]


def ranked(soft: Sequence[SoftGoal]) -> Sequence[SoftGoal]:
    """Return soft goals with less weight for those that can never be met beside those that can.

    A goal such as an orientation is missed a little as long as anything opposes it, and comfort always does.
    Beside one that can be met, goals that cannot have a hundredth of their weight. What is ranked already stays
    as it is.
    """
    if not any(goal.can_be_met for goal in soft):
        return soft
    return [goal if goal.can_be_met or isinstance(goal, _Lower) else _Lower(goal) for goal in soft]


def soft_cost(pose: Pose, soft: Sequence[SoftGoal]) -> float:
    """Cost of the soft goals at a pose: half the sum of their squared residuals."""
    return 0.5 * sum(value * value for goal in soft for value, _ in goal.residuals(pose, ()))


class Goal(NamedTuple):
    """A `target` to reach within `tolerance` [Blender units], and `soft` goals for the freedom that is left.

    An orientation or direction among the soft goals is met within `angle_tolerance` [rad]. Everything is in armature
    space; the goal of a tip of a body may hang `on` one of its joints, by name, and is in the frame of that then.
    """

    target: Target
    soft: tuple[SoftGoal, ...] = ()
    tolerance: float = 1e-3
    angle_tolerance: float = radians(1.0)
    on: str = ""

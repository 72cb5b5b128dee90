# SPDX-License-Identifier: GPL-3.0-or-later
"""Jacobian of the end effector by the coordinates of the joints, for all methods of the gradient family.

Source: "Inverse Kinematics - Improved Methods" (seed document gradient-methods), Gradient by Calculation: with a small
rotation the tip moves by the cross product of the joint's axis and the vector from joint to tip. Coordinates are those
of Freedom.coordinates, so hinges and limits need no cases of their own.
"""

from collections.abc import Iterable
from math import inf
from typing import NamedTuple

from mathutils import Quaternion, Vector

from ..kinematics import Pose

MAX_STEP = 1.0  # [rad] change of a coordinate in one step, beyond which the linearisation is meaningless


class JointState(NamedTuple):
    """State of a moving joint: its `rotation` and the `values` of its coordinates [rad].

    `weight` in 0..1 is its compliance, 1 - stiffness: the rotation [rad] for a change of a coordinate by 1.
    """

    joint: int
    weight: float
    rotation: Quaternion
    values: list[float]


class Column(NamedTuple):
    """Column of the Jacobian (x, y, z) [Blender units, armature space], and bounds of its coordinate's change [rad].

    Both are scaled by the weight of the joint.
    """

    x: float
    y: float
    z: float
    least: float
    most: float

    def along(self, vector: Vector) -> float:
        """Dot product with a vector in armature space."""
        return float(self.x * vector.x + self.y * vector.y + self.z * vector.z)

    @property
    def squared(self) -> float:
        """Square of the length."""
        return self.x * self.x + self.y * self.y + self.z * self.z


def jacobian(
    pose: Pose, largest: float = inf, among: Iterable[int] | None = None
) -> tuple[list[JointState], list[Column]]:
    """States of the moving joints, and the columns of all their coordinates in the same order.

    No coordinate may change by more than `largest` [rad]. `among` are the joints to include, by default all.
    """
    tip = pose.tip
    joints, columns = [], []
    for i in range(len(pose)) if among is None else among:
        joint = pose.chain.joints[i]
        rotation, weight = pose.rotations[i], 1.0 - joint.stiffness
        coordinates = joint.freedom.coordinates(rotation) if weight > 0.0 else []
        if not coordinates:
            continue
        socket = pose.socket(i)
        lever = pose.back(i) @ (tip - pose.head(i))
        values = []
        for axis, value, lower, upper in coordinates:
            x, y, z = (socket @ axis.cross(lever) * weight)[:]
            least, most = (lower - value) / weight, (upper - value) / weight
            least = max(-largest, least)  # twice as fast as max() and min()
            most = min(largest, most)
            columns.append(Column(x, y, z, least, most))
            values.append(value)
        joints.append(JointState(i, weight, rotation, values))
    return joints, columns


def apply_changes(pose: Pose, joints: list[JointState], changes: Iterable[float]) -> None:
    """Change the coordinates from their values in `joints`, each clamped to its bounds."""
    each = iter(changes)
    for i, weight, rotation, values in joints:
        values = [value + weight * next(each) for value in values]
        pose.put(i, pose.chain.joints[i].freedom.at(rotation, values))

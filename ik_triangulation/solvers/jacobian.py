# SPDX-License-Identifier: GPL-3.0-or-later
"""How the end effector moves with each coordinate of the joints: what all methods of the gradient family share.

Source: "Inverse Kinematics - Improved Methods" (seed document gradient-methods), Gradient by Calculation: with a small
turn the tip moves by the cross product of the joint's axis and the way from joint to tip. Coordinates are those of
Freedom.coordinates, so hinges and limits need no cases of their own.
"""

from collections.abc import Iterable
from math import inf
from typing import NamedTuple

from mathutils import Quaternion, Vector

from ..kinematics import Pose


class Turning(NamedTuple):
    """A joint that moves: its `rotation` and the `values` of its coordinates [rad] when they were taken.

    `weight` in 0..1 is how willing it is: a change of 1 turns it by so much of a radian.
    """

    joint: int
    weight: float
    rotation: Quaternion
    values: list[float]


class Column(NamedTuple):
    """How the tip moves with one coordinate [Blender units, armature space], and how far it may change [rad].

    All of it is scaled by the weight of the joint.
    """

    x: float
    y: float
    z: float
    least: float
    most: float

    def along(self, way: Vector) -> float:
        """The dot product with a way in armature space."""
        return float(self.x * way.x + self.y * way.y + self.z * way.z)

    @property
    def squared(self) -> float:
        """Square of the length."""
        return self.x * self.x + self.y * self.y + self.z * self.z


def jacobian(
    pose: Pose, largest: float = inf, among: Iterable[int] | None = None
) -> tuple[list[Turning], list[Column]]:
    """The joints that move and the columns of all their coordinates, in the same order.

    No coordinate may change by more than `largest` [rad]. `among` are the joints to look at, of themselves all.
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
        joints.append(Turning(i, weight, rotation, values))
    return joints, columns


def change(pose: Pose, joints: list[Turning], changes: Iterable[float]) -> None:
    """Give every coordinate the value it had when `joints` were taken and its change, each within its bounds."""
    each = iter(changes)
    for i, weight, rotation, values in joints:
        values = [value + weight * next(each) for value in values]
        pose.put(i, pose.chain.joints[i].freedom.at(rotation, values))

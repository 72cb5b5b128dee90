# SPDX-License-Identifier: GPL-3.0-or-later
"""The Jacobian of the tip's position, and the escape from poses in which it vanishes along the aim.

Jacobian of the end effector by the coordinates of the joints, for all methods of the gradient family. Source: "Inverse
Kinematics - Improved Methods" (seed document gradient-methods), Gradient by Calculation: with a small rotation the tip
moves by the cross product of the joint's axis and the vector from joint to tip. Coordinates are those of
Freedom.coordinates, so hinges and limits need no cases of their own.

Escape from a singular pose: a chain collinear with the aim, where the gradient of the distance vanishes. Every gradient
method is stuck there, although bending the chain would shorten it and unfolding it would lengthen it. Source: none, the
published methods do not treat it. Small rotations are tried in a fixed order, and the first ones that bring the tip
nearer are kept.
"""

from collections.abc import Iterable, Iterator
from itertools import pairwise
from math import inf
from typing import NamedTuple

from mathutils import Quaternion, Vector

from ..kinematics import Pose
from ..kinematics.rotation import about

MAX_STEP = 1.0  # [rad] change of a coordinate in one step, beyond which the linearisation is meaningless

_ACROSS = 1e-2  # cosine to the error below which the tip moves orthogonally to it
_STRETCHED = 1e-3  # of the length: a chain this near to straight cannot become longer
_BENDS = (
    1.0,
    0.25,
    0.0625,
)  # [rad] of all joints together; each shortens a straight chain 16 times less than the last
_GAIN = 1e-5  # of the reach: decrease of the distance that is more than rounding


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


def escape(pose: Pose, aim: Vector, columns: list[Column]) -> bool:
    """Bend or unfold a chain if none of the Jacobian's `columns` leads towards `aim`; True if the tip is nearer then.

    Trials that do not bring the tip nearer are undone, so the pose is unchanged at a true optimum.
    """
    error = aim - pose.tip
    distance = error.length
    moving = [i for i, joint in enumerate(pose.chain.joints) if joint.freedom.moves and joint.stiffness < 1.0]
    if sum(c.along(error) ** 2 for c in columns) > _ACROSS**2 * distance**2 * sum(c.squared for c in columns):
        return False
    if not moving or _stretched(pose, moving[0], error):
        return False
    enough = distance - _GAIN * pose.chain.reach
    start, turns = pose.rotations[:], len(pose.turns)
    for angles in _trials(moving):
        for i, angle in angles:
            axis = pose.frame(i) @ pose.chain.joints[i].freedom.bend_axis
            pose.turn(i, about(axis.normalized(), angle))
        for i in moving:  # the root points the bent chain at the aim; if it cannot, the next joints do
            head = pose.head(i)
            pose.swing(i, pose.tip - head, aim - head)
            if (aim - pose.tip).length < enough:
                return True
        pose.restore(start, turns)
    return False


def _stretched(pose: Pose, first: int, error: Vector) -> bool:
    """Whether the chain beyond the first moving joint is straight and too short for the aim."""
    span = pose.tip - pose.head(first)
    return span.dot(error) > 0.0 and span.length > (1.0 - _STRETCHED) * sum(pose.lengths[first:])


def _trials(moving: list[int]) -> Iterator[list[tuple[int, float]]]:
    """Joints and angles [rad] to try: first all by the same angle, then single links, to unfold a folded chain."""
    for bend in _BENDS:
        angle = bend / len(moving)
        for turn in (angle, -angle):
            yield [(i, turn) for i in moving]
        for i, after in pairwise(moving):
            for turn in (angle, -angle):
                yield [(i, -turn), (after, turn)]

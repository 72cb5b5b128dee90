# SPDX-License-Identifier: GPL-3.0-or-later
"""Gradient following: every joint turns as much as it helps, calculated, measured or with growing speed.

Source: "Inverse Kinematics - Improved Methods" (seed document gradient-methods), Method 1 and Method 2. The error is
half the square of the distance to the aim: its slope is what the source calculates for each joint.

Deviations. The source measures the slope of the distance itself, which does not fade at the aim; squared, it does, and
as a squared distance goes with the cosine of every angle, trial turns of any size measure it exactly but for a constant
factor. The source subtracts slopes in units from angles in degrees, which suits one size of chain: here the slope is
divided by the most that it can change with the angles (`_steepest`), so that every step leads downhill on every chain.
Joints stay within their bounds, and a deadlock is broken (singularity.py).
"""

from math import hypot, radians

from mathutils import Quaternion, Vector

from ..kinematics import Pose
from .jacobian import Column, Turning, change, jacobian
from .singularity import unlock

TRIAL = radians(1.0)  # the turn that a slope is measured with
LARGEST = 1.0  # rad a coordinate may change in one step, however fast it is


def step(pose: Pose, aim: Vector) -> None:
    """Method 1, gradient by calculation."""
    error = aim - pose.tip
    joints, columns = jacobian(pose, LARGEST)
    if not unlock(pose, aim, columns):
        _descend(pose, error, joints, columns, calculated(columns, error))


def step_measured(pose: Pose, aim: Vector) -> None:
    """Method 1, gradient by measurement."""
    error = aim - pose.tip
    joints, columns = jacobian(pose, LARGEST)
    if not unlock(pose, aim, columns):
        _descend(pose, error, joints, columns, measured(pose, aim, joints, columns))


class Accelerated:
    """Method 2: the slope changes the speed of a coordinate, until it has gone past the lowest point.

    Then it goes back to where the slope is zero, were it straight between the last two angles:
    x + v new / (new - old). Printed, the old slopes are never stored, the fraction is that of the way from the place
    before, and each speed takes the name of another. A coordinate that a bound stops has no speed left.
    """

    def __init__(self) -> None:
        self.slopes: list[float] = []
        self.speeds: list[float] = []
        self.rotations: list[Quaternion] = []  # that these hold for

    def __call__(self, pose: Pose, aim: Vector) -> None:
        error = aim - pose.tip
        joints, columns = jacobian(pose, LARGEST)
        if unlock(pose, aim, columns):
            return
        slopes, rate = calculated(columns, error), 1.0 / (_steepest(pose, joints, error.length) or 1.0)
        if pose.rotations != self.rotations:
            self.slopes, self.speeds = slopes, [0.0] * len(columns)
        changes = []
        for n, (column, old, new) in enumerate(zip(columns, self.slopes, slopes, strict=True)):
            if old * new < 0.0:  # gone past it
                changes.append(_held(self.speeds[n] * new / (new - old), column))
                self.speeds[n] = 0.0
            else:
                changes.append(_held(-self.speeds[n] - rate * new, column))
                self.speeds[n] = -changes[n]
        change(pose, joints, changes)
        self.slopes, self.rotations = slopes, pose.rotations[:]


def calculated(columns: list[Column], error: Vector) -> list[float]:
    """Slope of half the squared distance with each coordinate [square units per rad]."""
    return [-column.along(error) for column in columns]


def measured(pose: Pose, aim: Vector, joints: list[Turning], columns: list[Column]) -> list[float]:
    """The same from a trial turn to both sides, as far as the bounds leave room."""
    start, turns = pose.rotations[:], len(pose.turns)
    slopes: list[float] = []
    for joint in joints:
        for n in range(len(joint.values)):
            column = columns[len(slopes)]
            sides, distances = (max(-TRIAL, column.least), min(TRIAL, column.most)), []
            for side in sides:
                change(pose, [joint], [side if k == n else 0.0 for k in range(len(joint.values))])
                distances.append(hypot(*(aim - pose.tip)))  # in double precision
                pose.restore(start, turns)
            width, (low, high) = sides[1] - sides[0], distances
            slopes.append((high - low) * (high + low) / 2.0 / width if width > 0.0 else 0.0)
    return slopes


def _descend(pose: Pose, error: Vector, joints: list[Turning], columns: list[Column], slopes: list[float]) -> None:
    steepest = _steepest(pose, joints, error.length)
    if steepest:
        change(pose, joints, [_held(-g / steepest, column) for g, column in zip(slopes, columns, strict=True)])


def _steepest(pose: Pose, joints: list[Turning], distance: float) -> float:
    """The most that the slope can change with the angles [square units per rad], whatever the pose.

    The second derivative of half the squared distance is J^T J and the error times the second derivative of the tip.
    With S the length of the chain from a joint on, their norms are at most the sum of S^2 and `distance` times that
    of S. Going by the slope divided by this never leads uphill, also where Euler axes fall together, which at most
    doubles it.
    """
    lengths, spans = pose.lengths, pose.spans
    beyond = (lengths[i] + spans[i][1] for i, *_ in joints)
    return sum(length * (length + distance) for length in beyond)


def _held(change: float, column: Column) -> float:
    return min(max(change, column.least), column.most)

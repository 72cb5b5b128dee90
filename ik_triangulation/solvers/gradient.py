# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps along the gradient of the squared distance: calculated, measured, accelerated, or by the Jacobian transpose.

Source: "Inverse Kinematics - Improved Methods" (seed document gradient-methods), Method 1 and Method 2. The error is
half the square of the distance to the aim: its slope is what the source calculates for each joint.

Deviations. The source measures the slope of the distance itself, which does not vanish at the aim; that of the squared
distance does, and as a squared distance is linear in the cosine of every angle, trial rotations of any size measure it
exactly but for a constant factor. The source subtracts slopes in units from angles in degrees, which suits one size of
chain: here the step size is one over the Lipschitz constant of the gradient (`_lipschitz`), so that every step descends
on every chain. Coordinates are clamped to their bounds, and singular poses are escaped (jacobian.py).

Source of the Jacobian transpose: Wolovich and Elliott 1984, "A computational technique for inverse kinematics"; the
step size, optimal for a linear motion of the tip, is that of Buss 2004, "Introduction to inverse kinematics", section
5: alpha = <e, J J^T e> / <J J^T e, J J^T e>. Deviations: coordinates at a bound that would go beyond it are left out of
J; the step is scaled so that no coordinate changes by more than `MAX_TRANSPOSE_STEP`; singular poses are escaped.
"""

from math import hypot, radians

from mathutils import Quaternion, Vector

from ..kinematics import Pose
from .jacobian import MAX_STEP, Column, JointState, apply_changes, escape, jacobian

TRIAL = radians(1.0)  # the rotation with which a slope is measured

MAX_TRANSPOSE_STEP = 0.5  # [rad] beyond which the linearisation is poor


def step(pose: Pose, aim: Vector) -> None:
    """Method 1, gradient by calculation."""
    error = aim - pose.tip
    joints, columns = jacobian(pose, MAX_STEP)
    if not escape(pose, aim, columns):
        _descend(pose, error, joints, columns, calculated(columns, error))


def step_measured(pose: Pose, aim: Vector) -> None:
    """Method 1, gradient by measurement."""
    error = aim - pose.tip
    joints, columns = jacobian(pose, MAX_STEP)
    if not escape(pose, aim, columns):
        _descend(pose, error, joints, columns, measured(pose, aim, joints, columns))


class Accelerated:
    """Method 2: the slope accelerates a coordinate until it has passed the minimum.

    Then it goes back to the zero of the slope by linear interpolation between the last two angles:
    x + v new / (new - old). As printed, the old slopes are never stored, the fraction is relative to the previous
    angle, and each speed has the name of another. A coordinate clamped to a bound loses its speed.
    """

    def __init__(self) -> None:
        self.slopes: list[float] = []
        self.speeds: list[float] = []
        self.rotations: list[Quaternion] = []  # for which these are valid

    def __call__(self, pose: Pose, aim: Vector) -> None:
        error = aim - pose.tip
        joints, columns = jacobian(pose, MAX_STEP)
        if escape(pose, aim, columns):
            return
        slopes, rate = calculated(columns, error), 1.0 / (_lipschitz(pose, joints, error.length) or 1.0)
        if pose.rotations != self.rotations:
            self.slopes, self.speeds = slopes, [0.0] * len(columns)
        changes = []
        for n, (column, old, new) in enumerate(zip(columns, self.slopes, slopes, strict=True)):
            if old * new < 0.0:  # passed the minimum
                changes.append(_clamped(self.speeds[n] * new / (new - old), column))
                self.speeds[n] = 0.0
            else:
                changes.append(_clamped(-self.speeds[n] - rate * new, column))
                self.speeds[n] = -changes[n]
        apply_changes(pose, joints, changes)
        self.slopes, self.rotations = slopes, pose.rotations[:]


def calculated(columns: list[Column], error: Vector) -> list[float]:
    """Slope of half the squared distance by each coordinate [square units per rad]."""
    return [-column.along(error) for column in columns]


def measured(pose: Pose, aim: Vector, joints: list[JointState], columns: list[Column]) -> list[float]:
    """The same by central differences, within the bounds."""
    start, turns = pose.rotations[:], len(pose.turns)
    slopes: list[float] = []
    for joint in joints:
        for n in range(len(joint.values)):
            column = columns[len(slopes)]
            sides, distances = (max(-TRIAL, column.least), min(TRIAL, column.most)), []
            for side in sides:
                apply_changes(pose, [joint], [side if k == n else 0.0 for k in range(len(joint.values))])
                distances.append(hypot(*(aim - pose.tip)))  # in double precision
                pose.restore(start, turns)
            width, (low, high) = sides[1] - sides[0], distances
            slopes.append((high - low) * (high + low) / 2.0 / width if width > 0.0 else 0.0)
    return slopes


def _descend(pose: Pose, error: Vector, joints: list[JointState], columns: list[Column], slopes: list[float]) -> None:
    lipschitz = _lipschitz(pose, joints, error.length)
    if lipschitz:
        apply_changes(
            pose, joints, [_clamped(-g / lipschitz, column) for g, column in zip(slopes, columns, strict=True)]
        )


def _lipschitz(pose: Pose, joints: list[JointState], distance: float) -> float:
    """Lipschitz constant of the gradient [square units per rad], for any pose.

    The second derivative of half the squared distance is J^T J plus the error times the second derivative of the tip.
    With S the length of the chain from a joint on, their norms are at most the sum of S^2 and `distance` times that of
    S. A step of the slope divided by this never ascends, even where Euler axes coincide, which at most doubles it.
    """
    lengths, spans = pose.lengths, pose.spans
    beyond = (lengths[i] + spans[i][1] for i, *_ in joints)
    return sum(length * (length + distance) for length in beyond)


def _clamped(apply_changes: float, column: Column) -> float:
    return min(max(apply_changes, column.least), column.most)


def step_transposed(pose: Pose, aim: Vector) -> None:
    """Change all coordinates by alpha J^T e, clamped to their bounds: the Jacobian transpose."""
    error = aim - pose.tip
    joints, columns = jacobian(pose)
    if escape(pose, aim, columns):
        return
    turns = [column.along(error) for column in columns]  # J^T e
    turns = [t if (c.most if t > 0.0 else -c.least) > 0.0 else 0.0 for t, c in zip(turns, columns, strict=True)]
    x, y, z = (sum(c[k] * t for c, t in zip(columns, turns, strict=True)) for k in range(3))  # J J^T e
    squared = x * x + y * y + z * z
    if squared > 0.0:
        alpha = (x * error.x + y * error.y + z * error.z) / squared
        alpha = min(alpha, MAX_TRANSPOSE_STEP / max(map(abs, turns)))
        apply_changes(pose, joints, [min(max(alpha * t, c.least), c.most) for t, c in zip(turns, columns, strict=True)])

# SPDX-License-Identifier: GPL-3.0-or-later
"""Jacobian transpose: the direction of the gradient, with the length that would reach best on straight lines.

Source: Wolovich and Elliott 1984, "A computational technique for inverse kinematics"; the length of the step is that of
Buss 2004, "Introduction to inverse kinematics", section 5: alpha = <e, J J^T e> / <J J^T e, J J^T e>.

Deviations: coordinates at a bound that would go beyond it are left out of J; no coordinate turns by more than `LARGEST`
in one step, the whole step being shortened; a deadlock is broken (singularity.py).
"""

from mathutils import Vector

from ..kinematics import Pose
from .jacobian import change, jacobian
from .singularity import unlock

LARGEST = 0.5  # rad, beyond which straight lines say little


def step(pose: Pose, aim: Vector) -> None:
    """All coordinates turn by alpha J^T e, within their bounds."""
    error = aim - pose.tip
    joints, columns = jacobian(pose)
    if unlock(pose, aim, columns):
        return
    turns = [column.along(error) for column in columns]  # J^T e
    turns = [t if (c.most if t > 0.0 else -c.least) > 0.0 else 0.0 for t, c in zip(turns, columns, strict=True)]
    x, y, z = (sum(c[k] * t for c, t in zip(columns, turns, strict=True)) for k in range(3))  # J J^T e
    squared = x * x + y * y + z * z
    if squared > 0.0:
        alpha = (x * error.x + y * error.y + z * error.z) / squared
        alpha = min(alpha, LARGEST / max(map(abs, turns)))
        change(pose, joints, [min(max(alpha * t, c.least), c.most) for t, c in zip(turns, columns, strict=True)])

# SPDX-License-Identifier: GPL-3.0-or-later
"""Jacobian transpose: a step along the gradient, with the step size that is optimal for a linear motion of the tip.

Source: Wolovich and Elliott 1984, "A computational technique for inverse kinematics"; the step size is that of
Buss 2004, "Introduction to inverse kinematics", section 5: alpha = <e, J J^T e> / <J J^T e, J J^T e>.

Deviations: coordinates at a bound that would go beyond it are left out of J; the step is scaled so that no coordinate
changes by more than `MAX_TRANSPOSE_STEP`; singular poses are escaped (jacobian.py).
"""

from mathutils import Vector

from ..kinematics import Pose
from .jacobian import apply_changes, escape, jacobian

MAX_TRANSPOSE_STEP = 0.5  # [rad] beyond which the linearisation is poor


def step(pose: Pose, aim: Vector) -> None:
    """Change all coordinates by alpha J^T e, clamped to their bounds."""
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

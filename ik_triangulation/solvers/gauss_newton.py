# SPDX-License-Identifier: GPL-3.0-or-later
"""Bounded, damped Gauss-Newton: all joints at once, by the step that would reach if the tip moved in straight lines.

Source: the gradient family of "Inverse Kinematics" (seed document gradient-methods) with the step of Levenberg 1944 and
Marquardt 1963 in place of a fixed one. With J the 3 x m matrix of how the tip moves with each coordinate, their change
is J^T y, where (J J^T + damping) y = error: a 3 x 3 system however many joints there are, so a step is O(n). What a
coordinate cannot do within its bounds is left to the others.
"""

from typing import NamedTuple

from mathutils import Vector

from ..kinematics import Pose

DAMPING = 1e-4  # of the trace of J J^T, in a first attempt
HARDER = 16.0  # times more damping after an attempt that did not bring the tip nearer
ATTEMPTS = 8
LARGEST = 1.0  # rad a coordinate may change in one step, beyond which straight lines say nothing


class _Column(NamedTuple):
    """How the tip moves with one coordinate, weighted by how willing its joint is, and how far it may change [rad]."""

    x: float
    y: float
    z: float
    least: float
    most: float


def step(pose: Pose, aim: Vector) -> None:
    """One step, with as much damping as it takes to come nearer to `aim`; if none does, the pose stays as it is."""
    error = aim - pose.tip
    start, turns = pose.rotations[:], len(pose.turns)
    joints, columns = _columns(pose)
    trace = sum(c.x * c.x + c.y * c.y + c.z * c.z for c in columns)
    damping = DAMPING * trace
    for _ in range(ATTEMPTS):
        changes = iter(_changes(columns, error, damping))
        for i, weight, values in joints:
            values = [value + weight * next(changes) for value in values]
            pose.put(i, pose.chain.joints[i].freedom.at(start[i], values))
        if (aim - pose.tip).length < error.length:
            return
        pose.restore(start, turns)
        damping *= HARDER


def _columns(pose: Pose) -> tuple[list[tuple[int, float, list[float]]], list[_Column]]:
    """For each joint that moves its index, weight and coordinates; and the columns of all coordinates in that order."""
    tip = pose.tip
    joints, columns = [], []
    for i, joint in enumerate(pose.chain.joints):
        coordinates = joint.freedom.coordinates(pose.rotations[i])
        if not coordinates:
            continue
        socket, weight = pose.socket(i), 1.0 - joint.stiffness
        lever = socket.inverted() @ (tip - pose.head(i))
        for axis, value, lower, upper in coordinates:
            x, y, z = socket @ axis.cross(lever) * weight
            least, most = max((lower - value) / weight, -LARGEST), min((upper - value) / weight, LARGEST)
            columns.append(_Column(x, y, z, least, most))
        joints.append((i, weight, [coordinate.value for coordinate in coordinates]))
    return joints, columns


def _changes(columns: list[_Column], error: Vector, damping: float) -> list[float]:
    """Change of each coordinate [rad], within its bounds, that takes the tip by `error` (nearly: it is damped)."""
    x, y, z = error
    changes = [0.0] * len(columns)
    free = list(range(len(columns)))
    while free:
        along = _solve([columns[n] for n in free], x, y, z, damping)
        if along is None:
            break
        u, v, w = along
        bounded = []
        for n in free:
            c = columns[n]
            changes[n] = c.x * u + c.y * v + c.z * w
            if not c.least <= changes[n] <= c.most:
                changes[n] = min(max(changes[n], c.least), c.most)
                bounded.append(n)
        if not bounded:
            break
        for n in bounded:  # what these do is settled; the others have the rest to do
            c = columns[n]
            x, y, z = x - c.x * changes[n], y - c.y * changes[n], z - c.z * changes[n]
        free = [n for n in free if n not in bounded]
    return changes


def _solve(columns: list[_Column], x: float, y: float, z: float, damping: float) -> tuple[float, float, float] | None:
    """Solve (J J^T + damping) y = (x, y, z) by Cramer's rule; None where nothing moves the tip."""
    a = b = c = d = e = f = 0.0  # of the symmetric matrix ((a, b, c), (b, d, e), (c, e, f))
    for p, q, r, _, _ in columns:
        a += p * p
        b += p * q
        c += p * r
        d += q * q
        e += q * r
        f += r * r
    a, d, f = a + damping, d + damping, f + damping
    df_ee, ce_bf, be_cd = d * f - e * e, c * e - b * f, b * e - c * d
    determinant = a * df_ee + b * ce_bf + c * be_cd
    if determinant <= 0.0:
        return None
    af_cc, bc_ae, ad_bb = a * f - c * c, b * c - a * e, a * d - b * b
    return (
        (df_ee * x + ce_bf * y + be_cd * z) / determinant,
        (ce_bf * x + af_cc * y + bc_ae * z) / determinant,
        (be_cd * x + bc_ae * y + ad_bb * z) / determinant,
    )

# SPDX-License-Identifier: GPL-3.0-or-later
"""Bounded, damped Gauss-Newton: a step of all joints that would reach if the tip moved linearly.

Source: the gradient family of "Inverse Kinematics" (seed document gradient-methods) with the step of Levenberg 1944 and
Marquardt 1963 in place of a fixed one. With J the 3 x m Jacobian of the tip, the change of the coordinates is J^T y,
where (J J^T + damping) y = error: a 3 x 3 system for any number of joints, so a step is O(n). The damping decreases
with the error, as by Yamashita and Fukushima 2001. Coordinates at a bound are fixed there, and the system is solved
again for the others (active set).

A ball joint without limits needs no coordinates: with l the vector from it to the tip, its rotation vector is l x y. If
all joints are such, the motion of the tip is known to the second order, and the step corrects for it (the geodesic
acceleration of Transtrum and Sethna 2012).
"""

from collections.abc import Sequence
from typing import NamedTuple

from mathutils import Vector

from ..kinematics import Free, Pose
from .jacobian import MAX_STEP, Column, apply_changes, escape, jacobian

_DAMPING = 1e-3  # of the trace of J J^T, in a first attempt, times error / (error + reach)
_DAMPING_INCREASE = 16.0  # factor after an attempt that did not bring the tip nearer
_ATTEMPTS = 8
_CURVED = 1.0  # of the error, up to which the second-order term is small
_FREE = Free()


class _Sums(NamedTuple):
    """The symmetric matrix J J^T: ((a, b, c), (b, d, e), (c, e, f))."""

    a: float
    b: float
    c: float
    d: float
    e: float
    f: float


def step(pose: Pose, aim: Vector) -> None:
    """One step, with increasing damping until the tip comes nearer to `aim`; else the pose is unchanged.

    If no damping helps, a singular pose is escaped.
    """
    error = aim - pose.tip
    distance, last = error.length, len(pose) - 1
    start, turns = pose.rotations[:], len(pose.turns)
    balls = pose.chain.balls
    levers, sums = _levers(pose)
    sockets = pose.sockets[:]
    joints, columns = jacobian(pose, MAX_STEP, pose.chain.others)
    damping = _DAMPING * distance / ((distance + pose.chain.reach) or 1.0)
    for _ in range(_ATTEMPTS):
        along, changes = _changes(sums, columns, error, damping)
        ball_turns = _turns(balls, levers, along)
        if levers and not columns:
            bend = _bend(levers, ball_turns)
            if bend.length < _CURVED * distance:
                along, _ = _changes(sums, columns, error - bend, damping)
                ball_turns = _turns(balls, levers, along)
        for (i, _), turn in zip(balls, ball_turns, strict=True):
            if turn.length > MAX_STEP:
                turn *= MAX_STEP / turn.length
            pose.put(i, _FREE.at(start[i], (turn @ sockets[i])[:]))
        apply_changes(pose, joints, changes)
        pose.head(last)  # the next step needs every head
        if (aim - pose.tip).length < distance:
            return
        pose.restore(start, turns)
        damping *= _DAMPING_INCREASE
    escape(pose, aim, jacobian(pose)[1])


def _levers(pose: Pose) -> tuple[list[Vector], _Sums]:
    """For each ball joint the lever, the vector to the tip, which moves by turn x lever; and J J^T of them all.

    A lever l contributes |l|^2 I - l l^T.
    """
    tip, heads, levers = pose.tip, pose.heads, []
    xx = xy = xz = yy = yz = zz = 0.0
    for i, compliance in pose.chain.balls:
        lever = tip - heads[i]
        x, y, z = lever[:]
        u, v, w = compliance * x, compliance * y, compliance * z
        xx += x * u
        xy += x * v
        xz += x * w
        yy += y * v
        yz += y * w
        zz += z * w
        levers.append(lever)
    return levers, _Sums(yy + zz, -xy, -xz, xx + zz, -yz, xx + yy)


def _turns(balls: Sequence[tuple[int, float]], levers: Sequence[Vector], along: Vector) -> list[Vector]:
    """Rotation vector of each ball joint (axis times angle [rad])."""
    return [lever.cross(along) * compliance for (_, compliance), lever in zip(balls, levers, strict=True)]


def _bend(levers: Sequence[Vector], turns: Sequence[Vector]) -> Vector:
    """Second-order term of the displacement of the tip for these rotation vectors [Blender units].

    Each joint rotates in the frame of those before it. So its rotation vector is rotated by all of these, and its link
    has the centripetal acceleration of the sum of them.
    """
    bend, whole = Vector(), Vector()
    for turn, lever, after in zip(turns, levers, [*levers[1:], Vector()], strict=True):
        bend += whole.cross(turn).cross(lever)
        whole += turn
        bend += whole.cross(whole.cross(lever - after))
    return bend / 2.0


def _changes(sums: _Sums, columns: Sequence[Column], error: Vector, damping: float) -> tuple[Vector, list[float]]:
    """Solve for the y that moves the tip by `error` (damped), with the change of each coordinate within its bounds.

    `sums` is the part of J J^T of the ball joints, which have no bounds.
    """
    x, y, z = error
    changes = [0.0] * len(columns)
    free = list(enumerate(columns))
    while True:
        along = _solve(sums, free, x, y, z, damping)
        if along is None:
            return Vector(), changes
        u, v, w = along
        left = []
        for n, column in free:
            p, q, r, least, most = column
            change = p * u + q * v + r * w
            if least <= change <= most:
                changes[n] = change
                left.append((n, column))
            else:  # fixed at its bound; the others have to do the rest
                changes[n] = change = min(max(change, least), most)
                x, y, z = x - p * change, y - q * change, z - r * change
        if len(left) == len(free):
            return Vector(along), changes
        free = left


def _solve(
    sums: _Sums, columns: Sequence[tuple[int, Column]], x: float, y: float, z: float, damping: float
) -> tuple[float, float, float] | None:
    """Solve (J J^T + damping trace) y = (x, y, z) by Cramer's rule; None if no coordinate moves the tip."""
    a, b, c, d, e, f = sums
    for _, (p, q, r, _, _) in columns:
        a += p * p
        b += p * q
        c += p * r
        d += q * q
        e += q * r
        f += r * r
    damping *= a + d + f
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

# SPDX-License-Identifier: GPL-3.0-or-later
"""Bounded, damped Gauss-Newton: all joints at once, by the step that would reach if the tip moved in straight lines.

Source: the gradient family of "Inverse Kinematics" (seed document gradient-methods) with the step of Levenberg 1944 and
Marquardt 1963 in place of a fixed one. With J the 3 x m matrix of how the tip moves with each coordinate, their change
is J^T y, where (J J^T + damping) y = error: a 3 x 3 system however many joints there are, so a step is O(n). It is
damped the less the nearer the tip is, as by Yamashita and Fukushima 2001. What a coordinate cannot do within its bounds
is left to the others.

A ball joint without limits needs no coordinates: with l the way from it to the tip, it turns by l x y. Where all joints
are such, the way of the tip is known to the second order, and what it bends away is aimed for as well (the geodesic
acceleration of Transtrum and Sethna 2012).
"""

from collections.abc import Sequence
from typing import NamedTuple

from mathutils import Vector

from ..kinematics import Free, Pose
from .jacobian import Column, change, jacobian
from .singularity import unlock

DAMPING = 1e-3  # of the trace of J J^T, in a first attempt, times the error as a share of itself and the reach
HARDER = 16.0  # times more damping after an attempt that did not bring the tip nearer
ATTEMPTS = 8
LARGEST = 1.0  # rad a joint or coordinate may change in one step, beyond which straight lines say nothing
CURVED = 1.0  # share of the error up to which the bend of the tip's way is small
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
    """One step, with as much damping as it takes to come nearer to `aim`; if none does, the pose stays as it is.

    A chain that lies on one line with the aim is bent first.
    """
    error = aim - pose.tip
    distance, last = error.length, len(pose) - 1
    start, turns = pose.rotations[:], len(pose.turns)
    balls = pose.chain.balls
    levers, sums = _levers(pose)
    sockets = pose.sockets[:]
    joints, columns = jacobian(pose, LARGEST, pose.chain.others)
    damping = DAMPING * distance / ((distance + pose.chain.reach) or 1.0)
    for _ in range(ATTEMPTS):
        along, changes = _changes(sums, columns, error, damping)
        ball_turns = _turns(balls, levers, along)
        if levers and not columns:
            bend = _bend(levers, ball_turns)
            if bend.length < CURVED * distance:
                along, _ = _changes(sums, columns, error - bend, damping)
                ball_turns = _turns(balls, levers, along)
        for (i, _), turn in zip(balls, ball_turns, strict=True):
            if turn.length > LARGEST:
                turn *= LARGEST / turn.length
            pose.put(i, _FREE.at(start[i], (turn @ sockets[i])[:]))
        change(pose, joints, changes)
        pose.head(last)  # the next step needs every head
        if (aim - pose.tip).length < distance:
            return
        pose.restore(start, turns)
        damping *= HARDER
    unlock(pose, aim, jacobian(pose)[1])


def _levers(pose: Pose) -> tuple[list[Vector], _Sums]:
    """For each ball joint the way to the tip, which moves by turn x lever, and J J^T of them all.

    To that a lever l adds the square of its length on the diagonal, less l l^T.
    """
    tip, heads, levers = pose.tip, pose.heads, []
    xx = xy = xz = yy = yz = zz = 0.0
    for i, willing in pose.chain.balls:
        lever = tip - heads[i]
        x, y, z = lever[:]
        u, v, w = willing * x, willing * y, willing * z
        xx += x * u
        xy += x * v
        xz += x * w
        yy += y * v
        yz += y * w
        zz += z * w
        levers.append(lever)
    return levers, _Sums(yy + zz, -xy, -xz, xx + zz, -yz, xx + yy)


def _turns(balls: Sequence[tuple[int, float]], levers: Sequence[Vector], along: Vector) -> list[Vector]:
    """By what each ball joint turns, axis times angle [rad]."""
    return [lever.cross(along) * willing for (_, willing), lever in zip(balls, levers, strict=True)]


def _bend(levers: Sequence[Vector], turns: Sequence[Vector]) -> Vector:
    """How far these turns bend the tip off its straight way, to the second order.

    Each joint turns in the frame of those before it. So what it turns by is turned on by all of these, and its link
    accelerates towards the axis that it turns about with them.
    """
    bend, whole = Vector(), Vector()
    for turn, lever, after in zip(turns, levers, [*levers[1:], Vector()], strict=True):
        bend += whole.cross(turn).cross(lever)
        whole += turn
        bend += whole.cross(whole.cross(lever - after))
    return bend / 2.0


def _changes(sums: _Sums, columns: Sequence[Column], error: Vector, damping: float) -> tuple[Vector, list[float]]:
    """The y that takes the tip by `error` (nearly: it is damped), and the change of each coordinate within its bounds.

    What `sums` adds to J J^T has no bounds.
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
            else:  # what this one does is settled; the others have the rest to do
                changes[n] = change = min(max(change, least), most)
                x, y, z = x - p * change, y - q * change, z - r * change
        if len(left) == len(free):
            return Vector(along), changes
        free = left


def _solve(
    sums: _Sums, columns: Sequence[tuple[int, Column]], x: float, y: float, z: float, damping: float
) -> tuple[float, float, float] | None:
    """Solve (J J^T + damping trace) y = (x, y, z) by Cramer's rule; None where nothing moves the tip."""
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

# SPDX-License-Identifier: GPL-3.0-or-later
"""Soft constraints met as well as possible while the tip stays where it is: damped least squares in what is left.

Source: the soft constraints of "Inverse Kinematics" (seed document gradient-methods); the priority of one task over
others by Nakamura, Hanafusa and Yoshikawa 1987; steps damped as by Levenberg 1944 and Marquardt 1963, and the more the
greater the cost, as by Yamashita and Fukushima 2001, for soft constraints that cannot be met. With J and r the
derivatives and values of the soft constraints and T those of the tip, a step d minimises |r + J d|^2 + damping |d|^2
among those with T d = 0, so the tip stays but for the curvature of its path, which Gauss-Newton takes back. On a target
of more than one place T is only what leads off it: the tip may slide along a line or a plane.
"""

from collections.abc import Iterator, Sequence
from random import Random
from typing import Any

import numpy as np
from mathutils import Quaternion, Vector

from ..goals import Point, Target
from ..goals.soft import Soft, Turn, cost_of
from ..kinematics import Pose
from . import gauss_newton
from .finish import stray
from .iterate import repeat
from .jacobian import change, jacobian

STEPS = 60
DAMPING, HARDER, SOFTER, ATTEMPTS = 1e-3, 8.0, 0.25, 6
ENOUGH = 1e-3  # share of the cost that a step must take off to be followed by another
NOTHING = 1e-12  # cost below which there is nothing left [rad^2]
LARGEST = 0.7  # [rad] a coordinate may change in a step
CORRECTIONS = 4  # steps of Gauss-Newton that bring the tip back
CLOSE = 1e-6  # of the reach: how near they bring it, single precision allows no more
RESTARTS = 8  # other poses to start from where soft constraints are not met
MET = 1e-6  # cost up to which they are [rad^2]
SLIDE = 1e-3  # of the reach: how far the tip is moved to see where it leaves the target


def settle(pose: Pose, target: Target, soft: Sequence[Soft], enough: float) -> int:
    """Turn the joints until no soft constraint gains any more; returns the number of steps taken.

    The tip stays within `enough` of the target [Blender units], or as near as it was. The cost never rises.
    """
    cost, damping = cost_of(pose, soft), DAMPING
    allowed, close = max(enough, _error(pose, target)), CLOSE * pose.chain.reach
    for count in range(STEPS):
        if cost < NOTHING:
            return count
        start, recorded = pose.rotations[:], len(pose.turns)
        task = _Task(pose, soft, _leaving(pose, target, enough))
        if not task.joints:
            return count
        for _ in range(ATTEMPTS):
            task.apply(pose, damping)
            repeat(gauss_newton.step, pose, target, close, CORRECTIONS)
            found = cost_of(pose, soft)
            if found < cost and _error(pose, target) <= allowed:
                break
            pose.restore(start, recorded)
            damping *= HARDER
        else:
            return count
        damping = max(damping * SOFTER, 1e-6)
        if cost - found < ENOUGH * cost:
            return count + 1
        cost = found
    return STEPS


def settle_elsewhere(pose: Pose, target: Target, soft: Sequence[Soft], enough: float, random: Random) -> int:
    """Try other poses that reach the target, if soft constraints that can be met are not; leaves the best one."""
    count, cost = 0, cost_of(pose, soft)
    firm = [each for each in soft if each.can_be_met]
    if _error(pose, target) > enough:
        return count
    best, recorded = pose.rotations[:], len(pose.turns)
    for _ in range(RESTARTS):
        if cost_of(pose, firm) <= MET:
            break
        stray(pose, random, 1.0)
        error, more = repeat(gauss_newton.step, pose, target, CLOSE * pose.chain.reach, STEPS)
        count += more
        if error <= enough:
            count += settle(pose, target, soft, enough)
            found = cost_of(pose, soft)
            if found < cost:
                best, recorded, cost = pose.rotations[:], len(pose.turns), found
        pose.restore(best, recorded)
    return count


def _error(pose: Pose, target: Target) -> float:
    return (target.closest(pose.tip) - pose.tip).length


def _leaving(pose: Pose, target: Target, enough: float) -> np.ndarray[Any, Any]:
    """What of a small way of the tip leads off the target, 3x3: all from a point, only the way across from a plane."""
    if isinstance(target, Point) or _error(pose, target) > enough:
        return np.eye(3)
    tip, size = pose.tip, SLIDE * pose.chain.reach
    ways = (Vector([size * (i == axis) for i in range(3)]) for axis in range(3))
    along = [(target.closest(tip + way) - target.closest(tip - way)) / (2.0 * size) for way in ways]
    leaving: np.ndarray[Any, Any] = np.eye(3) - np.array(along).T
    return leaving


class _Task:
    """The tip and the soft constraints in terms of the joints' coordinates at a pose, in double precision."""

    def __init__(self, pose: Pose, soft: Sequence[Soft], leaving: np.ndarray[Any, Any]) -> None:
        self.joints, columns = jacobian(pose, LARGEST)
        turns = [
            Turn(i, axis, pose.head(i), weight)
            for i, weight, rotation, _ in self.joints
            for axis in _axes(pose, i, rotation)
        ]
        rows = [row for each in soft for row in each.rows(pose, turns)]
        table = np.array(columns).reshape(-1, 5)
        self.tip = leaving @ table[:, :3].T / pose.chain.reach
        self.least, self.most = table[:, 3], table[:, 4]
        self.values = np.array([value for value, _ in rows])
        self.changes = np.array([row for _, row in rows]).reshape(len(rows), len(turns))

    def apply(self, pose: Pose, damping: float) -> None:
        """Take a step from the pose at which this was made."""
        change(pose, self.joints, self._step(damping).tolist())

    def _step(self, damping: float) -> np.ndarray[Any, Any]:
        """The best change of every coordinate within its bounds that keeps the tip, bounds met one after the other."""
        count = len(self.least)
        step, free = np.zeros(count), np.ones(count, dtype=bool)
        missed = self.values @ self.values  # as large as the curvature that Gauss-Newton leaves out
        while free.any():
            tip, changes = self.tip[:, free], self.changes[:, free]
            size = tip.shape[1]
            normal = changes.T @ changes
            normal[np.diag_indices(size)] += damping * max(np.trace(normal) / size + missed, 1e-12)
            system = np.block([[normal, tip.T], [tip, -1e-12 * np.eye(3)]])
            wanted = np.concatenate(
                (-changes.T @ (self.values + self.changes[:, ~free] @ step[~free]), -self.tip[:, ~free] @ step[~free])
            )
            found = np.linalg.lstsq(system, wanted, rcond=1e-10)[0][:size]
            over = np.maximum(found - self.most[free], self.least[free] - found)
            worst = int(over.argmax())
            if over[worst] <= 1e-12:
                step[free] = found
                break
            n = int(np.flatnonzero(free)[worst])
            step[n] = min(max(found[worst], self.least[n]), self.most[n])
            free[n] = False
        return step


def _axes(pose: Pose, i: int, rotation: Quaternion) -> Iterator[Vector]:
    """Unit axis in armature space of each coordinate of joint `i`."""
    socket = pose.socket(i)
    hand = -1.0 if socket.is_negative else 1.0  # a mirrored frame turns the other way round
    for coordinate in pose.chain.joints[i].freedom.coordinates(rotation):
        yield (socket @ coordinate.axis).normalized() * hand

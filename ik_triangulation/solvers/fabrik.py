# SPDX-License-Identifier: GPL-3.0-or-later
"""FABRIK: joints are pulled along straight lines, from the aim to the root and back again.

Source: Aristidou and Lasenby 2011, "FABRIK: A fast, iterative solver for the Inverse Kinematics problem", Algorithm 1.

Deviations: on the way back each joint is swung to where its link shall end, as far as its freedom allows, and the next
one goes on from where that really is, so that hinges and limits hold; the source's own limits move positions. A
deadlock is broken (deadlock.py).
"""

from mathutils import Vector

from ..kinematics import Pose
from .deadlock import unlock
from .jacobian import jacobian


def step(pose: Pose, aim: Vector) -> None:
    """One pass backward and one forward; the chain is straight after it if it cannot reach."""
    if unlock(pose, aim, jacobian(pose)[1]):
        return
    out_of_reach = (aim - pose.head(0)).length >= sum(pose.lengths)
    ends = [aim] * len(pose) if out_of_reach else backward(pose, aim)
    for i, end in enumerate(ends):
        head = pose.head(i)
        pose.swing(i, pose.end(i) - head, end - head)


def backward(pose: Pose, aim: Vector) -> list[Vector]:
    """Where each link ends when the last one ends at `aim` and each is pulled after the one beyond it."""
    ends, lengths = [aim], pose.lengths
    for i in reversed(range(1, len(pose))):
        back = pose.head(i) - ends[-1]
        ends.append(ends[-1] + back.normalized() * lengths[i])
    return ends[::-1]

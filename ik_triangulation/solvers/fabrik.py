# SPDX-License-Identifier: GPL-3.0-or-later
"""FABRIK: joints are pulled along straight lines, from the aim to the root and back again.

Source: Aristidou and Lasenby 2011, "FABRIK: A fast, iterative solver for the Inverse Kinematics problem", Algorithm 1.

Deviations: joints are swung where the source moves positions. On the way to the root each link is swung about its end,
on the way back about its head, as far as the freedom of the joint between it and the last one allows, and the next one
goes on from where that really leads: so hinges and limits hold in both directions. A deadlock is broken
(singularity.py).
"""

from mathutils import Vector

from ..kinematics import Pose
from ..kinematics.rotation import rotation_between
from .jacobian import jacobian
from .singularity import unlock


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
    chain, lengths = pose.chain, pose.lengths
    last = len(pose) - 1
    frame = pose.frame(last).to_quaternion()
    frame = rotation_between(pose.tip - pose.head(last), aim - pose.head(last)) @ frame
    ends = [aim]
    for i in range(last, 0, -1):
        start = ends[-1] - frame @ chain.offsets[i].normalized() * lengths[i]
        ends.append(start)
        joint, rotation = chain.joints[i], pose.rotations[i]
        pulled = frame.inverted() @ (start - pose.head(i - 1))  # where the link before it shall come from
        turned = joint.freedom.swung(rotation, rotation @ pulled, joint.rest.inverted() @ joint.offset)
        frame = frame @ (joint.rest @ turned).inverted()
    return ends[::-1]

# SPDX-License-Identifier: GPL-3.0-or-later
"""FABRIK, forward and backward reaching: joints are placed along straight lines, from the aim to the root and back.

Source: Aristidou and Lasenby 2011, "FABRIK: A fast, iterative solver for the Inverse Kinematics problem", Algorithm 1.

Deviations: joints are rotated where the source moves positions. In the backward pass each link rotates about its end,
in the forward pass about its head, as far as the limits of the joint between it and the one before allow, and the next
link continues from the result: so hinges and limits hold in both passes. Singular poses are escaped (jacobian.py).
"""

from mathutils import Vector

from ..kinematics import Pose
from ..kinematics.rotation import rotation_between
from .jacobian import escape, jacobian


def step(pose: Pose, aim: Vector) -> None:
    """One backward and one forward pass; the chain is straight afterwards if the aim is out of reach."""
    if escape(pose, aim, jacobian(pose)[1]):
        return
    out_of_reach = (aim - pose.head(0)).length >= sum(pose.lengths)
    ends = [aim] * len(pose) if out_of_reach else backward(pose, aim)
    for i, end in enumerate(ends):
        head = pose.head(i)
        pose.swing(i, pose.end(i) - head, end - head)


def backward(pose: Pose, aim: Vector) -> list[Vector]:
    """End of each link after the backward pass: the last link ends at `aim`, each follows the one after it."""
    chain, lengths = pose.chain, pose.lengths
    last = len(pose) - 1
    frame = pose.frame(last).to_quaternion()
    frame = rotation_between(pose.tip - pose.head(last), aim - pose.head(last)) @ frame
    ends = [aim]
    for i in range(last, 0, -1):
        start = ends[-1] - frame @ chain.offsets[i].normalized() * lengths[i]
        ends.append(start)
        joint, rotation = chain.joints[i], pose.rotations[i]
        pulled = frame.inverted() @ (start - pose.head(i - 1))  # wanted direction of the link before it
        turned = joint.freedom.swung(rotation, rotation @ pulled, joint.rest.inverted() @ joint.offset)
        frame = frame @ (joint.rest @ turned).inverted()
    return ends[::-1]

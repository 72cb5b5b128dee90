# SPDX-License-Identifier: GPL-3.0-or-later
"""Cyclic coordinate descent on quaternions, with hinges and limits.

Source: "Inverse Kinematics" (seed document quaternion-ccd): point the end effector at the goal, then enforce hinge,
then limit. `step_in_stages` does that: the free turn is a rotation between two directions; turning a hinge's axis back
leaves the twist about it, and its limits clamp that angle, both in Freedom.nearest. `step` deviates: a hinge turns by
the projection of both directions (Freedom.swung), which is the best turn about it; a free turn that is taken back need
not be.
"""

from mathutils import Vector

from ..kinematics import Pose
from ..kinematics.rotation import rotation_between


def step(pose: Pose, aim: Vector) -> None:
    """One sweep from the last joint to the root, each turned to point the end effector at `aim`."""
    for i in reversed(range(len(pose))):
        head = pose.head(i)
        pose.swing(i, pose.tip - head, aim - head)


def step_in_stages(pose: Pose, aim: Vector) -> None:
    """The same sweep, each joint first turned as if it were free and then brought back to what it may do."""
    for i in reversed(range(len(pose))):
        head = pose.head(i)
        pose.turn(i, rotation_between(pose.tip - head, aim - head))

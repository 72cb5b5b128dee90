# SPDX-License-Identifier: GPL-3.0-or-later
"""Cyclic coordinate descent on quaternions, with hinges and limits.

Source: "Inverse Kinematics" (seed document quaternion-ccd): point the end effector at the goal, then enforce hinge,
then limit. Deviation: a hinge turns by the projection of both directions (Pose.swing), which is the best turn about it,
where the source turns freely and then realigns the hinge's axis.
"""

from mathutils import Vector

from ..kinematics import Pose


def step(pose: Pose, aim: Vector) -> None:
    """One sweep from the last joint to the root, each turned to point the end effector at `aim`."""
    for i in reversed(range(len(pose))):
        head = pose.head(i)
        pose.swing(i, pose.tip - head, aim - head)

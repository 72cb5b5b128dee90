# SPDX-License-Identifier: GPL-3.0-or-later
"""Cyclic coordinate descent on quaternions, with hinges and limits.

Source: "Inverse Kinematics" (seed document quaternion-ccd): point the end effector at the goal, then enforce hinge,
then limit. `step_in_stages` does that: the unconstrained rotation is the one between two directions; enforcing a hinge
keeps the twist about its axis, and its limits clamp that angle, both in Freedom.nearest. `step` deviates: a hinge
rotates between the projections of both directions (Freedom.swung), which is the optimal rotation about it; an
unconstrained rotation that is projected afterwards need not be.
"""

from mathutils import Vector

from ..kinematics import Pose
from ..kinematics.rotation import rotation_between


def step(pose: Pose, aim: Vector) -> None:
    """One sweep from the last joint to the root, each rotated to point the end effector at `aim`."""
    for i in reversed(range(len(pose))):
        head = pose.head(i)
        pose.swing(i, pose.tip - head, aim - head)


def step_in_stages(pose: Pose, aim: Vector) -> None:
    """The same sweep, in which each joint is first rotated without constraints and then projected onto its limits."""
    for i in reversed(range(len(pose))):
        head = pose.head(i)
        pose.turn(i, rotation_between(pose.tip - head, aim - head))

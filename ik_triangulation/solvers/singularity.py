# SPDX-License-Identifier: GPL-3.0-or-later
"""Escape from a singular pose: a chain collinear with the aim, where the gradient of the distance vanishes.

Every gradient method is stuck there, although bending the chain would shorten it and unfolding it would lengthen it.
Source: none, the published methods do not treat it. Small rotations are tried in a fixed order, and the first ones that
bring the tip nearer are kept.
"""

from collections.abc import Iterator
from itertools import pairwise

from mathutils import Vector

from ..kinematics import Pose
from ..kinematics.rotation import about
from .jacobian import Column

_ACROSS = 1e-2  # cosine to the error below which the tip moves orthogonally to it
_STRETCHED = 1e-3  # of the length: a chain this near to straight cannot become longer
_BENDS = (
    1.0,
    0.25,
    0.0625,
)  # [rad] of all joints together; each shortens a straight chain 16 times less than the last
_GAIN = 1e-5  # of the reach: decrease of the distance that is more than rounding


def escape(pose: Pose, aim: Vector, columns: list[Column]) -> bool:
    """Bend or unfold a chain if none of the Jacobian's `columns` leads towards `aim`; True if the tip is nearer then.

    Trials that do not bring the tip nearer are undone, so the pose is unchanged at a true optimum.
    """
    error = aim - pose.tip
    distance = error.length
    moving = [i for i, joint in enumerate(pose.chain.joints) if joint.freedom.moves and joint.stiffness < 1.0]
    if sum(c.along(error) ** 2 for c in columns) > _ACROSS**2 * distance**2 * sum(c.squared for c in columns):
        return False
    if not moving or _stretched(pose, moving[0], error):
        return False
    enough = distance - _GAIN * pose.chain.reach
    start, turns = pose.rotations[:], len(pose.turns)
    for angles in _trials(moving):
        for i, angle in angles:
            axis = pose.frame(i) @ pose.chain.joints[i].freedom.bend_axis
            pose.turn(i, about(axis.normalized(), angle))
        for i in moving:  # the root points the bent chain at the aim; if it cannot, the next joints do
            head = pose.head(i)
            pose.swing(i, pose.tip - head, aim - head)
            if (aim - pose.tip).length < enough:
                return True
        pose.restore(start, turns)
    return False


def _stretched(pose: Pose, first: int, error: Vector) -> bool:
    """Whether the chain beyond the first moving joint is straight and too short for the aim."""
    span = pose.tip - pose.head(first)
    return span.dot(error) > 0.0 and span.length > (1.0 - _STRETCHED) * sum(pose.lengths[first:])


def _trials(moving: list[int]) -> Iterator[list[tuple[int, float]]]:
    """Joints and angles [rad] to try: first all by the same angle, then single links, to unfold a folded chain."""
    for bend in _BENDS:
        angle = bend / len(moving)
        for turn in (angle, -angle):
            yield [(i, turn) for i in moving]
        for i, after in pairwise(moving):
            for turn in (angle, -angle):
                yield [(i, -turn), (after, turn)]

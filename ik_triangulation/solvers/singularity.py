# SPDX-License-Identifier: GPL-3.0-or-later
"""The way out of a deadlock: a chain that lies on one line with the aim, where no small turn moves the tip nearer.

Every method that follows a gradient stays there for ever, although bending the chain would shorten it, and unfolding
it would lengthen it. The sources say nothing about it. Small turns are tried, always in the same order, and the first
ones kept that bring the tip nearer.
"""

from collections.abc import Iterator
from itertools import pairwise

from mathutils import Vector

from ..kinematics import Pose
from ..kinematics.rotation import about
from .jacobian import Column

ACROSS = 1e-2  # cosine to the way to the aim below which the tip moves across it
STRETCHED = 1e-3  # of the length: a chain so near it has no more to give
BENDS = (1.0, 0.25, 0.0625)  # rad, of all joints together; each shortens a straight chain 16 times less
GAIN = 1e-5  # of the reach: more than rounding


def unlock(pose: Pose, aim: Vector, columns: list[Column]) -> bool:
    """Bend or unfold a chain none of whose `columns` leads nearer to `aim`; True if that brought the tip nearer.

    What moves away or to the side and not nearer is taken back, so the pose stays as it is at a true optimum.
    """
    error = aim - pose.tip
    distance = error.length
    moving = [i for i, joint in enumerate(pose.chain.joints) if joint.freedom.moves and joint.stiffness < 1.0]
    if sum(c.along(error) ** 2 for c in columns) > ACROSS**2 * distance**2 * sum(c.squared for c in columns):
        return False
    if not moving or _stretched(pose, moving[0], error):
        return False
    enough = distance - GAIN * pose.chain.reach
    start, turns = pose.rotations[:], len(pose.turns)
    for angles in _trials(moving):
        for i, angle in angles:
            axis = pose.frame(i) @ pose.chain.joints[i].freedom.bend_axis
            pose.turn(i, about(axis.normalized(), angle))
        for i in moving:  # the root points the bent chain at the aim; the others where it cannot
            head = pose.head(i)
            pose.swing(i, pose.tip - head, aim - head)
            if (aim - pose.tip).length < enough:
                return True
        pose.restore(start, turns)
    return False


def _stretched(pose: Pose, first: int, error: Vector) -> bool:
    """Whether the chain from the first joint that moves is straight and would have to be longer."""
    span = pose.tip - pose.head(first)
    return span.dot(error) > 0.0 and span.length > (1.0 - STRETCHED) * sum(pose.lengths[first:])


def _trials(moving: list[int]) -> Iterator[list[tuple[int, float]]]:
    """Joints and angles [rad] to try: all alike, as limbs bend, then one link alone, which unfolds what is folded."""
    for bend in BENDS:
        angle = bend / len(moving)
        for way in (angle, -angle):
            yield [(i, way) for i in moving]
        for i, after in pairwise(moving):
            for way in (angle, -angle):
                yield [(i, -way), (after, way)]

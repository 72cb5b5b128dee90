# SPDX-License-Identifier: GPL-3.0-or-later
"""Two bones in closed form: bend the elbow until the tip is as far from the root as the aim, then point it there.

Source: the law of cosines, as in every two-bone solver of character animation. In general form, for an elbow that
rotates about any axis h: with u from root to elbow and w from there to the tip, the squared distance of the rotated tip
from the root is u^2 + w^2 + 2 (u.h)(w.h) + 2 m cos(angle - phase), where m and phase are those of the parts of u and w
orthogonal to h. An elbow that is no hinge bends in the plane of its present bend; if straight, about its bend axis.

Limits are kept: of the two solutions the one that they allow is taken, else the one that comes nearest.
"""

from math import acos, atan2, sqrt

from mathutils import Vector

from ..errors import ChainError
from ..kinematics import Hinge, Pose
from ..kinematics.rotation import about, orthogonal, wrap

_STRAIGHT = 1e-5  # sine of a bend whose plane is rounding noise
_ROUNDING = 1e-5  # of the reach: difference up to which distances are equal
_NOWHERE = 1e-7  # of the reach: a shorter bone has no direction to bend from


def step(pose: Pose, aim: Vector) -> None:
    """Solve for `aim`. Raises ChainError unless exactly two joints of the chain move; others are rigid."""
    moving = [i for i, joint in enumerate(pose.chain.joints) if joint.freedom.moves]
    if len(moving) != 2:
        raise ChainError(
            f"Two-Bone solves chains in which exactly two joints move, here {len(moving)} of {len(pose)} do. "
            "Choose two bones, lock the others, or choose another solver."
        )
    root, elbow = moving
    head = pose.head(root)
    bend(pose, root, elbow, (aim - head).length)
    pose.swing(root, pose.tip - head, aim - head)


def bend(pose: Pose, root: int, elbow: int, distance: float) -> None:
    """Rotate the joint `elbow` until the tip is at `distance` from the joint `root`, or nearly."""
    head, middle = pose.head(root), pose.head(elbow)
    upper, lower = middle - head, pose.tip - middle
    if min(upper.length, lower.length) <= _NOWHERE * pose.chain.reach:
        return
    axis = _elbow_axis(pose, elbow, upper, lower)
    start, turns = pose.rotations[:], len(pose.turns)

    def missed(angle: float) -> tuple[float, float]:
        pose.turn(elbow, about(axis, angle))
        miss = abs((pose.tip - head).length - distance) / pose.chain.reach
        pose.restore(start, turns)
        return (miss if miss > _ROUNDING else 0.0, abs(angle))

    angles = _elbow_angles(upper, lower, axis, distance)
    if angles:
        pose.turn(elbow, about(axis, min(angles, key=missed)))


def _elbow_axis(pose: Pose, elbow: int, upper: Vector, lower: Vector) -> Vector:
    """Unit axis to bend the elbow about, armature space: its hinge, or the normal of the present bend."""
    freedom = pose.chain.joints[elbow].freedom
    if isinstance(freedom, Hinge):
        return (pose.socket(elbow) @ freedom.axis).normalized()
    normal = upper.normalized().cross(lower.normalized())
    if normal.length < _STRAIGHT:
        normal = pose.frame(elbow) @ freedom.bend_axis
    return orthogonal(normal, lower) or lower.orthogonal().normalized()


def _elbow_angles(upper: Vector, lower: Vector, axis: Vector, distance: float) -> tuple[float, ...]:
    """Both rotations [rad] about `axis` that bring the tip to `distance` from the root; none if they have no effect."""
    a, b = upper.dot(axis), lower.dot(axis)
    across, sideways = upper.dot(lower) - a * b, upper.dot(axis.cross(lower))
    squared = (upper.length_squared - a * a) * (lower.length_squared - b * b)
    if squared <= 0.0:
        return ()
    cosine = ((distance * distance - upper.length_squared - lower.length_squared) / 2.0 - a * b) / sqrt(squared)
    phase, angle = atan2(sideways, across), acos(min(max(cosine, -1.0), 1.0))
    return wrap(phase + angle), wrap(phase - angle)

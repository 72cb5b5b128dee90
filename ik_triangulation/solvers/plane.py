# SPDX-License-Identifier: GPL-3.0-or-later
"""The plane in which methods for planar chains bend a chain in space."""

from mathutils import Vector

from ..kinematics import Pose
from ..kinematics.rotation import orthogonal

_NOWHERE = 1e-7  # of the reach: what is so near the root has no direction from there


def bend_plane(pose: Pose, aim: Vector) -> tuple[Vector, Vector]:
    """Unit vectors of the plane to bend in: from the root to `aim`, and across that, to the side on which to bend.

    It is the side on which the chain stands now, so that it turns no farther out of its plane than the aim demands. For
    an aim on the root the first vector runs to the tip, for a tip there too along the first bone.
    """
    root, nowhere = pose.head(0), _NOWHERE * pose.chain.reach
    ways = (way for way in (aim - root, pose.tip - root) if way.length > nowhere)
    along = unit(next(ways, pose.frame(0).col[1]))
    stands = sum((pose.head(i) - root for i in range(1, len(pose))), Vector())
    return along, orthogonal(stands, along) or pose.bend(0, along)


def unit(vector: Vector) -> Vector:
    """The same direction with length 1, also for one so long that single precision cannot hold its length."""
    return (vector / max(map(abs, vector))).normalized()

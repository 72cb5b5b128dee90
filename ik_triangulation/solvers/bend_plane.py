# SPDX-License-Identifier: GPL-3.0-or-later
"""The plane in which methods for planar chains bend a chain in space.

Source: Cardwell and Mukundan, "Visualization and Analysis of Inverse Kinematics Algorithms Using Performance Metric
Maps", section 1: the whole chain first rotates about its root, and the rest is done in the plane it is then in.
"""

from mathutils import Vector

from ..kinematics import Pose
from ..kinematics.rotation import orthogonal

_NOWHERE = 1e-7  # of the reach: a point this near to the root has no direction from it


def bend_plane(pose: Pose, aim: Vector) -> tuple[Vector, Vector]:
    """Point the tip at `aim` by turning the root, and return the unit vectors of the plane to bend in.

    The first one leads to the aim (if that is at the root, to the tip), the second one is orthogonal to it, on the side
    of the joints, so that hinges stay in the plane in which they bend. A straight chain is not rotated and bends in its
    plane with the aim; if that is undefined, by the bend axes of its joints.
    """
    root, nowhere = pose.head(0), _NOWHERE * pose.chain.reach
    to_tip, to_aim = pose.tip - root, aim - root
    if to_aim.length <= nowhere:
        to_aim = to_tip if to_tip.length > nowhere else pose.frame(0).col[1]
    along = unit(to_aim)
    if to_tip.length > nowhere and orthogonal(_summed_offsets(pose), to_tip):
        pose.swing(0, to_tip, along)
    return along, orthogonal(_summed_offsets(pose), along) or pose.bend(0, along)


def unit(vector: Vector) -> Vector:
    """Unit vector along `vector`, also for one whose length overflows single precision."""
    scaled: Vector = vector / max(map(abs, vector))
    return scaled.normalized()


def _summed_offsets(pose: Pose) -> Vector:
    """Sum of the offsets of the joints from the root."""
    root = pose.head(0)
    return sum((pose.head(i) - root for i in range(1, len(pose))), Vector())

# SPDX-License-Identifier: GPL-3.0-or-later
"""The plane in which methods for planar chains bend a chain in space.

Source: Cardwell and Mukundan, "Visualization and Analysis of Inverse Kinematics Algorithms Using Performance Metric
Maps", section 1: the whole chain first turns about its root, then the rest is done in the plane it has come to.
"""

from mathutils import Vector

from ..kinematics import Pose
from ..kinematics.rotation import orthogonal

_NOWHERE = 1e-7  # of the reach: what is so near the root has no direction from there


def face(pose: Pose, aim: Vector) -> tuple[Vector, Vector]:
    """Point the tip at `aim` by turning the root, and return the unit vectors of the plane to bend in.

    The first one leads to the aim (where that is on the root, on to the tip), the second one across to the side on
    which the chain stands, so that hinges stay in the plane they bend in. A straight chain is left as it is and bends
    in its plane with the aim; where that says nothing, as its joints prefer.
    """
    root, nowhere = pose.head(0), _NOWHERE * pose.chain.reach
    to_tip, to_aim = pose.tip - root, aim - root
    if to_aim.length <= nowhere:
        to_aim = to_tip if to_tip.length > nowhere else pose.frame(0).col[1]
    along = unit(to_aim)
    if to_tip.length > nowhere and orthogonal(_stands(pose), to_tip):
        pose.swing(0, to_tip, along)
    return along, orthogonal(_stands(pose), along) or pose.bend(0, along)


def unit(vector: Vector) -> Vector:
    """The same direction with length 1, also for one so long that single precision cannot hold its length."""
    scaled: Vector = vector / max(map(abs, vector))
    return scaled.normalized()


def _stands(pose: Pose) -> Vector:
    """Where the joints stand as seen from the root, all together."""
    root = pose.head(0)
    return sum((pose.head(i) - root for i in range(1, len(pose))), Vector())

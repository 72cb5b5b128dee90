# SPDX-License-Identifier: GPL-3.0-or-later
"""Triangulation by the two joints that have the least to turn; all others stay as they are.

Source: the triangle of Mueller-Cajar and Mukundan 2007, section 3, closed not by one link and the rest of the chain but
by any two parts of it, which the paper leaves open ("our method does not guarantee optimal rotations").

Whatever stands between two joints i < k, and whatever stands beyond k, is rigid while only these two turn. So joint i
opens the triangle of their distance, the distance from k to the tip and the distance from i to the aim, and joint k
points the tip at the aim. Of all pairs whose triangle closes the one is taken with the least sum of both turns. Where
none does, or the two joints may not turn that far, the pass is that of `triangulation.step`.
"""

from itertools import combinations
from math import inf

from mathutils import Vector

from ..kinematics import Pose
from ..kinematics.rotation import angle_between, rotation_between
from . import triangulation

_CLOSE = 2e-6  # of the reach: as near as two turns come in single precision


def step(pose: Pose, aim: Vector) -> None:
    """Turn the cheapest pair of joints; if that does not bring the tip to `aim`, one pass of triangulation instead."""
    pair = _cheapest(pose, aim)
    if pair is not None:
        i, k = pair
        rotations, turns = pose.rotations[:], len(pose.turns)
        triangulation.place(pose, i, pose.head(k) - pose.head(i), aim - pose.head(i), (pose.tip - pose.head(k)).length)
        pose.swing(k, pose.tip - pose.head(k), aim - pose.head(k))
        if (aim - pose.tip).length <= _CLOSE * pose.chain.reach:
            return
        pose.restore(rotations, turns)
    triangulation.step(pose, aim)


def _cheapest(pose: Pose, aim: Vector) -> tuple[int, int] | None:
    """The two joints with the least sum of turns that bring the tip to `aim`, were they free; None if none do."""
    moving = [i for i, joint in enumerate(pose.chain.joints) if joint.freedom.moves]
    cheapest, least = None, inf
    for i, k in combinations(moving, 2):
        first, second, to_aim = pose.head(k) - pose.head(i), pose.tip - pose.head(k), aim - pose.head(i)
        a, b, c = first.length, second.length, to_aim.length
        if min(a, c) <= 0.0 or not abs(a - b) <= c <= a + b:
            continue
        towards = triangulation.heading(pose, i, first, to_aim, triangulation.opening(pose, a, c, b))
        turn = angle_between(first, towards)
        if turn < least:
            turn += angle_between(rotation_between(first, towards) @ second, to_aim - towards * (a / towards.length))
        if turn < least:
            cheapest, least = (i, k), turn
    return cheapest

# SPDX-License-Identifier: GPL-3.0-or-later
"""Triangulation by the two joints that need the smallest rotations; all others keep theirs.

Source: the triangle of Mueller-Cajar and Mukundan 2007, section 3, closed not by one link and the rest of the chain but
by any two parts of it, to keep the sum of the turns (eq. 3) low, which the paper leaves open (section 8).

Everything between two joints i < k, and everything beyond k, is rigid while only these two rotate. So joint k opens or
closes the angle between i and the tip until the tip is as far from i as the aim is, and joint i points the tip at the
aim. Of all pairs that can do this the one with the smallest sum of both rotations is taken. Up to 16 pairs are
rejected because of their limits; then the step is that of `triangulation.step`.
"""

from mathutils import Vector

from ..kinematics import Pose
from . import triangulation
from .triangle import close_triangle


def step(pose: Pose, aim: Vector) -> None:
    """Rotate the cheapest pair of joints that brings the tip to `aim`; if none does, one pass of triangulation."""
    if not close_triangle(pose, aim):
        triangulation.step(pose, aim)

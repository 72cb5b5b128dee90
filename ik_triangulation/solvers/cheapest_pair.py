# SPDX-License-Identifier: GPL-3.0-or-later
"""Triangulation by the two joints that need the smallest rotations; all others keep theirs.

Source: the triangle of Mueller-Cajar and Mukundan 2007, section 3, closed not by one link and the rest of the chain but
by any two parts of it, to keep the sum of the turns (eq. 3) low, which the paper leaves open (section 8).

Everything between two joints i < k, and everything beyond k, is rigid while only these two rotate. So joint k opens or
closes the angle between i and the tip until the tip is as far from i as the aim is, and joint i points the tip at the
aim. Of all pairs that can do this the one with the smallest sum of both rotations is taken. Up to `_TRIES` pairs are
rejected because of their limits; then the step is that of `triangulation.step`.
"""

from collections.abc import Iterator
from itertools import combinations
from math import cos, pi, sin
from typing import NamedTuple

from mathutils import Vector

from ..kinematics import Pose
from ..kinematics.rotation import angle_between, orthogonal
from . import triangulation

_CLOSE = 2e-6  # of the reach: the precision of two rotations in single precision
_NOWHERE = 1e-7  # of the reach: a shorter part of the chain has no direction
_TRIES = 16  # pairs that may fail because of their limits in one step


class _Pair(NamedTuple):
    """Two joints that bring the tip to the aim if joint `k` points it along `direction`; `turn` is their sum [rad]."""

    turn: float
    i: int
    k: int
    direction: Vector


def step(pose: Pose, aim: Vector) -> None:
    """Rotate the cheapest pair of joints that brings the tip to `aim`; if none does, one pass of triangulation."""
    rotations, turns = pose.rotations[:], len(pose.turns)
    for _, i, k, direction in sorted(_pairs(pose, aim), key=lambda pair: pair.turn)[:_TRIES]:
        pose.swing(k, pose.tip - pose.head(k), direction)
        pose.swing(i, pose.tip - pose.head(i), aim - pose.head(i))
        if (aim - pose.tip).length <= _CLOSE * pose.chain.reach:
            return
        pose.restore(rotations, turns)
    triangulation.step(pose, aim)


def _pairs(pose: Pose, aim: Vector) -> Iterator[_Pair]:
    """Every pair of joints that would bring the tip to `aim` without limits."""
    nowhere = _NOWHERE * pose.chain.reach
    moving = [(i, pose.head(i)) for i, joint in enumerate(pose.chain.joints) if joint.freedom.moves]
    for (i, head), (k, elbow) in combinations(moving, 2):
        first, second, to_aim = elbow - head, pose.tip - elbow, aim - head
        a, b, c = first.length, second.length, to_aim.length
        if min(a, b) <= nowhere or not abs(a - b) <= c <= a + b:
            continue
        inside = triangulation.corner(a, b, c)
        # A straight pair bends towards the aim, or as the joint prefers.
        across = orthogonal(second, first) or orthogonal(to_aim, first) or -pose.bend(k, first)
        opened = first * (-cos(inside) * b / a) + across * (sin(inside) * b)
        bend = abs(pi - inside - angle_between(first, second))
        yield _Pair(bend + angle_between(first + opened, to_aim), i, k, opened)

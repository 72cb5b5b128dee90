# SPDX-License-Identifier: GPL-3.0-or-later
"""Circular alignment: all joints, the end effector and the aim on one circle.

Source: Cardwell and Mukundan, "Visualization and Analysis of Inverse Kinematics Algorithms Using Performance Metric
Maps", section 3; their future work, links of unequal lengths, and space are included.

A link of length l is a chord of the circle with a segment angle, half of which, h, satisfies l = 2 r sin(h)
(eq. 3). The whole chain is a chord too, d = 2 r sin(sum of all h). With t the half angle of the longest link m that is

    d(t) = l_m sin(sum) / sin(t),    h_i = asin(l_i sin(t) / l_m),    h_m = t

which decreases strictly from the full reach at t = 0 to 0 or, where one link is longer than all others together, to the
least distance at t = pi. So one equation covers every reachable distance; for equal lengths it is eq. 4, with
t = theta / 2.

Deviations: step() finds the root by bisection, not by Newton's method, which for a target at full reach meets a triple
root there; for an aim out of reach the chain points towards or away from it; in space the circle lies in the plane of
the chain (triangle.py). Newton is the published method, an iteration a step.
"""

from collections.abc import Sequence
from math import asin, cos, pi, sin, sqrt

from mathutils import Vector

from ..kinematics import Pose
from .triangle import bend_plane

_CLOSE = 1e-9  # of the reach: equal distances, well below single precision
_BISECTIONS = 60


def step(pose: Pose, aim: Vector) -> None:
    """Bend the chain to the arc of a circle that ends at `aim`."""
    _bend(pose, aim, half_angles(pose.lengths, (aim - pose.head(0)).length))


class Newton:
    """Newton's method (eq. 5 to 8): each step improves the angle once, and bends the chain to the arc of that circle.

    It begins with the closed polygon, t = pi / n for n equal links. An angle outside of where the root has to be, as
    the distances so far say, gives way to the middle of that, which equal links never need. A chain too short or too
    long for any circle is posed as by step().
    """

    def __init__(self) -> None:
        self._half, self._distance = 0.0, -1.0  # of the longest link [rad], for this distance
        self._low, self._high = 0.0, pi  # of which the root is in between

    def __call__(self, pose: Pose, aim: Vector) -> None:
        lengths, distance = pose.lengths, (aim - pose.head(0)).length
        reach, longest = sum(lengths), max(lengths)
        if not 2.0 * longest - reach < distance < reach:
            step(pose, aim)
            return
        if abs(distance - self._distance) > _CLOSE * reach:
            self._half, self._distance = pi * longest / reach, distance
            self._low, self._high = 0.0, pi
        t, halves = self._half, _halves(lengths, self._half)
        whole, bends = sum(halves), _derivatives(lengths, self._half)
        value = distance * sin(t) - longest * sin(whole)
        slope = distance * cos(t) - longest * cos(whole) * bends
        if whole < pi and value < 0.0:  # too far
            self._low = t
        else:
            self._high = t
        better = t - value / slope if slope else t
        self._half = better if self._low < better < self._high else (self._low + self._high) / 2.0
        _bend(pose, aim, _halves(lengths, self._half))


def _bend(pose: Pose, aim: Vector, halves: Sequence[float]) -> None:
    """Bend the chain to the arc on which its links have these half angles [rad], the chord of which points at `aim`."""
    along, across = bend_plane(pose, aim)
    angle = sum(halves)  # between the circle's tangent and the chord that runs to the aim
    for i, half in enumerate(halves):
        angle -= half
        pose.swing(i, pose.link(i), along * cos(angle) + across * sin(angle))
        angle -= half


def half_angles(lengths: Sequence[float], distance: float) -> list[float]:
    """Half the segment angle [rad] of each link on the circle on which the chain ends `distance` from its root.

    The chain is straight if it is too short for that, and folded, with the longest link pointing back, if the distance
    is too short.
    """
    reach, longest = sum(lengths), max(lengths)
    m = lengths.index(longest)
    if distance >= reach:
        return [0.0] * len(lengths)
    if distance <= 2.0 * longest - reach:
        return [pi if i == m else 0.0 for i in range(len(lengths))]
    low, high = 0.0, pi
    halves: list[float] = []
    for _ in range(_BISECTIONS):
        t = (low + high) / 2.0
        halves = _halves(lengths, t)
        whole = sum(halves)
        excess = longest * sin(whole) / sin(t) - distance
        if whole > pi or excess < -_CLOSE * reach:  # beyond half a circle the chain has passed its root
            high = t
        elif excess > _CLOSE * reach:
            low = t
        else:
            break
    return halves


def _halves(lengths: Sequence[float], t: float) -> list[float]:
    """Half the segment angle [rad] of each link, where that of the longest one is `t`."""
    longest = max(lengths)
    halves = [asin(min(1.0, length / longest * sin(t))) for length in lengths]
    halves[lengths.index(longest)] = t
    return halves


def _derivatives(lengths: Sequence[float], t: float) -> float:
    """Derivative of the sum of these angles by `t`."""
    longest = max(lengths)
    shares = [length / longest for length in lengths if length < longest]
    others = sum(share * cos(t) / sqrt(1.0 - (share * sin(t)) ** 2) for share in shares)
    alike = sum(length == longest for length in lengths)
    return others + 1.0 + (alike - 1) * (1.0 if cos(t) >= 0.0 else -1.0)

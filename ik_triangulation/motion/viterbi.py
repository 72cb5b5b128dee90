# SPDX-License-Identifier: GPL-3.0-or-later
"""Shortest path through several candidate poses a frame.

Source: Viterbi 1967, "Error bounds for convolutional codes and an asymptotically optimum decoding algorithm". The cost
of a step is the square of the sum of the squared rotations of all joints, since one large rotation is worse than many
small ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from mathutils import Quaternion

from ..cooperative import Work
from .jumps import Rotations

PAID = 0.005  # share of the cost of a step that a frame pays for the same distance from the path given


def cheapest(frames: Sequence[Sequence[Rotations]], paid: float = PAID) -> Work[list[Rotations]]:
    """Choose one of the candidates of each frame, so that the sum of the costs from frame to frame is minimal.

    Each candidate also pays the share `paid` of the cost of a step from the first one of its frame, the path given.
    """
    costs = [paid * _cost(frames[0][0], q) for q in frames[0]]
    came: list[list[int]] = []
    for before, now in pairwise(frames):
        sums = [[cost + _cost(p, q) for p, cost in zip(before, costs, strict=True)] for q in now]
        costs = [min(sum_) + paid * _cost(now[0], q) for sum_, q in zip(sums, now, strict=True)]
        came.append([sum_.index(min(sum_)) for sum_ in sums])
        yield
    best = costs.index(min(costs))
    path = [frames[-1][best]]
    for candidates, sources in zip(reversed(frames[:-1]), reversed(came), strict=True):
        best = sources[best]
        path.append(candidates[best])
    return path[::-1]


def _cost(before: Rotations, after: Rotations) -> float:
    """Square of the sum over the joints of 1 - cos(angle / 2), which is angle^2 / 8 for small angles."""
    half: float = len(before) - sum(map(abs, map(Quaternion.dot, before, after)))
    return half * half

# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps of the commonest methods for many poses at once: triangulation, and cyclic coordinate descent.

They do what the files of these names in solvers/ do, where the sources are named, joint by joint on arrays.
"""

from __future__ import annotations

from collections.abc import Callable
from math import pi

import numpy as np

from ...kinematics.arrays import Indices, Mask, Numbers
from ...kinematics.batch.algebra import cross, dot, lengths
from ..own_part import LITTLE
from .swings import orthogonal_to
from .walk import Walk, WalkedChain

_ROUNDING, _NOWHERE = 5e-7, 1e-7  # of the reach, as in solvers.triangulation
_PARALLEL = 1e-5  # sine below which the normal of an angle is rounding noise, as in kinematics.rotation

BatchStep = Callable[[Walk, Numbers], None]


def ccd(walk: Walk, aim: Numbers) -> None:
    """One sweep from the last joint to the root, each rotated to point the end effector at `aim` (3, F)."""
    sockets = [walk.root()]
    for i in range(len(walk.rotations) - 1):
        sockets.append(walk.beyond(i, *sockets[i]))
    for i in reversed(range(len(sockets))):
        head, socket = sockets[i]
        walk.swing(i, head, socket, walk.tip - head, aim - head)


def triangulation(walk: Walk, aim: Numbers) -> None:
    """One pass; every joint rotates as little as puts the next one where the rest of the chain reaches `aim`."""
    chain = walk.walked.chain
    slack = _ROUNDING * chain.reach
    head, socket = walk.root()
    for i, (shortest, longest) in enumerate(chain.spans):
        link, to_aim = walk.link(i, socket), aim - head
        distance = lengths(to_aim - link)
        far, near = distance > longest + slack, distance < shortest - slack
        angle = _opening(walk.walked, lengths(link), lengths(to_aim), np.where(far, longest, shortest))
        _point(walk, i, head, socket, link, to_aim, angle, far | near)
        if i + 1 < len(chain.joints):
            head, socket = walk.beyond(i, head, socket)


def right_angle(walk: Walk, aim: Numbers) -> None:
    """One pass; every link is at right angles to `aim`, or as near to that as the rest of the chain can reach from."""
    chain = walk.walked.chain
    head, socket = walk.root()
    for i, span in enumerate(chain.spans):
        link, to_aim = walk.link(i, socket), aim - head
        least, most = (_opening(walk.walked, lengths(link), lengths(to_aim), np.array(b)) for b in span)
        angle = np.minimum(np.maximum(pi / 2.0, least), most)
        _point(walk, i, head, socket, link, to_aim, angle, np.ones(len(angle), bool))
        if i + 1 < len(chain.joints):
            head, socket = walk.beyond(i, head, socket)


STEPS: dict[str, BatchStep] = {"TRIANGULATION": triangulation, "TRIANGULATION_RIGHT_ANGLE": right_angle, "CCD": ccd}


def walk_on(
    walked: WalkedChain, step: BatchStep, targets: Numbers, tolerance: float, enough: Numbers, iterations: int
) -> tuple[Walk, Numbers, Indices]:
    """Take the steps of a method towards `targets` (3, F) from the start, as solve() does before its finish.

    Returns the best poses, their distances [Blender units], and the steps taken.
    """
    best = Walk.begin(walked, targets.shape[1])
    least = lengths(targets - best.tip)
    count = np.zeros(len(least), np.intp)
    left = np.flatnonzero(least > tolerance)
    wanted = np.full(len(least), tolerance)  # one step is often enough; after it no more is asked than is possible
    for number in range(iterations):
        if not len(left):
            break
        walk, before = best.take(left), least[left]
        step(walk, targets[:, left])
        error = lengths(targets[:, left] - walk.tip)
        count[left] += 1
        nearer = error < before
        kept = left[nearer]
        best.put(kept, walk.take(nearer))
        least[kept] = error[nearer]
        asked = 0.0 if number == 0 else wanted[left]
        going = (before - error >= LITTLE * (before - asked)) & (least[left] > enough[left])
        left, wanted = left[going], enough
    return best, least, count


def _point(
    walk: Walk, i: int, head: Numbers, socket: Numbers, link: Numbers, to_aim: Numbers, angle: Numbers, those: Numbers
) -> None:
    """Rotate joint `i`, in the plane of its link and the aim, until they are at `angle` (F) [rad] to each other."""
    distance, nowhere = lengths(to_aim), _NOWHERE * walk.walked.chain.reach
    those = those & (lengths(link) > nowhere) & (distance > nowhere)
    along = to_aim / np.where(distance > nowhere, distance, 1.0)
    across, parallel = _orthogonal(link, along)
    if parallel.any():
        bend, none = _orthogonal(cross(along, walk.bend_axis(i, socket)), along)
        other = orthogonal_to(along)
        across = np.where(parallel, np.where(none, other / lengths(other), bend), across)
    walk.swing(i, head, socket, link, along * np.cos(angle) + across * np.sin(angle), those)


def _orthogonal(vectors: Numbers, along: Numbers) -> tuple[Numbers, Mask]:
    """Unit vectors in the plane of both and orthogonal to unit vectors, and where both are parallel."""
    part = vectors - along * dot(vectors, along)
    left = lengths(part)
    parallel = left <= _PARALLEL * lengths(vectors)
    return part / np.where(parallel, 1.0, left), parallel


def _opening(walked: WalkedChain, a: Numbers, c: Numbers, b: Numbers) -> Numbers:
    """Angle (F) [rad] of a link `a` and the aim, `c` away, that puts the next joint `b` from the aim, or nearly."""
    slack = _ROUNDING * walked.chain.reach
    s = (a + b + c) / 2.0
    sine, cosine = (s - a) * (s - c), s * (s - b)
    angle = 2.0 * np.arctan2(np.sqrt(np.maximum(sine, 0.0)), np.sqrt(np.maximum(cosine, 0.0)))
    angle = np.where(sine <= 0.0, 0.0, np.where(cosine > 0.0, angle, pi))
    straight = (c > a + b - slack) | (a > b + c - slack)
    return np.where(straight, 0.0, np.where(b > a + c - slack, pi, angle))

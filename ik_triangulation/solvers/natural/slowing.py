# SPDX-License-Identifier: GPL-3.0-or-later
"""Joints that take their time into and out of frames that are out of reach, whatever their goals ask there.

The angle of an elbow has an infinite slope over the distance at full reach, and a hand that is told its turn adds to
that. Frames within reach say what they say; beside them, in frames that are missed in any case, no joint turns faster
than a bound that gets smaller from frame to frame, until it has come to where it would be. The first joint then aims
the tip to where it was aimed. Frames are the last axis of every array. Source: none.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import radians

import numpy as np

from ...kinematics.arrays import Indices, Mask, Numbers
from ...kinematics.batch import Geometry, States, Tree
from ...kinematics.batch.algebra import (
    conjugated,
    exponential,
    lengths,
    normalized,
    product,
    rotate_back,
    rotation_vectors,
)
from ..batch.swings import smallest_rotations
from .soft_edge import Pace, runs_of

_FASTEST, _SLOWER, _SLOWEST = radians(11.5), 0.92, radians(6.0)  # a frame at 30 a second: next to a reached one
_NEAR = 0.05  # of the limb's length: a tip that near the first joint has no direction from there


def slowed_limb(tree: Tree, states: States, free: Mask, pace: Pace) -> States:
    """Return states (F) of a limb with a bound on how fast joints but the first turn in `free` frames (F).

    All other frames stay. The tip keeps its direction from the first joint, as far as the limits of that allow.
    """
    slow = slowed(tree, states, range(1, len(tree.joints)), free, pace)
    changed = np.flatnonzero(free & (slow is not states))
    if not len(changed):
        return states
    before, after = (Geometry(tree, each.take(changed)) for each in (states, slow))
    aim = [each.tip() - each.heads[0] for each in (before, after)]
    near = np.minimum(*map(lengths, aim)) < _NEAR * tree.size
    back = [np.where(near, 0.0, rotate_back(after.frames[0][:, :3], way)) for way in aim]
    rotations = tree.rotations(after.states)
    rotations[0] = normalized(product(rotations[0], smallest_rotations(back[1], back[0])))
    slow.put(changed, tree.posed(rotations, after.states))
    return slow


def slowed(
    tree: Tree, states: States, joints: Sequence[int], free: Mask, pace: Pace, fastest: float = _FASTEST
) -> States:
    """Return states (F) in which some joints turn at most so fast [rad] in `free` frames (F) next to others.

    Where they turn slower anyway the states are those that are given.
    """
    given = tree.rotations(states)[list(joints)]
    turns = np.zeros((len(given), 3, len(states)))
    for run, left, right in runs_of(free, pace):
        t = np.arange(1.0, len(run) + 1.0) / (len(run) + 1.0)
        share = t * t * (3.0 - 2.0 * t) if left and right else np.full(len(run), float(left is None))
        for side, way, weight in ((left, run, 1.0 - share), (right, run[::-1], share[::-1])):
            if side is not None:
                turns[..., way] += weight * _turns(given, side[0], way, pace, fastest)
    changed = np.flatnonzero(turns.any((0, 1)))
    if not len(changed):
        return states
    result = states.copy()
    rotations = tree.rotations(states.take(changed))
    rotations[list(joints)] = normalized(product(given[..., changed], exponential(turns[..., changed])))
    result.put(changed, tree.posed(rotations, states.take(changed)))
    return result


def _turns(given: Numbers, near: int, run: Indices, pace: Pace, fastest: float) -> Numbers:
    """Return the turns (n, 3, r) off a run of joints that follow it from the frame `near` it, ever more slowly."""
    turns, now = np.zeros((len(given), 3, len(run))), given[..., near : near + 1]
    for number in range(len(run)):
        own = given[..., run[number : number + 1]]
        way = rotation_vectors(product(conjugated(now), own))
        far = lengths(way)
        most = max(fastest * _SLOWER ** (number * pace.rate), _SLOWEST) * pace.rate
        if (far <= most).all():
            break
        now = normalized(product(now, exponential(way * np.minimum(1.0, most / np.maximum(far, 1e-300))[:, None])))
        turns[..., number : number + 1] = rotation_vectors(product(conjugated(own), now))
    return turns

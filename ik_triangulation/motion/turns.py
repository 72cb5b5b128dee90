# SPDX-License-Identifier: GPL-3.0-or-later
"""Turns of the joints along a path of all frames, and those of them that are jumps; arrays whose last axis is frames.

The rules are those of motion.jumps: a jump stands out from the turns of the frames around it, and neither a jump of the
goal explains it nor its speed.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..goals.batch import Task
from ..kinematics.arrays import Indices, Numbers, blocks
from ..kinematics.batch import Geometry, States, Tree
from ..kinematics.batch.algebra import lengths
from .jumps import EXPLAINED, FEW, LEAP, SPEED, abrupt, standing_out


def turns_along(rotations: Numbers) -> Numbers:
    """Largest rotation [rad] of a joint to each frame from the one before (F), of unit quaternions (n, 4, F)."""
    along = np.zeros(rotations.shape[-1])
    if len(along) > 1 and len(rotations):
        along[1:] = 2.0 * np.arccos(np.minimum(1.0, _alike(rotations[..., 1:], rotations[..., :-1]).min(0)))
    return along


def turns_by_joint(rotations: Numbers) -> Numbers:
    """The same of each joint (n, F)."""
    along = np.zeros((len(rotations), rotations.shape[-1]))
    along[:, 1:] = 2.0 * np.arccos(np.minimum(1.0, _alike(rotations[..., 1:], rotations[..., :-1])))
    return along


def _alike(first: Numbers, second: Numbers) -> Numbers:
    """Cosine of half the angle (n, F) between unit quaternions (n, 4, F)."""
    cosines: Numbers = np.abs(np.einsum("nif,nif->nf", first, second))
    return cosines


def apart(first: Numbers, second: Numbers) -> Numbers:
    """Sum over the joints of 1 - cos(angle / 2) (F) between poses of unit quaternions (n, 4, F)."""
    total: Numbers = (1.0 - np.minimum(1.0, _alike(first, second))).sum(0)
    return total


def turns_of(tree: Tree, states: States) -> Numbers:
    """Largest rotation [rad] of a joint of each of the states from the one before (F); 0 for the first."""
    along = np.zeros(len(states))
    for each in blocks(len(states), len(tree.joints)):
        begin = max(each.start - 1, 0)
        rotations = tree.rotations(states.take(slice(begin, each.stop)))
        along[each] = turns_along(rotations)[each.start - begin :]
    return along


def ways_of(tree: Tree, frames: States, tasks: Sequence[Task]) -> Numbers:
    """Way of the goal to each frame from the one before (F), as a share of the reach, as the root sees it.

    A radian counts as the length that its task gives it.
    """
    ways = np.zeros(len(frames))
    for task in tasks:
        way = task.ways(frames.root, frames.place)
        if len(way):
            ways[1:] = np.maximum(ways[1:], way / tree.size)
    return ways


def beyond_speed_of(tree: Tree, states: States, ways: Numbers, found: Indices) -> Indices:
    """Those of the frames `found`, none of them the first one, at which a joint turns more than the speed explains."""
    if not len(found):
        return found
    after = states.take(found)
    geometry = Geometry(tree, after)
    levers = lengths(geometry.tip() - geometry.heads)
    levers = np.maximum(levers, levers[0])
    rotations = tree.rotations(after), tree.rotations(states.take(found - 1))
    angles = 2.0 * np.arccos(np.minimum(1.0, _alike(*rotations)))
    beyond = (angles > FEW) & (angles * levers > SPEED * tree.size * ways[found])
    return np.asarray(found[beyond.any(0)], np.intp)


def leaps_of(ways: Numbers) -> Indices:
    """Frames at which the goal jumps."""
    return standing_out(ways, LEAP)


def jumps_of(along: Numbers, ways: Numbers, cuts: Indices) -> Indices:
    """Frames at which joints jump, more than a jump of the goal explains."""
    explained = np.zeros(len(along))
    explained[cuts] = EXPLAINED * ways[cuts]
    found = abrupt(along)
    return np.asarray(found[along[found] > explained[found]], np.intp)

# SPDX-License-Identifier: GPL-3.0-or-later
"""The start of a chain: its reference, bent a little where straight, and turned as a whole onto the target.

Poses of one target that start from elsewhere end on other branches; a start that is a smooth function of reference and
target gives all frames the same one. Source: none.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...goals.batch import AlongTask, OrientTask, PlaceTask, Task
from ...kinematics.arrays import Numbers
from ...kinematics.batch import Geometry, States, Tree
from ...kinematics.batch.algebra import (
    compose,
    conjugated,
    dot,
    lengths,
    matrices,
    normalized,
    product,
    quaternions,
    rotate,
    rotate_back,
    rotation_vectors,
    turn_vectors,
)
from ..batch.swings import Swing, smallest_rotations

_BEND = 0.07  # [rad] of every joint of a straight chain
_BENT, _STRAIGHT = 0.995, 0.999  # of the reach: distances from root to tip between which the bend sets in
_NOTHING = 1e-300


def turned_whole(
    tree: Tree, reference: States, tasks: Sequence[Task], compliance: Numbers, flexion: Numbers | None = None
) -> States:
    """Turn a chain so that its tip lies towards its target, spread over the joints as the tip is to turn.

    If the last bone has to turn, every joint has the same share of what a least turn of the whole chain leaves of that;
    else each one turns by its distance from the tip along the line to the root, which bends the chain to an arc. What
    that leaves of the direction the first joint adds. `flexion` (n, 3) are the axes in the joints' frames about which a
    straight chain is bent, by default those about which its joints prefer to bend.
    """
    place = next((task for task in tasks if isinstance(task, PlaceTask)), None)
    shares = np.zeros((len(tree.joints), 1))
    shares[tree.joint_of] = compliance
    if place is None or not shares.any():
        return reference
    root, geometry = int(np.flatnonzero(shares)[0]), Geometry(tree, reference)
    head, tip = geometry.heads[root], geometry.tip(place.tip)
    span, line = tip - head, place.target.closest(tip) - head
    least = smallest_rotations(span, line)
    missing = _missing(matrices(least), geometry.tip_rotation(place.tip), tasks)
    if missing is None:
        levers = np.maximum(dot(tip - geometry.heads, span[None]), 0.0)  # times the length of the span
        scale = levers[root] / np.maximum((shares * levers**2).sum(0), _NOTHING)
        turns = (shares * levers * scale)[:, None] * rotation_vectors(least)
    else:
        turns = (shares / shares.sum())[:, None] * missing
    turns = turns + _bend(tree, geometry, lengths(span), flexion)
    change = dot(geometry.axes(), turns[tree.joint_of])
    geometry = Geometry(tree, tree.moved(reference, geometry.frames, change))
    return _root_turned(tree, geometry, root, smallest_rotations(geometry.tip(place.tip) - head, line))


def _missing(whole: Numbers, rotation: Numbers, tasks: Sequence[Task]) -> Numbers | None:
    """Rotation vectors (3, F) that the last bone misses, as seen before the chain is turned by `whole` (3, 3, F)."""
    now = compose(whole, rotation)
    for task in tasks:
        if isinstance(task, OrientTask):
            turn = turn_vectors(compose(np.broadcast_to(task.rotation, now.shape), now.swapaxes(0, 1)))
            return rotate_back(whole, turn)
        if isinstance(task, AlongTask):
            axis = rotate(now, np.broadcast_to(task.axis, now.shape[1:]))
            turn = rotation_vectors(smallest_rotations(axis, np.broadcast_to(task.direction, axis.shape)))
            return rotate_back(whole, turn)
    return None


def _bend(tree: Tree, geometry: Geometry, span: Numbers, flexion: Numbers | None) -> Numbers:
    """Small turns (n, 3, F) of the joints where no turn of one of them would bring the tip nearer to the root."""
    share = np.clip((span / tree.size - _BENT) / (_STRAIGHT - _BENT), 0.0, 1.0)
    if flexion is None:
        flexion = np.array([joint.freedom.bend_axis[:] for joint in tree.joints])
    return rotate(geometry.frames[:, :, :3], flexion[:, :, None]) * (_BEND * share)


def _root_turned(tree: Tree, geometry: Geometry, root: int, turn: Numbers) -> States:
    """The states with a joint turned further (4, F), armature space, as far as its limits allow."""
    states = geometry.states
    frame = quaternions(geometry.frames[root, :, :3])
    local = product(product(conjugated(frame), turn), frame)
    angles, balls = states.angles, states.balls
    if root in tree.balls:
        at, balls = tree.balls.index(root), balls.copy()
        balls[at] = normalized(product(balls[at], local))
    else:
        kind = next(kind for kind in tree.kinds if root in kind.joints)
        own = kind.quaternions(angles[kind.rows])[list(kind.joints).index(root)]
        angles = angles.copy()
        wanted = Swing(tree.joints[root].freedom).nearest(normalized(product(own, local)))[1]
        angles[tree.joint_of[: tree.angles] == root] = wanted
    return States(angles, balls, states.held, states.root, states.place)

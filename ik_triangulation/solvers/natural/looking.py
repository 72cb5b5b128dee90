# SPDX-License-Identifier: GPL-3.0-or-later
"""The reference of a head that looks at a point: turned to the side, and then up or down, without a roll.

The least turn of a gaze to a point that is both aside and above tilts the head. People turn theirs about the axis of
the trunk and then nod (Fick's coordinates), while eyes take the least turn (Listing's law). Source: Glenn and Vilis
1992, "Violations of Listing's law after large eye and head gaze shifts".
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from mathutils import Quaternion

from ...goals.batch import LookTask, Task
from ...kinematics.arrays import Numbers
from ...kinematics.batch import Geometry, States, Tree
from ...kinematics.batch.algebra import compose, cross, dot, lengths, normalized, rotate, turn_vectors

_STEPS = 6  # as the eyes move when the neck turns, and angles of several axes do not add up
_UPRIGHT = 0.1  # sine of the angle to the vertical below which a direction has no side
_NOTHING = 1e-300


def turned_to_look(tree: Tree, reference: States, tasks: Sequence[Task], compliance: Numbers) -> States:
    """Turn the heads of a reference to what they look at, each by the joints of its own limb, inside their limits.

    `compliance` (k, 1) is that of the columns. A head that is aimed keeps its roll; one whose look has no `up` stays.
    """
    for task in tasks:
        if isinstance(task, LookTask) and task.up is not None:
            reference = _turned(tree, reference, task, compliance)
    return reference


def _turned(tree: Tree, reference: States, task: LookTask, compliance: Numbers) -> States:
    tip, states = tree.tips[task.tip], reference
    own = tree.above[:, tip.joint] & tree.above[tip.first]  # joints of the limb
    share = np.zeros((len(tree.joints), 1, 1))
    for row, joint in enumerate(tree.joint_of.tolist()):
        share[joint] = compliance[row] if own[joint] else 0.0
    if not share.any():
        return reference
    begun = Geometry(tree, reference)
    up, before = _up_at_rest(tree, begun, task), begun.tip_rotation(task.tip)
    for _ in range(_STEPS):
        geometry = Geometry(tree, states)
        line = np.broadcast_to(task.point, up.shape) - task.eye(geometry)
        wanted = _without_roll(before, task.axis, line / np.maximum(lengths(line), _NOTHING), up)
        if wanted is None:
            return reference
        missing = turn_vectors(compose(wanted, geometry.tip_rotation(task.tip).swapaxes(0, 1)))
        turns = (share / share.sum()) * missing
        change = np.zeros((tree.columns, len(states)))
        change[: len(tree.joint_of)] = dot(geometry.axes(), turns[tree.joint_of])
        states = tree.moved(states, geometry.frames, change)
    return states


def _up_at_rest(tree: Tree, geometry: Geometry, task: LookTask) -> Numbers:
    """Direction (3, F) that is up for a look while the joints of its limb are at rest."""
    tip, count = tree.tips[task.tip], len(geometry.states)
    above = tree.parents[tip.first]
    frame = geometry.frames[above][:, :3] if above >= 0 else np.broadcast_to(geometry.states.root, (3, 3, count))
    for joint in range(len(tree.joints)):
        if tree.above[joint, tip.joint] and tree.above[tip.first, joint]:
            frame = compose(frame, _matrix(tree.joints[joint].rest, count))
    frame = compose(frame, _matrix(tip.rotation, count))
    return normalized(rotate(frame, np.broadcast_to(task.up, (3, count))))


def _matrix(rotation: Quaternion, count: int) -> Numbers:
    return np.broadcast_to(np.array(rotation.to_matrix(), float)[:, :, None], (3, 3, count))


def _without_roll(rotation: Numbers, axis: Numbers, line: Numbers, up: Numbers) -> Numbers | None:
    """Rotations (3, 3, F) with the axis along a line, turned about `up` and about the axis square to that and the line.

    None where the axis or the line is too near to that direction.
    """
    now = rotate(rotation, np.broadcast_to(axis, line.shape))
    before, after = _axes(now, up), _axes(line, up)
    if before is None or after is None:
        return None
    return compose(compose(after, before.swapaxes(0, 1)), rotation)


def _axes(way: Numbers, up: Numbers) -> Numbers | None:
    """Orthonormal axes (3, 3, F): along a way, to its side, and square to both; None for a way along `up`."""
    side = cross(way, up)
    sine = lengths(side)
    if (sine < _UPRIGHT).any():
        return None
    side = side / sine
    return np.stack((way, side, cross(side, way)), 1)

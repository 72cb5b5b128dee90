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

from ...goals.orientation import LookTask
from ...goals.task import Task
from ...kinematics.arrays import Numbers
from ...kinematics.batch import Geometry, States, Tree
from ...kinematics.batch.algebra import (
    compose,
    cross,
    dot,
    exponential,
    lengths,
    matrices,
    normalized,
    rotate,
    turn_vectors,
)
from ..batch.swings import smallest_rotations

_STEPS = 6  # as the eyes move when the neck turns, and angles of several axes do not add up
_STEEP, _LEVEL = 0.2, 0.6  # sines of the angle to the vertical between which a look tells more and more what is level
_NOTHING = 1e-300


def turned_to_look(
    tree: Tree, reference: States, tasks: Sequence[Task], compliance: Numbers, states: States | None = None
) -> States:
    """Turn the heads of states to what they look at, each by the joints of its own limb, inside their limits.

    `states` are by default the `reference`, by which a head has its roll. `compliance` (k, 1) is that of the columns. A
    look without `up` is left as it is.
    """
    states = reference if states is None else states
    for task in tasks:
        if isinstance(task, LookTask) and task.up is not None:
            states = _turned(tree, reference, states, task, compliance)
    return states


def _turned(tree: Tree, reference: States, states: States, task: LookTask, compliance: Numbers) -> States:
    tip = tree.tips[task.tip]
    own = tree.above[:, tip.joint] & tree.above[tip.first]  # joints of the limb
    share = np.zeros((len(tree.joints), 1, 1))
    for row, joint in enumerate(tree.joint_of.tolist()):
        share[joint] = compliance[row] if own[joint] else 0.0
    if not share.any():
        return states
    given, begun = Geometry(tree, reference), Geometry(tree, states).tip_rotation(task.tip)
    up, posed = _up_at_rest(tree, given, task), given.tip_rotation(task.tip)
    for _ in range(_STEPS):
        geometry = Geometry(tree, states)
        line = np.broadcast_to(task.point, up.shape) - task.eye(geometry)
        wanted = _without_roll(posed, begun, task.axis, line / np.maximum(lengths(line), _NOTHING), up)
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


def _without_roll(posed: Numbers, begun: Numbers, axis: Numbers, line: Numbers, up: Numbers) -> Numbers:
    """Rotations (3, 3, F) with the axis along a line, by the least turn from where it begins and then about the line.

    That second turn gives them the roll of the rotations `posed` about `up`, unless the line is too steep to tell.
    """
    aimed = compose(matrices(smallest_rotations(_rotated(begun, axis), line)), begun)
    before, after = _axes(_rotated(posed, axis), up), _axes(line, up)
    level = compose(compose(after, before.swapaxes(0, 1)), posed)
    roll = dot(turn_vectors(compose(level, aimed.swapaxes(0, 1))), line)
    sine = np.minimum(lengths(cross(line, up)), lengths(cross(_rotated(posed, axis), up)))
    roll = roll * np.clip((sine - _STEEP) / (_LEVEL - _STEEP), 0.0, 1.0)
    return compose(matrices(exponential(line * roll)), aimed)


def _rotated(rotation: Numbers, axis: Numbers) -> Numbers:
    return rotate(rotation, np.broadcast_to(axis, (3, rotation.shape[-1])))


def _axes(way: Numbers, up: Numbers) -> Numbers:
    """Orthonormal axes (3, 3, F): along a way, to its side, and square to both."""
    side = cross(way, up)
    side = side / np.maximum(lengths(side), _NOTHING)
    return np.stack((way, side, cross(side, way)), 1)

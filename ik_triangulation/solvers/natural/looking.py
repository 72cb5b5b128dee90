# SPDX-License-Identifier: GPL-3.0-or-later
"""Heads that look at a point, turned to the side, and then up or down, without a roll; free ones look at hands.

The least turn of a gaze to a point that is both aside and above tilts the head. People turn theirs about the axis of
the trunk and then nod (Fick's coordinates), while eyes take the least turn (Listing's law). Source: Glenn and Vilis
1992, "Violations of Listing's law after large eye and head gaze shifts".

People look at what they reach for before the hand gets there, but not at a hand at their own head. Source: Land, Mennie
and Rusted 1999, "The roles of vision and eye movements in the control of activities of daily living". The head makes
half of the angle, as the eyes make the rest. It turns ahead of the trunk too, also where that comes back up. Source:
Grasso, Prevost, Ivanenko and Berthoz 1998, "Eye-head coordination for the steering of locomotion in humans: an
anticipatory synergy". Of a trunk that is tilted aside it makes up for most: heads stay nearly upright there. Source:
Pozzo, Levik and Berthoz 1995, "Head and trunk movements in the frontal plane during complex dynamic equilibrium tasks
in humans". All numbers were chosen by looking at everyday jobs of two figures.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import radians

import numpy as np
from mathutils import Quaternion

from ...goals.orientation import LookTask
from ...goals.task import FadedTask, Level, PlaceTask, Task, unwrapped
from ...kinematics.arrays import Numbers, averaged_in_time, smoothstep
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
from ...kinematics.body_anatomy import Part
from ..batch.swings import smallest_rotations

_STEPS = 6  # as the eyes move when the neck turns, and angles of several axes do not add up
_ROUGHLY = 2  # of them for a free head, which looks nowhere exactly
_STEEP, _LEVEL = 0.2, 0.6  # sines of the angle to the vertical between which a look tells more and more what is level
_NOTHING = 1e-300
_AHEAD = 0.6  # seconds ahead over which heads look, so that they are half of that before the hands
_GONE = 0.8  # of an arm's length: way of a hand from which on a head turns in full
_SHARE, _MOST = 0.5, radians(45.0)  # of the angle to a hand that a free head turns by, and the most of that
_BESIDE, _BEHIND = radians(90.0), radians(130.0)  # angles between which it turns less and less
_NEAR = 0.3  # of the body's size: a hand nearer to the eyes, as at the ear, turns no head, one twice as far in full
_AVERAGED = 16  # times that its turns are averaged with those of the frames beside
_RIGHTED = 0.7  # share of a tilt of the trunk, beside that of the reference, by which a free head stays upright
_STILL = 1e-4  # of the body's size: a hand that is no farther from its start turns no head
_FAR = 10.0  # sizes of the body: a point so far away is in one direction from wherever the eyes are


def turned_to_look(
    tree: Tree,
    reference: States,
    tasks: Sequence[Task],
    compliance: Numbers,
    states: States | None = None,
    steps: int = _STEPS,
) -> States:
    """Turn the heads of states to what they look at, each by the joints of its own limb, inside their limits.

    `states` are by default the `reference`, by which a head has its roll. `compliance` (k, 1) is that of the columns. A
    look without `up` is left as it is.
    """
    states = reference if states is None else states
    for task in tasks:
        if isinstance(task, LookTask) and task.up is not None:
            states = _turned(tree, reference, states, task, compliance, steps)
    return states


def _turned(
    tree: Tree,
    reference: States,
    states: States,
    task: LookTask,
    compliance: Numbers,
    steps: int,
    up: Numbers | None = None,
) -> States:
    """The states with one head turned, for which what is `up` (3, F) may be another than in the reference."""
    tip = tree.tips[task.tip]
    own = tree.above[:, tip.joint] & tree.above[tip.first]  # joints of the limb
    share = np.zeros((len(tree.joints), 1, 1))
    for row, joint in enumerate(tree.joint_of.tolist()):
        share[joint] = compliance[row] if own[joint] else 0.0
    if not share.any():
        return states
    given, begun = Geometry.of(tree, reference), Geometry.of(tree, states).tip_rotation(task.tip)
    before, posed = _up_at_rest(tree, given, task), given.tip_rotation(task.tip)
    up = before if up is None else up
    for _ in range(steps):
        geometry = Geometry.of(tree, states)
        line = np.broadcast_to(task.point, up.shape) - task.eye(geometry)
        wanted = _without_roll(posed, begun, task.axis, line / np.maximum(lengths(line), _NOTHING), before, up)
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


def _without_roll(
    posed: Numbers, begun: Numbers, axis: Numbers, line: Numbers, before: Numbers, up: Numbers
) -> Numbers:
    """Rotations (3, 3, F) with the axis along a line, by the least turn from where it begins and then about the line.

    That second turn gives them the roll about `up` that the rotations `posed` have about what is up for these, `before`
    (3, F each), unless the line is too steep to tell.
    """
    aimed = compose(matrices(smallest_rotations(_rotated(begun, axis), line)), begun)
    first, after = _axes(_rotated(posed, axis), before), _axes(line, up)
    level = compose(compose(after, first.swapaxes(0, 1)), posed)
    roll = dot(turn_vectors(compose(level, aimed.swapaxes(0, 1))), line)
    sine = np.minimum(lengths(cross(line, up)), lengths(cross(_rotated(posed, axis), before)))
    roll = roll * np.clip((sine - _STEEP) / (_LEVEL - _STEEP), 0.0, 1.0)
    return compose(matrices(exponential(line * roll)), aimed)


def _rotated(rotation: Numbers, axis: Numbers) -> Numbers:
    return rotate(rotation, np.broadcast_to(axis, (3, rotation.shape[-1])))


def _axes(way: Numbers, up: Numbers) -> Numbers:
    """Orthonormal axes (3, 3, F): along a way, to its side, and square to both."""
    side = cross(way, up)
    side = side / np.maximum(lengths(side), _NOTHING)
    return np.stack((way, side, cross(side, way)), 1)


def turned_to_hands(
    tree: Tree,
    states: States,
    reference: States,
    heads: Sequence[LookTask],
    tasks: Sequence[Task],
    influence: Mapping[int, Numbers],
    compliance: Numbers,
    fps: float,
) -> States:
    """Turn free heads of states (F) a part of the way to where hands are to be a moment later, inside their limits.

    They begin from where trunk and neck have them that moment later, and turn the more the farther hands go from where
    the `reference` has them; of several hands to what is between them. They are righted against most of the tilt of a
    trunk that the reference does not have. `heads` have the looks, whose points do not count, `influence` (F) is that
    of tips, and `compliance` (k, 1) that of the columns.
    """
    hands = [
        (task, bare)
        for task in tasks
        if isinstance(bare := unwrapped(task, FadedTask), PlaceTask)
        and task.level != Level.HOLD
        and tree.anatomy.parts[tree.tips[task.tip].joint] == Part.HAND
    ]
    begun, size = Geometry.of(tree, reference), tree.size
    ways = [bare.measure(begun).errors for _, bare in hands]
    if not any((lengths(way) > _STILL * size).any() for way in ways):
        return states
    for head in heads:
        if head.up is None or any(task.tip == head.tip for task in tasks):
            continue
        geometry, seen, most = Geometry.of(tree, states), np.zeros((3, len(states))), round(_AHEAD * fps)
        eye, face = head.eye(geometry), _rotated(geometry.tip_rotation(head.tip), head.axis)
        face = _unit(_ahead(face, most))
        for (task, _), way in zip(hands, ways, strict=True):
            line = begun.tip(task.tip) + way - eye
            gone = smoothstep(lengths(way) / (_GONE * tree.tips[task.tip].reach)) * influence.get(task.tip, 1.0)
            seen += gone * smoothstep(lengths(line) / (_NEAR * size) - 1.0) * _unit(line)
        seen = _ahead(seen, most)
        axis = cross(face, seen)
        angle = np.arctan2(lengths(axis), dot(face, seen))
        share = _SHARE * np.minimum(lengths(seen), 1.0) * smoothstep((_BEHIND - angle) / (_BEHIND - _BESIDE))
        turns = _unit(axis) * _MOST * np.tanh(share * angle / _MOST)
        for _ in range(_AVERAGED if len(states) > 2 else 0):
            turns[:, 1:-1] = averaged_in_time(turns.T, 1).T[:, 1:-1]  # ends stay, so that a lap closes
        look = replace(head, point=eye + _FAR * size * rotate(matrices(exponential(turns)), face))
        tilted, upright = (_up_at_rest(tree, each, head) for each in (geometry, begun))
        upright = _unit((1.0 - _RIGHTED) * tilted + _RIGHTED * upright)
        states = _turned(tree, states, states, look, compliance, _ROUGHLY, upright)
    return states


def _unit(ways: Numbers) -> Numbers:
    """Unit vectors along ways (3, F), and none where these are none."""
    return ways / np.maximum(lengths(ways), _NOTHING)


def _ahead(values: Numbers, most: int) -> Numbers:
    """Means of values (n, F) over the frames ahead, at most that many, and no more than there are before.

    So a shot begins and ends with its own values.
    """
    frames = np.arange(values.shape[1])
    end = np.minimum(frames + np.minimum(frames, most), frames[-1]) + 1
    sums = np.concatenate((np.zeros((len(values), 1)), np.cumsum(values, 1)), 1)
    found: Numbers = (sums[:, end] - sums[:, frames]) / (end - frames)
    return found

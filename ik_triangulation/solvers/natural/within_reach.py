# SPDX-License-Identifier: GPL-3.0-or-later
"""Goals that a chain is too short for, moved to the nearest that its lengths allow.

Steps towards a goal out of reach chatter, each frame in its own way. A goal at the edge of the reach is met by a pose
that changes as smoothly as the goal. The place comes first: where it is in reach and only the orientation asks for more
than the links before the last one have, the last link turns towards the root as little as it takes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ...goals.batch import OrientTask, PlaceTask, Task
from ...kinematics.arrays import Numbers
from ...kinematics.batch import States, Tree
from ...kinematics.batch.algebra import compose, cross, dot, exponential, lengths, matrices, rotate

_EDGE = 1e-4  # of the reach: how far inside its edge goals are put
_NOTHING = 1e-300


def within_reach(tree: Tree, frames: States, tasks: Sequence[Task]) -> list[Task]:
    """The tasks of a chain in frames like these, with points and orientations out of its reach moved to its edge."""
    place = next((task for task in tasks if isinstance(task, PlaceTask) and task.target.shape is None), None)
    if place is None:
        return list(tasks)
    root = frames.place + rotate(frames.root, tree.offsets[0])
    line = place.target.place - root
    distance, most = lengths(line), (1.0 - _EDGE) * tree.size
    if (distance > most).any():
        line = line * np.minimum(1.0, most / np.maximum(distance, _NOTHING))
        nearer = replace(place, target=place.target._replace(place=root + line))
    else:
        nearer = place
    return [nearer if task is place else _turned(tree, task, line) for task in tasks]


def _turned(tree: Tree, task: Task, line: Numbers) -> Task:
    """An orientation by which the head of the last link, at the end of a line from the root, is in reach."""
    tip = tree.tips[0]
    if not isinstance(task, OrientTask) or not tip.place.length > 0.0:
        return task
    link = np.array(tip.rotation.inverted() @ tip.place)[:, None]
    link = rotate(task.rotation, np.broadcast_to(link, (3, task.rotation.shape[-1])))
    rotation = np.broadcast_to(task.rotation, (3, *link.shape))
    turned = turned_into_reach(rotation, link, line, (1.0 - _EDGE) * (tree.size - tip.place.length))
    return task if turned is rotation else replace(task, rotation=turned)


def turned_into_reach(
    rotation: Numbers, link: Numbers, line: Numbers, longest: Numbers | float, shortest: Numbers | float = 0.0
) -> Numbers:
    """Orientations (3, 3, F) of a last link, turned as little as it takes to have its head in reach.

    The `line` (3, F) is the way from the root to the end of the `link` (3, F); the head has to be between `shortest`
    and `longest` from the root, or as near to that as the lengths allow.
    """
    length, distance = np.maximum(lengths(link), _NOTHING), np.maximum(lengths(line), _NOTHING)
    near, far = (
        np.arccos(np.clip((distance**2 + length**2 - np.square(limit)) / (2.0 * distance * length), -1.0, 1.0))
        for limit in (shortest, longest)
    )
    axis = cross(link, line)
    sine = lengths(axis)
    angle = np.arctan2(sine, dot(link, line))
    change = angle - np.clip(angle, near, far)
    if not change.any():
        return rotation
    turn = matrices(exponential(axis * (change / np.maximum(sine, _NOTHING))))
    return compose(turn, rotation)

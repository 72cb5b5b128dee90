# SPDX-License-Identifier: GPL-3.0-or-later
"""The turn of a hand or foot off what it is told where lengths or ranges ask for it, and goals within reach.

Goals that a chain is too short for, moved to the nearest that its lengths allow. Steps towards a goal out of reach
chatter, each frame in its own way. A goal at the edge of the reach is met by a pose that changes as smoothly as the
goal. The place comes first: where it is in reach and only the orientation asks for more than the links before the last
one have, the last link turns towards the root as little as it takes.

Limbs whose lengths or ranges forbid what their end is told: the end gives way, and the limb bends anew for it. Source:
none. The end turns only as far as wrist or ankle allows; as its head moves by that, the elbow or knee bends anew, round
by round until both fit. So the pose changes with the target without a step, where a search among poses ends now in one
valley and now in another. Frames are the last axis of every array.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ...goals.orientation import OrientTask
from ...goals.task import PlaceTask, Task
from ...kinematics.arrays import Mask, Numbers
from ...kinematics.batch import States, Tree
from ...kinematics.batch.algebra import (
    at,
    compose,
    conjugated,
    cross,
    dot,
    exponential,
    lengths,
    matrices,
    normalized,
    product,
    quaternions,
    rotate,
)
from ..batch.swings import Swing
from .two_bones import TwoBones

EDGE_OF_REACH = 1e-4  # of the reach: how far inside its edge goals are put
_NOTHING = 1e-300

EDGE = 1e-7  # of the length of both bones: how far inside its edge the head of the end is put
BENDINGS = 12  # of the elbow or knee at most
CLOSE = 3e-6  # of the reach: the end is where it should be


def within_reach(tree: Tree, frames: States, tasks: Sequence[Task]) -> list[Task]:
    """The tasks of a chain in frames like these, with points and orientations out of its reach moved to its edge."""
    place = next((task for task in tasks if isinstance(task, PlaceTask) and task.target.shape is None), None)
    if place is None:
        return list(tasks)
    root = frames.place + rotate(frames.root, tree.offsets[0])
    line = place.target.place - root
    distance, most = lengths(line), (1.0 - EDGE_OF_REACH) * tree.size
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
    turned = turned_into_reach(rotation, link, line, (1.0 - EDGE_OF_REACH) * (tree.size - tip.place.length))
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


def in_reach(tree: Tree, frames: States, tasks: Sequence[Task]) -> list[Task]:
    """The tasks of a limb with its place and the turn of its end moved as little as it takes to have them in reach."""
    place = next(each for each in tasks if isinstance(each, PlaceTask))
    orient = next(each for each in tasks if isinstance(each, OrientTask))
    first, second = (joint.offset.length for joint in tree.joints[1:])
    edge, length = EDGE * (first + second), tree.tips[0].place.length
    longest, shortest = first + second - edge, abs(first - second) + edge
    root = frames.place + rotate(frames.root, np.array(tree.joints[0].offset, float)[:, None])
    line = place.target.place - root
    distance = np.maximum(lengths(line), _NOTHING)
    within = np.clip(distance, max(0.0, shortest - length, length - longest), longest + length)
    if (within != distance).any():
        line = line * (within / distance)
        nearer = replace(place, target=place.target._replace(place=root + line))
    else:
        nearer = place
    rotation = np.broadcast_to(orient.rotation, (3, 3, len(frames)))
    link = np.array(tree.tips[0].rotation.inverted() @ tree.tips[0].place)[:, None]
    link = rotate(rotation, np.broadcast_to(link, line.shape))
    turned = replace(orient, rotation=turned_into_reach(rotation, link, line, longest, shortest))
    return [nearer if each is place else turned if each is orient else each for each in tasks]


def limbs_giving_way(
    tree: Tree, frames: States, tasks: Sequence[Task], reference: Numbers, flexion: Numbers | None, swivels: Numbers
) -> tuple[States, Mask]:
    """The states of limbs whose end is told how to turn, at swivels (F), with the end as near to that as it can be.

    The tasks are those in_reach(). The place comes first; returned with the states is where it is met (F). It is not
    where the root's own range forbids it.
    """
    rotations, left = np.empty((len(tree.joints), 4, len(frames))), np.arange(len(frames))
    fits = np.zeros(len(frames), bool)
    for _ in range(BENDINGS):
        some = frames.take(left)
        limb = TwoBones(tree, some, tasks, at(reference, left), flexion)
        found, told, away = _within_ranges(tree, limb, limb.rotations(swivels[left]))
        rotations[..., left] = found
        going = away > CLOSE * tree.size
        fits[left] = ~going
        if not going.any():
            break
        left, some = left[going], some.take(going)
        turned = compose(some.root, told[..., going])
        tasks = [each.take(going) for each in tasks]
        tasks = in_reach(
            tree, some, [replace(each, rotation=turned) if isinstance(each, OrientTask) else each for each in tasks]
        )
    return tree.posed(rotations, frames), fits


def _within_ranges(tree: Tree, limb: TwoBones, wanted: Numbers) -> tuple[Numbers, Numbers, Numbers]:
    """Rotations (3, 4, F) inside the ranges, each joint leading on to what the one before could not do.

    Returns with them the orientation of the tip (3, 3, F), in the axes of the root's parent, and how far its head is
    from where it should be (F).
    """
    upper, elbow, end = (Swing(joint.freedom).nearest for joint in tree.joints)
    rests = [np.array(joint.rest, float)[:, None] for joint in tree.joints]
    into = product(rests[0], wanted[0])
    lower = product(product(into, rests[1]), wanted[1])
    first = upper(wanted[0])[0]
    above = product(product(rests[0], first), rests[1])
    second = elbow(normalized(product(conjugated(above), lower)))[0]
    below = product(above, second)
    socket = product(below, rests[2])
    assert limb.end is not None
    third = end(normalized(product(conjugated(socket), quaternions(limb.end))))[0]
    turned = matrices(product(socket, third))
    up, low, tip = (
        np.array(each, float)[:, None] for each in (*(j.offset for j in tree.joints[1:]), tree.tips[0].place)
    )
    reached = rotate(matrices(product(rests[0], first)), up) + rotate(matrices(below), low)
    wrist = reached + rotate(turned, tip) - rotate(limb.end, tip)
    rest = np.array(tree.tips[0].rotation.to_matrix(), float)[:, :, None]
    return (
        np.stack((first, second, third)),
        compose(turned, np.broadcast_to(rest, turned.shape)),
        lengths(wrist - limb.goal),
    )

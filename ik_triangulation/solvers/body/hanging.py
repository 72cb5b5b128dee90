# SPDX-License-Identifier: GPL-3.0-or-later
"""Arms as lengths that reach from their shoulders, what their girdles add, free arms, and bodies that hang on hands.

A shoulder girdle takes a share in the elevation of its arm. Source: Inman, Saunders and Abbott 1944, "Observations on
the function of the shoulder joint". Deviation: it is faded in with the distance of what the arm reaches for, and goes
ahead for what is across as it goes up for what is overhead.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from math import radians
from typing import NamedTuple

import numpy as np

from ...goals.task import FadedTask, PlaceTask, Task, unwrapped
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
    product,
    rotate,
    rotate_back,
    turn_vectors,
)
from ...kinematics.body_anatomy import Part, joints_between
from .flexing import parts_of_body, two_part_limbs

COMFORTABLE = 0.95  # of an arm's length: distance up to which it reaches by itself
_PROJECTIONS = 16
# The girdle turns by this share of the angle to its goal, faded in with the distance in arm's lengths, up to a range.
_GIRDLE, _FROM, _OVER, _RANGE = 0.28, 0.55, 0.4, radians(24.0)
_NEAR = 0.25  # of an arm's length: way of a hand on which a girdle is not yet moved in full
_HANGS = 0.85  # share of the trunk's tilt that a free arm takes back
_BESIDE, _AHEAD = 0.2, 0.5  # [rad] outwards, at which it is beside the trunk; ahead at most, instead of into it
_LOW, _FADING = 0.3, 0.4  # share of a direction that is down from which on a girdle turns less, as it hardly goes down


class ReachingArm(NamedTuple):
    """The joint from which a tip reaches, the length with which it does, and whether an elbow makes that less."""

    anchor: int
    length: float
    bends: bool


def hung(tree: Tree, states: States, tasks: Sequence[Task]) -> States:
    """The states of a body that nothing holds, moved as a whole by no more than what its arms lack to their places.

    So who reaches for a bar raises the arms, and hangs below it where it is higher. Source: successive projections on
    balls about the places, Bregman 1965.
    """
    geometry = Geometry(tree, states)
    places = [task for task in tasks if is_place(task)]
    arms = [arm_of(tree, task.tip) for task in places]
    ways = [
        geometry.tip(task.tip) + task.measure(geometry).errors - geometry.heads[arm.anchor]
        for task, arm in zip(places, arms, strict=True)
    ]
    moved = np.zeros((3, len(states)))
    for _ in range(_PROJECTIONS):
        for way, arm in zip(ways, arms, strict=True):
            missing = way - moved
            far = lengths(missing)
            moved = moved + missing * np.maximum(1.0 - COMFORTABLE * arm.length / np.maximum(far, 1e-300), 0.0)
    return geometry.shifted(tree.root_ways.T @ (tree.root_ways @ moved)).states


def arm_of(tree: Tree, number: int) -> ReachingArm:
    tip = tree.tips[number]
    limb = next((limb for limb in two_part_limbs(tree) if tree.above[limb.end, tip.joint]), None)
    if limb is None:
        return ReachingArm(tip.first, tip.reach or tree.size, False)
    line = joints_between(tree.above, limb.upper, tip.joint)
    return ReachingArm(limb.upper, sum(tree.joints[j].offset.length for j in line) + tip.place.length, True)


def is_place(task: Task) -> bool:
    """Tell whether a task is a place, faded or not; one that the body carries along is none to lean to."""
    return isinstance(unwrapped(task, FadedTask), PlaceTask)


def turn_of_girdle(link: Numbers, to: Numbers, way: Numbers, up: Numbers, length: float) -> Numbers:
    """Return the rotation vectors (3, F) of a girdle towards what its arm of this length reaches for.

    `link` (3, F) leads from the girdle's joint to the shoulder, `to` (3, F) from the shoulder to the place, and `way`
    (3, F) to the place from where the hand was.
    """
    far = lengths(to)
    share = np.clip((far / length - _FROM) / _OVER, 0.0, 1.0) * np.clip(lengths(way) / (_NEAR * length), 0.0, 1.0)
    down = -dot(to, up) / np.maximum(far, 1e-300)
    share = share * np.clip(1.0 - (down - _LOW) / _FADING, 0.0, 1.0)
    axis = cross(link, to)
    angle = np.arctan2(lengths(axis), dot(link, to))
    turn: Numbers = normalized(axis) * np.clip(_GIRDLE * share * angle, 0.0, _RANGE)
    return turn


def nearer_by_girdle(link: Numbers, to: Numbers, turn: Numbers) -> Numbers:
    """Return by how much (F) a turn of the girdle brings the shoulder nearer to the place."""
    moved = np.einsum("ijf,jf->if", matrices(exponential(turn)), link) - link
    nearer: Numbers = np.maximum(lengths(to) - lengths(to - moved), 0.0)
    return nearer


def turns_of_free_arms(
    begin: Geometry, here: Geometry, left: Numbers, up: Numbers, busy: Collection[int]
) -> dict[int, Numbers]:
    """Turns (3, F) of armature space by which arms take back a share of the trunk's tilt since poses they `begin` in.

    Where the trunk leans under an arm, that goes ahead of it by as much as it would go into it. Arms with `busy` tips
    do not turn; `left` and `up` (3, F) are those of the body in the poses to begin in.
    """
    turns, tree = dict[int, Numbers](), here.tree
    parts = parts_of_body(tree)
    uppers = [j for j, part in enumerate(parts) if part == Part.UPPER_ARM]
    for number, tip in enumerate(tree.tips):
        arm = [j for j in uppers if tree.above[j, tip.joint]]
        if arm and number not in busy:
            now, then = (geometry.frames[arm[0]][:, :3] for geometry in (here, begin))
            carried = compose(now, then.swapaxes(0, 1))
            tilt, upright = cross(up, rotate(carried, up)), dot(up, rotate(carried, up))
            share = _HANGS * np.arctan2(lengths(tilt), upright) / np.maximum(lengths(tilt), 1e-300)
            back = matrices(exponential(-share * tilt))
            middle, line = begin.heads[uppers].mean(0), begin.tip(number) - begin.heads[arm[0]]
            own, outside = normalized(line), left * np.sign(dot(begin.heads[arm[0]] - middle, left))
            hangs = rotate(back, rotate(carried, own))
            out, ahead = rotate(carried, outside), rotate(carried, cross(left, up))
            inwards = np.clip(np.minimum(dot(own, outside), _BESIDE) - dot(hangs, out), 0.0, _AHEAD)
            round_it = matrices(exponential(cross(hangs, ahead) * inwards))
            turns[arm[0]] = turn_vectors(compose(round_it, back))
    return turns


def with_turns(here: Geometry, turns: Mapping[int, Numbers]) -> States:
    """Poses with joints turned further by rotation vectors (3, F) of armature space."""
    if not turns:
        return here.states
    tree, joints = here.tree, list(turns)
    rotations = tree.rotations(here.states)
    own = rotate_back(here.frames[joints][:, :, :3], np.array(list(turns.values())))
    rotations[joints] = normalized(product(rotations[joints], exponential(own)))
    return tree.posed(rotations, here.states)

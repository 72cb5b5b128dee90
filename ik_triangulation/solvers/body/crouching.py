# SPDX-License-Identifier: GPL-3.0-or-later
"""The least crouch of a body that stands, from which its hands come to what they reach for: a posture to start from.

Hands that reach for the floor leave open how far the back leans and the knees bend, and nearness to a reference that
stands tells little of it: a straight knee resists its bend, and a back is as near to one lean as to the other. People
do both at once. In recorded lifts and bows knees that bend by 100 degrees go with a back that leans by 70: the pelvis
tilts by 30 of these, the chest by 75, the head stays behind at 55, the shins lean ahead by 22, and the hips go back
and down. A reference is moved along this pattern as far as its arms cannot reach by themselves, and no farther.
Source: the pattern is a fit to four recordings of the CMU motion capture library; the idea of one pattern for all
depths is that of postural synergies (Alexandrov, Frolov and Massion 1998).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import radians
from typing import NamedTuple

import numpy as np

from ...goals.batch import Level, PlaceTask, Task
from ...goals.batch.faded import FadedTask
from ...kinematics.arrays import Indices, Numbers
from ...kinematics.batch import Geometry, States, Tree
from ...kinematics.batch.algebra import (
    exponential,
    lengths,
    normalized,
    product,
    rotate,
)
from .flexing import bending_limbs
from .parts import Part, parts_of_body, two_part_limbs

_KNEES, _SHINS, _PELVIS, _SPINE, _NECK = map(radians, (100.0, 22.0, 30.0, 45.0, -20.0))  # of a crouch of depth 1
_DEEPEST, _DEPTHS, _BETWEEN = 1.5, 16, 8  # depths that are looked at, and steps from one to the next
_COMFORTABLE = 0.97  # of an arm's length: distance up to which it reaches by itself
_NEAR = 0.25  # of it: way from where the reference has the hand, on which a straighter arm is no reason to crouch
_COST = 0.1  # of a crouch of depth 1, as the square of a share of the arm's length


class _Reach(NamedTuple):
    """A joint from which a place (3, F) is reached for, and the distance that needs no crouch (F)."""

    anchor: int
    goal: Numbers
    length: float
    least: Numbers
    most: Numbers


def crouched(tree: Tree, reference: States, tasks: Sequence[Task]) -> States:
    """A reference of a body that stands on held feet, in the least crouch from which its tips come to their places.

    It is returned as it is where no leg is held, where the hips do not move, and where all places are within reach.
    """
    legs = held_legs(tree, tasks)
    geometry = Geometry(tree, reference)
    reaches = _reaches(tree, geometry, tasks)
    if not legs or not reaches or not tree.moves_root:
        return reference
    crouch = _Crouch(tree, reference, geometry, legs)
    depth = _least_depth(crouch, reaches)
    return crouch.states(depth) if depth.any() else reference


def _least_depth(crouch: _Crouch, reaches: Sequence[_Reach]) -> Numbers:
    """Depths (F) of the crouches in which least is missing to reach all, and that cost little themselves."""
    coarse = np.linspace(0.0, _DEEPEST, _DEPTHS)
    far = np.array([[_far(geometry, reach) for reach in reaches] for geometry in map(crouch.geometry, coarse)])
    depths = np.linspace(0.0, _DEEPEST, _BETWEEN * (_DEPTHS - 1) + 1)
    cost = np.empty((len(depths), far.shape[-1]))
    for n, depth in enumerate(depths):
        k, part = min(n // _BETWEEN, _DEPTHS - 2), n / _BETWEEN
        between = far[k] + (part - k) * (far[k + 1] - far[k])
        cost[n] = _COST * depth**2 + sum(
            ((each - np.clip(each, reach.least, reach.most)) / reach.length) ** 2
            for each, reach in zip(between, reaches, strict=True)
        )
    return _least(depths, cost)


def held_legs(tree: Tree, tasks: Sequence[Task]) -> list[tuple[int, int, int, int]]:
    """Thigh, shin and foot of each leg whose end is held at a place, and the number of its tip."""
    parts, found = parts_of_body(tree), []
    held = {task.tip for task in tasks if task.level == Level.HOLD and _is_place(task)}
    for limb in bending_limbs(tree):
        own = [tip for tip in sorted(held) if tree.above[limb.end, tree.tips[tip].joint]]
        if own and parts[limb.upper] == Part.THIGH:
            found.append((*limb, own[0]))
    return found


def _is_place(task: Task) -> bool:
    return isinstance(task.task if isinstance(task, FadedTask) else task, PlaceTask)


def _reaches(tree: Tree, geometry: Geometry, tasks: Sequence[Task]) -> list[_Reach]:
    """What the tips that are not held reach for."""
    found = []
    for task in tasks:
        if task.level == Level.HOLD or not _is_place(task):
            continue
        tip, place = tree.tips[task.tip], geometry.tip(task.tip)
        goal = place + task.measure(geometry).errors
        limb = next((limb for limb in two_part_limbs(tree) if tree.above[limb.end, tip.joint]), None)
        if limb is None:
            now = lengths(place - geometry.heads[tip.first])
            found.append(_Reach(tip.first, goal, tip.reach or tree.size, now, now))
            continue
        line = [j for j in range(limb.upper + 1, tip.joint + 1) if tree.above[limb.upper, j] and tree.above[j, tip.joint]]
        length = sum(tree.joints[j].offset.length for j in line) + tip.place.length
        near = np.clip(1.0 - lengths(goal - place) / (_NEAR * length), 0.0, 1.0)
        straighter = lengths(place - geometry.heads[limb.upper]) - _COMFORTABLE * length
        most = _COMFORTABLE * length + np.maximum(straighter, 0.0) * near
        found.append(_Reach(limb.upper, goal, length, np.zeros_like(most), most))
    return found


def _far(geometry: Geometry, reach: _Reach) -> Numbers:
    """Distance (F) of what reaches from what it reaches for."""
    return lengths(reach.goal - geometry.heads[reach.anchor])


def _least(at: Numbers, cost: Numbers) -> Numbers:
    """Where costs (d, F) at evenly spaced places (d) are least (F), between these by the parabola through three."""
    best = np.clip(cost.argmin(0), 1, len(at) - 2)
    every = np.arange(cost.shape[1])
    before, here, after = (cost[best + n, every] for n in (-1, 0, 1))
    curve = before - 2.0 * here + after
    step = 0.5 * (before - after) / np.where(curve > 0.0, curve, np.inf)
    return np.clip(at[best] + (at[1] - at[0]) * np.clip(step, -1.0, 1.0), at[0], at[-1])


class _Crouch:
    """Crouches of one reference, of any depth (F)."""

    def __init__(
        self, tree: Tree, reference: States, geometry: Geometry, legs: Sequence[tuple[int, int, int, int]]
    ) -> None:
        self._tree, self._reference = tree, reference
        self._tips = [leg[3] for leg in legs]
        self._places = [geometry.tip(tip) for tip in self._tips]
        self._rotations = tree.rotations(reference)
        axes = [_axis(tree, geometry, leg[1]) for leg in legs]
        ahead = normalized(np.sum(axes, 0))  # about which the trunk leans
        pelvis = _PELVIS if 0 in tree.joint_of else 0.0
        self._turns: list[tuple[int, Numbers]] = []
        self._turn(geometry, [0], pelvis * ahead)
        for (thigh, shin, foot, _), axis in zip(legs, axes, strict=True):
            self._turn(geometry, [thigh], (_SHINS - _KNEES) * axis - pelvis * ahead)
            self._turn(geometry, [shin], _KNEES * axis)
            self._turn(geometry, [foot], -_SHINS * axis)
        spine, neck = _trunk(tree, [leg[0] for leg in legs])
        self._turn(geometry, spine, _SPINE * ahead)
        self._turn(geometry, neck, _NECK * ahead)

    def _turn(self, geometry: Geometry, joints: Sequence[int] | Indices, turn: Numbers) -> None:
        """Have joints make a turn (3, F) of armature space together, as far as each of them can."""
        for joint in joints:
            own = np.swapaxes(geometry.frames[joint][:, :3], 0, 1)
            self._turns.append((int(joint), rotate(own, turn / len(joints))))

    def geometry(self, depth: float) -> Geometry:
        """Where the joints are in a crouch of this depth."""
        return Geometry(self._tree, self.states(depth))

    def states(self, depth: Numbers | float) -> States:
        """The reference in a crouch of this depth."""
        tree, reference = self._tree, self._reference
        rotations = self._rotations.copy()
        for joint, turn in self._turns:
            rotations[joint] = normalized(product(rotations[joint], exponential(depth * turn)))
        moved = tree.posed(rotations, reference)
        after = Geometry(tree, moved)
        off = np.mean([after.tip(tip) - place for tip, place in zip(self._tips, self._places, strict=True)], 0)
        ways = tree.root_ways
        return States(moved.angles, moved.balls, moved.held, moved.root, moved.place - ways.T @ (ways @ off))


def _axis(tree: Tree, geometry: Geometry, joint: int) -> Numbers:
    """The axis (3, F) of armature space about which a knee prefers to bend."""
    frame = geometry.frames[joint][:, :3]
    return rotate(frame, np.broadcast_to(np.array(tree.joints[joint].freedom.bend_axis[:])[:, None], frame.shape[1:]))


def _trunk(tree: Tree, thighs: Sequence[int]) -> tuple[list[int], list[int]]:
    """Joints of the spine, which lead to several tips but to no leg, and those of neck and head."""
    parts = parts_of_body(tree)
    spine = [j for j, part in enumerate(parts) if part == Part.TRUNK and not tree.above[j, thighs].any()]
    return spine, [j for j, part in enumerate(parts) if part == Part.SIMPLE]

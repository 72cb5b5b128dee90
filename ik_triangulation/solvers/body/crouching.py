# SPDX-License-Identifier: GPL-3.0-or-later
"""The least crouch of a body that stands, from which its hands come to what they reach for: a posture to start from.

Hands that reach for the floor leave open how far the back leans and the knees bend, and nearness to a reference that
stands tells little of it: a straight knee resists its bend, and a back is as near to a lean ahead as to one behind.
People do all of it together. In recorded lifts knees that bend by 100 degrees go with a pelvis that tilts by 30, a
chest that leans by 75, a head that stays behind at 55, and shins that lean ahead by 22, so that the hips go back and
down. A reference is moved along this pattern as far as its arms cannot reach by themselves, and no farther.

The pattern is a fit to four lifts of the CMU library. One pattern for all depths: Alexandrov, Frolov and Massion 1998,
"Axial synergies during human upper trunk bending".
"""

from __future__ import annotations

from collections.abc import Sequence
from math import radians
from typing import NamedTuple

import numpy as np

from ...goals.batch import BalanceTask, Level, PlaceTask, Task
from ...goals.batch.faded import FadedTask
from ...kinematics.arrays import Numbers, averaged_in_time
from ...kinematics.batch import Geometry, States, Tree
from ...kinematics.batch.algebra import cross, dot, exponential, lengths, normalized, product, rotate, rotate_back
from ...kinematics.body_anatomy import Part, TwoPartLimb
from .parts import flexion_axes, parts_of_body, two_part_limbs

_KNEES, _SHINS, _PELVIS, _SPINE, _NECK = map(radians, (100.0, 22.0, 30.0, 45.0, -20.0))  # of a crouch of depth 1
_DEEPEST, _DEPTHS, _BETWEEN = 1.5, 11, 12  # depths that are looked at, and steps from one to the next
_STRAIGHT = 0.17  # [rad] of bend up to which a knee does not tell how it bends
_COMFORTABLE = 0.97  # of an arm's length: distance up to which it reaches by itself
_SMOOTHED = 16  # times that a depth is averaged with those of the frames beside it
_NEAR = 0.25  # of it: way from where the reference has the hand, on which a straighter arm is no reason to crouch
_COST = 0.1  # of a crouch of depth 1, beside squared shares of the arm's length that are missing


class _Arm(NamedTuple):
    """The joint from which a tip reaches, the length with which it does, and whether an elbow makes that less."""

    anchor: int
    length: float
    bends: bool


class Crouch:
    """Crouches of a reference of F poses whose legs are held."""

    def __init__(
        self,
        tree: Tree,
        reference: States,
        legs: Sequence[tuple[int, int, int, int]],
        steady: BalanceTask | None,
    ) -> None:
        self._tree, self._reference, self._begin = tree, reference, Geometry(tree, reference)
        self._legs, self._steady, self.tips = legs, steady, [leg[3] for leg in legs]
        self._arms = [_arm(tree, number) for number in range(len(tree.tips))]
        self._rotations = tree.rotations(reference)
        self._axes = [self._axis(*leg[:3]) for leg in legs]
        self._turns: list[tuple[int, Numbers]] = []
        self._bend()
        self._heads: Numbers | None = None  # of what reaches, at the depths that are looked at

    def _bend(self) -> None:
        """Gather the turns of a crouch of depth 1, all about the axes about which the knees bend."""
        tree, parts = self._tree, parts_of_body(self._tree)
        ahead = normalized(np.sum(self._axes, 0))
        pelvis = _PELVIS if 0 in tree.joint_of else 0.0
        self._turn([0], pelvis * ahead)
        for (thigh, shin, foot, _), axis in zip(self._legs, self._axes, strict=True):
            self._turn([thigh], (_SHINS - _KNEES) * axis - pelvis * ahead)
            self._turn([shin], _KNEES * axis)
            self._turn([foot], -_SHINS * axis)
        thighs, ends = [leg[0] for leg in self._legs], [tip.joint for tip in tree.tips]
        trunk = np.array([part == Part.TRUNK for part in parts]) & tree.above[:, ends].any(1)
        self._turn(np.flatnonzero(trunk & ~tree.above[:, thighs].any(1)).tolist(), _SPINE * ahead)
        self._turn([j for j, part in enumerate(parts) if part == Part.SIMPLE], _NECK * ahead)

    def _axis(self, upper: int, joint: int, end: int) -> Numbers:
        """The axis (3, F) of armature space about which a knee bends: as it does, or where it is straight as it can."""
        heads, frame = self._begin.heads, self._begin.frames[joint][:, :3]
        own = flexion_axes(self._tree)[two_part_limbs(self._tree).index(TwoPartLimb(upper, joint, end))]
        axis = rotate(frame, np.broadcast_to(own[:, None], frame.shape[1:]))
        first, second = (heads[b] - heads[a] for a, b in ((upper, joint), (joint, end)))
        turn = cross(first, second)
        bend = np.arctan2(lengths(turn), dot(first, second))
        told = np.clip((bend - _STRAIGHT) / _STRAIGHT, 0.0, 1.0)
        return normalized(axis * (1.0 - told) + turn * (told / np.maximum(lengths(turn), 1e-300)))

    def _turn(self, joints: Sequence[int], turn: Numbers) -> None:
        """Have joints make a turn (3, F) of armature space together."""
        for joint in joints:
            self._turns.append((joint, rotate_back(self._begin.frames[joint][:, :3], turn / len(joints))))

    def least(self, tasks: Sequence[Task]) -> States:
        """The reference in the least crouch for tasks, or as it is where none is needed."""
        depth = self.depth(tasks)
        return self.states(depth) if depth.any() else self._reference

    def states(self, depth: Numbers | float) -> States:
        """The reference in crouches of a depth (F), its feet where they were, and its weight above them."""
        rotations = self._rotations.copy()
        for joint, turn in self._turns:
            rotations[joint] = normalized(product(rotations[joint], exponential(depth * turn)))
        states = self._on_its_feet(rotations)
        if self._steady is None:
            return states
        geometry = Geometry(self._tree, states)
        missing = self._steady.support.across.T @ self._steady.measure(geometry).errors
        if not missing.any():
            return states
        for (_, shin, foot, _), axis in zip(self._legs, self._axes, strict=True):
            lever = geometry.heads[shin] - geometry.heads[foot]
            way = cross(axis, lever)  # of the knees and all above them, when the shins lean ahead
            lean = np.clip(dot(missing, way) / np.maximum(dot(way, way), 1e-300), -_SHINS, _SHINS) * axis
            for joint, turn in ((shin, lean), (foot, -lean)):
                own = rotate_back(geometry.frames[joint][:, :3], turn)
                rotations[joint] = normalized(product(rotations[joint], exponential(own)))
        return self._on_its_feet(rotations)

    def _on_its_feet(self, rotations: Numbers) -> States:
        """The reference with these rotations (n, 4, F), its hips where they bring the feet to where they were."""
        tree = self._tree
        moved = tree.posed(rotations, self._reference)
        after = Geometry(tree, moved)
        off = np.mean([after.tip(leg[3]) - self._begin.tip(leg[3]) for leg in self._legs], 0)
        place = moved.place - tree.root_ways.T @ (tree.root_ways @ off)
        return States(moved.angles, moved.balls, moved.held, moved.root, place)

    def depth(self, tasks: Sequence[Task]) -> Numbers:
        """Depth (F) of the crouches in which least is missing for all tips to come to their places."""
        reaching = [task for task in tasks if task.level != Level.HOLD and _is_place(task)]
        ways = [task.measure(self._begin).errors for task in reaching]
        if not any(way.any() for way in ways):
            return np.zeros(len(self._reference))
        heads = self._reaching_from()
        depths = np.linspace(0.0, _DEEPEST, _BETWEEN * (_DEPTHS - 1) + 1)
        before = np.minimum(np.arange(len(depths)) // _BETWEEN, _DEPTHS - 2)
        part = (np.arange(len(depths)) / _BETWEEN - before)[:, None]
        cost = np.repeat(_COST * depths[:, None] ** 2, len(self._reference), 1)
        for task, way in zip(reaching, ways, strict=True):
            goal = self._begin.tip(task.tip) + way
            far = np.sqrt(((goal - heads[task.tip]) ** 2).sum(1))
            far = far[before] + part * (far[before + 1] - far[before])
            least, most = self._bounds(task.tip, way)
            cost += ((far - np.clip(far, least, most)) / self._arms[task.tip].length) ** 2
        return averaged_in_time(_least(depths, cost), _SMOOTHED)

    def _reaching_from(self) -> Numbers:
        """Places (t, d, 3, F) from which each tip reaches, at the depths that are looked at."""
        if self._heads is None:
            anchors = [arm.anchor for arm in self._arms]
            depths = np.linspace(0.0, _DEEPEST, _DEPTHS)
            heads = np.array([Geometry(self._tree, self.states(depth)).heads[anchors] for depth in depths])
            self._heads = heads.swapaxes(0, 1)
        return self._heads

    def _bounds(self, tip: int, way: Numbers) -> tuple[Numbers, Numbers]:
        """Distances (F) between which a tip reaches without a crouch, for a place this way (3, F) from where it is."""
        anchor, length, bends = self._arms[tip]
        now = lengths(self._begin.tip(tip) - self._begin.heads[anchor])
        if not bends:
            return now, now
        near = np.clip(1.0 - lengths(way) / (_NEAR * length), 0.0, 1.0)
        most = _COMFORTABLE * length + np.maximum(now - _COMFORTABLE * length, 0.0) * near
        return np.zeros_like(most), most


def crouch_of(tree: Tree, reference: States, tasks: Sequence[Task], steady: BalanceTask | None = None) -> Crouch | None:
    """The crouches of a reference that stands on held feet; None where no leg is held or the hips do not move.

    With balance, `steady`, the shins lean so far that the weight stays above its support.
    """
    parts, legs = parts_of_body(tree), []
    held = {task.tip for task in tasks if task.level == Level.HOLD and _is_place(task)}
    for limb in two_part_limbs(tree):
        own = [tip for tip in sorted(held) if tree.above[limb.end, tree.tips[tip].joint]]
        if own and parts[limb.upper] == Part.THIGH:
            legs.append((*limb, own[0]))
    return Crouch(tree, reference, legs, steady) if legs and tree.moves_root else None


def _arm(tree: Tree, number: int) -> _Arm:
    tip = tree.tips[number]
    limb = next((limb for limb in two_part_limbs(tree) if tree.above[limb.end, tip.joint]), None)
    if limb is None:
        return _Arm(tip.first, tip.reach or tree.size, False)
    line = [j for j in range(limb.upper + 1, tip.joint + 1) if tree.above[limb.upper, j] and tree.above[j, tip.joint]]
    return _Arm(limb.upper, sum(tree.joints[j].offset.length for j in line) + tip.place.length, True)


def _is_place(task: Task) -> bool:
    return isinstance(task.task if isinstance(task, FadedTask) else task, PlaceTask)


def _least(at: Numbers, cost: Numbers) -> Numbers:
    """Places (F) of the least costs (d, F) at evenly spaced places (d), between these by the parabola through three."""
    best = np.clip(cost.argmin(0), 1, len(at) - 2)
    every = np.arange(cost.shape[1])
    before, here, after = (cost[best + n, every] for n in (-1, 0, 1))
    curve = before - 2.0 * here + after
    step = 0.5 * (before - after) / np.where(curve > 0.0, curve, np.inf)
    least: Numbers = np.clip(at[best] + (at[1] - at[0]) * np.clip(step, -1.0, 1.0), at[0], at[-1])
    return least

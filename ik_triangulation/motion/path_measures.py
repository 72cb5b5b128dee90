# SPDX-License-Identifier: GPL-3.0-or-later
"""Costs, limits that are met and the largest turn of a path of all frames, from arrays whose last axis is frames."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from mathutils import Quaternion

from ..kinematics import Cost
from ..kinematics.arrays import Indices, Numbers, blocks
from ..kinematics.batch import Geometry, States, Tree
from ..kinematics.batch.algebra import lengths, matrices, rotate
from ..kinematics.batch.limit_arrays import LimitArrays
from ..kinematics.pose import SMALLEST_TURN
from .jumps import JointStep, turns_by_joint, turns_of


class PathCosts(NamedTuple):
    """The measures of `Cost` at each frame (F): `turns`, `total_angle` [rad] and `travel` [armature space]."""

    turns: Indices
    total_angle: Numbers
    travel: Numbers

    @property
    def total(self) -> Cost:
        """Sum over all frames."""
        return Cost(int(self.turns.sum()), float(self.total_angle.sum()), float(self.travel.sum()))

    def at(self, frame: int) -> Cost:
        """Return the cost of one frame, given as an index."""
        return Cost(int(self.turns[frame]), float(self.total_angle[frame]), float(self.travel[frame]))


class PathMeasures:
    """Measures of a chain in F `states`, each made when it is first wanted.

    The cost of a frame is that of turning its joints, one after the other from the root, from the frame before; the
    costs in `known` replace it, by the index of the frame. `steps` (F) are those that the solver made.
    """

    def __init__(
        self, tree: Tree, states: States, known: Mapping[int, Cost] | None = None, steps: Indices | None = None
    ) -> None:
        self._tree, self._states, self._known = tree, states, known or {}
        self.steps: Indices = np.zeros(len(states), np.intp) if steps is None else steps

    @cached_property
    def costs(self) -> PathCosts:
        """Costs of all frames."""
        tree, count = self._tree, len(self._states)
        costs = PathCosts(np.zeros(count, np.intp), np.zeros(count), np.zeros(count))
        for frames in blocks(count, len(tree.joints)):
            begin = max(frames.start - 1, 0)
            some = self._states.take(slice(begin, frames.stop))
            rotations = tree.rotations(some)
            own = slice(frames.start - begin, None)
            angles = turns_by_joint(rotations)[:, own]
            costs.turns[frames] = (angles > SMALLEST_TURN).sum(0)
            costs.total_angle[frames] = angles.sum(0)
            before = np.concatenate((rotations[..., :1], rotations[..., :-1]), -1)
            costs.travel[frames] = _travel(tree, some, before)[own]
        for frame, cost in self._known.items():
            costs.turns[frame], costs.total_angle[frame], costs.travel[frame] = (
                cost.turns,
                cost.total_angle,
                cost.travel,
            )
        return costs

    @cached_property
    def limits(self) -> dict[str, tuple[list[list[str]], Indices]]:
        """Limits that joints are at, by the names of the joints that are at any.

        Those are sets of limits, such as ["X maximum"], and the index of the one that holds at each frame (F).
        """
        found = {}
        rotations = self._tree.rotations(self._states)
        for joint, own in zip(self._tree.joints, rotations, strict=True):
            limits = LimitArrays(joint.freedom)
            if limits.free:
                continue
            _, first, which = np.unique(limits.ends(own), return_index=True, return_inverse=True)
            sets = [joint.freedom.on_limits(joint.freedom.nearest(Quaternion(own[:, k]))) for k in first.tolist()]
            if any(sets):
                found[joint.name] = sets, which.reshape(-1)
        return found

    @property
    def on_limits(self) -> dict[str, list[str]]:
        """Limits that joints are at in some frame, by the joints' names."""
        every = {name: [end for ends in sets for end in ends] for name, (sets, _) in self.limits.items()}
        return {name: list(dict.fromkeys(ends)) for name, ends in every.items()}

    def on_limits_at(self, frame: int) -> dict[str, list[str]]:
        """Return the limits that joints are at in one frame, given as an index."""
        found = {name: sets[which[frame]] for name, (sets, which) in self.limits.items()}
        return {name: ends for name, ends in found.items() if ends}

    @cached_property
    def largest_turn(self) -> JointStep | None:
        """Largest rotation of a joint from one frame to the next; None for a single frame."""
        if len(self._states) < 2:
            return None
        at = 1 + int(turns_of(self._tree, self._states)[1:].argmax())
        angles = turns_by_joint(self._tree.rotations(self._states.take(slice(at - 1, at + 1))))[:, 1]
        joint = int(angles.argmax())
        return JointStep(at, self._tree.joints[joint].name, float(angles[joint]))


def _travel(tree: Tree, states: States, before: Numbers) -> Numbers:
    """Ways of the end effector (F), added up, as the joints of a chain turn one after the other from the root.

    They turn from the rotations `before` (n, 4, F) to those of the states.
    """
    frames, joints = Geometry(tree, states).frames, tree.joints
    place: Numbers = np.array(tree.tips[0].place, float)[:, None]
    ends: list[Numbers] = []  # of the chain with the joints up to each one turned, the last one first
    for i in range(len(joints) - 1, -1, -1):
        ends.append(rotate(frames[i, :, :3], place) + frames[i, :, 3])
        rest = matrices(np.array(joints[i].rest, float)[:, None])
        place = rotate(rest, rotate(matrices(before[i]), place)) + tree.offsets[i]
    ends.append(rotate(states.root, place) + states.place)
    return sum((lengths(after - first) for after, first in pairwise(ends)), np.zeros(len(states)))

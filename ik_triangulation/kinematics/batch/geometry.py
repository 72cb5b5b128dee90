# SPDX-License-Identifier: GPL-3.0-or-later
"""Forward kinematics of many poses of a tree."""

from __future__ import annotations

import numpy as np

from ..arrays import Columns, Numbers
from .algebra import IDENTITY, compose, matrices
from .states import States
from .tree import Tree


class Geometry:
    """Places of all joints of F poses, armature space.

    `frames` (n, 3, 4, F) has the orientation of each joint after its own rotation in its first three columns, and the
    joint's head in the last one.
    """

    def __init__(self, tree: Tree, states: States) -> None:
        self.tree, self.states = tree, states
        count = len(states)
        local = np.empty((len(tree.joints), 3, 4, count))
        rotations = local[:, :, :3]
        self._turned = [kind.turn(states.angles[kind.rows], rotations) for kind in tree.kinds]
        if tree.balls:
            if isinstance(tree.at_balls, slice):
                matrices(states.balls, out=rotations[tree.at_balls])
            else:
                rotations[tree.at_balls] = matrices(states.balls)
        if tree.held:
            rotations[tree.at_held] = matrices(states.held)
        if len(tree.rests):
            rotations[tree.turned] = compose(tree.rests, rotations[tree.turned])
        local[:, :, 3] = tree.offsets
        self.frames = frames = np.empty_like(local)
        for joints, parents in tree.tiers:
            above, place = (states.root, states.place) if parents is None else _split(frames[parents])
            own, in_place = local[joints], not isinstance(joints, np.ndarray)
            out = frames[joints] if in_place else np.empty_like(own)
            np.multiply(above[..., 0, None, :], own[..., None, 0, :, :], out=out)
            out += above[..., 1, None, :] * own[..., None, 1, :, :]
            out += above[..., 2, None, :] * own[..., None, 2, :, :]
            out[..., 3, :] += place
            if not in_place:
                frames[joints] = out
        self._tips: dict[int, Numbers] = {}
        self._rotations: dict[int, Numbers] = {}

    @property
    def heads(self) -> Numbers:
        """Heads of all joints (n, 3, F)."""
        return self.frames[:, :, 3]

    def tip(self, number: int = 0) -> Numbers:
        """Place of an end effector (3, F)."""
        if number not in self._tips:
            tip = self.tree.tips[number]
            frame, (x, y, z) = self.frames[tip.joint], tip.place
            self._tips[number] = frame[:, 0] * x + frame[:, 1] * y + frame[:, 2] * z + frame[:, 3]
        return self._tips[number]

    def tip_rotation(self, number: int = 0) -> Numbers:
        """Orientation of an end effector (3, 3, F)."""
        if number not in self._rotations:
            tip = self.tree.tips[number]
            rest = np.array(tip.rotation.to_matrix(), float)[:, :, None]
            self._rotations[number] = compose(self.frames[tip.joint][:, :3], rest)
        return self._rotations[number]

    def axes(self) -> Numbers:
        """Axis (k, 3, F) of every column that rotates; those of a ball joint are the axes of armature space."""
        tree, count = self.tree, len(self.states)
        axes = np.empty((len(tree.joint_of), 3, count))
        for kind, turned in zip(tree.kinds, self._turned, strict=True):
            axes[kind.rows] = kind.axes(self.frames, turned)
        if tree.balls:
            axes[tree.angles :].reshape(len(tree.balls), 3, 3, count)[:] = IDENTITY
        return axes

    def angle_axes(self) -> Numbers:
        """Axis (m, 3, F) of every angle of joints with limits."""
        if len(self.tree.kinds) == 1:
            return self.tree.kinds[0].axes(self.frames, self._turned[0])
        axes = np.empty((self.tree.angles, 3, len(self.states)))
        for kind, turned in zip(self.tree.kinds, self._turned, strict=True):
            axes[kind.rows] = kind.axes(self.frames, turned)
        return axes

    def shifted(self, way: Numbers) -> Geometry:
        """The same poses with their roots moved by vectors (3, F) of armature space."""
        other, states = Geometry.__new__(Geometry), self.states
        other.tree, other._turned, other._tips, other._rotations = self.tree, self._turned, {}, dict(self._rotations)
        other.states = States(states.angles, states.balls, states.held, states.root, states.place + way)
        other.frames = self.frames.copy()
        other.frames[:, :, 3] += way
        return other

    def take(self, columns: Columns) -> Geometry:
        """Those of the poses."""
        some = Geometry.__new__(Geometry)
        some.tree, some.states = self.tree, self.states.take(columns)
        some.frames = self.frames[..., columns]
        some._turned = [tuple(array[..., columns] for array in turned) for turned in self._turned]
        some._tips = {number: tip[:, columns] for number, tip in self._tips.items()}
        some._rotations = {number: rotation[..., columns] for number, rotation in self._rotations.items()}
        return some

    def put(self, columns: Columns, other: Geometry) -> None:
        """Replace poses by those of another geometry of the same columns."""
        self.states.put(columns, other.states.take(columns))
        self.frames[..., columns] = other.frames[..., columns]
        for mine, theirs in zip(self._turned, other._turned, strict=True):
            for array, source in zip(mine, theirs, strict=True):
                array[..., columns] = source[..., columns]
        for own, others in ((self._tips, other._tips), (self._rotations, other._rotations)):
            for number in own:
                own[number][..., columns] = others[number][..., columns]


def _split(frames: Numbers) -> tuple[Numbers, Numbers]:
    """Orientations and heads of frames (..., 3, 4, F)."""
    return frames[..., :3, :], frames[..., 3, :]

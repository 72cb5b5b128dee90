# SPDX-License-Identifier: GPL-3.0-or-later
"""Forward kinematics of many poses of a tree, and the second derivatives of the place of a chain's end.

Second derivatives of the place of a chain's end by the columns of its tree, for many poses at once. Of two joints the
outer one turns the axis of the inner one, so the derivative of a velocity v by an outer column is the cross product of
that column's axis with v. The angles of one joint are nested likewise; the rotation vector of a ball joint is
symmetric in its axes. The swing of a cone is a rotation vector as well, which changes along and across: the axis across
depends on both (the derivative of the left Jacobian), and where the swing is on the edge of its cone a change across it
follows that edge.
"""

from __future__ import annotations

import numpy as np

from ..arrays import Columns, Numbers, einsum
from .algebra import IDENTITY, compose, cross, dot, matrices
from .coordinates import Cones
from .tree import States, Tree

_LONG, _FEW = 32, 32  # joints of a line, and poses, from which on and up to which it is carried by stretches
_SMALL = 1e-3  # [rad] swings for which series are more exact than the formulas
_ON_EDGE = 1e-9  # [rad] from the edge of a cone


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
        if tree.is_line and len(tree.joints) > _LONG and count <= _FEW:
            self.frames = _along(local, states.root, states.place)
        else:
            self.frames = self._by_tiers(local)
        self._tips: dict[int, Numbers] = {}
        self._rotations: dict[int, Numbers] = {}

    @classmethod
    def of(cls, tree: Tree, states: States) -> Geometry:
        """The geometry of states, to be read only: the one that was made before, if they have stayed as they were."""
        known: Geometry | None = states.geometry
        if known is None or known.tree is not tree or not known.states.alike(states):
            held, root = states.held.copy(), states.root.copy()
            known = cls(tree, States(states.angles.copy(), states.balls.copy(), held, root, states.place.copy()))
            states.geometry = known
        return known

    def _by_tiers(self, local: Numbers) -> Numbers:
        """Frames (n, 3, 4, F) of all joints from those (n, 3, 4, F) in the frames of their parents, tier by tier."""
        states, frames = self.states, np.empty_like(local)
        for joints, parents in self.tree.tiers:
            above, place = (states.root, states.place) if parents is None else _split(frames[parents])
            own, in_place = local[joints], not isinstance(joints, np.ndarray)
            out = frames[joints] if in_place else np.empty_like(own)
            einsum("...ijf,...jkf->...ikf", above, own, out=out)
            out[..., 3, :] += place
            if not in_place:
                frames[joints] = out
        return frames

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
            rest, turned = tip.matrix, self.frames[tip.joint][:, :3]
            self._rotations[number] = turned if rest is None else compose(turned, rest)
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


def _along(local: Numbers, root: Numbers, place: Numbers) -> Numbers:
    """The frames of the joints of a long line, by stretches: each from where it begins, then from where that is.

    That is twice the work of going from joint to joint, in as many steps as the root of their number.
    Source: Blelloch 1990, "Prefix Sums and Their Applications".
    """
    count, poses = len(local), local.shape[-1]
    size = int(np.ceil(np.sqrt(count)))
    stretches = -(-count // size)
    frames = np.empty((stretches, size, *local.shape[1:]))
    frames.reshape(-1, *local.shape[1:])[:count] = local
    frames.reshape(-1, *local.shape[1:])[count:] = local[-1]  # to fill the last one
    for before, now in zip(frames.swapaxes(0, 1), frames.swapaxes(0, 1)[1:], strict=False):
        now[:] = _carried(before, now)
    begin = np.empty((stretches, *local.shape[1:]))
    begin[0, :, :3], begin[0, :, 3] = root, place
    for number in range(1, stretches):
        begin[number] = _carried(begin[number - 1], frames[number - 1, -1])
    return _carried(begin[:, None], frames).reshape(-1, 3, 4, poses)[:count]


def _carried(above: Numbers, own: Numbers) -> Numbers:
    """Frames (..., 3, 4, F) in those above them (..., 3, 4, F)."""
    carried = compose(above[..., :3, :], own)
    carried[..., 3, :] += above[..., 3, :]
    return carried


def _split(frames: Numbers) -> tuple[Numbers, Numbers]:
    """Orientations and heads of frames (..., 3, 4, F)."""
    return frames[..., :3, :], frames[..., 3, :]


def nesting(tree: Tree) -> Numbers:
    """For each pair of columns (k, k) 1 where the first turns the second, 0 where it is turned, else a half."""
    rank = 8.0 * tree.joint_of
    for kind in tree.kinds:
        rank[kind.rows] += kind.ranks
    return 0.5 * (1.0 + np.sign(rank - rank[:, None]))


def curvature(
    tree: Tree, states: States, axes: Numbers, velocities: Numbers, levers: Numbers, along: Numbers, order: Numbers
) -> Numbers:
    """Second derivatives (F, k, k), along a vector (3, F), of the place of a chain's end.

    `axes` and `velocities` (k, 3, F) are those of all columns, `levers` (n, 3, F) lead from the joints to the end, and
    `order` (k, k) is nesting().
    """
    first = np.ascontiguousarray(cross(along[None], axes).transpose(2, 0, 1))
    curved: Numbers = first @ velocities.transpose(2, 1, 0)
    curved *= order
    curved += curved.swapaxes(1, 2).copy()
    if tree.cones:
        _add_cones(tree.cones, states, axes, levers, along, curved)
    return curved


def _add_cones(cones: Cones, states: States, axes: Numbers, levers: Numbers, along: Numbers, curved: Numbers) -> None:
    """Add what the axes of swings change by."""
    rows = np.arange(cones.rows.start, cones.rows.stop, 3)
    swing = np.hypot(states.angles[rows], states.angles[rows + 1])
    small = swing < _SMALL
    size = np.where(small, 1.0, swing)
    sine, cosine = np.sin(size), np.cos(size)
    s, r = np.where(small, 1.0, sine / size), np.where(small, 0.5 * swing, (1.0 - cosine) / size)
    s_by = np.where(small, -swing / 3.0, (size * cosine - sine) / size**2)
    r_by = np.where(small, 0.5, (size * sine - 1.0 + cosine) / size**2)
    torques = cross(levers[list(cones.joints)], along[None])
    bent = np.where(small, swing / 6.0, (size - sine) / size**2)
    edge = (swing >= cones.opening - _ON_EDGE) & ~small
    curved[:, rows + 1, rows + 1] += (dot(axes[rows], torques) * (bent - np.where(edge, 1.0 / size, 0.0))).T
    across, third = axes[rows + 1], cross(axes[rows], axes[rows + 1])
    change = (s_by * s + r_by * r)[:, None] * across + (r_by * s - s_by * r)[:, None] * third
    mixed = (dot(change, torques) / (s**2 + r**2)).T
    curved[:, rows, rows + 1] += mixed
    curved[:, rows + 1, rows] += mixed

# SPDX-License-Identifier: GPL-3.0-or-later
"""A chain of joints with limits at a single frame, in plain numbers: a drag moves it many times a second.

The steps are those of chains.spread() for one frame, which is its oracle in the tests: coordinates of the joints are
bounded by their ranges, and those that leave them the farthest are fixed there, as in batch.change. Cones, whose edge
bounds two coordinates at once, are left to the arrays.
"""

from __future__ import annotations

from math import cos, inf, isinf, sin, tau

from mathutils import Matrix, Quaternion, Vector

from ...goals import Goal
from ...kinematics import EulerLimits, Framed, Free, Freedom, Hinge, Locked, Pose, unframed
from ...kinematics.batch.coordinates import bounded
from ...kinematics.rotation import AXES, PARITY, about, from_euler, rotation_between, rotation_vector
from ..batch.change import PASSES
from ..batch.descent import PLAIN
from .chains import BEND, BENT, EXTENDED, USUAL_SPREAD
from .dragged_chain import DraggedChain, solve_three, turned_further
from .posture import LARGEST_STEP, LESS, MOMENTUM, MORE, STILL

_WORST, _BEYOND = 0.5, 1e-12  # share of the largest excess from which on a column is fixed; rounding of a bound
_FULL = tau * (1.0 - 1e-6)  # [rad] a range that is no limit
_UNITS = tuple(Vector([float(i == j) for j in range(3)]).freeze() for i in range(3))


def is_limit_kept(freedom: Freedom) -> bool:
    """Tell whether these limits are kept here."""
    return isinstance(unframed(bounded(freedom)), Free | Hinge | EulerLimits | Locked)


class _Joint:
    """A joint, with its coordinates and their bounds [rad]; one without limits has none, but a rotation."""

    def __init__(self, freedom: Freedom, rotation: Quaternion) -> None:
        freedom = bounded(freedom)
        own = unframed(freedom)
        self.kind = own
        self._frame = freedom.frame if isinstance(freedom, Framed) else None
        self._axes = freedom.frame.to_matrix() if isinstance(freedom, Framed) else None
        self.is_ball, self.values, self.lower, self.upper = isinstance(own, Free), list[float](), [], []
        ends: list[tuple[float, float]] = []
        self._all = [0.0, 0.0, 0.0]
        if isinstance(own, Hinge) and own.moves:
            ends = [(own.lower, own.upper)]
        elif isinstance(own, EulerLimits):
            ends = [(own.lower[axis], own.upper[axis]) for axis in own.axes]
            self._order, self._sign, self._all = AXES[own.order], PARITY[own.order], list(own.lower)
        for low, high in ends:
            wide = high - low >= _FULL
            self.lower.append(-inf if wide else low)
            self.upper.append(inf if wide else high)
        self.rotation = rotation
        self.turn_to(rotation)
        self.back, self.begun = self.rotation.conjugated(), list(self.values)

    @property
    def columns(self) -> int:
        """Number of directions in which the joint can turn."""
        return 3 if self.is_ball else len(self.values)

    def turn_to(self, rotation: Quaternion) -> None:
        """Take the allowed rotation nearest to one from rest."""
        own, inner = self.kind, self._frame.conjugated() @ rotation @ self._frame if self._frame else rotation
        if isinstance(own, Hinge):
            if self.values or self.lower:
                self.values = [own.coordinates(own.nearest(inner))[0].value]
                self._set()
        elif isinstance(own, EulerLimits):
            angles = own.angles(own.nearest(inner))
            self.values = [angles[axis] for axis in own.axes]
            self._set()
        elif self.is_ball:
            self.rotation = rotation

    def _set(self) -> None:
        own = self.kind
        if isinstance(own, Hinge):
            turned = about(own.axis, self.values[0])
        else:
            for axis, value in zip(own.axes, self.values, strict=True):
                self._all[axis] = value
            turned = from_euler(self._all, own.order)
        self.rotation = self._frame @ turned @ self._frame.conjugated() if self._frame else turned

    def axes(self, socket: Matrix, frame: Matrix) -> list[Vector]:
        """Axes of the columns, armature space, in the frames before and after the joint's own rotation."""
        if self.is_ball:
            return list(_UNITS)
        if not self.values:
            return []
        own = self.kind
        if isinstance(own, Hinge):
            return [frame @ (self._axes @ own.axis if self._axes else own.axis)]
        i, j, k = self._order
        if self._axes:
            socket, frame = socket @ self._axes, frame @ self._axes
        angle = self._all[i]
        found = [frame.col[i], frame.col[j] * cos(angle) - frame.col[k] * (self._sign * sin(angle)), socket.col[k]]
        places = {i: 0, j: 1, k: 2}
        return [found[places[axis]] for axis in own.axes]

    def offsets(self, frame: Matrix) -> list[float]:
        """Turn off the reference along each column."""
        if self.is_ball:
            return [*(frame @ rotation_vector(self.back @ self.rotation))[:]]
        changes = zip(self.values, self.begun, self.lower, self.upper, strict=True)
        return [v - b - (tau * round((v - b) / tau) if isinf(high - low) else 0.0) for v, b, low, high in changes]

    def moved(self, change: list[float], frame: Matrix) -> None:
        """Change the columns, as far as their bounds allow."""
        if self.is_ball:
            local = Vector(change) @ frame
            self.rotation = turned_further(self.rotation, local)
        elif change:
            every = zip(self.values, change, self.lower, self.upper, strict=True)
            self.values = [min(max(value + own, low), high) for value, own, low, high in every]
            self._set()


class LimitedChain(DraggedChain):
    """The chain on its way to the goal."""

    def __init__(self, pose: Pose, goal: Goal) -> None:
        super().__init__(pose, goal)
        pairs = zip(pose.chain.joints, pose.rotations, strict=True)
        self._joints = [_Joint(joint.freedom, rotation) for joint, rotation in pairs]
        self._first = next(i for i, joint in enumerate(self._joints) if joint.columns)
        self._nothing = [0.0] * sum(joint.columns for joint in self._joints)
        self._place()

    @property
    def rotations(self) -> list[Quaternion]:
        """Rotations of all joints from rest."""
        return [joint.rotation for joint in self._joints]

    def _place(self) -> None:
        """Find where the joints are."""
        chain, head, socket = self._chain, self._head, self._root
        heads, self._frames, self._sockets = [], [], []
        for joint, offset, rest in zip(self._joints, chain.offsets, (*chain.rests[1:], None), strict=True):
            heads.append(head)
            self._sockets.append(socket)
            frame = socket @ joint.rotation.to_matrix()
            self._frames.append(frame)
            head = head + frame @ offset
            socket = frame @ rest if rest is not None else frame
        self._levers = [head - each for each in heads]
        self._error = self._target - head

    def turn_whole(self) -> None:
        """Turn the chain so that its tip lies towards the target, in an arc: see chains.turned_whole()."""
        joints, first = self._joints, self._first
        line = self._target - self._head if not first else self._error + self._levers[first]
        span = self._levers[first]
        levers = [
            max(lever.dot(span), 0.0) if j.columns else 0.0 for j, lever in zip(joints, self._levers, strict=True)
        ]
        squares = sum(lever * lever for lever in levers)
        turn = rotation_vector(rotation_between(span, line)) * (levers[first] / squares if squares else 0.0)
        bend = BEND * min(max((span.length / self._size - BENT) / (EXTENDED - BENT), 0.0), 1.0)
        axes, changes = self._axes(), []
        for own, lever, frame, joint in zip(axes, levers, self._frames, self._chain.joints, strict=True):
            turned = turn * lever
            if bend:
                turned = turned + frame @ joint.freedom.bend_axis * bend
            changes.append([axis.dot(turned) for axis in own])
        self._step(changes)
        into, root = self._frames[first].to_quaternion(), joints[first]
        rest = rotation_between(self._levers[first], line)
        root.turn_to((root.rotation @ (into.conjugated() @ rest @ into)).normalized())
        self._place()

    def _axes(self) -> list[list[Vector]]:
        every = zip(self._joints, self._sockets, self._frames, strict=True)
        return [joint.axes(socket, frame) for joint, socket, frame in every]

    def relax(self) -> None:
        """Approach the reference in what the target leaves free: see posture.Relaxation."""
        gain, last = 1.0, self._nothing
        for _ in range(USUAL_SPREAD.coarse):
            offsets = [off for j, frame in zip(self._joints, self._frames, strict=True) for off in j.offsets(frame)]
            wish = [-gain * off + MOMENTUM * before for off, before in zip(offsets, last, strict=True)]
            change = self._change(wish, inf)
            most = max(max(change), -min(change))
            if most > LARGEST_STEP:
                change = [own * (LARGEST_STEP / most) for own in change]
            back = sum(own * before for own, before in zip(change, last, strict=True)) < 0.0
            gain, last = LESS * gain if back else min(MORE * gain, 1.0), change
            self._step(self._by_joint(change))
            if most <= STILL:
                return

    def _approach(self) -> None:
        self._step(self._by_joint(self._change(self._nothing, PLAIN.largest)))

    def _by_joint(self, change: list[float]) -> list[list[float]]:
        begin, parts = 0, []
        for joint in self._joints:
            parts.append(change[begin : begin + joint.columns])
            begin += joint.columns
        return parts

    def _step(self, changes: list[list[float]]) -> None:
        for joint, change, frame in zip(self._joints, changes, self._frames, strict=True):
            joint.moved(change, frame)
        self._place()

    def _change(self, wish: list[float], largest: float) -> list[float]:
        """Change of all columns that brings the tip to the target by damped least squares off the wish, in bounds."""
        velocities = list[tuple[float, float, float]]()
        low, high = list[float](), list[float]()
        for joint, axes, lever in zip(self._joints, self._axes(), self._levers, strict=True):
            velocities += [axis.cross(lever)[:] for axis in axes]
            if joint.is_ball:
                low, high = [*low, -largest, -largest, -largest], [*high, largest, largest, largest]
            else:
                low += [max(end - value, -largest) for end, value in zip(joint.lower, joint.values, strict=True)]
                high += [min(end - value, largest) for end, value in zip(joint.upper, joint.values, strict=True)]
        free, aim, damping = [True] * len(wish), list(wish), 0.0
        for number in range(PASSES):
            x, y, z = self._error
            xx = xy = xz = yy = yz = zz = 0.0
            for (p, q, r), own, moves in zip(velocities, aim, free, strict=True):
                if own:
                    x, y, z = x - p * own, y - q * own, z - r * own
                if moves:
                    xx, yy, zz = xx + p * p, yy + q * q, zz + r * r
                    xy, xz, yz = xy + p * q, xz + p * r, yz + q * r
            if not number:
                damping = self._damping(xx + yy + zz)
            a, b, c = solve_three(xx + damping, xy, xz, yy + damping, yz, zz + damping, x, y, z)
            every = zip(velocities, aim, free, strict=True)
            step = [own + (p * a + q * b + r * c if moves else 0.0) for (p, q, r), own, moves in every]
            inside = [min(max(own, least), most) for own, least, most in zip(step, low, high, strict=True)]
            excess = [abs(own - kept) for own, kept in zip(step, inside, strict=True)]
            most = max(excess)
            if most <= _BEYOND:
                break
            fine = max(_WORST * most, _BEYOND)
            free = [moves and off <= fine for moves, off in zip(free, excess, strict=True)]
            aim = [own if moves else kept for own, kept, moves in zip(wish, inside, free, strict=True)]
        return inside

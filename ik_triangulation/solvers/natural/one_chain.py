# SPDX-License-Identifier: GPL-3.0-or-later
"""A chain at a single frame, in plain numbers, its joints free or with limits: a drag moves it many times a second.

The steps are those of chains.spread() for one frame, which is its oracle in the tests. With limits, coordinates of the
joints are bounded by their ranges, and those that leave them the farthest are fixed there, as in batch.change. Cones,
whose edge bounds two coordinates at once, are left to the arrays.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from math import cos, inf, isinf, sin, sqrt, tau

from mathutils import Matrix, Quaternion, Vector

from ...goals import Goal, Point
from ...kinematics import EulerLimits, Framed, Free, Freedom, Hinge, Locked, Pose, unframed
from ...kinematics.batch.coordinates import bounded
from ...kinematics.rotation import AXES, PARITY, about, from_euler, rotation_between, rotation_vector
from ..batch.change import PASSES
from ..batch.descent import PLAIN, PRECISE
from ..batch.restarts import is_batched
from ..solver import LimbForm
from .chains import BEND, BENT, EXTENDED, USUAL_SPREAD
from .giving_way import EDGE_OF_REACH
from .posture import DAMPING, LARGEST_STEP, LESS, MOMENTUM, MORE, STILL

_SINGLE = 1e-6  # of the reach: the most that single precision allows
_CLOSEST = 3e-6  # of the reach: what is not nearer by another step
_LEAST_DAMPING = 1e-12  # of the square of the reach: keeps a system solvable

_WORST, _BEYOND = 0.5, 1e-12  # share of the largest excess from which on a column is fixed; rounding of a bound
_FULL = tau * (1.0 - 1e-6)  # [rad] a range that is no limit
_UNITS = tuple(Vector([float(i == j) for j in range(3)]).freeze() for i in range(3))

_BONES = 2  # of a limb, which has a form of its own


class DraggedChain(ABC):
    """A chain on its way to the goal, whatever its joints."""

    def __init__(self, pose: Pose, goal: Goal) -> None:
        self._chain, self._size = pose.chain, pose.chain.reach
        self._head, self._root = pose.head(0).copy(), pose.socket(0).copy()
        self._target = goal.target.closest(pose.tip)
        self._near = max(PRECISE * goal.tolerance, _SINGLE * self._size)
        self._error = Vector()  # from the tip to the target

    def is_made_exact(self) -> bool:
        """Bring the tip to the target: see batch.descent."""
        before = inf
        for _ in range(PLAIN.iterations):
            off = self._error.length
            if off <= self._near:
                return True
            if off >= before:
                return off <= _CLOSEST * self._size
            before = off
            self._approach()
        return False

    @abstractmethod
    def _approach(self) -> None:
        """Turn the joints by a step that brings the tip nearer to the target."""

    def _damping(self, trace: float) -> float:
        """Return the damping of a system with this trace."""
        share = DAMPING * min(1.0, self._error.length / self._size)
        return share * trace + _LEAST_DAMPING * self._size * self._size


def turned_further(rotation: Quaternion, local: Vector) -> Quaternion:
    """Return a rotation turned further by a rotation vector of its own frame, as algebra.stepped() does."""
    return (rotation @ Quaternion((1.0 - local.length_squared / 16.0, *(0.5 * local)))).normalized()


def solve_three(
    xx: float, xy: float, xz: float, yy: float, yz: float, zz: float, x: float, y: float, z: float
) -> tuple[float, float, float]:
    """Solve a symmetric, positive definite system of three by Cholesky's factors."""
    a = sqrt(xx)
    b, c = xy / a, xz / a
    d = sqrt(max(yy - b * b, 1e-300))
    e = (yz - b * c) / d
    f = sqrt(max(zz - c * c - e * e, 1e-300))
    x /= a
    y = (y - b * x) / d
    z = (z - c * x - e * y) / f / f
    y = (y - e * z) / d
    return (x - b * y - c * z) / a, y, z


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
    """A chain of joints with limits on its way to the goal."""

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


def suits_chain(pose: Pose, goal: Goal, form: LimbForm) -> bool:
    """Tell whether no joint is stiff or has a cone, and the goal is a point within the reach alone."""
    chain = pose.chain
    if not isinstance(goal.target, Point) or goal.soft or len(pose) <= _BONES + form.has_end or not is_batched(pose):
        return False
    if any(joint.stiffness or not is_limit_kept(joint.freedom) for joint in chain.joints):
        return False
    if not any(joint.freedom.moves for joint in chain.joints):
        return False
    return (goal.target.location - pose.head(0)).length <= (1.0 - EDGE_OF_REACH) * chain.reach


def pose_chain(pose: Pose, goal: Goal) -> bool:
    """Rotate the joints, whose pose is the reference, to the goal; returns False, with the pose as it was, if missed.

    Pose and goal have to suit.
    """
    if (goal.target.closest(pose.tip) - pose.tip).length <= goal.tolerance:
        return True
    is_free = all(type(joint.freedom) is Free for joint in pose.chain.joints)
    chain = _FreeChain(pose, goal) if is_free else LimitedChain(pose, goal)
    chain.turn_whole()
    chain.relax()
    if not chain.is_made_exact():
        return False
    for i, (joint, found) in enumerate(zip(pose.chain.joints, chain.rotations, strict=True)):
        rotation = found if is_free else joint.freedom.nearest(found)
        if rotation != pose.rotations[i]:
            pose.put(i, rotation)
    return True


class _FreeChain(DraggedChain):
    """A chain of free joints on its way to the goal, with the orientation and the lever to the tip of each."""

    def __init__(self, pose: Pose, goal: Goal) -> None:
        super().__init__(pose, goal)
        self._back = [rotation.conjugated() for rotation in pose.rotations]
        self._place(list(pose.rotations))

    def _place(self, rotations: list[Quaternion]) -> None:
        """Set all rotations from rest."""
        chain, head, socket = self._chain, self._head, self._root
        heads, frames = [], []
        for rotation, offset, rest in zip(rotations, chain.offsets, (*chain.rests[1:], None), strict=True):
            heads.append(head)
            frame = socket @ rotation.to_matrix()
            frames.append(frame)
            head = head + frame @ offset
            socket = frame @ rest if rest is not None else frame
        self.rotations, self._frames, self._levers = rotations, frames, [head - each for each in heads]
        self._error = self._target - head

    def turn_whole(self) -> None:
        """Turn the chain so that its tip lies towards the target, in an arc: see chains.turned_whole()."""
        span, line = self._levers[0], self._target - self._head
        levers = [max(lever.dot(span), 0.0) for lever in self._levers]
        squares = sum(lever * lever for lever in levers)
        turn = rotation_vector(rotation_between(span, line)) * (levers[0] / squares if squares else 0.0)
        bend = BEND * min(max((span.length / self._size - BENT) / (EXTENDED - BENT), 0.0), 1.0)
        turns = [turn * lever for lever in levers]
        if bend:
            axes = (joint.freedom.bend_axis for joint in self._chain.joints)
            bent = [frame @ axis * bend for frame, axis in zip(self._frames, axes, strict=True)]
            turns = [own + more for own, more in zip(turns, bent, strict=True)]
        self._step(turns)
        into, (first, *others) = self._frames[0].to_quaternion(), self.rotations
        rest = rotation_between(self._levers[0], line)
        self._place([(first @ (into.conjugated() @ rest @ into)).normalized(), *others])

    def relax(self) -> None:
        """Approach the reference in what the target leaves free: see posture.Relaxation."""
        gain, last = 1.0, [Vector() for _ in self._back]
        for _ in range(USUAL_SPREAD.coarse):
            every = zip(self._back, self.rotations, self._frames, last, strict=True)
            change = self._change(
                [
                    frame @ (rotation_vector(back @ now) * -gain) + before * MOMENTUM
                    for back, now, frame, before in every
                ]
            )
            most = max(abs(part) for turn in change for part in turn)
            if most > LARGEST_STEP:
                change = [turn * (LARGEST_STEP / most) for turn in change]
            back = sum(turn.dot(before) for turn, before in zip(change, last, strict=True)) < 0.0
            gain, last = LESS * gain if back else min(MORE * gain, 1.0), change
            self._step(change)
            if most <= STILL:
                return

    def _approach(self) -> None:
        turns = self._change([Vector() for _ in self._back])
        self._step([turn * min(1.0, PLAIN.largest / max(turn.length, 1e-12)) for turn in turns])

    def _change(self, wish: list[Vector]) -> list[Vector]:
        """Turns [rad, armature space] that bring the tip to the target, by damped least squares off those wished."""
        levers = self._levers
        x, y, z = self._error
        xx = xy = xz = yy = yz = zz = 0.0
        for (p, q, r), (a, b, c) in zip(levers, wish, strict=True):
            x, y, z = x - (b * r - c * q), y - (c * p - a * r), z - (a * q - b * p)
            pp, qq, rr = p * p, q * q, r * r
            xx, yy, zz = xx + qq + rr, yy + pp + rr, zz + pp + qq
            xy, xz, yz = xy - p * q, xz - p * r, yz - q * r
        damping = self._damping(xx + yy + zz)
        along = Vector(solve_three(xx + damping, xy, xz, yy + damping, yz, zz + damping, x, y, z))
        return [own + lever.cross(along) for own, lever in zip(wish, levers, strict=True)]

    def _step(self, turns: list[Vector]) -> None:
        """Turn the joints further by rotation vectors of armature space."""
        rotations = []
        for turn, frame, rotation in zip(turns, self._frames, self.rotations, strict=True):
            rotations.append(turned_further(rotation, turn @ frame))
        self._place(rotations)

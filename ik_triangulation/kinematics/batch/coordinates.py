# SPDX-License-Identifier: GPL-3.0-or-later
"""Coordinates of joints with limits, for many poses at once: a class for each kind, all with the same interface.

Each class holds all joints of its kind in a tree: `joints` (their indices), `rows` (those of their angles), the bounds
`lower` and `upper` of these (r, 1) [rad], and their `ranks` (r): of the angles of a joint the ones of lower rank turn
the axes of the others. Its methods take the angles of these rows, (r, F). Each is made with the rotations at rest
(j, 3, 3, 1), which turn() puts before the joints' own.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import Protocol

import numpy as np
from mathutils import Quaternion

from ..arrays import Indices, Numbers, einsum
from ..cone import Cone
from ..framed import Framed, framed, unframed
from ..freedom import EulerLimits, Free, Freedom, Hinge
from ..rotation import AXES, PARITY
from .algebra import (
    IDENTITY,
    as_slice,
    clamped_to_range,
    compose,
    conjugated,
    euler_angles,
    euler_quaternions,
    matrices,
    normalized,
    other_angles,
    product,
    to_half_turns,
)

_ROUNDING = 1e-12  # [rad] beyond a range up to which an angle is inside it
_INSIDE = 1.0 - 1e-15  # of the opening of a cone: an edge that rounding does not push outside


class Coordinates(Protocol):
    """The interface of every kind."""

    joints: Sequence[int]
    rows: slice
    lower: Numbers
    upper: Numbers
    ranks: Indices

    def read(self, n: int, rotation: Quaternion) -> Sequence[float]:
        """Angles of the n-th of these joints at a rotation inside its limits."""

    def angles(self, rotations: Numbers) -> Numbers:
        """Angles (r, F) at rotations of these joints, unit quaternions (j, 4, F); those outside are moved inside."""

    def turn(self, angles: Numbers, rotations: Numbers) -> tuple[Numbers, ...]:
        """Write the rotations of these joints, after those at rest, into `rotations` (n, 3, 3, F) of all.

        Returns what axes() needs.
        """

    def axes(self, frames: Numbers, turned: tuple[Numbers, ...]) -> Numbers:
        """Axes (r, 3, F) about which the coordinates rotate, from the joints' frames (n, 3, 4, F)."""

    def quaternions(self, angles: Numbers) -> Numbers:
        """Rotations of these joints, unit quaternions (j, 4, F)."""


def bounded(freedom: Freedom) -> Freedom:
    """The same freedom in its simplest form: Euler limits of which one angle moves from rest are a hinge."""
    own = unframed(freedom)
    if isinstance(own, EulerLimits) and len(own.axes) == 1:
        (axis,) = own.axes
        if not any(own.lower[other] for other in range(3) if other != axis):
            hinge = Hinge([float(axis == other) for other in range(3)], own.lower[axis], own.upper[axis])
            return framed(hinge, freedom.frame) if isinstance(freedom, Framed) else hinge
    return freedom


class Frames:
    """The axes of limits in those of the joints (j): rotations go into them and come out of them.

    With `orders` of Euler angles (j) these axes are sorted as the angles are, all of which are of the order XYZ there.
    Sorted axes that are left-handed are a mirror, in which angles change their signs.
    """

    def __init__(self, freedoms: Sequence[Freedom], orders: Sequence[str] = ()) -> None:
        one = Quaternion()
        turns = [freedom.frame if isinstance(freedom, Framed) else one for freedom in freedoms]
        self._turns = normalized(np.array([turn[:] for turn in turns], float)[:, :, None])
        self._axes = matrices(self._turns)
        # What turns a quaternion into other axes, as a table (j, 4, 4) of its components.
        self._out = product(product(self._turns, np.eye(4)), conjugated(self._turns))
        for axes, out, order in zip(self._axes, self._out, orders, strict=False):
            axes[:] = axes[:, list(AXES[order])]
            out[:, 1:] = PARITY[order] * out[:, [1 + axis for axis in AXES[order]]]

    @classmethod
    def of(cls, freedoms: Sequence[Freedom], orders: Sequence[str] = ()) -> Frames | None:
        """Return the frames of joints; None if all have their limits in their own axes, and angles of one order."""
        orders = orders if len(set(orders)) > 1 else ()
        return cls(freedoms, orders) if orders or any(isinstance(freedom, Framed) for freedom in freedoms) else None

    def into(self, rotations: Numbers) -> Numbers:
        """Rotations (j, 4, F) of the joints in the axes of their limits."""
        turned: Numbers = self._out.swapaxes(1, 2) @ rotations
        return turned

    def out_of(self, rotations: Numbers) -> Numbers:
        """Rotations (j, 4, F) in the axes of limits as those of the joints."""
        turned: Numbers = self._out @ rotations
        return turned

    def of_one(self, n: int, rotation: Quaternion) -> Quaternion:
        """The rotation of the n-th joint in the axes of its limits."""
        turn = Quaternion(self._turns[n, :, 0])
        return turn.conjugated() @ rotation @ turn

    def placed(self, rests: Numbers) -> Numbers:
        """Tables (j, 9, 9) that take the entries of a matrix in the axes of limits to one in those of the joints.

        With rotations at rest (j, 3, 3, 1) before them.
        """
        before = compose(rests, self._axes)[..., 0]
        tables: Numbers = einsum("nij,nkl->nikjl", before, self._axes[..., 0]).reshape(-1, 9, 9)
        return tables

    def axes(self, frames: Numbers) -> Numbers:
        """Axes of the limits (j, 3, 3, F) as the joints' frames (j, 3, 3, F) have turned them."""
        return compose(frames, self._axes)


def _placing(frames: Frames | None, rests: Numbers, count: int) -> Numbers | None:
    """Tables as Frames.placed() has them of joints; None where matrices stay as they are."""
    rests = np.broadcast_to(rests, (count, 3, 3, 1))
    if frames is None and (rests == IDENTITY).all():
        return None
    return (frames or Frames([Free()] * count)).placed(rests)


class Hinges:
    """Joints with one axis. Source of the matrices: Rodrigues' formula."""

    def __init__(self, joints: Sequence[int], freedoms: Sequence[Hinge], begin: int, rests: Numbers = IDENTITY) -> None:
        self.joints, self._freedoms = joints, freedoms
        self._at = as_slice(np.array(joints))
        self.rows, self.ranks = slice(begin, begin + len(joints)), np.zeros(len(joints), np.intp)
        self.lower, self.upper = opened(
            np.array([[freedom.lower] for freedom in freedoms]), np.array([[freedom.upper] for freedom in freedoms])
        )
        self._axes = np.array([freedom.axis[:] for freedom in freedoms])[:, :, None]
        self._axes /= np.sqrt((self._axes**2).sum(1, keepdims=True))
        x, y, z = self._axes[:, 0], self._axes[:, 1], self._axes[:, 2]
        zero = np.zeros_like(x)
        across = np.array([[zero, -z, y], [z, zero, -x], [-y, x, zero]]).transpose(2, 0, 1, 3)
        twice = compose(across, across)
        self._across, self._twice, self._along = (compose(rests, m) for m in (across, twice, IDENTITY + twice))

    def read(self, n: int, rotation: Quaternion) -> Sequence[float]:
        """Angle of a hinge."""
        freedom = self._freedoms[n]
        return [freedom.coordinates(freedom.nearest(rotation))[0].value] if freedom.moves else [freedom.lower]

    def angles(self, rotations: Numbers) -> Numbers:
        """Angles of the hinges, by the part of each rotation about its axis."""
        along = einsum("hif,hif->hf", np.broadcast_to(self._axes, rotations[:, 1:].shape), rotations[:, 1:])
        angles = to_half_turns(2.0 * np.arctan2(along, rotations[:, 0]))
        return clamped_to_range(angles, self.lower, self.upper)

    def turn(self, angles: Numbers, rotations: Numbers) -> tuple[Numbers, ...]:
        """Write the rotations of these joints."""
        turned = np.sin(angles)[:, None, None] * self._across
        turned -= np.cos(angles)[:, None, None] * self._twice
        np.add(turned, self._along, out=turned)
        rotations[self._at] = turned
        return ()

    def axes(self, frames: Numbers, turned: tuple[Numbers, ...]) -> Numbers:
        """Axes of the hinges, which their own rotation leaves where they are."""
        frame, axis = frames[self._at], self._axes
        along: Numbers = frame[:, :, 0] * axis[:, 0, None]
        along += frame[:, :, 1] * axis[:, 1, None]
        along += frame[:, :, 2] * axis[:, 2, None]
        return along

    def quaternions(self, angles: Numbers) -> Numbers:
        """Rotations of these joints."""
        sine, cosine = np.sin(0.5 * angles)[:, None], np.cos(0.5 * angles)[:, None]
        return np.concatenate((cosine, self._axes * sine), 1)


class EulerAngles:
    """Joints with a range for each Euler angle; angles whose range is a single value do not move.

    As in kinematics.rotation, an odd order is an even one seen in a mirror, in which every sine changes its sign. Of
    joints with several orders the `frames` sort the axes as the angles, so that the rest of the work is that of one.
    """

    def __init__(
        self,
        joints: Sequence[int],
        freedoms: Sequence[EulerLimits],
        begin: int,
        rests: Numbers = IDENTITY,
        frames: Frames | None = None,
    ) -> None:
        self.joints, self._freedoms, self._frames = joints, freedoms, frames
        self._at, self._placing = as_slice(np.array(joints)), _placing(frames, rests, len(joints))
        orders = [freedom.order for freedom in freedoms]
        self._is_sorted = len(set(orders)) > 1
        self._name = "XYZ" if self._is_sorted else orders[0]  # of the order of all
        self._order, self._sign = AXES[self._name], PARITY[self._name]
        self._sort = np.array([3 * n + axis for n, order in enumerate(orders) for axis in AXES[order]], np.intp)
        self._unsort, self._signs = np.argsort(self._sort), np.repeat([PARITY[order] for order in orders], 3)[:, None]
        self._moving = np.array([3 * n + axis for n, freedom in enumerate(freedoms) for axis in freedom.axes], np.intp)
        self.rows = slice(begin, begin + len(self._moving))
        self.ranks = 2 - (self._unsort % 3)[self._moving]
        lower = np.array([freedom.lower for freedom in freedoms]).reshape(-1, 1)
        upper = np.array([freedom.upper for freedom in freedoms]).reshape(-1, 1)
        self.lower, self.upper = opened(lower[self._moving], upper[self._moving])
        self._fixed = np.where(lower == upper, lower, 0.0)
        self._ends = self._fixed.copy(), self._fixed.copy()
        for ends, own in zip(self._ends, (self.lower, self.upper), strict=True):
            ends[self._moving] = own

    def read(self, n: int, rotation: Quaternion) -> Sequence[float]:
        """Euler angles that move, of a joint."""
        freedom = self._freedoms[n]
        if self._frames:
            rotation = self._frames.of_one(n, rotation)
        angles = freedom.angles(freedom.nearest(rotation))
        return [angles[axis] for axis in freedom.axes]

    def angles(self, rotations: Numbers) -> Numbers:
        """Euler angles that move; of the two triples of a rotation the one that is nearer to the range."""
        if self._frames:
            rotations = self._frames.into(rotations)
        order, joints, poses = self._name, len(self.joints), rotations.shape[-1]
        first = euler_angles(rotations.swapaxes(0, 1).reshape(4, -1), order).reshape(3, joints, poses)
        moved, beyond = self._fitted(first)
        doubtful = (beyond > _ROUNDING).any(0).nonzero()[0]
        if len(doubtful):
            some = first[..., doubtful]
            other, farther = self._fitted(other_angles(some.reshape(3, -1), order).reshape(some.shape))
            nearer = np.repeat(beyond[:, doubtful] <= farther, 3, axis=0)
            moved[:, doubtful] = np.where(nearer, moved[:, doubtful], other)
        return moved[self._moving]

    def _fitted(self, angles: Numbers) -> tuple[Numbers, Numbers]:
        """All angles (3, j, F) moved inside their ranges (3 j, F), and how far those of each joint were (j, F)."""
        angles = angles.swapaxes(0, 1).reshape(-1, angles.shape[-1])
        if self._is_sorted:
            angles = (self._signs * angles)[self._unsort]
        moved = clamped_to_range(angles, *self._ends)
        if moved is angles:  # all are inside
            return moved, np.zeros((len(self.joints), angles.shape[-1]))
        return moved, np.abs(to_half_turns(moved - angles)).reshape(-1, 3, angles.shape[-1]).sum(1)

    def turn(self, angles: Numbers, rotations: Numbers) -> tuple[Numbers, ...]:
        """Write the rotations of these joints; returns sines and cosines (n, 3, F), and the axes of the last angles."""
        i, j, k = self._order
        count, every, poses = len(self.joints), self._all(angles), angles.shape[-1]
        sine, cosine = np.sin(every).reshape(count, 3, poses), np.cos(every).reshape(count, 3, poses)
        if self._sign < 0.0:
            sine *= -1.0
        si, sj, sk, ci, cj, ck = sine[:, i], sine[:, j], sine[:, k], cosine[:, i], cosine[:, j], cosine[:, k]
        in_place = isinstance(self._at, slice) and self._placing is None
        turned = rotations[self._at] if in_place else np.empty((count, 3, 3, poses))
        both, mixed = sj * si, sj * ci
        turned[:, i, i], turned[:, i, j], turned[:, i, k] = ck * cj, ck * both - sk * ci, ck * mixed + sk * si
        turned[:, j, i], turned[:, j, j], turned[:, j, k] = sk * cj, sk * both + ck * ci, sk * mixed - ck * si
        turned[:, k, i], turned[:, k, j], turned[:, k, k] = -sj, cj * si, cj * ci
        last = turned[:, k].copy()  # the axis of the last angle, which it leaves where it is, after the rotation
        if not in_place:
            rotations[self._at] = turned if self._placing is None else _placed(self._placing, turned)
        return sine, cosine, last

    def axes(self, frames: Numbers, turned: tuple[Numbers, ...]) -> Numbers:
        """Axes of the angles that move: the first one turns with the joint, the last one stays."""
        i, j, k = self._order
        sine, cosine, last = turned
        frame = frames[self._at]
        if self._frames:
            frame = self._frames.axes(frame[:, :, :3])
        axes = np.empty((len(self.joints), 3, 3, frames.shape[-1]))
        axes[:, i] = frame[:, :, i]
        np.multiply(cosine[:, i, None], frame[:, :, j], out=axes[:, j])
        axes[:, j] -= sine[:, i, None] * frame[:, :, k]
        np.multiply(frame[:, :, 0], last[:, 0, None], out=axes[:, k])
        axes[:, k] += frame[:, :, 1] * last[:, 1, None]
        axes[:, k] += frame[:, :, 2] * last[:, 2, None]
        flat = axes.reshape(3 * len(self.joints), 3, -1)
        if self._is_sorted:
            return flat[self._unsort[self._moving]]
        return flat if len(self._moving) == len(flat) else flat[self._moving]

    def quaternions(self, angles: Numbers) -> Numbers:
        """Rotations of these joints."""
        found = euler_quaternions(self._all(angles).reshape(len(self.joints), 3, -1), self._name)
        return self._frames.out_of(found) if self._frames else found

    def _all(self, angles: Numbers) -> Numbers:
        """All three angles of each joint (3 j, F), with those that do not move, of the order of all."""
        every = angles
        if len(self._moving) < len(self._fixed):
            every = np.empty((len(self._fixed), angles.shape[-1]))
            every[:] = self._fixed
            every[self._moving] = angles
        return self._signs * every[self._sort] if self._is_sorted else every


def opened(lower: Numbers, upper: Numbers) -> tuple[Numbers, Numbers]:
    """Ranges of which those of a full turn or more have no ends: every rotation is inside them, and so no bound is met.

    An angle at one end of them has the rotation of another angle inside, from which it could go on.
    """
    full = upper - lower >= 2.0 * np.pi * (1.0 - 1e-6)
    return np.where(full, -inf, lower), np.where(full, inf, upper)


def finite_range(lower: Numbers, upper: Numbers) -> tuple[Numbers, Numbers]:
    """Ranges of at most a full turn that contain the same directions, as kinematics.freedom.finite() gives them."""
    low = np.where(lower == -inf, np.where(upper == inf, -np.pi, upper - 2.0 * np.pi), lower)
    return low, np.minimum(upper, low + 2.0 * np.pi)


class Cones:
    """Joints that swing inside a cone and twist: a rotation is a twist about Y, then a swing about an axis (x, z).

    The angles of a joint are its swing vector, whose length stays below the opening, and its twist. A change is given
    as one along the swing vector, one across it, and one of the twist, so that the edge of the cone bounds the first
    alone. With t the length of the swing vector, a change across it by 1 rotates by sin(t)/t about the direction across
    and by (1 - cos(t))/t about the bone: the right Jacobian of rotation vectors.
    """

    def __init__(
        self,
        joints: Sequence[int],
        freedoms: Sequence[Cone],
        begin: int,
        rests: Numbers = IDENTITY,
        frames: Frames | None = None,
    ) -> None:
        count, self._frames = len(joints), frames
        self.joints, self._freedoms = joints, freedoms
        self._at, self._placing = as_slice(np.array(joints)), _placing(frames, rests, count)
        self.rows, self.ranks = slice(begin, begin + 3 * count), np.tile((1, 0, 2), count)
        self.opening = np.array([[freedom.swing] for freedom in freedoms])
        twists = np.array([[[freedom.twist_lower], [freedom.twist_upper]] for freedom in freedoms])
        self.lower, self.upper = np.empty((3 * count, 1)), np.empty((3 * count, 1))
        for row in (0, 1):
            self.lower[row::3], self.upper[row::3] = -self.opening, self.opening
        self.lower[2::3], self.upper[2::3] = opened(twists[:, 0], twists[:, 1])

    def read(self, n: int, rotation: Quaternion) -> Sequence[float]:
        """Swing vector (x, z) and twist of a joint."""
        if self._frames:
            rotation = self._frames.of_one(n, rotation)
        swing, direction, twist = self._freedoms[n].parts(self._freedoms[n].nearest(rotation))
        return [swing * direction.x, swing * direction.z, twist]

    def angles(self, rotations: Numbers) -> Numbers:
        """Swing vectors (x, z) and twists; source: kinematics.cone."""
        if self._frames:
            rotations = self._frames.into(rotations)
        w, x, y, z = rotations.swapaxes(0, 1)
        half, swing = np.arctan2(y, w), 2.0 * np.arctan2(np.hypot(x, z), np.hypot(w, y))
        direction = np.arctan2(z, x) - half
        angles = np.empty((3 * len(w), w.shape[-1]))
        angles[0::3], angles[1::3] = swing * np.cos(direction), swing * np.sin(direction)
        angles[2::3] = clamped_to_range(2.0 * half, self.lower[2::3], self.upper[2::3])
        return self.inside(angles)

    def turn(self, angles: Numbers, rotations: Numbers) -> tuple[Numbers, ...]:
        """Write the rotations of these joints; returns length and unit direction (x, z) of the swing, and the twist."""
        x, z, twist = angles[0::3], angles[1::3], angles[2::3]
        swing, along_x, along_z = polar = _polar(x, z)
        turned = matrices(_swing_twist(*polar, twist))
        rotations[self._at] = turned if self._placing is None else _placed(self._placing, turned)
        return swing, along_x, along_z, twist

    def axes(self, frames: Numbers, turned: tuple[Numbers, ...]) -> Numbers:
        """Axes of the changes along the swing vector, across it, and of the twist."""
        swing, along_x, along_z, twist = turned
        frame = frames[self._at]
        if self._frames:
            frame = self._frames.axes(frame[:, :, :3])
        cosine, sine = np.cos(twist)[:, None], np.sin(twist)[:, None]
        x, z = along_x[:, None], along_z[:, None]
        # In the frame of the joint, which the twist has turned back: (x, z) -> (x cos - z sin, x sin + z cos).
        along = frame[:, :, 0] * (x * cosine - z * sine) + frame[:, :, 2] * (x * sine + z * cosine)
        across = frame[:, :, 0] * (-z * cosine - x * sine) + frame[:, :, 2] * (-z * sine + x * cosine)
        small = swing < 1e-6
        size = np.where(small, 1.0, swing)
        turning = np.where(small, 1.0, np.sin(size) / size)[:, None]
        rolling = np.where(small, 0.0, (1.0 - np.cos(size)) / size)[:, None]
        axes = np.empty((3 * len(self.joints), 3, frames.shape[-1]))
        axes[0::3] = along
        axes[1::3] = turning * across + rolling * frame[:, :, 1]
        axes[2::3] = frame[:, :, 1]
        return axes

    def quaternions(self, angles: Numbers) -> Numbers:
        """Rotations of these joints."""
        found = _swing_twist(*_polar(angles[0::3], angles[1::3]), angles[2::3])
        return self._frames.out_of(found) if self._frames else found

    def range_of(self, angles: Numbers, low: Numbers, high: Numbers, largest: Numbers | float) -> None:
        """Write how far the swing may change along and across its vector into rows of `low` and `high`."""
        swing, _, _ = _polar(angles[0::3], angles[1::3])
        low[0::3] = np.maximum(-self.opening - swing, -largest)
        high[0::3] = np.minimum(self.opening - swing, largest)
        low[1::3] = np.maximum(-2.0 * self.opening, -largest)
        high[1::3] = np.minimum(2.0 * self.opening, largest)

    def moved(self, angles: Numbers, change: Numbers) -> Numbers:
        """The angles after a change along, across and of the twist; a swing beyond the cone is put on its edge."""
        x, z = angles[0::3], angles[1::3]
        _, along_x, along_z = _polar(x, z)
        along, across = change[0::3], change[1::3]
        moved = np.empty_like(angles)
        moved[0::3] = x + along_x * along - along_z * across
        moved[1::3] = z + along_z * along + along_x * across
        moved[2::3] = np.clip(angles[2::3] + change[2::3], self.lower[2::3], self.upper[2::3])
        return self.inside(moved)

    def along_and_across(self, angles: Numbers, change: Numbers) -> Numbers:
        """A change of swing vectors (x, z) and twists as moved() takes it."""
        _, along_x, along_z = _polar(angles[0::3], angles[1::3])
        x, z = change[0::3], change[1::3]
        turned = change.copy()
        turned[0::3], turned[1::3] = along_x * x + along_z * z, along_x * z - along_z * x
        return turned

    def swings(self, angles: Numbers, change: Numbers) -> Numbers:
        """A change along and across swing vectors as one of these (x, z), which no other pose takes otherwise."""
        _, along_x, along_z = _polar(angles[0::3], angles[1::3])
        along, across = change[0::3], change[1::3]
        turned = change.copy()
        turned[0::3], turned[1::3] = along_x * along - along_z * across, along_z * along + along_x * across
        return turned

    def inside(self, angles: Numbers) -> Numbers:
        """The angles with every swing beyond its cone put on the edge, in place."""
        size = np.hypot(angles[0::3], angles[1::3])
        share = np.where(size > self.opening, _INSIDE * self.opening / np.maximum(size, 1e-300), 1.0)
        angles[0::3] *= share
        angles[1::3] *= share
        return angles


def _placed(tables: Numbers, matrices: Numbers) -> Numbers:
    """Matrices (j, 3, 3, F) as tables (j, 9, 9) of their entries take them."""
    placed: Numbers = (tables @ matrices.reshape(len(matrices), 9, -1)).reshape(matrices.shape)
    return placed


def _polar(x: Numbers, z: Numbers) -> tuple[Numbers, Numbers, Numbers]:
    """Length and unit direction of swing vectors; without a length the direction is X."""
    swing = np.hypot(x, z)
    small = swing < 1e-12
    size = np.where(small, 1.0, swing)
    return swing, np.where(small, 1.0, x / size), np.where(small, 0.0, z / size)


def _swing_twist(swing: Numbers, along_x: Numbers, along_z: Numbers, twist: Numbers) -> Numbers:
    """Unit quaternions (j, 4, F) of a twist about Y followed by a swing about the axis (x, z)."""
    cosine, sine = np.cos(0.5 * swing), np.sin(0.5 * swing)
    twist_cosine, twist_sine = np.cos(0.5 * twist), np.sin(0.5 * twist)
    a, b = sine * along_x, sine * along_z
    x, z = a * twist_cosine - b * twist_sine, b * twist_cosine + a * twist_sine
    found = np.empty((len(x), 4, x.shape[-1]))
    found[:, 0], found[:, 1], found[:, 2], found[:, 3] = cosine * twist_cosine, x, cosine * twist_sine, z
    return found

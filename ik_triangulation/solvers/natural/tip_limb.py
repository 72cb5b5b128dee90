# SPDX-License-Identifier: GPL-3.0-or-later
"""The last parts of a limb, hand or foot after two bones, and the ends of their ranges.

Coordinates of a hand or foot inside its limits: Euler angles, an angle about a hinge, or swing vector and twist. In
these coordinates the range is convex (a box, or a disc and an interval), which the rotations inside it are not: the
nearest rotation to one outside leaps from corner to corner, and the shortest turn from one end of the twist to the
other leads out of the range. Frames are the last axis of every array.

Limbs of two bones and an end whose wrist or ankle is chosen, with its coordinates, and all of whose poses reach. With
the wrist held, forearm and hand are rigid: the elbow bends until the tip is as far from the root as the target, in the
plane in which it bends for TwoBones, and a swivel about the line from root to tip is left. So the tip is exact for
whatever swivel and wrist, and the limits of the wrist are those of its own coordinates. Source: none.

The swivel is measured from a direction that is carried along the frames by the least turns of that line, so that its
change is a true turn. Everything is in the axes of the root's parent; frames are the last axis of every array.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ...kinematics import Cone, EulerLimits, Framed, Free, Freedom, Hinge, framed, unframed
from ...kinematics.arrays import Indices, Numbers
from ...kinematics.batch.algebra import (
    compose,
    cross,
    dot,
    lengths,
    matrices,
    quaternions,
    rotate,
    rotate_back,
    square_to,
)
from ...kinematics.batch.coordinates import Cones, Coordinates, EulerAngles, Frames, Hinges, bounded
from ...kinematics.batch.limit_arrays import LimitArrays
from ..batch.swings import Swing, smallest_rotations
from .elbow import Elbow, axes_of, directions, flexion_at_rest
from .two_bones import TwoBones

_BONE = 1  # the axis about which an end twists: its Y axis
_WIDE = np.radians(120.0)  # of a twist that is looked at in parts
_PARTS = 3
_FIXED = 1e9  # curvature that leaves a coordinate where it is
_ON_END, _OVER = 1e-9, 1e-7  # [rad]


class EndRange:
    """The limits of an end, with `size` coordinates from `lower` to `upper` (size, 1) [rad]."""

    def __init__(self, freedom: Freedom) -> None:
        freedom = bounded(freedom)
        own, frames = unframed(freedom), Frames.of([freedom])
        self._kind: Coordinates
        if isinstance(own, Hinge):
            self._kind = Hinges([0], [own], 0)
        elif isinstance(own, EulerLimits):
            self._kind = EulerAngles([0], [own], 0, frames=frames)
        else:
            assert isinstance(own, Cone)
            self._kind = Cones([0], [own], 0, frames=frames)
        self._opening = own.swing if isinstance(own, Cone) else None
        self.lower, self.upper = self._kind.lower, self._kind.upper
        self.size = len(self.lower)
        self._endless = np.isinf(self.upper - self.lower)
        self._whole = Swing(freedom)
        self._parts = [Swing(each) for each in _split(freedom)]

    def quaternions(self, values: Numbers) -> Numbers:
        """Rotations (4, F) at coordinates (size, F)."""
        found: Numbers = self._kind.quaternions(values)[0]
        return found

    def nearest(self, rotations: Numbers) -> Numbers:
        """Coordinates (size, F) of the allowed rotations nearest to unit quaternions (4, F)."""
        return self._whole.nearest(rotations)[1]

    @property
    def parts(self) -> int:
        """Number of parts of the range: where the twist is wide there are several, from one end of it to the other."""
        return len(self._parts)

    def nearest_in_part(self, part: int, rotations: Numbers) -> Numbers:
        """The same inside one part of the range."""
        return self._parts[part].nearest(rotations)[1]

    def inside(self, values: Numbers) -> Numbers:
        """Coordinates moved inside their range."""
        values = np.clip(values, self.lower, self.upper)
        if self._opening is not None:
            swing = lengths(values[:2])
            values[:2] *= np.minimum(1.0, self._opening / np.maximum(swing, 1e-300))
        return values

    def difference(self, after: Numbers, before: Numbers) -> Numbers:
        """Change of coordinates (size, ...) within the range; at most half a turn about an axis without ends."""
        change = after - before
        if self._endless.any():
            endless = self._endless.reshape(-1, *[1] * (change.ndim - 1))
            change = np.where(endless, change - 2.0 * np.pi * np.rint(change / (2.0 * np.pi)), change)
        return change

    def hold_ends(self, values: Numbers, slope: Numbers, curvature: Numbers) -> None:
        """Keep Newton's method from stepping out of the range, in place.

        `slope` (F, size) and `curvature` (F, size, size) are those of the cost at coordinates (size, F). A coordinate
        that is at an end of its range, and that the cost pulls on outwards, is left where it is; of a swing on the edge
        of a cone its part across the edge.
        """
        rows = np.arange(self.size)
        pull = slope.T
        out = ((values <= self.lower + _ON_END) & (pull > 0.0)) | ((values >= self.upper - _ON_END) & (pull < 0.0))
        if self._opening is not None:
            out[:2] = False
            swing = np.maximum(lengths(values[:2]), 1e-300)
            outward = (values[:2] / swing).T
            along = (outward * slope[:, :2]).sum(1)
            edge = np.flatnonzero((swing >= self._opening - _ON_END) & (along < 0.0))
            slope[edge, :2] -= outward[edge] * along[edge, None]
            curvature[edge, :2, :2] += _FIXED * outward[edge, :, None] * outward[edge, None, :]
        slope[out.T] = 0.0
        curvature[:, rows, rows] += np.where(out.T, _FIXED, 0.0)

    def stop_at_ends(self, values: Numbers, step: Numbers, slope: Numbers, curvature: Numbers) -> bool:
        """Let a step (size, F) that would leave the range end where that does, in place; tell whether one would.

        The other arguments are those of hold_ends(); the system is to be solved once more then.
        """
        goal = values + step
        inside = np.clip(goal, self.lower, self.upper)
        out = np.abs(goal - inside) > _OVER
        if self._opening is not None:
            out[:2] = False
            swing = lengths(goal[:2])
            over = np.flatnonzero(swing > self._opening + _OVER)
            outward = (goal[:2, over] / swing[over]).T
            left = self._opening - (outward * values[:2, over].T).sum(1)
            slope[over, :2] -= _FIXED * outward * left[:, None]
            curvature[over, :2, :2] += _FIXED * outward[:, :, None] * outward[:, None, :]
        else:
            over = np.zeros(0, np.intp)
        rows = np.arange(self.size)
        slope -= np.where(out, _FIXED * (inside - values), 0.0).T
        curvature[:, rows, rows] += np.where(out, _FIXED, 0.0).T
        return bool(out.any() or len(over))


def _split(freedom: Freedom) -> list[Freedom]:
    """Parts of a range whose twist is wide, or the whole of it."""
    if isinstance(freedom, Framed):
        return [framed(part, freedom.frame) for part in _split(freedom.inner)]
    if isinstance(freedom, EulerLimits):
        low, high = freedom.lower[_BONE], freedom.upper[_BONE]
    elif isinstance(freedom, Cone):
        low, high = freedom.twist_lower, freedom.twist_upper
    else:
        return [freedom]
    if not np.isfinite(high - low) or high - low < _WIDE:
        return [freedom]
    ends = np.linspace(low, high, _PARTS + 1).tolist()
    pairs = list(pairwise(ends))
    if isinstance(freedom, Cone):
        return [replace(freedom, twist_lower=a, twist_upper=b) for a, b in pairs]
    return [replace(freedom, lower=_with(freedom.lower, a), upper=_with(freedom.upper, b)) for a, b in pairs]


def _with(angles: tuple[float, float, float], twist: float) -> tuple[float, float, float]:
    return angles[0], twist, angles[2]


class PosedLimbs(NamedTuple):
    """Limbs at n choices: orientations (3, 3, n) of the upper bone and of the end, the elbow's and the wrist's own
    rotations (3, 3, n) and (4, n), and how much too long or too short the limb is, of
    its length (n)."""

    upper: Numbers
    elbow: Numbers
    wrist: Numbers
    end: Numbers
    beyond: Numbers


class TipLimb:
    """The limbs of `limb`, in F frames, some of which may be the same."""

    def __init__(self, limb: TwoBones, tip: Numbers, flexion: Numbers | None, some: Indices) -> None:
        """`tip` (3, F) is the place of the tip, seen from the root; `some` are the numbers of the frames of `limb`."""
        joints = limb.tree.joints
        self.range = EndRange(joints[2].freedom)
        self.rests = limb.rests
        self.turned = limb.turned[..., some]
        self.reference_upper = limb.reference_upper[..., some]
        self._offsets = [np.array(joint.offset, float)[:, None] for joint in joints]
        self._tip = np.array(limb.tree.tips[0].place, float)[:, None]
        self._elbow_freedom = bounded(joints[1].freedom)
        self._distance = lengths(tip[:, some])
        self.axis = directions(tip[:, some])
        self._flexion = self._flexion_of(flexion)
        self._limits = [
            (number, LimitArrays(joints[number].freedom))
            for number in (0, 1)
            if not isinstance(joints[number].freedom, Free)
        ]
        self.across = self._carried()
        self.aside = cross(self.axis, self.across)

    def _flexion_of(self, flexion: Numbers | None) -> Numbers:
        """The normal (3, F) about which the elbow bends where the reference is straight, seen from the upper bone."""
        _, up, _ = self._offsets
        if flexion is None:
            low = self._lower(self.turned[2])[:, :1]
            normal = flexion_at_rest(self._elbow_freedom, self.rests[1], up, low)
            return np.broadcast_to(directions(normal), self.axis.shape)
        before = compose(self.reference_upper, compose(self.rests[1], self.turned[1]))
        wrist = rotate(self.reference_upper, up) + rotate(before, self._lower(self.turned[2]))
        return directions(rotate_back(self.reference_upper, cross(flexion, directions(wrist))))

    def _lower(self, wrist: Numbers) -> Numbers:
        """Way (3, n) from the elbow to the tip in the elbow's frame, at the wrist's own rotations (3, 3, n)."""
        found: Numbers = self._offsets[2] + rotate(compose(self.rests[2], wrist), self._tip)
        return found

    def _carried(self) -> Numbers:
        """Directions (3, F) across the axis, each carried on to the next frame by the least turn.

        The first one is where the reference has the normal of its bend, so that swivels do not depend on any axes.
        """
        base, _ = square_to(self.axis)
        moved = rotate(matrices(smallest_rotations(self.axis[:, :-1], self.axis[:, 1:])), base[:, :-1])
        after, axis = base[:, 1:], self.axis[:, 1:]
        turn = np.arctan2(dot(cross(moved, after), axis), dot(moved, after))
        normal = rotate(self.reference_upper[..., :1], self._flexion[:, :1])
        begin = np.arctan2(dot(cross(base[:, :1], normal), self.axis[:, :1]), dot(base[:, :1], normal))
        off = begin - np.concatenate(([0.0], np.cumsum(turn)))
        carried: Numbers = base * np.cos(off) + cross(self.axis, base) * np.sin(off)
        return carried

    def at(self, swivels: Numbers, values: Numbers, some: Indices) -> PosedLimbs:
        """The limbs at swivels (n) [rad] and coordinates (size, n) of the wrist, in frames (n)."""
        _, up, forearm = self._offsets
        wrist = self.range.quaternions(values)
        turned = matrices(wrist)
        low, distance = self._lower(turned), self._distance[some]
        elbow = Elbow(self._elbow_freedom, self.rests[1], up, forearm)
        relative, normal, beyond = elbow.bent_for(self.turned[1][..., some], self._flexion[:, some], low, distance)
        shape = axes_of(up + rotate(relative, low), normal)
        normal = self.across[:, some] * np.cos(swivels) + self.aside[:, some] * np.sin(swivels)
        axis = self.axis[:, some]
        upper = compose(np.stack((axis, normal, cross(axis, normal)), 1), shape.swapaxes(0, 1))
        end = compose(compose(compose(upper, relative), self.rests[2]), turned)
        bend = compose(self.rests[1].swapaxes(0, 1), relative)
        return PosedLimbs(upper, bend, wrist, end, beyond / (lengths(up) + lengths(forearm)))

    def swivels_of(self, upper: Numbers, values: Numbers, some: Indices) -> Numbers:
        """Swivels (n) of limbs whose upper bone has orientations (3, 3, n), at coordinates (size, n) of the wrist."""
        straight = self.at(np.zeros(len(some)), values, some).upper
        normal = rotate(upper, rotate_back(straight, self.across[:, some]))
        return np.arctan2(dot(normal, self.aside[:, some]), dot(normal, self.across[:, some]))

    def swivels_to(self, places: Numbers, angles: Numbers) -> Numbers:
        """Swivels (F) that bring the elbow to the side of places (3, F), seen from the root, turned by angles (F)."""
        to = np.arctan2(dot(cross(self.aside, places), self.axis), dot(self.aside, places))
        return np.broadcast_to(to + angles, (len(self._distance),))

    def wanted(self, posed: PosedLimbs, end: Numbers) -> Numbers:
        """Rotations (4, n) of the wrist by which the end would be turned as told (3, 3, n), with the arm as it is."""
        own = compose(posed.end, matrices(posed.wrist).swapaxes(0, 1))
        return quaternions(compose(own.swapaxes(0, 1), end))

    def rotations(self, posed: PosedLimbs) -> Numbers:
        """Rotations (3, 4, n) of all joints."""
        root = quaternions(compose(self.rests[0].swapaxes(0, 1), posed.upper))
        return np.stack((root, quaternions(posed.elbow), posed.wrist))

    def outside(self, posed: PosedLimbs) -> list[Numbers]:
        """Angles (n) [rad] by which root and elbow are outside their limits, of those that have some."""
        rotations = self.rotations(posed)
        return [limits.excess(rotations[number]) for number, limits in self._limits]

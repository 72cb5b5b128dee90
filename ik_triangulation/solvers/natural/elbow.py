# SPDX-License-Identifier: GPL-3.0-or-later
"""Bend of an elbow or knee to a distance, for many poses at once.

Everything is seen from the upper bone, in its own frame: `up` is the way to the elbow, `down` that from there to the
end, and `normal` the axis about which the elbow bends, so that the shape of the limb does not know where it points.
Recorded elbows and knees bend off their hinge by more than 5 degrees in most frames: a joint that is free to do so
bends in the plane in which its reference is bent, and keeps the reference's twist. A reference that is nearly straight
hardly tells that plane, but to the distance that it has it stays as it is.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...kinematics import Freedom, Hinge
from ...kinematics.arrays import Mask, Numbers
from ...kinematics.batch.algebra import (
    clamped_to_range,
    compose,
    cross,
    dot,
    exponential,
    lengths,
    matrices,
    rotate,
    rotate_back,
    to_half_turns,
)
from ...kinematics.framed import hinge_axis

MOST_ASIDE = np.radians(15.0)  # off its hinge up to which a straight elbow bends; the upper bone turns for more
AHEAD = np.radians(2.0)  # of the tip of an end, seen from the elbow, from which on the end turns
TURNED = np.radians(30.0)  # bend from which on the upper bone has turned its hinge all the way; at 0 it stays
_MOST_TURN = (
    1.5  # of that angle: with less the elbow gets faster where the end turns no more, with more the end bends far
)
NO_BEND = 3e-4  # [rad] of a reference whose plane of bend is rounding: 1e-5 of the places of joints tell it
NORMALS = 2  # times that the normal of a bend and the bend about it are found from each other
_STRAIGHT, _BENT = np.radians(5.0), np.radians(15.0)  # bends between which the reference takes over from flexion
_AXES = 3  # times that the axis and the bend about it are found from each other


class Elbow(NamedTuple):
    """Bones of a limb as its upper bone sees them.

    `freedom` is the elbow's; `rest` (3, 3, 1) its orientation at rest; `up` (3, 1) and `low` (3, F or 1, in the elbow's
    own frame) are the bones. Where `low` goes on to the tip of an end that moves with the lower bone, `bone` (3, 1) is
    that bone alone, which tells to which side the elbow is bent.
    """

    freedom: Freedom
    rest: Numbers
    up: Numbers
    low: Numbers
    bone: Numbers | None = None

    def bent(self, turned: Numbers, flexion: Numbers, distance: Numbers) -> tuple[Numbers, Numbers]:
        """The elbow at a `distance` (F) from root to end, as near as lengths and a hinge's range allow.

        `turned` (3, 3, F) is its rotation in the reference, `flexion` (3, F) the normal to bend about where the
        reference is straight. Returns the orientation of the lower bone and the normal of the bend (3, F).
        """
        if isinstance(self.freedom, Hinge):
            return self._on_hinge(turned, flexion, distance)
        lower, down, bend = self._opened(turned, distance)
        normal = self._normal(down, flexion, bend)
        before, after = axes_of(np.broadcast_to(self.up, down.shape), normal), axes_of(down, normal)
        turn = _bent_by(bend)
        return compose(compose(before, turn), compose(after.swapaxes(0, 1), lower)), before[:, 1]

    def normal_of_bend(self, turned: Numbers, flexion: Numbers, distance: Numbers) -> Numbers:
        """The normal (3, F) alone of bent_with_end()."""
        if self.bone is not None or isinstance(self.freedom, Hinge):
            return self.bent_with_end(turned, flexion, distance)[1]
        _, down, bend = self._opened(turned, distance)
        along = directions(np.broadcast_to(self.up, down.shape))
        return _across(along, self._normal(down, flexion, bend))

    def _opened(self, turned: Numbers, distance: Numbers) -> tuple[Numbers, Numbers, Numbers]:
        """Orientation (3, 3, F) of the lower bone in the reference, its way to the end, and the bend (F) wanted."""
        lower = compose(self.rest, turned)
        down = rotate(lower, self.low)
        return lower, down, _bend(lengths(self.up), lengths(down), distance)

    def on_own_hinge(self, flexion: Numbers) -> Numbers:
        """Return the normals (3, F) nearest to `flexion` that are off the elbow's own hinge by little, as seen here.

        Limits that bend one way tell the hinge; without any it is `flexion` itself.
        """
        own = None if isinstance(self.freedom, Hinge) else hinge_axis(self.freedom)
        if own is None:
            return flexion
        along = directions(np.asarray(self.up, float))
        hinge = rotate(self.rest, np.array(own[:])[:, None])
        hinge = directions(np.broadcast_to(hinge - along * dot(hinge, along), flexion.shape))
        level = flexion - along * dot(flexion, along)
        angle = np.arctan2(dot(cross(hinge, level), along), dot(hinge, level))
        angle = np.clip(angle, -MOST_ASIDE, MOST_ASIDE)
        normals: Numbers = hinge * np.cos(angle) + cross(along, hinge) * np.sin(angle)
        return normals

    def bent_for(
        self, turned: Numbers, flexion: Numbers, whole: Numbers, distance: Numbers
    ) -> tuple[Numbers, Numbers, Numbers]:
        """The same elbow, bent until `whole` (3, F), a place that the lower bone carries, is at a `distance` (F).

        It bends about the axes that bent() takes. Returns also by how much the distance is out of reach (F).
        """
        first = lengths(self.up)
        if isinstance(self.freedom, Hinge):
            relative, normal = self._replace(low=whole)._on_hinge(turned, flexion, distance)
            reached = lengths(self.up + rotate(relative, whole))
            return relative, normal, np.abs(reached - distance)
        lower = compose(self.rest, turned)
        down, carried = rotate(lower, self.low), rotate(lower, whole)
        bend = _bend(first, lengths(whole), distance)  # but for the angle between both places, which is added below
        for _ in range(_AXES):
            normal = self._normal(down, flexion, bend)
            before, after = axes_of(np.broadcast_to(self.up, down.shape), normal), axes_of(down, normal)
            x, y, z = rotate_back(after, carried)
            size = np.maximum(np.hypot(x, z), 1e-300)
            wanted = (distance**2 - first**2 - size**2 - y**2) / (2.0 * first * size)
            bend = np.arctan2(z, x) + np.arccos(np.clip(wanted, -1.0, 1.0))
        turn = _bent_by(bend)
        least, most = np.hypot(first - size, y), np.hypot(first + size, y)
        beyond = np.maximum(np.maximum(distance - most, least - distance), 0.0)
        return compose(compose(before, turn), compose(after.swapaxes(0, 1), lower)), before[:, 1], beyond

    def bent_with_end(
        self, turned: Numbers, flexion: Numbers, distance: Numbers
    ) -> tuple[Numbers, Numbers, Numbers | None]:
        """The same elbow where `low` goes on to the tip of an end that moves with the lower `bone`.

        The toes of a leg that stands are ahead of its knee: while a straight knee bends forwards, its foot stiff, they
        get farther from the hip at first, and nearer only if it bends backwards. So the end keeps its turn off the line
        from root to tip while the elbow begins to bend, up to some more than the angle that the tip is ahead. Where the
        tip is on the inner side, as of a hand that is bent, it turns out before the elbow would bend backwards. Returns
        also that turn of the end, in the frame of the lower bone (3, 3, F), or None.
        """
        if self.bone is None or isinstance(self.freedom, Hinge):
            return *self.bent(turned, flexion, distance), None
        lower = compose(self.rest, turned)
        down, end = rotate(lower, self.bone), rotate(lower, self.low - self.bone)
        up = np.broadcast_to(self.up, down.shape)
        first, second = lengths(up), lengths(down)
        crossed = cross(up, down)
        bend = np.arctan2(lengths(crossed), dot(up, down))
        wanted = bend
        for _ in range(NORMALS):  # the normal and the bend about it, from each other
            normal = self._normal(down, flexion, wanted)
            before, after = axes_of(up, normal), axes_of(down, normal)
            x, y, z = rotate_back(after, end)
            third = x - 1j * z  # the end in the plane of the bend, seen from a straight limb, as a complex number
            reference = np.where(dot(crossed, before[:, 1]) < 0.0, -bend, bend)
            ahead = -reference - np.angle(second + third)
            apart = np.sqrt(np.maximum(distance**2 - y**2, 0.0))
            most = np.where(ahead > AHEAD, _MOST_TURN * ahead, 0.0)
            wanted, turn = _with_turning_end(first, second, third, reference, apart, most)
        turns = _bent_by(wanted)
        bent = compose(compose(before, turns), compose(after.swapaxes(0, 1), lower))
        own = rotate_back(lower, after[:, 1])  # the axis of the bend in the frame of the lower bone
        return bent, before[:, 1], matrices(exponential(own * turn)) if turn.any() else None

    def _normal(self, down: Numbers, flexion: Numbers, wanted: Numbers) -> Numbers:
        """The axis about which the reference is bent; where it is straight that of flexion, blended in between.

        The less a bend that is `wanted` (F) differs from that of the reference, the more it is about the same axis.
        """
        bent = cross(self.up, down)
        size = lengths(bent)
        bend = np.arctan2(size, dot(self.up, down))
        same = 1.0 - np.abs(wanted - bend) / np.maximum(bend, 1e-300)
        share = np.clip(np.maximum((bend - _STRAIGHT) / (_BENT - _STRAIGHT), same), 0.0, 1.0) * (bend > NO_BEND)
        normal: Numbers = share * directions(bent, size) + (1.0 - share) * flexion
        return normal

    def _on_hinge(self, turned: Numbers, flexion: Numbers, distance: Numbers) -> tuple[Numbers, Numbers]:
        """The same for a hinge, whose axis may lie anywhere: the law of cosines in the form of solvers.two_bone."""
        hinge = self.freedom
        assert isinstance(hinge, Hinge)
        own = np.array(hinge.axis)[:, None]
        axis = rotate(self.rest, own)
        along, level = dot(own, self.low), dot(axis, self.up)
        low = rotate(self.rest, self.low)
        across = dot(self.up, low) - level * along
        sideways = dot(self.up, cross(axis, low))
        size = np.maximum(np.hypot(across, sideways), 1e-300)
        wanted = (distance**2 - dot(self.up, self.up) - dot(self.low, self.low)) / 2.0 - level * along
        opening, phase = np.arccos(np.clip(wanted / size, -1.0, 1.0)), np.arctan2(sideways, across)
        now = 2.0 * np.arctan2(_along(turned, own), 1.0 + turned[0, 0] + turned[1, 1] + turned[2, 2])
        angle = self._solution(hinge, phase, opening, now, dot(flexion, axis))
        lower = compose(self.rest, matrices(exponential(own * angle)))
        return lower, axis * np.where(to_half_turns(angle - phase) < 0.0, -1.0, 1.0)

    def _solution(self, hinge: Hinge, phase: Numbers, opening: Numbers, now: Numbers, forward: Numbers) -> Numbers:
        """Of both bends the one inside the range; if both are, that to the side of the reference, else of flexion."""
        ways = [to_half_turns(phase + side * opening) for side in (1.0, -1.0)]
        fitted = [clamped_to_range(angles, np.array(hinge.lower), np.array(hinge.upper)) for angles in ways]
        beyond = [np.abs(to_half_turns(there - angles)) for there, angles in zip(fitted, ways, strict=True)]
        bend = to_half_turns(now - phase)
        share = np.clip((np.abs(bend) - _STRAIGHT) / (_BENT - _STRAIGHT), 0.0, 1.0)
        positive = share * np.sign(bend) + (1.0 - share) * np.sign(forward) >= 0.0
        first: Mask = np.where(np.abs(beyond[0] - beyond[1]) > 1e-6, beyond[0] < beyond[1], positive)
        chosen: Numbers = np.where(first, fitted[0], fitted[1])
        return chosen


def hinge_turns(up: Numbers, low: Numbers, normal: Numbers, wanted: Numbers) -> Numbers:
    """Turns (3, 3, F) about `up` (3, 1) that bring the `normal` (3, F) of a bend towards the one that is `wanted`.

    The straighter the limb, with `low` (3, F) the way from the elbow to its end, the less of it: a straight one bends
    about any axis, and stays as it is.
    """
    along, line = directions(np.broadcast_to(up, low.shape)), cross(up, low)
    share = np.minimum(np.arctan2(lengths(line), dot(up, low)) / TURNED, 1.0)
    angle = np.arctan2(dot(cross(normal, wanted), along), dot(normal, wanted))
    turns: Numbers = matrices(exponential(along * (share * angle)))
    return turns


def _with_turning_end(
    first: Numbers, second: Numbers, third: Numbers, reference: Numbers, apart: Numbers, most: Numbers
) -> tuple[Numbers, Numbers]:
    """Bend of an elbow and turn of the end (F) about the same axis, by at most an angle, with the tip `apart` (F).

    All lengths are in the plane of the bend; the end is `third`, a complex number, on a straight limb.
    """
    line = first + (second + third) * np.exp(1j * reference)
    ankle = apart - third * np.exp(1j * (reference - np.angle(line)))  # with the end turned as it was off the line
    bend = _bend(first, second, np.abs(ankle))
    upper = np.angle(ankle) - np.angle(first + second * np.exp(1j * bend))
    turn = to_half_turns(reference - np.angle(line) - upper - bend)
    clipped = np.clip(turn, -most, most)
    low = second + third * np.exp(1j * clipped)
    stiff = _bend(first, np.abs(low), apart) - np.angle(low)
    found, least = np.where(clipped == turn, bend, stiff), np.minimum(reference, 0.0)
    # Where only an elbow bent backwards would make the limb long enough, the end turns out instead.
    straight, before = first + second * np.exp(1j * least), least + np.angle(third)
    side = np.where(to_half_turns(before - np.angle(straight)) < 0.0, -1.0, 1.0)
    out = np.angle(straight) + side * _bend(np.abs(straight), np.abs(third), apart)
    backwards = found < least
    return np.where(backwards, least, found), np.where(backwards, to_half_turns(out - before), clipped)


def _bend(first: Numbers, second: Numbers, apart: Numbers) -> Numbers:
    """Angle (F) between two bones whose ends are so far apart, by the law of cosines."""
    cosine = (apart**2 - first**2 - second**2) / np.maximum(2.0 * first * second, 1e-300)
    bend: Numbers = np.arccos(np.clip(cosine, -1.0, 1.0))
    return bend


def _bent_by(angle: Numbers) -> Numbers:
    """Rotations (3, 3, F) about the second of the axes of axes_of(), by angles (F) [rad]."""
    turns = np.zeros((3, len(angle)))
    turns[1] = angle
    return matrices(exponential(turns))


def axes_of(way: Numbers, normal: Numbers) -> Numbers:
    """Orthonormal axes (3, 3, F): along a way, along the part of a normal across it, and square to both."""
    along = directions(way)
    level = _across(along, normal)
    axes = np.empty((3, *level.shape))
    axes[:, 0], axes[:, 1], axes[:, 2] = along, level, cross(along, level)
    return axes


def _across(along: Numbers, normal: Numbers) -> Numbers:
    """The direction (3, F) of the part of a normal that is square to a direction."""
    return directions(normal - along * dot(normal, along))


def directions(v: Numbers, size: Numbers | None = None) -> Numbers:
    """Vectors of unit length; those without a length stay what they are."""
    return v / np.maximum(lengths(v) if size is None else size, 1e-300)


def flexion_at_rest(freedom: Freedom, rest: Numbers, up: Numbers, low: Numbers) -> Numbers:
    """The normal (3, 1) about which a limb is bent at rest; of a straight one the elbow's bend axis."""
    bent = cross(up, rotate(rest, low))
    if float(lengths(bent)[0]) > np.sin(_STRAIGHT / 5.0) * float(lengths(up)[0] * lengths(low)[0]):
        return directions(bent)
    return rotate(rest, np.array(freedom.bend_axis[:])[:, None])


def _along(turned: Numbers, axis: Numbers) -> Numbers:
    """Twice the sine times the part of rotations (3, 3, F) about an axis (3, 1)."""
    x, y, z = axis
    along: Numbers = (
        x * (turned[2, 1] - turned[1, 2]) + y * (turned[0, 2] - turned[2, 0]) + z * (turned[1, 0] - turned[0, 1])
    )
    return along

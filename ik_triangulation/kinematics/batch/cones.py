# SPDX-License-Identifier: GPL-3.0-or-later
"""Coordinates of joints that swing inside a cone and twist, for many poses at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from mathutils import Quaternion

from ..arrays import Numbers
from ..cone import Cone
from .algebra import as_slice, matrices
from .coordinates import Frames, opened
from .euler_arrays import clamped_to_range

_INSIDE = 1.0 - 1e-15  # of the opening of a cone: an edge that rounding does not push outside


class Cones:
    """Joints that swing inside a cone and twist: a rotation is a twist about Y, then a swing about an axis (x, z).

    The angles of a joint are its swing vector, whose length stays below the opening, and its twist. A change is given
    as one along the swing vector, one across it, and one of the twist, so that the edge of the cone bounds the first
    alone. With t the length of the swing vector, a change across it by 1 rotates by sin(t)/t about the direction across
    and by (1 - cos(t))/t about the bone: the right Jacobian of rotation vectors.
    """

    def __init__(
        self, joints: Sequence[int], freedoms: Sequence[Cone], begin: int, frames: Frames | None = None
    ) -> None:
        count, self._frames = len(joints), frames
        self.joints, self._freedoms = joints, freedoms
        self._at = as_slice(np.array(joints))
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
        rotations[self._at] = self._frames.turned(turned) if self._frames else turned
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

    def inside(self, angles: Numbers) -> Numbers:
        """The angles with every swing beyond its cone put on the edge, in place."""
        size = np.hypot(angles[0::3], angles[1::3])
        share = np.where(size > self.opening, _INSIDE * self.opening / np.maximum(size, 1e-300), 1.0)
        angles[0::3] *= share
        angles[1::3] *= share
        return angles


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
    return np.stack((cosine * twist_cosine, x, cosine * twist_sine, z), 1)

# SPDX-License-Identifier: GPL-3.0-or-later
"""Projection of a rotation onto those whose Euler angles lie in a box, in closed form.

The cosine of half the angle between a rotation and that of three Euler angles is linear in the cosine and the sine of
each half angle, with eight coefficients. The nearest rotation has at least one angle at a bound. With one angle fixed,
the optimum of the other two is given by the largest singular value of a 2 x 2 matrix, and every other extremum is a
saddle. So where those two are outside their ranges, a second angle is at a bound too, and the third is the optimum for
both, clamped to its range.
"""

from collections.abc import Sequence
from math import atan2, cos, hypot, isinf, sin

from mathutils import Quaternion

from .euler import AXES, PARITY, Triple
from .ranges import clamp_to_range
from .rotation import wrap

_SAME = 1e-9  # [rad] difference up to which clamping left an angle unchanged
# With the first, second or third angle fixed: the other two, and the indices of its cosines and sines in the eight
# coefficients.
FACES = (
    (1, 2, ((0, 4), (1, 5), (2, 6), (3, 7))),
    (0, 2, ((0, 2), (1, 3), (4, 6), (5, 7))),
    (0, 1, ((0, 1), (2, 3), (4, 5), (6, 7))),
)


class EulerBox:
    """Angles [rad] (x, y, z) from `lower` to `upper`, in Blender's `order`."""

    def __init__(self, order: str, lower: Sequence[float], upper: Sequence[float]) -> None:
        self._lower, self._upper = lower, upper
        self._axes, self._sign = AXES[order], PARITY[order]
        self._ranges = [sorted((self._sign * lower[axis], self._sign * upper[axis])) for axis in self._axes]
        self._ends = [
            [(end, cos(end / 2.0), sin(end / 2.0)) for end in dict.fromkeys(ends) if not isinf(end)]
            for ends in self._ranges
        ]

    def nearest(self, rotation: Quaternion) -> Triple:
        """Euler angles [rad] (x, y, z) of the rotation in the box that is nearest to `rotation`, which lies outside."""
        sign, ranges, ends = self._sign, self._ranges, self._ends
        w, a, b, c = rotation[0], *(sign * rotation[1 + axis] for axis in self._axes)
        agreement = (w, c, b, -a, a, b, -c, w)  # for cosine (0) or sine (1) of each half angle, the last running first
        faces = []
        for held, (_, _, pairs) in enumerate(FACES):
            for bound, cosine, sine in ends[held]:
                p, q, r, s = face = [cosine * agreement[i] + sine * agreement[j] for i, j in pairs]
                faces.append((hypot(p + s, r - q) + hypot(p - s, q + r), held, bound, face))
        faces.sort(reverse=True)
        best, nearest = -1.0, [0.0, 0.0, 0.0]
        for greatest, held, bound, (p, q, r, s) in faces:
            if greatest / 2.0 <= best:
                break
            second, third, _ = FACES[held]
            difference, total = atan2(r - q, p + s), atan2(q + r, p - s)
            y, z = total + difference, total - difference
            fitted_y, fitted_z = clamp_to_range(y, *ranges[second]), clamp_to_range(z, *ranges[third])
            if abs(wrap(fitted_y - y)) < _SAME and abs(wrap(fitted_z - z)) < _SAME:
                nearest[held], nearest[second], nearest[third] = bound, fitted_y, fitted_z
                break
            for (n, m), edges in ((second, third), ((p, r), (q, s))), ((third, second), ((p, q), (r, s))):
                (xc, xs), (yc, ys) = edges
                for end, cosine, sine in ends[n]:
                    x, y = cosine * xc + sine * xs, cosine * yc + sine * ys
                    if hypot(x, y) <= best:  # the most that any third angle can do
                        continue
                    angle = clamp_to_range(2.0 * atan2(y, x), *ranges[m])
                    value = abs(x * cos(angle / 2.0) + y * sin(angle / 2.0))
                    if value > best:
                        best, nearest[held], nearest[n], nearest[m] = value, bound, end, angle
        angles = [0.0, 0.0, 0.0]
        for axis, angle in zip(self._axes, nearest, strict=True):
            angles[axis] = min(max(sign * angle, self._lower[axis]), self._upper[axis])  # a mirrored -0.0 is 0.0
        return angles[0], angles[1], angles[2]

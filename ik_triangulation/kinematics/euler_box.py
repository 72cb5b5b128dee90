# SPDX-License-Identifier: GPL-3.0-or-later
"""Projection of a rotation onto those whose Euler angles lie in a box, in closed form. The cosine of half the angle
between a rotation and that of three Euler angles is linear in the cosine and the sine of each half angle, with eight
coefficients. The nearest rotation has at least one angle at a bound. With one angle fixed, the optimum of the other two
is given by the largest singular value of a 2 x 2 matrix, and every other extremum is a saddle. So where those two are
outside their ranges, a second angle is at a bound too, and the third is the optimum for both, clamped to its range.

While the middle angle stays within +-90 degrees, every way into the box leads through a bound of each angle that is
outside its range. So where the optimum of the other two at the nearer bound is inside their ranges, nothing is nearer.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import atan2, cos, hypot, isinf, sin

from mathutils import Quaternion

from .rotation import AXES, PARITY, Triple, clamp_to_range, wrap

# [rad] From the ends of ranges, and of the middle angle, where Euler angles in single precision tell what is outside.
CERTAIN, OFF_POLES = 1e-4, 1.4
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
        ranges = [sorted((self._sign * lower[axis], self._sign * upper[axis])) for axis in self._axes]
        self._ends = [
            [(end, cos(end / 2.0), sin(end / 2.0)) for end in dict.fromkeys(ends) if not isinf(end)] for ends in ranges
        ]
        self._others = [(second, third, ranges[second], ranges[third]) for second, third, _ in FACES]
        self._faces = [
            (held, bound, cosine, sine, *(index for pair in pairs for index in pair))
            for held, (_, _, pairs) in enumerate(FACES)
            for bound, cosine, sine in self._ends[held]
        ]
        self._sides = [[face for face in self._faces if face[0] == held] for held in range(3)]

    def nearest(self, rotation: Quaternion) -> Triple:
        """Euler angles [rad] (x, y, z) of the rotation in the box that is nearest to `rotation`, which lies outside."""
        agreement, faces = self._agreement(rotation), []
        for held, bound, cosine, sine, p0, p1, q0, q1, r0, r1, s0, s1 in self._faces:
            p, q = cosine * agreement[p0] + sine * agreement[p1], cosine * agreement[q0] + sine * agreement[q1]
            r, s = cosine * agreement[r0] + sine * agreement[r1], cosine * agreement[s0] + sine * agreement[s1]
            faces.append((hypot(p + s, r - q) + hypot(p - s, q + r), held, bound, p, q, r, s))
        faces.sort(reverse=True)
        best, nearest = -1.0, [0.0, 0.0, 0.0]
        for greatest, held, bound, p, q, r, s in faces:
            if greatest / 2.0 <= best:
                break
            second, third, of_second, of_third = self._others[held]
            difference, total = atan2(r - q, p + s), atan2(q + r, p - s)
            fitted_y, fitted_z = _inside(total + difference, of_second), _inside(total - difference, of_third)
            if fitted_y is not None and fitted_z is not None:
                nearest[held], nearest[second], nearest[third] = bound, fitted_y, fitted_z
                break
            for n, m, xc, xs, yc, ys in (second, third, p, r, q, s), (third, second, p, q, r, s):
                lower, upper = of_third if m == third else of_second
                for end, cosine, sine in self._ends[n]:
                    x, y = cosine * xc + sine * xs, cosine * yc + sine * ys
                    if hypot(x, y) <= best:  # the most that any third angle can do
                        continue
                    angle = clamp_to_range(2.0 * atan2(y, x), lower, upper)
                    value = abs(x * cos(angle / 2.0) + y * sin(angle / 2.0))
                    if value > best:
                        best, nearest[held], nearest[n], nearest[m] = value, bound, end, angle
        return self._unmirrored(nearest)

    def through_one_bound(self, rotation: Quaternion, triple: Triple) -> Triple | None:
        """The same where only the bound nearer to an angle outside its range is met; None if that is uncertain.

        `triple` are the Euler angles of the rotation, which need not be exact. Ranges are those of a plain box: no
        whole turn and no other triple leads into it.
        """
        if abs(triple[self._axes[1]]) > OFF_POLES:
            return None
        agreement = self._agreement(rotation)
        for held in range(3):  # one of the innermost loops of every solver with limits
            axis = self._axes[held]
            angle, faces = triple[axis], self._sides[held]
            if self._lower[axis] - CERTAIN <= angle <= self._upper[axis] + CERTAIN or len(faces) < 2:
                continue
            angle *= self._sign
            off, other = angle - faces[0][1], angle - faces[1][1]
            further = abs(off) > abs(other) if held == 1 else abs(sin(off)) > abs(sin(other))
            _, bound, cosine, sine, p0, p1, q0, q1, r0, r1, s0, s1 = faces[further]
            p, q = cosine * agreement[p0] + sine * agreement[p1], cosine * agreement[q0] + sine * agreement[q1]
            r, s = cosine * agreement[r0] + sine * agreement[r1], cosine * agreement[s0] + sine * agreement[s1]
            second, third, of_second, of_third = self._others[held]
            difference, total = atan2(r - q, p + s), atan2(q + r, p - s)
            fitted_y, fitted_z = _inside(total + difference, of_second), _inside(total - difference, of_third)
            if fitted_y is not None and fitted_z is not None:
                nearest = [0.0, 0.0, 0.0]
                nearest[held], nearest[second], nearest[third] = bound, fitted_y, fitted_z
                return self._unmirrored(nearest)
        return None

    def _agreement(self, rotation: Quaternion) -> tuple[float, ...]:
        """The coefficients for cosine (0) or sine (1) of each half angle, the last running first."""
        (i, j, k), sign, v = self._axes, self._sign, rotation[:]
        w, a, b, c = v[0], sign * v[1 + i], sign * v[1 + j], sign * v[1 + k]
        return w, c, b, -a, a, b, -c, w

    def _unmirrored(self, nearest: Sequence[float]) -> Triple:
        """Angles (x, y, z) of those in the order of the axes."""
        (i, j, k), sign = self._axes, self._sign
        angles = [0.0, 0.0, 0.0]
        angles[i], angles[j], angles[k] = sign * nearest[0], sign * nearest[1], sign * nearest[2]
        (x, y, z), (a, b, c), (d, e, f) = angles, self._lower, self._upper
        return min(max(x, a), d), min(max(y, b), e), min(max(z, c), f)  # a mirrored -0.0 is 0.0


def _inside(angle: float, ends: Sequence[float]) -> float | None:
    """The angle [rad], by whole turns and rounding inside a range; None if that takes more."""
    lower, upper = ends
    if lower <= angle <= upper:
        return angle
    fitted = clamp_to_range(angle, lower, upper)
    return fitted if abs(wrap(fitted - angle)) < _SAME else None

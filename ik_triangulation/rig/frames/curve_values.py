# SPDX-License-Identifier: GPL-3.0-or-later
"""Values of F-curves at many times at once, as Blender evaluates them, and the transforms that they make up.

Transforms are arrays (4, 4, F): the frames come last, and one frame serves for all.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import bpy
import numpy as np
from bpy.types import FCurve
from mathutils import Matrix

from ...kinematics.arrays import Array
from ...kinematics.batch.algebra import cross, dot, euler_quaternions, matrices
from ..armature import FLAT, LARGEST, SMALLEST
from ..keyframes.arrays import KeyArrays, enum_number, put_keys
from ..keyframes.channelbags import curves_of_action
from ..rotation import NO_AXIS

_FEW = 120  # times, for which calls of FCurve.evaluate() take less time than arrays do
_SAME = 1e-4  # frames; Blender takes a time nearer to a keyframe for the keyframe's
_STEPS = 5  # of Newton's method, which are enough for nearly all Bezier segments
_EXACT = 1e-12  # of a segment: residual of the time at which Newton's method has arrived
_HALVINGS = 50  # for the others


def values_at(curves: Sequence[FCurve], times: Array) -> Array:
    """Return the values (curves, times) of F-curves that are not empty, in float64.

    Constant, linear and Bezier keyframes are evaluated together; curves with any others one time after the other.
    """
    values = np.empty((len(curves), len(times)))
    together = _Together(times)
    for number, curve in enumerate(curves):
        points = curve.keyframe_points
        kinds = np.empty(len(points), np.uint8)
        points.foreach_get("interpolation", kinds)
        if len(times) <= _FEW or not _PLAIN[kinds].all() or not _has_only_keys(curve, times):
            values[number] = [curve.evaluate(time) for time in times.tolist()]
            continue
        keys = _pairs(points, "co")
        curved = bool((kinds[:-1] == _BEZIER).any())
        left, right = (_pairs(points, "handle_left"), _pairs(points, "handle_right")) if curved else (keys, keys)
        together.add(number, kinds, keys, left, right)
    together.evaluate(values)
    return values


def values_of_keys(keyed: Sequence[tuple[FCurve, KeyArrays]], times: Array) -> Array:
    """Return the values (curves, times) that F-curves would have with other keyframes than theirs, in float64.

    Those with more than constant, linear and Bezier keyframes are evaluated by Blender, on a copy of the action.
    """
    values, odd = np.empty((len(keyed), len(times))), []
    together = _Together(times)
    for number, (curve, keys) in enumerate(keyed):
        kinds, (first, last) = keys["interpolation"], keys["co"][[0, -1], 0]
        inside = curve.extrapolation == "CONSTANT" or (first <= times.min() and times.max() <= last)
        if _PLAIN[kinds].all() and inside and not len(curve.modifiers):
            together.add(number, kinds, *(keys[name].T.astype(np.float64) for name in _PLACES))
        else:
            odd.append(number)
    together.evaluate(values)
    for action in {keyed[number][0].id_data for number in odd}:
        copy = action.copy()
        try:
            copies = {
                curve.as_pointer(): own for curve, own in zip(*map(curves_of_action, (action, copy)), strict=True)
            }
            for number in odd:
                curve, keys = keyed[number]
                if curve.id_data == action:
                    own = copies[curve.as_pointer()]
                    put_keys(own, keys)
                    values[number] = [own.evaluate(time) for time in times.tolist()]
        finally:
            bpy.data.actions.remove(copy)
    return values


class _Together:
    """Curves that are evaluated at the same times: those keyed together are evaluated as one."""

    def __init__(self, times: Array) -> None:
        self._times = times
        self._alike: dict[bytes, tuple[_Segments, list[int], list[Array]]] = {}

    def add(self, number: int, kinds: Array, keys: Array, left: Array, right: Array) -> None:
        """Add a curve: interpolation, and times and values (2, keyframes) of its keyframes and handles."""
        # Curves keyed together have their keyframes and handles at the same times.
        shape = b"".join(part.tobytes() for part in (keys[0], left[0], right[0], kinds))
        if shape not in self._alike:
            self._alike[shape] = _Segments(keys[0], left[0], right[0], kinds, self._times), [], []
        _, numbers, levels = self._alike[shape]
        numbers.append(number)
        levels.append(np.array((keys[1], left[1], right[1])))

    def evaluate(self, values: Array) -> None:
        """Write the values into the rows of the curves' numbers."""
        for segments, numbers, levels in self._alike.values():
            values[numbers] = segments.values(*np.stack(levels, axis=1))


_BEZIER, _LINEAR, _CONSTANT = (enum_number("interpolation", name) for name in ("BEZIER", "LINEAR", "CONSTANT"))
_PLAIN = np.zeros(256, bool)
_PLAIN[[_BEZIER, _LINEAR, _CONSTANT]] = True
_PLACES = ("co", "handle_left", "handle_right")


def _has_only_keys(curve: FCurve, times: Array) -> bool:
    """Tell whether a curve has nothing but keyframes, and the times where it leads on are not beyond them."""
    if len(curve.modifiers) or len(curve.sampled_points):
        return False
    if curve.extrapolation == "CONSTANT":
        return True
    first, last = curve.range()
    return bool(first <= times.min() and times.max() <= last)


def _pairs(points: Any, name: str) -> Array:
    """Return the times and the values (2, keyframes) of an attribute of all keyframes."""
    flat = np.empty(2 * len(points), np.float32)
    points.foreach_get(name, flat)
    return flat.reshape(-1, 2).T.astype(np.float64)


class _Segments:
    """The part of an evaluation that curves share whose keyframes and handles are at the same times.

    `keys`, `left` and `right` are the times of keyframes and handles, `kinds` the interpolation of each keyframe.
    """

    def __init__(self, keys: Array, left: Array, right: Array, kinds: Array, times: Array) -> None:
        nearest = np.searchsorted(keys, times)
        before = np.clip(nearest - 1, 0, len(keys) - 1)
        after = np.clip(nearest, 0, len(keys) - 1)
        begin, end = keys[before], keys[after]
        at = np.where(end - times < _SAME, after, np.where(times < begin, after, before))
        inside = (begin + _SAME <= times) & (times <= end - _SAME) & (kinds[before] != _CONSTANT)
        self._at = at  # the keyframe whose value counts, where no segment does
        self._inside = np.flatnonzero(inside)
        self._before, self._after = before[inside], after[inside]
        begin, length = begin[inside], (end - begin)[inside]
        share = (times[inside] - begin) / length
        self._curved = curved = kinds[self._before] == _BEZIER
        self._bezier, self._all = bool(curved.any()), bool(curved.all())
        if self._bezier:
            # A handle reaches to the neighbouring keyframe at most: a longer one is shortened along its direction.
            out = (right[self._before] - begin) / length
            back = (begin + length - left[self._after]) / length
            self._out, self._back = (1.0 / np.maximum(1.0, np.abs(handle)) for handle in (out, back))
            t = _parameter(share, out * self._out, 1.0 - back * self._back)
            self._weights = 3.0 * t * (1.0 - t) ** 2, 3.0 * t * t * (1.0 - t), t * t * (3.0 - 2.0 * t)
        self._share = share

    def values(self, keys: Array, left: Array, right: Array) -> Array:
        """Return the values (curves, times) by those of the keyframes and their handles, a row for each curve."""
        result: Array = keys[:, self._at]
        first, last = keys[:, self._before], keys[:, self._after]
        values = first + (last - first) * self._share
        if self._bezier:
            out = (right[:, self._before] - first) * (self._out * self._weights[0])
            back = (left[:, self._after] - last) * (self._back * self._weights[1])
            on_curve = first + (last - first) * self._weights[2] + out + back
            values = on_curve if self._all else np.where(self._curved, on_curve, values)
        result[:, self._inside] = values
        return result


def _parameter(share: Array, out: Array, back: Array) -> Array:
    """Return the parameter of Bezier segments at a `share` of their time; `out` and `back` are those of the handles."""
    a, b, c = 3.0 * out, 3.0 * (back - 2.0 * out), 1.0 - 3.0 * (back - out)
    t = share.copy()
    with np.errstate(divide="ignore", invalid="ignore"):
        for _ in range(_STEPS):
            off = ((c * t + b) * t + a) * t - share
            if np.abs(off).max(initial=0.0) <= _EXACT:
                break
            t -= off / ((3.0 * c * t + 2.0 * b) * t + a)
        off = ((c * t + b) * t + a) * t - share
    missed = np.flatnonzero(~((np.abs(off) <= _EXACT) & (t >= 0.0) & (t <= 1.0)))
    if len(missed):
        a, b, c, share = a[missed], b[missed], c[missed], share[missed]
        low, high = np.zeros(len(missed)), np.ones(len(missed))
        for _ in range(_HALVINGS):
            middle = 0.5 * (low + high)
            below = ((c * middle + b) * middle + a) * middle < share
            low, high = np.where(below, middle, low), np.where(below, high, middle)
        t[missed] = 0.5 * (low + high)
    return t


def from_matrix(matrix: Matrix) -> Array:
    """Return a matrix as an array with one frame."""
    return np.array(matrix)[:, :, None]


def to_matrix(transforms: Array, frame: int) -> Matrix:
    """Return the transform of a frame."""
    return Matrix(transforms[:, :, frame if transforms.shape[2] > 1 else 0].tolist())


def products(first: Array, second: Array) -> Array:
    """Return the products of the transforms of two arrays."""
    if first.shape[2] == 1:
        rows, columns, frames = second.shape
        return (first[:, :, 0] @ second.reshape(rows, -1)).reshape(len(first), columns, frames)
    if second.shape[2] == 1:
        return np.matmul(second[:, :, 0].T, first)
    return np.einsum("ijf,jkf->ikf", first, second)


def column_lengths(transforms: Array) -> Array:
    """Return the lengths (3, frames) of the axes, which are the scales."""
    axes = transforms[:3, :3]
    lengths: Array = np.sqrt((axes * axes).sum(0))
    return lengths


def are_proper(transforms: Array) -> bool:
    """Tell whether all numbers are finite and no transform is flat, as is_flat() tells of a single one."""
    if not np.isfinite(transforms).all():
        return False
    lengths = column_lengths(transforms)
    if not (lengths.min() > SMALLEST and lengths.max() < LARGEST):
        return False
    x, y, z = (transforms[:3, :3] / lengths).transpose(1, 0, 2)
    return bool(np.abs(dot(cross(x, y), z)).min() > FLAT)


def composed_matrices(location: Array, rotation: Array, scale: Array) -> Array:
    """Return transforms from locations and scales (3, frames) and rotations (3, 3, frames)."""
    frames = max(location.shape[1], rotation.shape[2], scale.shape[1])
    result = np.zeros((4, 4, frames))
    result[:3, :3] = rotation * scale
    result[:3, 3] = location
    result[3, 3] = 1.0
    return result


def rotation_matrices(values: Array, mode: str) -> Array:
    """Return rotations (3, 3, frames) of channel values (4 or 3, frames) in a rotation mode, as Blender reads them.

    Quaternions of length 0 give NaN.
    """
    if mode == "QUATERNION":
        with np.errstate(divide="ignore", invalid="ignore"):
            return matrices(values / np.sqrt((values * values).sum(0)))
    if mode == "AXIS_ANGLE":
        angle, axis = values[0] / 2.0, values[1:]
        length = np.sqrt((axis * axis).sum(0))
        scale = np.divide(np.sin(angle), length, out=np.zeros_like(length), where=length > 0.0)
        return matrices(np.concatenate((np.where(length > 0.0, np.cos(angle), 1.0)[None], axis * scale)))
    turns = [_about("XYZ".index(letter), values["XYZ".index(letter)]) for letter in mode]
    return products(turns[2], products(turns[1], turns[0]))


def rotation_quaternions(values: Array, mode: str) -> Array:
    """Return unit quaternions (4, frames) of channel values (4 or 3, frames) in a rotation mode.

    Values that say no rotation are read as rest, as rotation_from() does.
    """
    if mode not in {"QUATERNION", "AXIS_ANGLE"}:
        return euler_quaternions(values, mode)
    numbers = values if mode == "QUATERNION" else values[1:]
    length = np.sqrt((numbers * numbers).sum(0))
    known = length > (0.0 if mode == "QUATERNION" else NO_AXIS)
    unit = np.divide(numbers, length, out=np.zeros_like(numbers), where=known)
    if mode == "QUATERNION":
        unit[0] = np.where(known, unit[0], 1.0)
        return unit
    half = np.where(known, values[0], 0.0) / 2.0
    return np.concatenate((np.cos(half)[None], np.sin(half) * unit))


def _about(axis: int, angles: Array) -> Array:
    """Return rotations (3, 3, frames) about an axis."""
    result = np.zeros((3, 3, len(angles)))
    first, second = (axis + 1) % 3, (axis + 2) % 3
    cosine, sine = np.cos(angles), np.sin(angles)
    result[axis, axis] = 1.0
    result[first, first] = result[second, second] = cosine
    result[second, first], result[first, second] = sine, -sine
    return result

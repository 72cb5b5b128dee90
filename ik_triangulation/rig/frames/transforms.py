# SPDX-License-Identifier: GPL-3.0-or-later
"""Transforms of many frames at once, as arrays (4, 4, frames): the frames come last, and one frame serves for all."""

from __future__ import annotations

import numpy as np
from mathutils import Matrix

from ...kinematics.arrays import Array
from ...kinematics.batch.algebra import euler_quaternions, matrices
from ..armature import FLAT, LARGEST, SMALLEST
from ..rotation import NO_AXIS


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
    volumes = np.linalg.det((transforms[:3, :3] / lengths).transpose(2, 0, 1))
    return bool(np.abs(volumes).min() > FLAT)


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

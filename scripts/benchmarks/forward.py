# SPDX-License-Identifier: GPL-3.0-or-later
"""A second opinion on chains in double precision: random poses at the ends of ranges, tips, and violations of limits.

Nothing here uses the package's own kinematics but for the numbers that describe a chain. Arrays are over frames first:
rotations (F, n, 4) are quaternions wxyz of n joints, matrices (F, 3, 3), places (F, 3).
"""

from math import inf, pi, tau

import numpy as np

AT_AN_END = 0.8  # share of the angles that are at an end of their range
GIMBAL = 2e-3  # sine of the angle from a gimbal pole below which one of two Euler angles may be chosen
INVERSE = np.array([1.0, -1.0, -1.0, -1.0])  # times a unit quaternion


def quaternion(axis, angle):
    """The quaternions (F, 4) for one axis (3) and angles (F)."""
    axis, angle = np.asarray(axis, float), np.asarray(angle, float)
    return np.column_stack([np.cos(angle / 2.0), np.sin(angle / 2.0)[:, None] * axis / np.linalg.norm(axis)])


def product(a, b):
    """The products of quaternions (F, 4): `b` first, then `a`."""
    w, v, u, x = a[:, :1], a[:, 1:], b[:, :1], b[:, 1:]
    return np.hstack([w * u - (v * x).sum(1, keepdims=True), w * x + u * v + np.cross(v, x)])


def matrices(rotations):
    """The matrices (F, 3, 3) of quaternions (F, 4) of about unit length."""
    w, x, y, z = (rotations / np.linalg.norm(rotations, axis=1, keepdims=True)).T
    rows = (
        (1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)),
        (2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)),
        (2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)),
    )
    return np.array(rows).transpose(2, 0, 1)


def tips(chain, base, rotations):
    """Places (F, 3) and frames (F, 3, 3) of the end effector; scales of joints are passed on to the joints after."""
    base = np.array(base, float)
    head = base[:3, :3] @ np.array(chain.joints[0].offset, float) + base[:3, 3]
    places, frames = np.tile(head, (len(rotations), 1)), np.tile(base[:3, :3], (len(rotations), 1, 1))
    offsets = [*(joint.offset for joint in chain.joints[1:]), chain.tip]
    for i, (joint, offset) in enumerate(zip(chain.joints, offsets, strict=True)):
        frames = frames @ matrices(np.array([joint.rest[:]], float)) @ matrices(rotations[:, i])
        if joint.scale is not None:
            frames = frames * np.array(joint.scale, float)
        places = places + frames @ np.array(offset, float)
    return places, frames


def at_ends(freedom, count, random, share=AT_AN_END):
    """Random rotations (F, 4) that a joint allows, each angle at an end of its range with the probability `share`."""
    kind = type(freedom).__name__
    if kind == "Locked":
        return np.tile([1.0, 0.0, 0.0, 0.0], (count, 1))
    if kind == "Free":
        return random.normal(size=(count, 4))
    if kind == "Hinge":
        return quaternion(freedom.axis, _angles(freedom.lower, freedom.upper, count, random, share))
    if kind == "Cone":
        swing = freedom.swing * np.where(random.random(count) < share, 1.0, np.sqrt(random.random(count)))
        way = random.uniform(-pi, pi, count)
        part = np.sin(swing / 2.0)
        swung = np.column_stack([np.cos(swing / 2.0), part * np.cos(way), np.zeros(count), part * np.sin(way)])
        twist = _angles(freedom.twist_lower, freedom.twist_upper, count, random, share)
        return product(swung, quaternion((0.0, 1.0, 0.0), twist))
    angles = [_angles(a, b, count, random, share) for a, b in zip(freedom.lower, freedom.upper, strict=True)]
    return in_order(freedom.order, angles)


def in_order(order, angles):
    """The rotations (F, 4) of Euler angles, three arrays for X, Y and Z, in one of Blender's orders."""
    i, j, k = ("XYZ".index(letter) for letter in order)
    first, second, third = (quaternion(np.eye(3)[axis], angles[axis]) for axis in (i, j, k))
    return product(third, product(second, first))


def _angles(lower, upper, count, random, share):
    low, high = (lower, upper) if -inf < lower and upper < inf else (-pi, pi)
    inside = random.uniform(low, high, count)
    end = np.where(random.random(count) < 0.5, low, high)
    return np.where(random.random(count) < share, end, inside)


def outside(freedom, rotations):
    """By how many radians each rotation (F, 4) is outside the limits: its angle to an allowed one near it."""
    rotations = rotations / np.linalg.norm(rotations, axis=1, keepdims=True)
    kind = type(freedom).__name__
    if kind == "Free":
        return np.zeros(len(rotations))
    if kind == "Locked":
        return np.zeros(len(rotations))  # it keeps the rotation it has, whatever that is
    if kind == "Hinge":
        axis = np.array(freedom.axis, float)
        axis /= np.linalg.norm(axis)
        angle = 2.0 * np.arctan2(rotations[:, 1:] @ axis, rotations[:, 0])
        return angles_between(quaternion(axis, _clamped(angle, freedom.lower, freedom.upper)), rotations)
    if kind == "Cone":
        twist = 2.0 * np.arctan2(rotations[:, 2], rotations[:, 0])
        swung = product(rotations, quaternion((0.0, 1.0, 0.0), -twist))
        half = np.arctan2(np.linalg.norm(swung[:, 1:], axis=1), swung[:, 0])
        ways = swung[:, 1:] / np.maximum(np.linalg.norm(swung[:, 1:], axis=1), 1e-300)[:, None]
        half = np.minimum(half, freedom.swing / 2.0)
        fitted = np.column_stack([np.cos(half), np.sin(half)[:, None] * ways])
        twist = _clamped(twist, freedom.twist_lower, freedom.twist_upper)
        return angles_between(product(fitted, quaternion((0.0, 1.0, 0.0), twist)), rotations)
    return _outside_euler(freedom, rotations)


def _outside_euler(freedom, rotations):
    i, j, k = ("XYZ".index(letter) for letter in freedom.order)
    sign = 1.0 if (i, j, k) in {(0, 1, 2), (1, 2, 0), (2, 0, 1)} else -1.0
    m = matrices(rotations)
    level = np.hypot(m[:, i, i], m[:, j, i])
    middle = np.arctan2(-sign * m[:, k, i], level)
    first = np.arctan2(sign * m[:, k, j], m[:, k, k])
    third = np.arctan2(sign * m[:, j, i], m[:, i, i])
    least = np.full(len(rotations), inf)
    for turn in ((first, middle, third), (first + pi, pi - middle, third + pi)):
        least = np.minimum(least, _from_triple(freedom, (i, j, k), turn, rotations))
    for at in np.flatnonzero((level < GIMBAL) & (least > 1e-6)):  # only the sum or difference of two angles is known
        low, high = freedom.lower[k], freedom.upper[k]
        every = np.linspace(*((low, high) if high - low < tau else (-pi, pi)), 2001)
        here = np.tile(rotations[at], (len(every), 1))
        for own in (middle[at], pi - middle[at]):
            triple = np.zeros(len(every)), np.full(len(every), own), every
            least[at] = min(least[at], _from_triple(freedom, (i, j, k), triple, here).min())
    return least


def _from_triple(freedom, order, triple, rotations):
    """Angles to the rotations of a triple clamped to the limits, where the first angle, or the last, then gives way."""
    i, j, k = order
    axes, first = np.eye(3), _clamped(triple[0], freedom.lower[i], freedom.upper[i])
    middle = quaternion(axes[j], _clamped(triple[1], freedom.lower[j], freedom.upper[j]))
    last = quaternion(axes[k], _clamped(triple[2], freedom.lower[k], freedom.upper[k]))
    rest = product(product(middle * INVERSE, last * INVERSE), rotations)
    other = quaternion(
        axes[i], _clamped(2.0 * np.arctan2(rest[:, 1 + i], rest[:, 0]), freedom.lower[i], freedom.upper[i])
    )
    least = angles_between(product(last, product(middle, other)), rotations)
    own = quaternion(axes[i], first)
    rest = product(rotations, product(own * INVERSE, middle * INVERSE))
    other = quaternion(
        axes[k], _clamped(2.0 * np.arctan2(rest[:, 1 + k], rest[:, 0]), freedom.lower[k], freedom.upper[k])
    )
    return np.minimum(least, angles_between(product(other, product(middle, own)), rotations))


def _clamped(angle, lower, upper):
    """Angles (F) moved into a range by whole turns where that is possible, else to its nearer end."""
    if upper - lower >= tau:
        return angle
    middle = (lower + upper) / 2.0 if -inf < lower and upper < inf else 0.0
    near = middle + (angle - middle + pi) % tau - pi
    return np.clip(near, lower, upper)


def angles_between(a, b):
    """Angles [rad] between unit quaternions (F, 4), exact for small ones."""
    away = product(a * INVERSE, b)
    return 2.0 * np.arctan2(np.linalg.norm(away[:, 1:], axis=1), np.abs(away[:, 0]))


def worst_violation(chain, rotations):
    """The largest angle [rad] by which any joint is outside its limits in each of the poses (F, n, 4)."""
    found = [outside(joint.freedom, rotations[:, i]) for i, joint in enumerate(chain.joints)]
    return np.max(found, axis=0)

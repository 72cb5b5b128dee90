# SPDX-License-Identifier: GPL-3.0-or-later
"""Triangles that bring a joint or the tip to a distance from the aim, and the plane in which planar methods bend.

A triangle is that of a link, about a hinge, or of any two joints. Source: Mueller-Cajar and Mukundan 2007, section 3,
where links are free. About a hinge the next joint moves on a circle: with parts of link and aim orthogonal to the axis,
its squared distance from the aim is A - B cos(angle - d), so that an interval of distances is two arcs of the circle.

Plane. Source: Cardwell and Mukundan, "Visualization and Analysis of Inverse Kinematics Algorithms Using Performance
Metric Maps", section 1: the whole chain first rotates about its root, and the rest is done in the plane it is then in.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations, islice
from math import acos, atan2, cos, inf, pi, sin, sqrt, tau

import numpy as np
from mathutils import Vector

from ..kinematics import Hinge, Pose
from ..kinematics.pose import LENGTH_ROUNDING
from ..kinematics.rotation import about, clamp_to_range, orthogonal, twist

ROUNDING = 5e-7  # of the reach: a joint this near to its span is inside it (such errors do not add up)
NOWHERE = 1e-7  # of the reach: a shorter part of the chain, or an aim this near to a joint, has no direction
CLOSED = 2e-6  # of the reach: the precision of two rotations in single precision
ALONG_HINGE = 1e-6  # sine of an angle to a hinge below which a direction lies along it
TRIES = 16  # pairs that may fail because of their limits
NEARER = 0.5  # of the distance that the best pair leaves: a pair that rotates more has to leave less than that
_FEW = 30  # joints of a chain for whose pairs plain numbers are faster than arrays
_PARALLEL = 1e-10  # square of the sine below which a pair is straight, as orthogonal() says


def bend_plane(pose: Pose, aim: Vector) -> tuple[Vector, Vector]:
    """Point the tip at `aim` by turning the root, and return the unit vectors of the plane to bend in.

    The first one leads to the aim (if that is at the root, to the tip), the second one is orthogonal to it, on the side
    of the joints, so that hinges stay in the plane in which they bend. A straight chain is not rotated and bends in its
    plane with the aim; if that is undefined, by the bend axes of its joints.
    """
    root, nowhere = pose.head(0), NOWHERE * pose.chain.reach
    to_tip, to_aim = pose.tip - root, aim - root
    if to_aim.length <= nowhere:
        to_aim = to_tip if to_tip.length > nowhere else pose.frame(0).col[1]
    along = unit(to_aim)
    if to_tip.length > nowhere and orthogonal(_summed_offsets(pose), to_tip):
        pose.swing(0, to_tip, along)
    return along, orthogonal(_summed_offsets(pose), along) or pose.bend(0, along)


def unit(vector: Vector) -> Vector:
    """Unit vector along `vector`, also for one whose length overflows single precision."""
    scaled: Vector = vector / max(map(abs, vector))
    return scaled.normalized()


def _summed_offsets(pose: Pose) -> Vector:
    """Sum of the offsets of the joints from the root."""
    root = pose.head(0)
    return sum((pose.head(i) - root for i in range(1, len(pose))), Vector())


def close_triangle(pose: Pose, aim: Vector, nearly: bool = False) -> bool:
    """Bring the tip to `aim` by the two joints that rotate least, all others keep theirs; False if no pair does it.

    Then `nearly` leaves the pair that brings the tip nearest, if any brings it nearer, and else nothing is turned.
    """
    near = CLOSED * pose.chain.reach
    tip, left = pose.tip, (aim - pose.tip).length
    if left <= near:
        return True
    rotations, turns = pose.rotations[:], len(pose.turns)
    best = rotations, pose.turns[turns:]
    pairs = _pairs(pose, aim) if len(pose) <= _FEW else _pairs_of_many(pose, aim)
    for _, i, k in islice(pairs, TRIES):
        before, head, elbow = pose.tip, pose.head(i), pose.head(k)
        pose.swing(k, before - elbow, _opened(pose, tip, aim, i, k))
        pose.swing(i, pose.tip - head, aim - head)
        missed = (aim - pose.tip).length
        if missed <= near:
            return True
        if nearly and missed < NEARER * left:
            left, best = missed, (pose.rotations[:], pose.turns[turns:])
        pose.restore(rotations, turns)
    pose.restore(best[0], turns)
    pose.turns += best[1]
    return False


def _pairs(pose: Pose, aim: Vector) -> Iterator[tuple[float, int, int]]:
    """Every pair of joints that would bring the tip to `aim` without limits, after the sum of their rotations [rad].

    The first one is the cheapest; only if that is not all, all others are ranked.
    """
    heads, tip = pose.heads, pose.tip
    moving = [i for i, joint in enumerate(pose.chain.joints) if joint.freedom.moves]
    joints = [(i, heads[i], (tip - heads[i]).length, (aim - heads[i]).length) for i in moving]
    first = min(_costs(joints, aim - tip, pose.chain.reach, True), default=None)
    if first:
        yield first
        yield from sorted(_costs(joints, aim - tip, pose.chain.reach, False))[1:]


def _costs(
    joints: Sequence[tuple[int, Vector, float, float]], way: Vector, reach: float, cheapest: bool
) -> Iterator[tuple[float, int, int]]:
    """The pairs of joints, after the sum of their rotations [rad]; with `cheapest` only those that may be the best.

    Of each joint the head is given and how far the tip and the aim are from it, and the `way` from the tip to the aim.
    All angles follow from the distances between both joints, the tip and the aim. Their sum is at least what brings
    the tip as far from the first joint as the aim is, and then over the rest of the way.
    """
    size, between, best = way.length, way.length_squared, inf
    nowhere, rounding = NOWHERE * reach, LENGTH_ROUNDING * reach
    for (i, head, far, c), (k, elbow, b, to_aim) in combinations(joints, 2):
        if b <= nowhere:
            continue
        if cheapest:
            off = abs(far - c)
            if (off - rounding) / b + ((size - off) / c if b < c and off < size else 0.0) > best:
                continue
        a = (elbow - head).length
        if a <= nowhere or not abs(a - b) <= c <= a + b:
            continue
        aa, bb, cc, product = a * a, b * b, c * c, a * b
        cosine = 0.5 * (aa + bb - cc) / product  # of the angle at the second joint, once it is opened
        if not -1.0 <= cosine <= 1.0:
            cosine = _within(cosine)
        along_second, along_aim = 0.5 * (far * far - aa - bb), 0.5 * (aa + cc - to_aim * to_aim)  # dot products
        across, aside = bb - along_second * along_second / aa, cc - along_aim * along_aim / aa
        if across > _PARALLEL * bb:
            aside = 0.5 * (far * far + to_aim * to_aim - between - aa) - along_second * along_aim / aa
            aside /= sqrt(across)
        else:  # a straight pair bends towards the aim
            aside = sqrt(max(aside, 0.0))
        there = along_aim * (1.0 - cosine * b / a) + aside * sqrt(1.0 - cosine * cosine) * b
        bend = abs(pi - acos(cosine) - acos(_within(along_second / product)))
        cost = bend + (acos(_within(there / cc)) if c > nowhere else 0.0)
        best = min(best, cost)
        yield cost, i, k


def _pairs_of_many(pose: Pose, aim: Vector) -> Iterator[tuple[float, int, int]]:
    """The cheapest of the same pairs, on arrays: faster where there are many."""
    moving = np.array([i for i, joint in enumerate(pose.chain.joints) if joint.freedom.moves], int)
    heads = np.array([pose.head(i) for i in moving.tolist()], float).reshape(-1, 3)
    tip, there = np.array(pose.tip, float), np.array(aim, float)
    far, to_aim = np.linalg.norm(tip - heads, axis=1), np.linalg.norm(there - heads, axis=1)
    i, k = np.triu_indices(len(moving), 1)
    a, b, c = np.linalg.norm(heads[k] - heads[i], axis=1), far[k], to_aim[i]
    possible = (np.minimum(a, b) > NOWHERE * pose.chain.reach) & (np.abs(a - b) <= c) & (c <= a + b)
    i, k, a, b, c = (each[possible] for each in (i, k, a, b, c))
    first, second, way = heads[k] - heads[i], tip - heads[k], there - heads[i]
    cosine = np.clip(0.5 * (a * a + b * b - c * c) / (a * b), -1.0, 1.0)
    along, along_aim = np.einsum("pi,pi->p", first, second), np.einsum("pi,pi->p", first, way)
    across = second - first * (along / (a * a))[:, None]  # towards the aim where the pair is straight
    aside = way - first * (along_aim / (a * a))[:, None]
    straight = np.einsum("pi,pi->p", across, across) <= _PARALLEL * b * b
    across = np.where(straight[:, None], aside, across)
    length = np.linalg.norm(across, axis=1)
    aside_of = np.einsum("pi,pi->p", aside, across) / np.where(length > 0.0, length, 1.0)
    reached = along_aim * (1.0 - cosine * b / a) + aside_of * np.sqrt(1.0 - cosine * cosine) * b
    cost = np.abs(pi - np.arccos(cosine) - np.arccos(np.clip(along / (a * b), -1.0, 1.0)))
    somewhere = c > NOWHERE * pose.chain.reach
    turned = np.arccos(np.clip(reached / np.where(somewhere, c * c, 1.0), -1.0, 1.0))
    cost += np.where(somewhere, turned, 0.0)
    best = cost.argsort(kind="stable")[:TRIES]
    return zip(cost[best].tolist(), moving[i[best]].tolist(), moving[k[best]].tolist(), strict=True)


def _within(cosine: float) -> float:
    return min(max(cosine, -1.0), 1.0)


def _opened(pose: Pose, tip: Vector, aim: Vector, i: int, k: int) -> Vector:
    """The way from joint `k` to the tip that brings this as far from joint `i` as the aim is."""
    head, elbow = pose.head(i), pose.head(k)
    first, second, to_aim = elbow - head, tip - elbow, aim - head
    a, b = first.length, second.length
    inside = corner(a, b, to_aim.length)
    # A straight pair bends towards the aim, or as the joint prefers.
    across = orthogonal(second, first) or orthogonal(to_aim, first) or -pose.bend(k, first)
    return first * (-cos(inside) * b / a) + across * (sin(inside) * b)


def place_about(pose: Pose, i: int, hinge: Hinge, aim: Vector, shortest: float, longest: float) -> None:
    """Rotate a hinge as little as brings the next joint to a distance between both from the aim, or nearly."""
    if not hinge.moves:
        return
    axis = (pose.socket(i) @ hinge.axis).normalized()
    link, to_aim = pose.link(i), aim - pose.head(i)
    along, there = link.dot(axis), to_aim.dot(axis)
    arm, target = link - axis * along, to_aim - axis * there
    radius = 2.0 * arm.length * target.length
    if radius <= ALONG_HINGE * link.length * to_aim.length:
        return
    middle = link.length_squared + to_aim.length_squared - 2.0 * along * there
    straight = atan2(axis.dot(arm.cross(target)), arm.dot(target))
    least, most = (acos(min(max((middle - b * b) / radius, -1.0), 1.0)) for b in (shortest, longest))
    value = clamp_to_range(twist(pose.rotations[i], hinge.axis), hinge.lower, hinge.upper)
    lower, upper = hinge.lower - value, hinge.upper - value

    def off(angle: float) -> float:
        distance = sqrt(max(0.0, middle - radius * cos(angle - straight)))
        return max(0.0, distance - longest, shortest - distance)

    wanted = [
        straight + side * angle + turns for side in (-1, 1) for angle in (least, most) for turns in (-tau, 0.0, tau)
    ]
    inside = [angle for angle in wanted if lower <= angle <= upper]
    ends = [end for end in (lower, upper) if abs(end) <= tau]
    slack = ROUNDING * pose.chain.reach
    found = min(inside + ends, key=lambda angle: (max(0.0, off(angle) - slack), abs(angle)), default=0.0)
    pose.put(i, about(hinge.axis, min(max(value + found, hinge.lower), hinge.upper)))


def place(pose: Pose, i: int, link: Vector, to_aim: Vector, b: float) -> float:
    """Rotate joint `i` until the next joint is `b` from the aim, or nearly; returns the angle [rad] of link and aim."""
    angle = opening(pose, link.length, to_aim.length, b)
    point(pose, i, link, to_aim, angle)
    return angle


def point(pose: Pose, i: int, link: Vector, to_aim: Vector, angle: float) -> None:
    """Rotate joint `i`, in the plane of its link and the aim, until they are at `angle` [rad] to each other."""
    c, nowhere = to_aim.length, NOWHERE * pose.chain.reach
    if link.length <= nowhere or c <= nowhere:
        return
    if angle == 0.0:
        pose.swing(i, link, to_aim)
    else:
        across = orthogonal(link, to_aim) or pose.bend(i, to_aim)
        pose.swing(i, link, to_aim * (cos(angle) / c) + across * sin(angle))


def opening(pose: Pose, a: float, c: float, b: float) -> float:
    """Angle [rad] of a link `a` and the aim, `c` away, that puts the next joint `b` from the aim, or nearly.

    A triangle that is degenerate within rounding counts as flat: single precision cannot resolve its angles.
    """
    return flat_or_corner(ROUNDING * pose.chain.reach, a, c, b)


def flat_or_corner(slack: float, a: float, c: float, b: float) -> float:
    """Angle [rad] between sides `a` and `c` of a triangle, opposite `b`, that is flat within `slack` or not at all."""
    if c > a + b - slack or a > b + c - slack:
        return 0.0
    return pi if b > a + c - slack else corner(a, c, b)


def corner(a: float, c: float, b: float) -> float:
    """Angle [rad] between sides `a` and `c` of a triangle, opposite `b`; 0 for too short a `b`, pi for too long."""
    s = (a + b + c) / 2.0
    sine, cosine = (s - a) * (s - c), s * (s - b)  # of half the angle, squared and scaled alike
    if sine <= 0.0:
        return 0.0
    return 2.0 * atan2(sqrt(sine), sqrt(cosine)) if cosine > 0.0 else pi

# SPDX-License-Identifier: GPL-3.0-or-later
"""The planar methods for many arms at once: each reads like its scalar counterpart in solvers/, where its source is.

A direction to the left of another, that is counter-clockwise of it, is on its side +1, to the right on its side -1.
"""

from math import pi

import numpy as np

from ik_triangulation.kinematics.pose import LENGTH_ROUNDING
from ik_triangulation.solvers.single_pass import ASIDE, MUCH, middle

from .planar import Arms, Flags, Numbers, Places, Step

_PARALLEL = 1e-5  # sine of an angle below which there are no sides; as kinematics/rotation.py has it
_HALVINGS = 48  # of the range in which the circle's angle is sought: double precision is then used up


def ccd(arms: Arms, aims: Places) -> None:
    """One sweep from the last joint to the root; see solvers/ccd.py."""
    for i in reversed(range(len(arms))):
        head = arms.places[i]
        arms.turn(i, _rotation(arms.tip - head, aims - head))


def triangulation(arms: Arms, aims: Places) -> None:
    """One pass in which every joint turns as little as it can; see solvers/triangulation.py."""
    slack = LENGTH_ROUNDING * arms.reach
    for i, (shortest, longest) in enumerate(arms.spans):
        distance = abs(aims - arms.places[i + 1])
        outside = (distance > longest + slack) | (distance < shortest - slack)
        _point(arms, i, aims, _opening(arms, i, aims, np.clip(distance, shortest, longest)), outside)


def triangulation_2007(arms: Arms, aims: Places) -> None:
    """One pass of the published method; see solvers/triangulation.py."""
    for i, (_, longest) in enumerate(arms.spans):
        after = arms.link(i + 1) if i + 1 < len(arms) else None
        angle = _opening(arms, i, aims, longest)
        _point(arms, i, aims, angle)
        if after is not None:
            arms.turn(i + 1, _rotation(arms.link(i + 1), after), angle == pi)


def triangulation_right_angle(arms: Arms, aims: Places) -> None:
    """One pass in which links stand as near to right angles to the aim as they can; see solvers/triangulation.py."""
    for i, span in enumerate(arms.spans):
        least, most = (_opening(arms, i, aims, b) for b in span)
        _point(arms, i, aims, np.clip(pi / 2.0, least, most))


def single_pass(arms: Arms, aims: Places) -> None:
    """One pass that goes round an aim that is near; see solvers/single_pass.py."""
    side = _face(arms, aims)
    lengths, spans, count = arms.lengths, arms.spans, len(arms)
    left = [sum(lengths), *(longest for _, longest in spans)]  # length of the chain from each joint on
    going = np.ones(aims.size, dtype=bool)
    for i in range(count):
        k = middle(left, i)
        a, b = left[i] - left[k], left[k]
        to_aim = aims - arms.places[i]
        c = np.abs(to_aim)
        closing = going & ((a * a + b * b <= c * c) | (i >= count - 2))
        towards = to_aim * np.exp(1j * side * _triangle(arms, a, c, b))
        for j in range(i, k):
            arms.turn(j, _rotation(arms.link(j), towards), closing)
        for j in range(k, count):
            arms.turn(j, _rotation(arms.link(j), aims - arms.places[j]), closing)
        going &= ~closing
        angle = _corner(lengths[i], c, c) + np.where(pi - _corner(a, b, c) > MUCH, ASIDE, -ASIDE)
        least, most = (_opening(arms, i, aims, distance) for distance in spans[i])
        arms.turn(i, _rotation(arms.link(i), to_aim * np.exp(1j * side * np.clip(angle, least, most))), going)


def circular(arms: Arms, aims: Places) -> None:
    """Bend the chain to the arc of a circle; see solvers/circular.py."""
    side = _face(arms, aims)
    halves = _half_angles(arms.lengths, np.abs(aims))
    angle = halves.sum(axis=0)
    for i, half in enumerate(halves):
        angle -= half
        arms.turn(i, _rotation(arms.link(i), aims * np.exp(1j * side * angle)))
        angle -= half


STEPS: dict[str, Step] = {
    "CCD": ccd,
    "TRIANGULATION": triangulation,
    "TRIANGULATION_2007": triangulation_2007,
    "TRIANGULATION_RIGHT_ANGLE": triangulation_right_angle,
    "SINGLE_PASS": single_pass,
    "CIRCULAR": circular,
}


def _rotation(start: Places, end: Places) -> Places:
    """Complex numbers of length 1 that turn directions onto others; 1 where one of them has no length."""
    product = end * start.conj()
    size = abs(product)
    return np.divide(product, size, out=np.ones_like(product), where=size > 0.0)


def _side(vector: Places, direction: Places) -> Numbers:
    """On which side of `direction` a vector is; -1, where Pose.bend() points, for parallel ones."""
    across = (vector * direction.conj()).imag
    return np.where(across > _PARALLEL * abs(vector) * abs(direction), 1.0, -1.0)


def _face(arms: Arms, aims: Places) -> Numbers:
    """Point the tips at the aims; returns the side on which to bend, where joints stand. See solvers/triangle.py."""
    tip, stands = arms.tip, arms.places[1:-1].sum(axis=0)
    bent = abs((stands * tip.conj()).imag) > _PARALLEL * abs(stands) * abs(tip)
    arms.turn(0, _rotation(tip, aims), bent)
    return _side(arms.places[1:-1].sum(axis=0), aims)


def _point(arms: Arms, i: int, aims: Places, angle: Numbers, where: Flags | None = None) -> None:
    """Turn joint `i` until its link and the aim are at `angle` [rad] to each other."""
    link, to_aim = arms.link(i), aims - arms.places[i]
    nowhere = LENGTH_ROUNDING * arms.reach
    somewhere = (abs(link) > nowhere) & (abs(to_aim) > nowhere)
    towards = to_aim * np.exp(1j * _side(link, to_aim) * angle)
    arms.turn(i, _rotation(link, towards), somewhere if where is None else somewhere & where)


def _opening(arms: Arms, i: int, aims: Places, b: float | Numbers) -> Numbers:
    """Angle [rad] of link `i` and the aim that puts the next joint `b` from the aim, or nearly."""
    return _triangle(arms, arms.lengths[i], abs(aims - arms.places[i]), b)


def _triangle(arms: Arms, a: float, c: Numbers, b: float | Numbers) -> Numbers:
    """Angle [rad] between sides `a` and `c` of triangles, opposite `b`; those flat within rounding count as flat."""
    slack = LENGTH_ROUNDING * arms.reach
    return np.where(c > a + b - slack, 0.0, np.where(b > a + c - slack, pi, _corner(a, c, b)))


def _corner(a: float | Numbers, c: float | Numbers, b: float | Numbers) -> Numbers:
    """Angle [rad] between sides `a` and `c` of triangles, opposite `b`; 0 for too short a `b`, pi for too long."""
    s = (a + b + c) / 2.0
    sine, cosine = (s - a) * (s - c), s * (s - b)  # of half the angle, squared and scaled alike
    return 2.0 * np.arctan2(np.sqrt(np.maximum(sine, 0.0)), np.sqrt(np.maximum(cosine, 0.0)))


def _half_angles(lengths: tuple[float, ...], distance: Numbers) -> Numbers:
    """Half the segment angle [rad] of each link, a row each, on the circles on which chains end at `distance`."""
    reach, longest = sum(lengths), max(lengths)
    ratios = np.array(lengths)[:, None] / longest
    m = lengths.index(longest)
    low = np.where(distance <= 2.0 * longest - reach, pi, 0.0)
    high = np.full(distance.size, pi)
    for _ in range(_HALVINGS):
        t = (low + high) / 2.0
        halves = np.arcsin(np.minimum(1.0, ratios * np.sin(t)))
        halves[m] = t
        whole = halves.sum(axis=0)
        chord = longest * np.sin(whole) / np.sin(t)
        near = (whole < pi) & (chord > distance)
        low, high = np.where(near, t, low), np.where(near, high, t)
    return np.where(distance >= reach, 0.0, halves)

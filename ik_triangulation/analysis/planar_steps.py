# SPDX-License-Identifier: GPL-3.0-or-later
"""The planar methods for many arms at once: each reads like its scalar counterpart in solvers/, where its source is."""

import numpy as np

from ..solvers.solve import ROUNDING
from .planar import Arms, Flags, Numbers, Places, Step

_PARALLEL = 1e-5  # sine of an angle between link and aim below which the arm has no side to bend to


def ccd(arms: Arms, aims: Places) -> None:
    """One sweep from the last joint to the root; see solvers/ccd.py."""
    for i in reversed(range(len(arms))):
        head = arms.places[i]
        arms.turn(i, _rotation(arms.tip - head, aims - head))


def triangulation(arms: Arms, aims: Places) -> None:
    """One pass in which every joint turns as little as it can; see solvers/triangulation.py."""
    slack = ROUNDING * arms.reach
    for i, (shortest, longest) in enumerate(arms.spans):
        distance = abs(aims - arms.places[i + 1])
        outside = (distance > longest + slack) | (distance < shortest - slack)
        _place(arms, i, aims, np.clip(distance, shortest, longest), outside)


def triangulation_2007(arms: Arms, aims: Places) -> None:
    """One pass of the published method; see solvers/triangulation.py."""
    for i, (_, longest) in enumerate(arms.spans):
        _place(arms, i, aims, np.full(aims.size, longest), np.ones(aims.size, dtype=bool))


STEPS: dict[str, Step] = {
    "CCD": ccd,
    "TRIANGULATION": triangulation,
    "TRIANGULATION_2007": triangulation_2007,
}


def _place(arms: Arms, i: int, aims: Places, b: Numbers, where: Flags) -> None:
    """Turn joint `i` until the next joint is `b` from the aim, or nearly."""
    link, to_aim = arms.places[i + 1] - arms.places[i], aims - arms.places[i]
    a, c = abs(link), abs(to_aim)
    nowhere = ROUNDING * arms.reach
    across = (link * to_aim.conj()).imag
    side = np.where(across > _PARALLEL * a * c, 1.0, -1.0)  # parallel: as Pose.bend, clockwise
    turned = to_aim * np.exp(1j * side * _corner(a, c, b))
    arms.turn(i, _rotation(link, turned), where & (a > nowhere) & (c > nowhere))


def _corner(a: Numbers, c: Numbers, b: Numbers) -> Numbers:
    """Angle [rad] between sides `a` and `c` of triangles, opposite `b`; 0 for too short a `b`, pi for too long."""
    s = (a + b + c) / 2.0
    sine, cosine = (s - a) * (s - c), s * (s - b)  # of half the angle, squared and scaled alike
    return 2.0 * np.arctan2(np.sqrt(np.maximum(sine, 0.0)), np.sqrt(np.maximum(cosine, 0.0)))


def _rotation(start: Places, end: Places) -> Places:
    """Complex numbers of length 1 that turn directions onto others; 1 where one of them has no length."""
    product = end * start.conj()
    size = abs(product)
    return np.divide(product, size, out=np.ones_like(product), where=size > 0.0)

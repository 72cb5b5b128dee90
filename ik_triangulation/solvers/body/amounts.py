# SPDX-License-Identifier: GPL-3.0-or-later
"""Amounts of the basis of a reach (turn, aside, hinge and crouch), what they cost, and Newton's step down that cost."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...kinematics.arrays import Numbers

LOWEST = np.array([-1.6, -1.0, 0.0, 0.0])  # amounts of turn, aside, hinge and crouch
HIGHEST = np.array([1.6, 1.0, 1.4, 1.5])
# Costs of the amounts a beside squared shares of the arm's length that are missing: of |a|, of a^2, and of a^4.
_FIRST = np.array([0.0, 0.0, 0.0, 0.12])
_SECOND = np.array([0.02, 0.025, 0.03, 0.02])
_FOURTH = np.array([0.0, 0.0, 0.015, 0.0])
# To what is straight below people hinge and crouch, and hardly turn or lean aside: powers of e by which a^2 costs more.
_BELOW = np.array([0.5, 1.2, 0.0, 0.0])


def cost_of_amounts(
    amounts: Numbers, missing: Sequence[tuple[Numbers, Numbers]], below: Numbers
) -> tuple[Numbers, Numbers, Numbers]:
    """Cost (P), slope (4, P) and curvature (4, 4, P), of what is missing as Gauss and Newton have it.

    `below` (P) tells how far straight down the places are: 1 below, -1 above, 0 where they are level, aside or behind.
    """
    count, squared = len(amounts), amounts**2
    first, fourth = _FIRST[:, None], _FOURTH[:, None]
    second = _SECOND[:, None] * np.exp(_BELOW[:, None] * below)
    cost = (first * np.abs(amounts) + second * squared + fourth * squared**2).sum(0)
    slope = first * np.sign(amounts) + 2.0 * second * amounts + 4.0 * fourth * amounts * squared
    curve = np.zeros((count, *amounts.shape))
    curve[range(count), range(count)] = 2.0 * second + 12.0 * fourth * squared
    for each, rows in missing:
        cost = cost + each**2
        slope += 2.0 * each * rows
        curve += 2.0 * rows[:, None] * rows[None]
    return cost, slope, curve


def newton_step(amounts: Numbers, slope: Numbers, curve: Numbers) -> Numbers:
    """A step of Newton's method (4, P), in which an amount at a bound that it would leave stays there."""
    low, high = LOWEST[:, None], HIGHEST[:, None]
    stuck = (amounts <= low) & (slope + (low == 0.0) * _FIRST[:, None] > 0.0) | (amounts >= high) & (slope < 0.0)
    free = (~stuck).astype(float)
    diagonal = range(len(amounts))
    curve = curve * free[:, None] * free[None]
    curve[diagonal, diagonal] += 1.0 - free + 1e-9
    step: Numbers = np.linalg.solve(np.moveaxis(curve, -1, 0), -(slope * free).T[..., None])[..., 0].T
    return step

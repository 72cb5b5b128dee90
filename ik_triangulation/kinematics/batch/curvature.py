# SPDX-License-Identifier: GPL-3.0-or-later
"""Second derivatives of the place of a chain's end by the columns of its tree, for many poses at once.

Of two joints the outer one turns the axis of the inner one, so the derivative of a velocity v by an outer column is the
cross product of that column's axis with v. The angles of one joint are nested in the same way; the rotation vector of
a ball joint is symmetric in its axes. The swing of a cone is a rotation vector as well, which changes along and across:
the axis across depends on both (the derivative of the left Jacobian), and where the swing is on the edge of its cone a
change across it follows that edge.
"""

from __future__ import annotations

import numpy as np

from ..arrays import Numbers
from .algebra import cross, dot
from .cones import Cones
from .states import States
from .tree import Tree

_SMALL = 1e-3  # [rad] swings for which series are more exact than the formulas
_ON_EDGE = 1e-9  # [rad] from the edge of a cone


def nesting(tree: Tree) -> Numbers:
    """For each pair of columns (k, k) 1 where the first turns the second, 0 where it is turned, else a half."""
    rank = 8.0 * tree.joint_of
    for kind in tree.kinds:
        rank[kind.rows] += kind.ranks
    return 0.5 * (1.0 + np.sign(rank - rank[:, None]))


def curvature(
    tree: Tree, states: States, axes: Numbers, velocities: Numbers, levers: Numbers, along: Numbers, order: Numbers
) -> Numbers:
    """Second derivatives (F, k, k), along a vector (3, F), of the place of a chain's end.

    `axes` and `velocities` (k, 3, F) are those of all columns, `levers` (n, 3, F) lead from the joints to the end, and
    `order` (k, k) is nesting().
    """
    first = np.ascontiguousarray(cross(along[None], axes).transpose(2, 0, 1))
    curved: Numbers = first @ velocities.transpose(2, 1, 0)
    curved *= order
    curved += curved.swapaxes(1, 2).copy()
    if tree.cones:
        _add_cones(tree.cones, states, axes, levers, along, curved)
    return curved


def _add_cones(cones: Cones, states: States, axes: Numbers, levers: Numbers, along: Numbers, curved: Numbers) -> None:
    """Add what the axes of swings change by."""
    rows = np.arange(cones.rows.start, cones.rows.stop, 3)
    swing = np.hypot(states.angles[rows], states.angles[rows + 1])
    small = swing < _SMALL
    size = np.where(small, 1.0, swing)
    sine, cosine = np.sin(size), np.cos(size)
    s, r = np.where(small, 1.0, sine / size), np.where(small, 0.5 * swing, (1.0 - cosine) / size)
    s_by = np.where(small, -swing / 3.0, (size * cosine - sine) / size**2)
    r_by = np.where(small, 0.5, (size * sine - 1.0 + cosine) / size**2)
    torques = cross(levers[list(cones.joints)], along[None])
    bent = np.where(small, swing / 6.0, (size - sine) / size**2)
    edge = (swing >= cones.opening - _ON_EDGE) & ~small
    curved[:, rows + 1, rows + 1] += (dot(axes[rows], torques) * (bent - np.where(edge, 1.0 / size, 0.0))).T
    across, third = axes[rows + 1], cross(axes[rows], axes[rows + 1])
    change = (s_by * s + r_by * r)[:, None] * across + (r_by * s - s_by * r)[:, None] * third
    mixed = (dot(change, torques) / (s**2 + r**2)).T
    curved[:, rows, rows + 1] += mixed
    curved[:, rows + 1, rows] += mixed

# SPDX-License-Identifier: GPL-3.0-or-later
"""Velocities by the amounts of a basis of turns, of joints of a body that stays on its feet and above them.

A joint turns by the exponential of the sum of its turns, so its axis for more of one of them is that turn through the
right Jacobian of the exponential. Feet stay: what would move them moves the hips. Where the weight has to be brought
above them, legs lean, which carries hips and all above them by what is missing. Source of the Jacobian: Chirikjian
2011, "Stochastic Models, Information Theory, and Lie Groups", volume 2.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...goals.support import BalanceTask
from ...kinematics.arrays import Indices, Numbers
from ...kinematics.batch import Geometry
from ...kinematics.batch.algebra import cross, dot, lengths, rotate

_SMALL = 1e-4  # [rad] turns for which series are more exact than the formulas


class Speeds:
    """Velocities by each of c amounts, in P poses whose joints (n) turn by `turns` (n, c, 3, P) for more of one.

    These are rotation vectors in the joints' own frames. `feet` are the tips that stay, `short` (3, P) is the way by
    which legs carry the centre of mass back, 0 where they do not.
    """

    def __init__(
        self,
        geometry: Geometry,
        joints: Indices,
        turns: Numbers,
        feet: Sequence[int],
        steady: BalanceTask | None,
        short: Numbers | None,
    ) -> None:
        tree = self._tree = geometry.tree
        self._geometry, self._joints = geometry, joints
        self._axes = rotate(geometry.frames[joints][:, None, :, :3], turns)
        self._moments = cross(self._axes, geometry.heads[joints][:, None])
        off = np.mean([self._by_turns(tree.tips[tip].joint, geometry.tip(tip)) for tip in feet], 0)
        ways = tree.root_ways.T @ tree.root_ways
        self._root = -np.einsum("ij,cjf->cif", ways, off)
        if steady is not None and short is not None:
            levers = steady.levers(geometry)[joints]
            centre = cross(self._axes, levers[:, None]).sum(0) + self._root
            way = short / np.maximum(lengths(short), 1e-300)
            self._root = self._root - way * dot(centre, way[None])[:, None]

    def of_head(self, joint: int) -> Numbers:
        """Velocities (c, 3, P) of the head of a joint."""
        found: Numbers = self._by_turns(joint, self._geometry.heads[joint]) + self._root
        return found

    def _by_turns(self, joint: int, place: Numbers) -> Numbers:
        """Velocities (c, 3, P) of a place (3, P) that turns with a joint, on hips that stay."""
        above = self._tree.above[self._joints, joint]
        found: Numbers = cross(self._axes[above].sum(0), place[None]) - self._moments[above].sum(0)
        return found


def turning_on(turns: Numbers, turned: Numbers, beyond: Numbers) -> Numbers:
    """Return how joints turn on by each amount (n, c, 3, P), from the turns of one unit and those so far (n, 3, P).

    What limits have taken off, `beyond` (n, 3, P), stays taken off: about that axis a joint does not turn.
    """
    v = turned[:, None]
    angle = lengths(v)
    small = angle < _SMALL
    size = np.where(small, 1.0, angle)
    first = np.where(small, 0.5, (1.0 - np.cos(size)) / size**2)[..., None, :]
    second = np.where(small, 1.0 / 6.0, (size - np.sin(size)) / size**3)[..., None, :]
    across = cross(v, turns)
    found: Numbers = turns - first * across + second * cross(v, across)
    stopped = lengths(beyond)
    if (stopped > _SMALL).any():
        axis = (beyond / np.maximum(stopped, _SMALL)[:, None] * (stopped > _SMALL)[:, None])[:, None]
        found = found - axis * dot(found, axis)[..., None, :]
    return found

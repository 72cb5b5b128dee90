# SPDX-License-Identifier: GPL-3.0-or-later
"""The full bake of an IK control and its pole, whose keys are reduced as those of a limb are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ..kinematics import Free
from ..kinematics.arrays import Array
from .bezier import Curves
from .reduction import FullBake, JointChannels


@dataclass(frozen=True)
class _Joint:
    freedom: Free = field(default_factory=Free)


@dataclass(frozen=True)
class _Control:
    """A chain of one free joint, as FullBake takes it."""

    joints: Sequence[_Joint] = (_Joint(),)


class _Turning:
    """The rotations (F x 1 x 4) of a control."""

    def __init__(self, count: int) -> None:
        self.chains, self.which = [_Control()], np.zeros(count, np.intp)
        self.rotations = np.tile((1.0, 0.0, 0.0, 0.0), (count, 1, 1))

    def tips(self, rotations: Array, frames: Array) -> Array:
        raise NotImplementedError("a control has no chain")


class FullControls(FullBake):
    """The bake of a control at every frame: columns `located` are its location, `others` those of pole and base.

    A deviation is that of the tip that the control carries, which is `lever` away from it, or if that is more what the
    others deviate [all of the same unit, times `scale`]: an elbow is nearer to the line that it turns about than the
    pole is. Rotations are in `tracks`, of one joint or none.
    """

    def __init__(
        self,
        curves: Curves,
        tracks: Sequence[JointChannels],
        located: Sequence[int],
        others: Sequence[int],
        lever: float,
        scale: float,
    ) -> None:
        count = len(curves.times)
        super().__init__(curves, tracks, _Turning(count), np.broadcast_to(np.eye(4), (count, 4, 4)))
        self._free[[*located, *others]] = True
        self._located, self._others, self._lever, self._scale = list(located), list(others), lever, scale
        self._values = np.empty((len(self._times), curves.values.shape[1]))
        self._quaternions = np.empty((4, len(self._times)))

    def _remember(self, values: Array, turned: Array, samples: Array) -> None:
        self._values[samples] = values
        self._quaternions[:, samples] = turned[0]

    def _apart(self, values: Array, turned: Array, samples: Array) -> Array:
        off = values - self._values[samples]
        cosine = np.abs(np.einsum("in,in->n", turned[0], self._quaternions[:, samples]))
        angles = 2.0 * np.arccos(np.minimum(cosine, 1.0))
        moved = np.linalg.norm(off[:, self._located], axis=1) + angles * self._lever
        return np.asarray(np.maximum(moved, np.linalg.norm(off[:, self._others], axis=1)) * self._scale)

# SPDX-License-Identifier: GPL-3.0-or-later
"""The full bake of a body, whose keys are reduced as those of a limb are: every tip is bounded, and the balance."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..goals.batch import BalanceTask, Task
from ..kinematics import Body, Free
from ..kinematics.arrays import Array, Indices, Mask, Numbers
from ..kinematics.batch import Geometry, States, Tree
from .bezier import Curves
from .reduction import FullBake, JointChannels

_LEAST = 1e-9  # share of a tolerance that counts as nothing


@dataclass(frozen=True, kw_only=True)
class BodySpace:
    """All that bounds a body at S samples of a bake: its frames and half frames.

    `rotations` (n, 4, S) are those of the joints as animated, for joints without keys, and `roots` (3, 3, S) those of
    the frame that the hips hang in; `placed` returns the place (3, m) of the hips' parent's origin that location
    channels (3, m) make of it at samples (m). `held` are the tasks of the held tips, `steady` that of the balance
    without a margin, and `near` the distances [Blender units, armature space] within which the other tips, by their
    numbers, stay of the full bake.
    """

    body: Body
    rotations: Numbers
    roots: Numbers
    placed: Callable[[Numbers, Indices], Numbers]
    held: Sequence[Task]
    steady: BalanceTask | None
    near: Mapping[int, float]


class _Frames:
    """The rotations of a body at its frames, as FullBake takes those of a chain."""

    def __init__(self, body: Body, rotations: Array) -> None:
        self.chains, self.which = [body], np.zeros(len(rotations), np.intp)
        self.rotations = rotations

    def tips(self, rotations: Array, frames: Array) -> Array:
        raise NotImplementedError("a body has several tips")


class FullBody(FullBake):
    """The bake of a body at every frame, with the channels of its rotations and, in columns `located`, its location.

    A deviation is a share of what each tip may deviate, the largest of all tips; 1 is the most that is allowed. Held
    tips are measured by the place and the rotation to hold, the others by where the full bake has them. What the full
    bake deviates itself is allowed, and so is its distance of the centre of mass from the support.
    """

    def __init__(
        self,
        curves: Curves,
        tracks: Sequence[JointChannels],
        rotations: Array,
        space: BodySpace,
        located: Sequence[int] = (),
    ) -> None:
        """Take the `rotations` (F x joints x 4) of all joints at the frames, unit quaternions."""
        count = len(curves.times)
        super().__init__(curves, tracks, _Frames(space.body, rotations), np.broadcast_to(np.eye(4), (count, 4, 4)))
        self._free[list(located)] = True
        self.space, self._located = space, list(located)
        tree = space.body.tree
        self._tree = Tree([replace(joint, freedom=Free()) for joint in tree.joints], tree.parents, tree.tips)
        samples = len(self._times)
        self._places = np.empty((len(space.near), 3, samples))
        self.off = np.zeros((len(space.held), samples))  # of held tips in the full bake, as shares of their tolerances
        self._outside = np.zeros(samples)

    def geometry(self, curves: Curves, samples: Indices) -> Geometry:
        """Places of all joints with other curves at samples, without regard to limits."""
        values = self._with(curves, samples)
        return self._posed(values, self._turned(values, samples), samples)

    def rotations(self, curves: Curves, samples: Indices) -> Numbers:
        """Rotations (n, 4, m) of all joints with other curves at samples."""
        return self._turned(self._with(curves, samples), samples)

    @property
    def times(self) -> Numbers:
        """Times of all samples (S)."""
        return np.asarray(self._times)

    @property
    def inner(self) -> Mask:
        """The samples (S) that are between two frames."""
        return np.asarray(np.arange(len(self._times)) % self._parts != 0)

    def far(self, share: float) -> Mask:
        """Segments (F - 1) in which the full bake has a held tip farther off than this share of what is allowed."""
        worst: Numbers = self.off.max(0, initial=0.0)[:-1]
        return np.asarray(worst.reshape(-1, self._parts)[:, 1:].max(1) > share)

    def outside(self, curves: Curves) -> Numbers:
        """Distance of the centre of mass from its support with other curves, at all samples (S)."""
        if self.space.steady is None:
            return np.zeros(len(self._times))
        every = np.arange(len(self._times))
        return np.asarray(self.space.steady.measure(self.geometry(curves, every)).off)

    def _turned(self, values: Array, samples: Array) -> Array:
        turned = np.array(self.space.rotations[..., samples])
        turned[self._keyed_joints] = super()._turned(values, samples)[self._keyed_joints]
        return turned

    @property
    def _keyed_joints(self) -> list[int]:
        return [track.joint for track in self.tracks]

    def _posed(self, values: Array, turned: Array, samples: Array) -> Geometry:
        none, tree = np.empty((0, len(samples))), self._tree
        locations = np.ascontiguousarray(values[:, self._located].T)
        place = self.space.placed(locations, samples)
        turned = np.ascontiguousarray(turned)
        return Geometry(tree, States(none, turned, np.empty((0, 4, 1)), self.space.roots[..., samples], place))

    def _remember(self, values: Array, turned: Array, samples: Array) -> None:
        posed = self._posed(values, turned, samples)
        for row, number in enumerate(self.space.near):
            self._places[row][:, samples] = posed.tip(number)
        for row, task in enumerate(self.space.held):
            here = task.take(samples)
            self.off[row, samples] = here.measure(posed).off / here.tolerance
        if self.space.steady is not None:
            self._outside[samples] = self.space.steady.take(samples).measure(posed).off

    def _apart(self, values: Array, turned: Array, samples: Array) -> Array:
        posed, worst = self._posed(values, turned, samples), np.zeros(len(samples))
        for row, (number, most) in enumerate(self.space.near.items()):
            away = np.linalg.norm(posed.tip(number) - self._places[row][:, samples], axis=0)
            worst = np.maximum(worst, away / most)
        for row, task in enumerate(self.space.held):
            here = task.take(samples)
            own = np.maximum(self.off[row, samples], 1.0)  # what the full bake deviates itself
            worst = np.maximum(worst, here.measure(posed).off / here.tolerance / own)
        if self.space.steady is not None:
            steady = self.space.steady.take(samples)
            allowed = np.maximum(self._outside[samples], _LEAST * self._tree.size)
            worst = np.maximum(worst, np.where(steady.measure(posed).off > allowed, np.inf, 0.0))
        return worst

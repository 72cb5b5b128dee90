# SPDX-License-Identifier: GPL-3.0-or-later
"""Relaxation: steps of all frames towards a reference and towards each other, in what their tasks leave free.

A step is that of solvers.batch.change with the descent of the posture's cost as the change that is wished for, so that
posture is the last of all levels. It has no acceptance: one that accepts frame by frame makes neighbours differ. The
curvature of the goals, which the step does not know, lets steps shrink by about a half each, and makes some overshoot
without end; so every step goes on with a share of the one before (Polyak 1964, the heavy ball).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...goals.batch import Task
from ...kinematics.arrays import Mask, Numbers
from ...kinematics.batch import States, Tree
from ..batch.change import bounded_change
from ..batch.system import System
from .posture import Posture, roughness

_DAMPING = 1e-3  # share of the trace, times error / size, as in a descent
_LARGEST = 0.6  # [rad] change of any column in one step
_MOMENTUM = 0.3  # share of the step before
_LESS, _MORE = 0.5, 1.2  # change of the gain after a step back, which has gone too far, and after any other one


@dataclass(frozen=True, kw_only=True)
class Relaxation:
    """A posture to relax towards: the cost of change in time has this `weight`, columns this `compliance` (k, 1).

    In a cycle the first frame comes after the last one. A step goes the share `gain` of the way at most. A frame stops
    once neither it nor one beside it changes a column by more than `still` [rad], so that the steps of a frame depend
    only on those near it.
    """

    posture: Posture
    compliance: Numbers
    weight: float = 0.0
    cyclic: bool = False
    still: float = 0.01
    gain: float = 1.0

    def run(self, tree: Tree, states: States, tasks: Sequence[Task], steps: int) -> States:
        """The states after at most so many steps."""
        states, offsets = states.copy(), self.posture.offsets(states)
        if tree.moves_root:
            states.own_places()
        active: Any = slice(None)
        last, gain = np.zeros_like(offsets), np.full(offsets.shape[1], self.gain)
        for _ in range(steps):
            system = System(tree, states.take(active), [task.take(active) for task in tasks])
            wish = self.posture.columns(system.geometry, -gain[active] * self._descent(offsets)[:, active])
            wish += _MOMENTUM * last[:, active]
            change = self._change(system, wish)
            most = np.abs(change).max(0)
            change *= _LARGEST / np.maximum(most, _LARGEST)
            back = (change * last[:, active]).sum(0) < 0.0
            gain[active] = np.where(back, _LESS * gain[active], np.minimum(_MORE * gain[active], self.gain))
            last[:, active] = change
            moved = tree.moved(system.states, system.geometry.frames, change)
            states.put(active, moved)
            offsets[:, active] = self.posture.take(active).offsets(moved)
            moving = np.zeros(len(states), bool)
            moving[active] = most > self.still
            if moving.all():
                continue
            active = np.flatnonzero(self._with_neighbours(moving))
            if not len(active):
                break
        return states

    def _descent(self, offsets: Numbers) -> Numbers:
        """Derivative (k, F) of half the cost, over a second derivative with which neighbours do not overshoot.

        That is between 1 + 2 w, by a frame's own offsets, and 1 + 4 w, where those of its neighbours are opposite.
        """
        if self.weight > 0.0 and offsets.shape[1] > 1:
            result: Numbers = (offsets + self.weight * roughness(offsets, self.cyclic)) / (1.0 + 2.5 * self.weight)
            return result
        return offsets

    def _change(self, system: System, wish: Numbers) -> Numbers:
        """The change of all columns that meets the tasks and, in what these leave free, the wish."""
        tree, states, low, high = system.tree, system.states, None, None
        if tree.angles:
            low = np.full((tree.columns, len(states)), -np.inf)
            high = -low
            low[: tree.angles], high[: tree.angles] = tree.ranges(states, np.inf)
        damping = _DAMPING * np.minimum(1.0, np.sqrt(system.value) / tree.size)
        errors, levels = system.errors()
        return bounded_change(system.jacobian(), errors, levels, low, high, self.compliance, damping, tree.size, wish)

    def _with_neighbours(self, frames: Mask) -> Mask:
        """These frames and, where the change in time has a cost, those beside them."""
        if not self.weight > 0.0:
            return frames
        more = frames.copy()
        more[1:] |= frames[:-1]
        more[:-1] |= frames[1:]
        if self.cyclic:
            more[0] |= frames[-1]
            more[-1] |= frames[0]
        return more

# SPDX-License-Identifier: GPL-3.0-or-later
"""Posture: the use of the freedom that goals and limits leave, at each frame and relaxed over time.

Posture: the turn of every joint off a reference, in coordinates that can be compared and interpolated over time. The
offsets of a state are a vector (k, F) with a row for each column of the tree: differences of angles and of swing
vectors for joints with limits, rotation vectors in the joint's own frame for ball joints, and the way of a root that
moves, in units of the tree's size. The cost of F frames is

    sum over the frames of |u_f|^2 + w |u_f - u_(f-1)|^2,    each row divided by its compliance.

Offsets, not rotations, are compared from frame to frame: where the reference meets the goals it is the optimum,
whatever it does over time.

Relaxation: steps of all frames towards a reference and towards each other, in what their tasks leave free. A step is
that of solvers.batch.change with the descent of the posture's cost as the change that is wished for, so that posture is
the last of all levels. It has no acceptance: one that accepts frame by frame makes neighbours differ. The curvature of
the goals, which the step does not know, lets steps shrink by about a half each, and makes some overshoot without end;
so every step goes on with a share of the one before (Polyak 1964, the heavy ball).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import tau
from typing import Any

import numpy as np

from ...goals.task import Task
from ...kinematics.arrays import Columns, Indices, Mask, Numbers
from ...kinematics.batch import Geometry, States, Tree
from ...kinematics.batch.algebra import conjugated, exponential, normalized, product, rotate, rotation_vectors
from ..batch.change import System, bounded_change
from ..batch.swings import Swing

TIME_WEIGHT = 2.0  # of the squared change from frame to frame beside the squared offset, at this many frames a second
USUAL_FPS = 30.0
_SMOOTHEST = 9.0  # of that weight, added at the maximum of smoothing

DAMPING = 1e-3  # share of the trace, times error / size, as in a descent
LARGEST_STEP = 0.6  # [rad] change of any column in one step
_LONG, _WHOLE = 32, 2.0  # joints of a chain from which on a step is short as a whole too; [rad] of all columns
MOMENTUM = 0.3  # share of the step before
STILL = 0.01  # [rad] change of a column from which on a frame stops
_STEEPEST = 3.0  # times the lesser speed on either side of a knot: the slope there up to which no cubic overshoots
LESS, MORE = 0.5, 1.2  # change of the gain after a step back, which has gone too far, and after any other one


def time_weight(fps: float, smoothing: float = 0.0) -> float:
    """Weight of the change from frame to frame by which a motion costs the same at every frame rate.

    `smoothing` from 0 to 1 raises it, up to ten times.
    """
    return TIME_WEIGHT * (1.0 + _SMOOTHEST * smoothing) * (fps / USUAL_FPS) ** 2


def nearest_states(tree: Tree, frames: States, rotations: Numbers) -> States:
    """Rotations (n, 4, F or 1) of all joints from rest, moved inside the limits, in the frames of other states."""
    angles = np.empty((tree.angles, len(frames)))
    owners = tree.joint_of[: tree.angles]
    for i in dict.fromkeys(owners.tolist()):
        angles[owners == i] = Swing(tree.joints[i].freedom).nearest(rotations[i])[1]
    balls = np.empty((len(tree.balls), 4, len(frames)))
    balls[:] = rotations[tree.balls]
    return States(tree.inside(angles), balls, frames.held, frames.root, frames.place)


class Posture:
    """Offsets of states from a reference with as many poses."""

    def __init__(self, tree: Tree, reference: States) -> None:
        self.tree, self.reference = tree, reference
        self._endless = np.isinf(tree.upper - tree.lower)

    def take(self, columns: Columns) -> Posture:
        """The posture of those of the poses."""
        return Posture(self.tree, self.reference.take(columns))

    def offsets(self, states: States) -> Numbers:
        """Offsets (k, F) of states, at most a half turn where an angle has no ends."""
        tree, reference = self.tree, self.reference
        offsets = np.empty((tree.columns, len(states)))
        change = offsets[: tree.angles]
        np.subtract(states.angles, reference.angles, out=change)
        if self._endless.any():
            change -= np.where(self._endless, tau * np.rint(change / tau), 0.0)
        if tree.balls:
            turns = rotation_vectors(product(conjugated(reference.balls), states.balls))
            offsets[tree.angles : len(tree.joint_of)] = turns.reshape(3 * len(tree.balls), -1)
        if tree.moves_root:
            offsets[len(tree.joint_of) :] = tree.root_ways @ (states.place - reference.place) / tree.size
        return offsets

    def states(self, offsets: Numbers) -> States:
        """The states with these offsets (k, F), moved inside the limits."""
        tree, reference = self.tree, self.reference
        balls = reference.balls
        if tree.balls:
            turns = offsets[tree.angles : len(tree.joint_of)].reshape(len(tree.balls), 3, -1)
            balls = normalized(product(balls, exponential(turns)))
        angles, place = tree.inside(reference.angles + offsets[: tree.angles]), reference.place
        if tree.moves_root:
            place = place + tree.size * (tree.root_ways.T @ offsets[len(tree.joint_of) :])
        return States(angles, balls, reference.held, reference.root, place)

    def columns(self, geometry: Geometry, changes: Numbers) -> Numbers:
        """Changes of offsets (k, F) as changes of the tree's columns."""
        tree, states = self.tree, geometry.states
        columns = _along_cones(states, changes, tree)
        if tree.balls:
            turns = changes[tree.angles : len(tree.joint_of)].reshape(len(tree.balls), 3, -1)
            turned = rotate(geometry.frames[tree.at_balls][:, :, :3], turns)
            columns[tree.angles : len(tree.joint_of)] = turned.reshape(3 * len(tree.balls), -1)
        return columns


def roughness(offsets: Numbers, cyclic: bool = False) -> Numbers:
    """Derivative (k, F) of half the sum of squared changes from frame to frame; a cycle goes on from its last frame."""
    change = np.zeros_like(offsets)  # to the next frame
    np.subtract(offsets[:, 1:], offsets[:, :-1], out=change[:, :-1])
    if cyclic:
        change[:, -1] = offsets[:, 0] - offsets[:, -1]
    result = -change
    result[:, 1:] += change[:, :-1]
    result[:, 0] += change[:, -1]  # zero unless it is a cycle
    return result


def interpolated_offsets(values: Numbers, knots: Indices, count: int, cyclic: bool = False) -> Numbers:
    """Values (k, count) of all frames from those at the knots, the first of which is frame 0, by cubics.

    A slope that a short step gives its knot does not swing the long one beside it farther than knots that are evenly
    apart would. Source: Catmull and Rom 1974, with slopes for knots that are not evenly apart; the bound with which
    what rises stays rising is that of Hyman 1983.
    """
    if cyclic:
        knots = np.concatenate((knots[-2:] - count, knots, knots[:2] + count))
        values = np.concatenate((values[:, -2:], values, values[:, :2]), 1)
    slopes, gaps, ways = np.gradient(values, knots, axis=1), np.diff(knots), np.abs(np.diff(values))
    speeds = ways / gaps
    even = 0.5 * (ways[:, 1:] + ways[:, :-1]) / np.maximum(gaps[1:], gaps[:-1])
    most = np.maximum(_STEEPEST * np.minimum(speeds[:, 1:], speeds[:, :-1]), even)
    slopes[:, 1:-1] = np.clip(slopes[:, 1:-1], -most, most)
    every = np.arange(count)
    at = np.clip(np.searchsorted(knots, every, side="right") - 1, 0, len(knots) - 2)
    gap = knots[at + 1] - knots[at]
    t = (every - knots[at]) / gap
    s = 1.0 - t
    between: Numbers = values[:, at] * ((1.0 + 2.0 * t) * s * s) + values[:, at + 1] * ((1.0 + 2.0 * s) * t * t)
    between += slopes[:, at] * (gap * t * s * s) - slopes[:, at + 1] * (gap * t * t * s)
    return between


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
    still: float = STILL
    gain: float = 1.0

    def run(self, tree: Tree, states: States, tasks: Sequence[Task], steps: int, begin: Mask | None = None) -> States:
        """The states after at most so many steps, with frames to `begin` with (F), by default all."""
        states, offsets = states.copy(), self.posture.offsets(states)
        if tree.moves_root:
            states.own_places()
        moves = np.ones(len(states), bool) if begin is None else self._with_neighbours(begin)
        if not moves.any():
            return states
        active, goals, posture = self._of(moves, tasks)
        last, gain = np.zeros_like(offsets), np.full(offsets.shape[1], self.gain)
        for _ in range(steps):
            here = states.take(active)
            system = System(tree, here, goals, Geometry(tree, here))
            wish = posture.columns(system.geometry, -gain[active] * self._descent(offsets)[:, active])
            before = _along_cones(system.states, last[:, active], tree)
            wish += MOMENTUM * before
            change = self._change(system, wish)
            most = np.abs(change).max(0)
            change *= LARGEST_STEP / np.maximum(most, LARGEST_STEP)
            if tree.is_chain and len(tree.joints) > _LONG:  # the turns of which add up from joint to joint
                whole = np.abs(change).sum(0)
                change *= _WHOLE / np.maximum(whole, _WHOLE)
            back = (change * before).sum(0) < 0.0
            gain[active] = np.where(back, LESS * gain[active], np.minimum(MORE * gain[active], self.gain))
            last[:, active] = change
            if tree.cones:  # a step turns the swing, and with it what is along and across
                last[tree.cones.rows, active] = tree.cones.swings(
                    system.states.angles[tree.cones.rows], change[tree.cones.rows]
                )
            moved = tree.moved(system.states, system.geometry.frames, change)
            states.put(active, moved)
            offsets[:, active] = posture.offsets(moved)
            moving = np.zeros(len(states), bool)
            moving[active] = most > self.still
            moving = moving if moving.all() else self._with_neighbours(moving)
            if (moving == moves).all():
                continue
            if not moving.any():
                break
            moves, (active, goals, posture) = moving, self._of(moving, tasks)
        return states

    def _of(self, frames: Mask, tasks: Sequence[Task]) -> tuple[Any, Sequence[Task], Posture]:
        """Return the indices of some frames, with their tasks and their posture."""
        if frames.all():
            return slice(None), tasks, self.posture
        indices = frames.nonzero()[0]
        return indices, [task.take(indices) for task in tasks], self.posture.take(indices)

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
            low, high = tree.ranges(states, np.inf)
            if tree.angles < tree.columns:
                endless = np.full((tree.columns - tree.angles, len(states)), np.inf)
                low, high = np.concatenate((low, -endless)), np.concatenate((high, endless))
        damping = DAMPING * np.minimum(1.0, np.sqrt(system.value) / tree.size)
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


def _along_cones(states: States, changes: Numbers, tree: Tree) -> Numbers:
    """Changes (k, F) of which those of cones are of swing vectors, with these along and across the swings of states."""
    columns = changes.copy()
    if tree.cones:
        rows = tree.cones.rows
        columns[rows] = tree.cones.along_and_across(states.angles[rows], changes[rows])
    return columns

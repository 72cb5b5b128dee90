# SPDX-License-Identifier: GPL-3.0-or-later
"""Posture: the turn of every joint off a reference, in coordinates that can be compared and interpolated over time.

The offsets of a state are a vector (k, F) with a row for each column of the tree: differences of angles and of swing
vectors for joints with limits, rotation vectors in the joint's own frame for ball joints, and the way of a root that
moves, in units of the tree's size. The cost of F frames is

    sum over the frames of |u_f|^2 + w |u_f - u_(f-1)|^2,    each row divided by its compliance.

Offsets, not rotations, are compared from frame to frame: where the reference meets the goals it is the optimum,
whatever it does over time.
"""

from __future__ import annotations

from math import tau

import numpy as np

from ...kinematics.arrays import Columns, Indices, Numbers
from ...kinematics.batch import Geometry, States, Tree
from ...kinematics.batch.algebra import (
    conjugated,
    exponential,
    normalized,
    product,
    rotate,
    rotation_vectors,
)
from ..batch.swings import Swing

TIME_WEIGHT = 2.0  # of the squared change from frame to frame beside the squared offset, at this many frames a second
USUAL_FPS = 30.0
_SMOOTHEST = 9.0  # of that weight, added at the maximum of smoothing


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
        columns = changes.copy()
        if tree.cones:
            rows = tree.cones.rows
            columns[rows] = tree.cones.along_and_across(states.angles[rows], changes[rows])
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

    Source: Catmull and Rom 1974, with slopes for knots that are not evenly apart.
    """
    if cyclic:
        knots = np.concatenate((knots[-2:] - count, knots, knots[:2] + count))
        values = np.concatenate((values[:, -2:], values, values[:, :2]), 1)
    slopes = np.gradient(values, knots, axis=1)
    every = np.arange(count)
    at = np.clip(np.searchsorted(knots, every, side="right") - 1, 0, len(knots) - 2)
    gap = knots[at + 1] - knots[at]
    t = (every - knots[at]) / gap
    s = 1.0 - t
    between: Numbers = values[:, at] * ((1.0 + 2.0 * t) * s * s) + values[:, at + 1] * ((1.0 + 2.0 * s) * t * t)
    between += slopes[:, at] * (gap * t * s * s) - slopes[:, at + 1] * (gap * t * t * s)
    return between

# SPDX-License-Identifier: GPL-3.0-or-later
"""Smooth random motions of spines, necks, tails and fingers, and what somebody may have made of them by hand."""

from dataclasses import dataclass
from math import radians

import numpy as np
from mathutils import Quaternion, Vector

from ik_triangulation.goals.from_goals import point_task
from ik_triangulation.goals.orientation import OrientTask
from ik_triangulation.kinematics import Chain, Cone, EulerLimits, Free, Hinge, Joint
from ik_triangulation.kinematics.batch import Geometry, States, Tree
from ik_triangulation.kinematics.batch.algebra import exponential, normalized
from ik_triangulation.solvers.batch.change import System
from ik_triangulation.solvers.natural.posture import nearest_states

REST = np.array([1.0, 0.0, 0.0, 0.0])[None, :, None]
TOLERANCE = 1e-4  # of the reach
ANGLE = radians(1.0)


def vertebra():
    return EulerLimits("XYZ", tuple(map(radians, (-45, -40, -35))), tuple(map(radians, (45, 40, 35))))


def chain_of(lengths, bends, freedoms):
    """A chain along Y whose bones are bent at rest about X by these angles [degrees]."""
    heads = (0.0, *lengths[:-1])
    joints = [
        Joint(f"bone {i}", Vector((0.0, heads[i], 0.0)), Quaternion((1.0, 0.0, 0.0), radians(bends[i])), freedom)
        for i, freedom in enumerate(freedoms)
    ]
    return Chain(tuple(joints), Vector((0.0, lengths[-1], 0.0)))


def hinge(least, most):
    return Hinge((1.0, 0.0, 0.0), radians(least), radians(most))


BENDS = 90, 8, 10, -6, -12, 7
KNUCKLE = EulerLimits("XYZ", tuple(map(radians, (-30, -5, -15))), tuple(map(radians, (90, 5, 15))))
CHAINS = {
    "spine": chain_of((1.0,) * 5, BENDS, [Free()] * 5),
    "vertebrae": chain_of((1.0,) * 6, BENDS, [vertebra() for _ in BENDS]),
    "neck": chain_of((0.5, 0.5, 1.2), (75, 10, 10), [Free()] * 3),
    "tail": chain_of((1.0,) * 8, (0,) * 8, [Free()] * 8),
    "cones": chain_of((1.0,) * 8, (0,) * 8, [Cone(radians(50), radians(-20), radians(20)) for _ in range(8)]),
    "finger": chain_of((1.0, 0.6, 0.4), (0, 5, 5), [KNUCKLE, hinge(-5, 110), hinge(-5, 80)]),
}
BEND = 6.0  # [degrees] usual bend of a joint along these motions
STRAIGHT = chain_of((1.0,) * 5, (0,) * 5, [Free()] * 5)


def at_rest(tree, count):
    balls, held = (np.repeat(np.repeat(REST, len(each), 0), count, 2) for each in (tree.balls, tree.held))
    return States(np.zeros((tree.angles, count)), balls, held, np.eye(3)[:, :, None], np.zeros((3, 1)))


def waves(random, rows, count, cyclic=False):
    """Smooth curves (rows, count) of about unit size."""
    time, total = np.arange(count) / (count - 1 if cyclic else 60.0), np.zeros((rows, count))
    for number in range(1, 4):
        speed = float(number) if cyclic else random.uniform(0.3, 1.6, (rows, 1))
        total += random.normal(size=(rows, 1)) * np.sin(2 * np.pi * (speed * time + random.uniform(size=(rows, 1))))
    return 0.8 * total


@dataclass
class Motion:
    """A motion of a chain: its `states`, and the rotations (n, 4, F) of its joints."""

    tree: Tree
    states: States

    @classmethod
    def of(cls, chain, seed, count=160, cyclic=False, bend=BEND):
        """All joints bend together, and each one a little on its own."""
        random, tree = np.random.default_rng(seed), Tree.of(chain)
        joints = len(chain.joints)
        shared = waves(random, 3, count, cyclic) * np.array([[1.0], [0.5], [0.7]])
        turns = shared[None] + 0.35 * waves(random, 3 * joints, count, cyclic).reshape(joints, 3, count)
        if isinstance(chain.joints[-1].freedom, Hinge):  # a finger, which bends one way
            turns = 3.0 * np.abs(turns) * np.array([1.0, 0.0, 0.0])[:, None]
        return cls(tree, nearest_states(tree, at_rest(tree, count), exponential(radians(bend) * turns)))

    @property
    def rotations(self):
        return self.tree.rotations(self.states)

    def tasks(self, turned):
        """The tasks of following the tip, `turned` as it was."""
        tree, geometry = self.tree, Geometry(self.tree, self.states)
        tasks = [point_task(geometry.tip().copy(), np.full(1, TOLERANCE * tree.size))]
        if turned:
            rotation = geometry.tip_rotation().copy()
            tasks.append(OrientTask(length=0.3 * tree.size, tolerance=np.full(1, ANGLE), rotation=rotation))
        return tasks

    def reference(self, kind):
        """Made by hand: "first", the pose of the first frame; "rest"; or "keyed", poses every 24 frames."""
        rotations = self.rotations
        if kind == "rest":
            return np.repeat(REST, len(rotations), 0)
        if kind == "first":
            return rotations[..., :1]
        keys = np.arange(0, len(self.states) + 24, 24)
        keyed = rotations[..., np.minimum(keys, len(self.states) - 1)]
        for k in range(1, len(keys)):
            against = np.einsum("nif,nif->nf", keyed[..., k : k + 1], keyed[..., k - 1 : k]) < 0.0
            keyed[..., k] *= np.where(against, -1.0, 1.0)
        every = np.arange(len(self.states))
        share = (every % 24) / 24.0
        share = share * share * (3.0 - 2.0 * share)
        return normalized(keyed[..., every // 24] * (1.0 - share) + keyed[..., every // 24 + 1] * share)


def angles_between(a, b):
    """Angles [degrees] (n, F) between rotations (n, 4, F)."""
    alike = np.abs(np.einsum("nif,nif->nf", a, np.broadcast_to(b, a.shape)))
    return np.degrees(2.0 * np.arccos(np.minimum(1.0, alike)))


def largest_turns(rotations):
    """Largest turn of a joint [degrees] (F - 1) from frame to frame."""
    return angles_between(rotations[..., 1:], rotations[..., :-1]).max(0)


def pops(rotations, recorded):
    """Frames whose turn stands out and is not in the recording: over 3 degrees, 3 times those around, twice its own."""
    turns, own = largest_turns(rotations), largest_turns(recorded)
    around = [slice(max(0, k - 6), k + 7) for k in range(len(turns))]
    return [
        k + 1
        for k, near in enumerate(around)
        if turns[k] > max(3.0, 3.0 * np.median(turns[near]), 2.0 * own[near].max())
    ]


def met(tree, states, tasks):
    return System(tree, states, tasks).met

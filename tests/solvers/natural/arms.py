# SPDX-License-Identifier: GPL-3.0-or-later
"""Limbs of two bones and an end with smooth motions, for the tests of natural poses."""

from random import Random

import numpy as np
from mathutils import Matrix, Quaternion, Vector

from ik_triangulation.cooperative import finished
from ik_triangulation.kinematics import Chain, Free, Joint, Pose
from ik_triangulation.kinematics.batch import Tree
from ik_triangulation.solvers import natural

from ...chains import random_direction, random_rotation


def natural_path(tree, frames, tasks, rotations, *given, **more):
    """The same as solvers.natural.natural_path(), run to its end, near rotations (n, 4, F or 1) of the joints."""
    reference = tree.posed(np.broadcast_to(rotations, (*rotations.shape[:2], len(frames))), frames)
    return finished(natural.natural_path(tree, reference, tasks, *given, **more))


def arm(seed, freedoms=None, links=3):
    """A chain of 2 or 3 joints of any rest orientation; the bones lie along Y, as Blender's do."""
    random = Random(seed)
    freedoms = freedoms or [Free()] * links
    lengths = [random.uniform(0.7, 1.3), random.uniform(0.7, 1.3), random.uniform(0.2, 0.4)]
    offsets = [random_direction(random) * 0.2, *(Vector((0.0, length, 0.0)) for length in lengths)]
    rests = [random_rotation(random), *(Quaternion().slerp(random_rotation(random), 0.2) for _ in range(links - 1))]
    joints = [
        Joint(f"joint {i}", offsets[i], rests[i], freedom) for i, freedom in zip(range(links), freedoms, strict=True)
    ]
    return Chain(tuple(joints), offsets[links])


def swayed(seed, share, count, axis=None, bend=0.0):
    """Rotations that sway smoothly round one that bends by an angle [rad] about an axis."""
    random = Random(seed)
    first, second = random_direction(random), random_direction(random)
    middle = Quaternion(axis or random_direction(random), bend)
    times = np.linspace(0.0, 2.0 * np.pi, count)
    return [
        Quaternion(first, share * np.sin(t)) @ Quaternion(second, 0.5 * share * np.cos(2.0 * t)) @ middle
        for t in times.tolist()
    ]


def motion(chain, seed, count=60, share=0.5, base=None):
    """Poses of a limb that moves smoothly, with its elbow bent by about 80 degrees, as a tree and its states."""
    bends = [0.3, -1.4, 0.2]
    paths = [
        swayed(10 * seed + i, share * (0.4 if i == 1 else 1.0), count, (1.0, 0.0, 0.0), bends[i])
        for i in range(len(chain.joints))
    ]
    poses = [Pose(chain, base or Matrix.Identity(4), list(frame)) for frame in zip(*paths, strict=True)]
    for pose in poses:
        pose.project()
    tree = Tree.of(chain)
    return tree, tree.states(poses)

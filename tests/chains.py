# SPDX-License-Identifier: GPL-3.0-or-later
"""Chains and poses for the tests, and forward kinematics in double precision that shares no code with the product."""

from math import pi, tau
from random import Random

import numpy as np
from mathutils import Matrix, Quaternion, Vector

from ik_triangulation.kinematics import Chain, Cone, EulerLimits, Free, Hinge, Joint, Locked, Pose
from ik_triangulation.kinematics.rotation import EULER_ORDERS
from ik_triangulation.solvers import SOLVERS

GENERAL = [solver for solver in SOLVERS if solver != "TWO_BONE"]  # which refuses most chains: test_two_bone.py
PAPER = (9.0, 9.0, 9.0, 9.0, 4.0)  # the chain of the 2007 paper's experiment


def straight(lengths, freedoms=None):
    """A chain along +Y, as Blender's bones run; all joints free unless `freedoms` names them."""
    freedoms = freedoms or [Free()] * len(lengths)
    heads = (0.0, *lengths[:-1])
    return Chain(
        tuple(
            Joint(f"joint {i}", Vector((0.0, head, 0.0)), Quaternion(), freedom)
            for i, (head, freedom) in enumerate(zip(heads, freedoms, strict=True))
        ),
        Vector((0.0, lengths[-1], 0.0)),
    )


def random_direction(random):
    while True:
        vector = Vector([random.gauss(0.0, 1.0) for _ in range(3)])
        if vector.length > 1e-3:
            return vector.normalized()


def random_rotation(random):
    """Uniform over all rotations; a unit quaternion."""
    return Quaternion([random.gauss(0.0, 1.0) for _ in range(4)]).normalized()


def random_lengths(random, links, ratio=1.0):
    """Lengths of which the longest is up to `ratio` times the shortest."""
    return tuple(ratio ** random.random() for _ in range(links))


def random_chain(seed, links, ratio=1.0, freedoms=None):
    """Links of random directions and rest orientations; all joints free unless `freedoms` names them."""
    random = Random(seed)
    freedoms = freedoms or [Free()] * links
    offsets = [random_direction(random) * length for length in random_lengths(random, links, ratio)]
    heads = (Vector(), *offsets[:-1])
    return Chain(
        tuple(
            Joint(f"joint {i}", head, random_rotation(random), freedom)
            for i, (head, freedom) in enumerate(zip(heads, freedoms, strict=True))
        ),
        offsets[-1],
    )


def random_range(random, width=tau):
    """A range [rad] up to `width` wide anywhere on the circle, which may leave out 0."""
    lower = random.uniform(-pi, pi)
    return lower, lower + random.uniform(0.0, width)


def random_hinge(random):
    return Hinge(random_direction(random), *random_range(random))


def random_limits(random, order=None):
    """Euler limits that contain rest on every axis."""
    return EulerLimits(
        order or random.choice(EULER_ORDERS),
        tuple(random.uniform(-pi / 2.0, 0.0) for _ in "xyz"),
        tuple(random.uniform(0.0, pi / 2.0) for _ in "xyz"),
    )


def random_cone(random):
    """A swing cone with a twist range anywhere on the circle."""
    return Cone(random.uniform(0.4, pi), *random_range(random))


def hinged(seed, links, ratio=1.0):
    """A random chain of hinges with limits about oblique axes."""
    random = Random(seed)
    return random_chain(seed, links, ratio, [random_hinge(random) for _ in range(links)])


def limited(seed, links, ratio=1.0):
    """A random chain of joints with Euler limits."""
    random = Random(seed)
    return random_chain(seed, links, ratio, [random_limits(random) for _ in range(links)])


RANDOM = {
    Free: lambda _: Free(),
    Hinge: random_hinge,
    EulerLimits: random_limits,
    Cone: random_cone,
    Locked: lambda _: Locked(),
}  # a joint of each kind


def mixed(seed, links, ratio=1.0):
    """A random chain with joints of every kind."""
    random = Random(seed)
    kinds = tuple(RANDOM.values())
    return random_chain(seed, links, ratio, [random.choice(kinds)(random) for _ in range(links)])


def random_pose(chain, random, base=None):
    """Every joint anywhere, allowed or not."""
    return Pose(chain, base or Matrix.Identity(4), [random_rotation(random) for _ in chain.joints])


def random_base(random, distance=1.0):
    """A rigid transformation, 4x4."""
    return Matrix.Translation(random_direction(random) * distance) @ random_rotation(random).to_matrix().to_4x4()


def bits(rotations):
    """Rotations in a form that compares bit by bit, apart from the sign of zero."""
    return [tuple(rotation) for rotation in rotations]


def matrix_of(quaternion):
    """3x3 rotation matrix of a quaternion of any length, in double precision."""
    w, x, y, z = np.array(quaternion, dtype=float) / np.linalg.norm(np.array(quaternion, dtype=float))
    return np.array(
        [
            [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)],
            [2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)],
            [2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)],
        ]
    )


def forward(chain, base, rotations):
    """Heads of all joints and the end effector as rows, and the joints' frames: plain forward kinematics."""
    base = np.array(base, dtype=float)
    frame, place = base[:3, :3], base[:3, 3]
    places, frames = [], []
    for joint, rotation in zip(chain.joints, rotations, strict=True):
        place = place + frame @ np.array(joint.offset)
        frame = frame @ matrix_of(joint.rest) @ matrix_of(rotation)
        if joint.scale is not None:
            frame = frame @ np.diag(joint.scale)
        places.append(place)
        frames.append(frame)
    places.append(place + frame @ np.array(chain.tip))
    return np.array(places), frames

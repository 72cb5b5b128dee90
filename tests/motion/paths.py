# SPDX-License-Identifier: GPL-3.0-or-later
"""Paths that solvers found, for the tests of jumps, their removal and smoothing."""

from math import acos, atan2, cos, pi, radians, sin
from typing import NamedTuple

import numpy as np
from mathutils import Matrix, Vector

from ik_triangulation.cooperative import finished
from ik_triangulation.goals import Goal, Point, Target
from ik_triangulation.kinematics import Hinge, Pose
from ik_triangulation.kinematics.rotation import about, rotation_angle
from ik_triangulation.motion.frames import BatchKinematics
from ik_triangulation.motion.path import Path
from ik_triangulation.solvers import Solution, solve

from ..chains import random_chain, straight

TOLERANCE = 1e-4  # of the reach
X = Vector((1.0, 0.0, 0.0))
SEGMENT = 25  # frames from one key of a random motion to the next


class Moment(NamedTuple):
    """A frame of a path, made up."""

    pose: Pose
    target: Target
    tolerance: float
    reached: bool = True
    soft: tuple = ()
    angle_tolerance: float = radians(1.0)

    @property
    def goal(self):
        return Goal(self.target, tuple(self.soft), self.tolerance, self.angle_tolerance)

    @property
    def solution(self):
        return Solution(self.pose, (self.target.closest(self.pose.tip) - self.pose.tip).length, 0, self.reached)


def free(seed, links, ratio):
    return random_chain(seed, links, ratio)


def smooth_motion(chain, random, frames):
    """Rotations at every frame of a smooth motion inside the limits, through random ones."""
    keys = [[joint.freedom.random(random) for joint in chain.joints]]
    for _ in range(frames // SEGMENT + 1):
        ends = [joint.freedom.random(random) for joint in chain.joints]
        keys.append([between(j.freedom, *pair, 0.35) for j, *pair in zip(chain.joints, keys[-1], ends, strict=True)])
    for frame in range(frames):
        number, rest = divmod(frame, SEGMENT)
        share = (1.0 - cos(pi * rest / SEGMENT)) / 2.0
        pairs = zip(chain.joints, keys[number], keys[number + 1], strict=True)
        yield [between(joint.freedom, start, end, share) for joint, start, end in pairs]


def between(freedom, start, end, share):
    """On the way, which for a hinge leads through its range."""
    if isinstance(freedom, Hinge):
        a, b = (freedom.coordinates(rotation)[0].value for rotation in (start, end))
        return freedom.at(start, [a + share * (b - a)])
    return freedom.nearest(start.slerp(end, share))


def posed(chain, rotations):
    return Pose(chain, Matrix.Identity(4), rotations)


def first_pass(pose, places, solver="TRIANGULATION", soft=(), bases=()):
    """Each frame solved from the one before, as a bake does it."""
    tolerance = TOLERANCE * pose.chain.reach
    moments = []
    for number, place in enumerate(places):
        if bases:
            pose = Pose(pose.chain, bases[number], pose.rotations)
        wishes = soft[number] if soft else ()
        solution = solve(pose, Point(place), solver=solver, tolerance=tolerance, soft=wishes, follow=True)
        pose = solution.pose
        moments.append(Moment(pose, Point(place), tolerance, solution.reached, wishes))
    return moments


def mended(moments, seed=0, held=()):
    path = Path(moments, held)
    finished(path.without_jumps(seed))
    return path


def check(moments, path):
    """Nothing is lost, and all limits are kept."""
    for moment, rotations in zip(moments, path.rotations, strict=True):
        chain = moment.pose.chain
        pose = Pose(chain, moment.pose.base, rotations)
        before, error = (moment.target.closest(each.tip) - each.tip for each in (moment.pose, pose))
        assert error.length <= max(moment.tolerance, before.length + 2e-5 * chain.reach)
        for joint, rotation in zip(chain.joints, rotations, strict=True):
            assert rotation_angle(joint.freedom.nearest(rotation), rotation) < 5e-6


def elbow(*limits):
    """Two links of length 1 in the YZ plane, the first within these limits."""
    return straight((1.0, 1.0), [Hinge(X, *limits), Hinge(X)])


def in_plane(angle, distance=1.6):
    """A place in the YZ plane, at an angle from Y."""
    return Vector((0.0, distance * cos(angle), distance * sin(angle)))


def bent(chain, side, place):
    """The pose of an elbow that bends to a side (1 or -1) and reaches a place in its plane, by the law of cosines."""
    corner = 2.0 * side * acos(place.length / 2.0)
    angle = atan2(place.z, place.y)
    return posed(chain, [about(X, angle - corner / 2.0), about(X, corner)])


def flipping(chain, angles, flip):
    """A first pass that bends to one side up to the frame `flip`, and then to the other."""
    tolerance = TOLERANCE * chain.reach
    return [
        Moment(bent(chain, 1 if k < flip else -1, in_plane(angle)), Point(in_plane(angle)), tolerance)
        for k, angle in enumerate(angles)
    ]


def forced():
    """An elbow and a path on which it has to flip."""
    return elbow(-0.7, 0.7), [in_plane(0.6 - 0.02 * k) for k in range(61)]


def kinematics_of(poses):
    """The kinematics of a chain with a pose for each frame."""
    chains = {id(pose.chain): pose.chain for pose in poses}
    which = np.array([[*chains].index(id(pose.chain)) for pose in poses])
    bases, rotations = np.array([pose.base.copy() for pose in poses]), np.array([pose.rotations for pose in poses])
    return BatchKinematics([*chains.values()], which, bases, rotations)

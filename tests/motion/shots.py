# SPDX-License-Identifier: GPL-3.0-or-later
"""Paths of all frames for the tests of tracking: chains along feasible paths, and what is asked of the result."""

from random import Random

import numpy as np
from mathutils import Matrix

from ik_triangulation.cooperative import finished
from ik_triangulation.goals import Goal, Point
from ik_triangulation.goals.from_goals import point_task
from ik_triangulation.kinematics import Cone, EulerLimits, Free, Hinge
from ik_triangulation.kinematics.batch import Geometry, States, Tree
from ik_triangulation.motion.jumps import leaps_of, ways_of
from ik_triangulation.motion.knots import KnotMethod
from ik_triangulation.motion.tracking import Tracking, interpolated
from ik_triangulation.solvers import SolverSettings, solve

from ..chains import straight

TOLERANCE = 1e-4  # of the reach
SHOULDER = EulerLimits("YXZ", (-1.6, -1.4, -1.0), (1.0, 1.4, 1.6))
WRIST = EulerLimits("YXZ", (-1.2, 0.0, -0.35), (1.2, 0.0, 0.5))
ELBOW = Hinge((1.0, 0.0, 0.0), 0.0, 2.6)
ROUND = EulerLimits("XYZ", (-1.0, -0.5, -1.0), (1.0, 0.5, 1.0))
CHAINS = {
    "free": straight((1.0,) * 5),
    "arm": straight((0.3, 0.28, 0.1), [SHOULDER, ELBOW, WRIST]),
    "limits": straight((9.0, 9.0, 9.0, 9.0, 4.0), [Free(), *[ROUND] * 4]),
    "hinges": straight((1.0,) * 10, [Hinge((1.0, 0.0, 0.0), -0.8, 0.8)] * 10),
    "cones": straight((1.0,) * 5, [Cone(1.0, -0.5, 0.5)] * 5),
}


def smooth_states(chain, seed, frames, spacing=24, share=0.5):
    """States of a smooth motion inside the limits, through poses a `share` of the way to random ones."""
    random, tree = Random(seed), Tree.of(chain)
    rest = chain.rest_pose()
    rest.project()
    keys = []
    for _ in range(frames // spacing + 2):
        pose = rest.copy()
        for i, joint in enumerate(chain.joints):
            drawn = rest.rotations[i].slerp(joint.freedom.random(random), share).normalized()
            pose.put(i, joint.freedom.nearest(drawn))
        keys.append(pose)
    every = tree.states([rest]).take(np.zeros(frames, np.intp))
    return interpolated(tree, np.arange(len(keys)) * spacing, tree.states(keys), every)


def feasible_places(chain, seed, frames, **more):
    """Places (3, frames) of the end effector along such a motion."""
    return Geometry(Tree.of(chain), smooth_states(chain, seed, frames, **more)).tip().copy()


class Problem:
    """A shot and the method that solves its knots."""

    def __init__(self, chain, places, solver="TRIANGULATION", bases=None, last=None, seed=0):
        self.chain, self.places, self.tree = chain, places, Tree.of(chain)
        self.tolerance = TOLERANCE * chain.reach
        rest = chain.rest_pose()
        rest.project()
        self.bases = bases or [Matrix.Identity(4)] * places.shape[1]
        frames = self.tree.states([rest]).take(np.zeros(places.shape[1], np.intp))
        matrices = np.moveaxis(np.array(self.bases, float), 0, -1)
        frames = States(frames.angles, frames.balls, frames.held, matrices[:3, :3], matrices[:3, 3])
        tasks = [point_task(places, np.full(1, self.tolerance))]
        first = type(rest)(chain, self.bases[0], rest.rotations)
        self.first = solve(first, Point(places[:, 0]), solver=solver, tolerance=self.tolerance).pose
        ways = ways_of(self.tree, frames, tasks)
        held = None if last is None else self.tree.states([last])
        self.shot = Tracking(self.tree, frames, tasks, self.tree.states([self.first]), held, ways, leaps_of(ways))
        settings = SolverSettings(solver=solver, seed=seed)
        self.method = KnotMethod(self.tree, tasks, self.first, self.bases.__getitem__, self.goal_at, settings)

    def goal_at(self, k):
        return Goal(Point(self.places[:, k]), (), self.tolerance)

    def solved(self, work, *more):
        return finished(work(self.shot, self.method, *more))

    def errors(self, states):
        """Distances from the end effector to its places."""
        return np.linalg.norm(Geometry(self.tree, states).tip() - self.places, axis=0)

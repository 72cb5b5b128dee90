# SPDX-License-Identifier: GPL-3.0-or-later
"""A single limb gives way as many do on arrays, and so without a step from one place of its target to the next."""

import numpy as np
import pytest
from mathutils import Matrix, Quaternion, Vector

from ik_triangulation.goals import Goal, Orientation, Point
from ik_triangulation.kinematics import Pose
from ik_triangulation.kinematics.rotation import rotation_angle
from ik_triangulation.solvers.natural import LimbForm, natural_pose
from ik_triangulation.solvers.natural.giving_way import in_reach, limbs_giving_way
from ik_triangulation.solvers.natural.one_limb import OneLimb, give_way_one

from .arms import arm
from .test_giving_way import FREE, NARROW, goals

FORM = LimbForm(has_end=True)


def pose_at(tree, chain, states, frame):
    return Pose(chain, Matrix.Identity(4), [Quaternion(q) for q in tree.rotations(states)[:, :, frame]])


def goal_of(tasks, frame):
    place, orient = tasks
    rotation = Matrix(orient.rotation[..., frame].tolist()).to_quaternion()
    return Goal(Point(Vector(place.target.place[:, frame])), (Orientation(rotation),), 1e-3)


@pytest.mark.parametrize("away", [1.0, 1.3, 4.0])
@pytest.mark.parametrize("seed", range(6))
def test_a_limb_gives_way_as_on_arrays(seed, away):
    chain = arm(seed, NARROW)
    tree, there, tasks = goals(seed, NARROW, turned=1.0, away=away)
    for frame in (5, 20, 44):
        only, goal = np.array([frame]), goal_of(tasks, frame)
        near = in_reach(tree, there.take(only), [task.take(only) for task in tasks])
        reference, pose = pose_at(tree, chain, there, 0), pose_at(tree, chain, there, 0)
        fits = give_way_one(pose, goal, FORM)
        # The swivel that it chose is that of the goal in reach.
        reached = goal_of([task.take([0]) for task in near], 0)
        swivel = np.array([OneLimb(reference, reached, FORM).best_swivel()])
        states, arrays_fit = limbs_giving_way(
            tree, there.take(only), near, tree.rotations(there.take([0])), None, swivel
        )
        assert fits == bool(arrays_fit[0])
        for i, wanted in enumerate(tree.rotations(states)[:, :, 0] if fits else []):
            assert rotation_angle(pose.rotations[i], Quaternion(wanted)) < 0.02


def test_a_goal_without_an_orientation_does_not_give_way():
    pose = arm(1, NARROW).rest_pose()
    before = pose.rotations[:]
    assert not give_way_one(pose, Goal(Point(2.0 * pose.tip)), FORM)
    assert pose.rotations == before


def test_a_limb_out_of_reach_is_stretched_towards_its_target():
    for seed in range(6):
        pose = arm(seed, FREE).rest_pose()
        root, end = pose.head(0), pose.tip_rotation
        aim = root + 5.0 * (pose.tip - root)
        assert give_way_one(pose, Goal(Point(aim), (Orientation(end),)), FORM)
        assert (pose.tip - root).length == pytest.approx(sum(pose.lengths), rel=1e-5)
        assert (pose.tip - root).angle(aim - root) < 1e-3


def test_a_hand_beyond_the_ends_of_its_ranges_turns_about_as_fast_as_its_goal():
    largest = []
    for seed in range(8):
        chain = arm(seed, NARROW)
        tree, there, tasks = goals(seed, NARROW, turned=0.9)
        reference, before = pose_at(tree, chain, there, 0), None
        for frame in range(len(there)):
            pose = reference.copy()
            assert natural_pose(pose, goal_of(tasks, frame), FORM)
            if before:
                largest.append(max(map(rotation_angle, pose.rotations, before)))
            before = pose.rotations
    assert np.degrees(np.percentile(largest, 95)) < 15.0  # the goal itself turns joints by 5 degrees a frame

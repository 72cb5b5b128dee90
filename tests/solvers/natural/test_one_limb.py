# SPDX-License-Identifier: GPL-3.0-or-later
"""A single limb is posed as the same frame is on arrays."""

import numpy as np
import pytest
from mathutils import Matrix, Quaternion, Vector

from ik_triangulation.goals import Goal, Line, Orientation, Point, Pole
from ik_triangulation.kinematics import Cone, EulerLimits, Free, Hinge, Pose
from ik_triangulation.kinematics.rotation import rotation_angle
from ik_triangulation.solvers.natural import LimbForm
from ik_triangulation.solvers.natural.one_limb import pose_one, suits_one

from ...trees import orient_task, place_task
from .arms import arm, motion, natural_path

LIMBS = {
    "free": [Free(), Free(), Free()],
    "cones": [Cone(2.2, -1.9, 1.9), Cone(2.7, -0.6, 0.6), EulerLimits("YXZ", (-1.0, -2.6, -1.0), (1.0, 2.6, 1.0))],
    "flexing": [Cone(2.4, -2.0, 2.0), EulerLimits("XYZ", (-2.7, -0.4, -0.3), (0.0, 0.4, 0.3)), Free()],
    "hinge": [Cone(2.4, -2.0, 2.0), Hinge((1.0, 0.0, 0.0), -2.7, 0.0), Free()],
}
FORM = LimbForm(has_end=True)


def pose_at(chain, tree, states, frame):
    return Pose(chain, Matrix.Identity(4), [Quaternion(q) for q in tree.rotations(states)[:, :, frame]])


@pytest.mark.parametrize("kind", LIMBS)
def test_a_pose_is_that_of_the_arrays(kind):
    found = sum(agreeing(arm(seed, LIMBS[kind]), seed) for seed in range(10))
    assert found == 30, "The closed form gives up where there is a pose, and leaves it to the slower arrays."


def agreeing(chain, seed):
    """Return at how many frames the closed form finds a pose; that must be the arrays'."""
    tree, there = motion(chain, seed)
    reference = tree.rotations(there.take([0]))
    tasks = [place_task(tree, there), orient_task(tree, there)]
    count = 0
    for frame in (7, 23, 48):
        only = np.array([frame])
        path = natural_path(tree, there.take(only), [task.take(only) for task in tasks], reference, FORM)
        aim, pose = pose_at(chain, tree, there, frame), pose_at(chain, tree, there, 0)
        goal = Goal(Point(aim.tip), (Orientation(aim.tip_rotation),), 1e-3)
        if not pose_one(pose, goal, FORM):
            continue
        count += 1
        assert (pose.tip - aim.tip).length < 1e-4
        assert rotation_angle(pose.tip_rotation, aim.tip_rotation) < 2e-4
        for found, wanted in zip(pose.rotations, tree.rotations(path.states)[:, :, 0], strict=True):
            assert rotation_angle(found, Quaternion(wanted)) < 0.02
    return count


def test_two_bones_and_an_end_without_an_orientation_are_those_of_the_arrays():
    for seed in range(10):
        for links in (2, 3):
            chain = arm(seed, links=links)
            tree, there = motion(chain, seed)
            reference, only = tree.rotations(there.take([0])), np.array([30])
            path = natural_path(tree, there.take(only), [place_task(tree, there).take(only)], reference, FORM)
            aim, pose = pose_at(chain, tree, there, 30), pose_at(chain, tree, there, 0)
            assert pose_one(pose, Goal(Point(aim.tip)), FORM) == bool(path.possible[0])
            for found, wanted in zip(pose.rotations, tree.rotations(path.states)[:, :, 0], strict=True):
                assert rotation_angle(found, Quaternion(wanted)) < 2e-3


def test_the_elbow_turns_to_its_pole():
    chain = arm(2, links=2)
    tree, there = motion(chain, 2)
    pose = pose_at(chain, tree, there, 0)
    root, tip = pose.head(0), pose.tip
    for towards in (Vector((0.0, 0.0, 5.0)), Vector((0.0, 3.0, -4.0)), Vector((-6.0, 1.0, 0.0))):
        found = pose.copy()
        assert pose_one(found, Goal(Point(tip), (Pole(towards),)), FORM)
        line = (tip - root).normalized()
        elbow, pole = (v - line * v.dot(line) for v in (found.head(1) - root, towards - root))
        assert elbow.angle(pole) < 0.2


def test_other_limbs_and_goals_do_not_suit():
    pose = arm(1).rest_pose()
    here, turned = Point(pose.tip), Orientation(Quaternion())
    assert suits_one(pose, Goal(here, (turned,)), FORM)
    assert not suits_one(pose, Goal(here, (turned,)), LimbForm())
    assert not suits_one(pose, Goal(here, (turned, turned)), FORM)
    assert not suits_one(pose, Goal(Line(pose.tip, Vector((1.0, 0.0, 0.0)))), FORM)
    assert suits_one(arm(1, links=2).rest_pose(), Goal(here), LimbForm())
    scaled = Pose(pose.chain, Matrix.Scale(2.0, 4), pose.rotations)
    assert not suits_one(scaled, Goal(here), FORM)


def test_what_cannot_be_done_leaves_the_pose():
    chain = arm(4, [Cone(0.3, -0.1, 0.1), Cone(0.4, -0.1, 0.1), Cone(0.2, -0.1, 0.1)])
    pose = chain.rest_pose()
    before = pose.rotations[:]
    assert not pose_one(pose, Goal(Point(pose.head(0) - (pose.tip - pose.head(0)))), FORM)
    assert pose.rotations == before


def test_an_end_that_is_told_a_twist_has_it_or_the_pose_stays():
    wrist, posed = Cone(3.0, -0.3, 0.3), []
    for seed in range(12):
        chain = arm(seed, [Cone(1.2, -0.25, 0.25), Hinge((1.0, 0.0, 0.0), -2.7, 0.0), wrist])
        tree, there = motion(chain, seed)
        pose = pose_at(chain, tree, there, 0)
        told = Quaternion((pose.end(2) - pose.head(2)).normalized(), 0.3 * seed) @ pose.tip_rotation
        before, tip = list(pose.rotations), pose.tip.copy()
        posed.append(pose_one(pose, Goal(Point(tip), (Orientation(told),), 1e-3), FORM))
        if posed[-1]:
            assert (pose.tip - tip).length < 1e-4
            assert rotation_angle(pose.tip_rotation, told) < 2e-4
        else:
            assert pose.rotations == before
    assert posed[0]
    assert not all(posed)


def test_a_hand_that_is_told_to_twist_beyond_its_wrist_is_refused_and_the_pose_stays():
    """Its twist moves no tip, so that only its orientation tells."""
    refused = 0
    for seed in range(30):
        chain = arm(seed, [Free(), Hinge((1.0, 0.0, 0.0), -2.7, 0.0), Cone(2.8, -0.1, 0.1)])
        tree, there = motion(chain, seed)
        aim, pose = pose_at(chain, tree, there, 23), pose_at(chain, tree, there, 0)
        before = [tuple(each) for each in pose.rotations]
        turn = aim.tip_rotation @ Quaternion((0.0, 1.0, 0.0), 3.0)
        if not pose_one(pose, Goal(Point(aim.tip), (Orientation(turn),), 1e-3), FORM):
            refused += 1
            assert [tuple(each) for each in pose.rotations] == before
        else:
            assert rotation_angle(pose.tip_rotation, turn) < 0.02
    assert refused > 1

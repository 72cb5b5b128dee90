# SPDX-License-Identifier: GPL-3.0-or-later
"""Orientations along a path: those that can be met are met, and stay so when the path is made smooth."""

from math import radians
from random import Random

import pytest
from mathutils import Quaternion, Vector

from ik_triangulation.cooperative import finished
from ik_triangulation.goals import Orientation, Point
from ik_triangulation.kinematics import Hinge, Pose
from ik_triangulation.motion.path import Path, is_met, meet, posed
from ik_triangulation.solvers import solve

from ..chains import straight
from ..goals.soft_goals import allowed, arm
from .paths import Moment

FRAMES, BETWEEN = 60, 20
SEEDS = (1, 3, 7, 19, 24, 32, *range(40, 48))  # in the first six the posture of the first frame does not do to the end


def followed(seed):
    """A limited arm of seven degrees of freedom on a path that it can go, in place and orientation, frame by frame."""
    random, chain = Random(seed), arm()
    pose = allowed(chain, random)
    stops = [allowed(chain, random) for _ in range(FRAMES // BETWEEN + 2)]
    moments = []
    for k in range(FRAMES):
        before, after = stops[k // BETWEEN : k // BETWEEN + 2]
        time = k % BETWEEN / BETWEEN
        share = time * time * (3.0 - 2.0 * time)
        pairs = zip(before.rotations, after.rotations, strict=True)
        goal = Pose(chain, before.base, [a.slerp(b, share) for a, b in pairs])
        goal.project()
        wish, tolerance = Orientation(goal.tip_rotation), 1e-3 * chain.reach
        solution = solve(pose, Point(goal.tip), tolerance=tolerance, soft=[wish], follow=k > 0)
        pose = solution.pose
        moments.append(Moment(pose, Point(goal.tip), tolerance, solution.reached, [wish]))
    return moments


def met(moments):
    """The frames with the poses that were found for them."""
    found = finished(meet(moments))
    return [moment._replace(pose=found.get(k, moment.pose)) for k, moment in enumerate(moments)]


def meets(moment, pose):
    return is_met(moment.goal, pose)


def reached(moment, pose):
    return (moment.target.closest(pose.tip) - pose.tip).length <= moment.tolerance


def test_orientations_that_can_be_met_on_the_way_are_met(long):
    before = after = smoothed = 0
    seeds = SEEDS if long else SEEDS[:2]
    for seed in seeds:
        moments = followed(seed)
        assert all(moment.reached for moment in moments)
        before += sum(meets(moment, moment.pose) for moment in moments)
        found = met(moments)
        assert all(reached(moment, moment.pose) for moment in found)
        after += sum(meets(moment, moment.pose) for moment in found)
        path = Path(found)
        finished(path.without_jumps())
        poses = [posed(*each) for each in zip(found, path.rotations, strict=True)]
        assert all(map(reached, found, poses))
        smoothed += sum(map(meets, found, poses))
    count = FRAMES * len(seeds)
    assert before < 0.95 * count  # or this shows nothing
    assert after >= 0.995 * count
    assert smoothed >= after


def test_a_pose_that_reaches_and_is_turned_as_asked_is_pulled_to_where_it_is():
    moments = [moment for moment in followed(3)[:BETWEEN] if moment.reached and meets(moment, moment.pose)]
    assert len(moments) > 5
    path = Path(moments)
    for k, moment in enumerate(moments[1:6], 1):
        pulled = path._pull(k, moments[k - 1].pose.rotations)
        assert pulled is not None
        assert reached(moment, posed(moment, pulled))
        assert meets(moment, posed(moment, pulled))


def test_nothing_is_done_where_all_are_met_or_none_can_be():
    chain = straight((1.0, 1.0), [Hinge(Vector((1.0, 0.0, 0.0)), -2.0, 2.0)] * 2)
    pose = chain.rest_pose()
    moments = [Moment(pose, Point(pose.tip), 1e-3, True, [Orientation(pose.tip_rotation)])] * 20
    assert finished(meet(moments)) == {}
    across = Orientation(pose.tip_rotation @ Quaternion((0.0, 0.0, 1.0), 1.0))
    wrong = [moment._replace(soft=[across]) for moment in moments]
    assert finished(meet(wrong)) == {}


@pytest.mark.parametrize(("tolerance", "met"), [(29.0, False), (31.0, True)])
def test_the_angle_tolerance_decides_what_is_met(tolerance, met):
    pose = straight((1.0, 1.0)).rest_pose()
    wish = Orientation(pose.tip_rotation @ Quaternion((0.0, 0.0, 1.0), radians(30.0)))
    assert meets(Moment(pose, Point(pose.tip), 1e-3, True, [wish], radians(tolerance)), pose) is met

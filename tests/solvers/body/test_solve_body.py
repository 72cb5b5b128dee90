# SPDX-License-Identifier: GPL-3.0-or-later
"""solve_body() keeps the contract of solve(), for all tips of a body at once."""

from itertools import pairwise
from math import radians

import numpy as np
import pytest
from mathutils import Matrix, Quaternion, Vector

from ik_triangulation.api import (
    Body,
    BodyPose,
    BodyTip,
    ChainError,
    Direction,
    EulerLimits,
    Free,
    Goal,
    Joint,
    Locked,
    LookAt,
    Orientation,
    Point,
    SettingError,
    TargetError,
    solve_body,
)
from ik_triangulation.goals import Box, Field, Pole
from ik_triangulation.kinematics.batch import States
from ik_triangulation.kinematics.body import poses_of_body
from scripts.benchmarks import humanoid

FIGURE = humanoid.body()
STAND = humanoid.standing(FIGURE)
FEET = ("foot.L", "foot.R")
EYES = Vector(humanoid.EYES_FORWARD)


def outside(pose):
    return [
        joint.name
        for joint, turn in zip(FIGURE.joints, pose.rotations, strict=True)
        if joint.freedom.nearest(turn) is not turn
    ]


def moved(name, *way):
    return STAND.tip(name) + Vector(way)


def test_both_hands_reach_the_floor_while_the_feet_stay():
    goals = {"hand.L": Goal(Point((0.22, -0.42, 0.02))), "hand.R": Goal(Point((-0.22, -0.42, 0.02)))}
    found = solve_body(STAND, goals, hold=FEET, balance=True)
    assert found.reached
    assert list(found.tips) == [*FEET, *goals]
    assert all((found.pose.tip(name) - STAND.tip(name)).length < 1e-4 for name in FEET)
    assert all((found.pose.tip(name) - goal.target.location).length < 1e-3 for name, goal in goals.items())
    assert found.outside < 1e-3
    assert found.pose.head(0).z < STAND.head(0).z - 0.05
    assert outside(found.pose) == []
    assert not found.projected


def test_every_kind_of_goal_is_judged_by_what_it_asks_for():
    point = moved("hand.R", -0.1, -0.3, 0.2)
    wanted = Quaternion((0, 0, 1), 0.4) @ STAND.tip_rotation("hand.R")
    goals = {
        "hand.R": Goal(Point(point), (Orientation(wanted),), 1e-3, radians(0.5)),
        "hand.L": Direction(Vector((0.2, -1, 0)), Vector((1, 0, 0))),
        "head": LookAt(Vector((1, -3, 1)), EYES),
    }
    found = solve_body(STAND, goals, hold=FEET)
    assert found.reached
    assert found.tips["hand.R"].error == pytest.approx((found.pose.tip("hand.R") - point).length, abs=1e-5)
    assert found.tips["hand.R"].angle < radians(0.5)
    assert found.tips["hand.L"].error is None
    assert found.tips["head"].angle == pytest.approx(
        goals["head"].missing_at(found.pose.tip("head"), found.pose.tip_rotation("head")), abs=1e-3
    )
    assert found.tips["foot.L"].held
    assert found.outside is None


def test_shapes_and_poles_serve_as_well():
    box = Box(Matrix.Translation((0.5, -0.5, 1.2)) @ Matrix.Scale(0.05, 4))
    goals = {"hand.L": Goal(box, (Pole(Vector((1, 3, 0))),))}
    found = solve_body(STAND, goals, hold=FEET)
    assert found.tips["hand.L"].error < 1e-3


def test_what_is_out_of_reach_gives_way_and_the_feet_do_not():
    far = Point((0.0, -4.0, 1.0))
    found = solve_body(STAND, {"hand.L": Goal(far)}, hold=FEET)
    assert not found.reached
    assert not found.tips["hand.L"].reached
    assert found.tips["hand.L"].error == pytest.approx((found.pose.tip("hand.L") - far.location).length, abs=1e-5)
    assert found.tips["hand.L"].error < (STAND.tip("hand.L") - far.location).length - 0.5
    assert all(found.tips[name].reached for name in FEET)
    assert max((found.pose.tip(name) - STAND.tip(name)).length for name in FEET) < 1e-4


def test_a_goal_that_is_met_leaves_the_pose():
    found = solve_body(STAND, {"hand.L": Goal(Point(STAND.tip("hand.L")))}, hold=FEET)
    assert found.reached
    assert (
        max(a.rotation_difference(b).angle for a, b in zip(found.pose.rotations, STAND.rotations, strict=True)) < 2e-3
    )


def test_nothing_to_do_is_no_error():
    assert solve_body(STAND, {}).reached


def test_the_same_arguments_give_the_same_pose():
    there = poses_of_body(FIGURE, humanoid.random_states(FIGURE, 1, np.random.default_rng(3)))[0]
    goals = {tip.name: Goal(Point(there.tip(tip.name))) for tip in FIGURE.tips}
    first, second = (solve_body(STAND, goals) for _ in range(2))
    assert first.reached
    assert first.pose.rotations == second.pose.rotations
    assert first.pose.base == second.pose.base


@pytest.mark.parametrize("follow", [False, True])
def test_no_result_is_worse_than_its_start(follow):
    poses = poses_of_body(FIGURE, humanoid.random_states(FIGURE, 6, np.random.default_rng(4)))
    for start, there in pairwise(poses):
        goals = {name: Goal(Point(there.tip(name) + Vector((0.5, 0, 0)))) for name in ("hand.L", "hand.R")}
        found = solve_body(start, goals, hold=FEET, follow=follow)

        def error(pose, goals=goals):
            return sum((pose.tip(name) - goal.target.location).length_squared for name, goal in goals.items())

        assert error(found.pose) <= error(start) * (1.0 + 1e-5)
        assert max((found.pose.tip(name) - start.tip(name)).length for name in FEET) < 1e-3
        assert outside(found.pose) == []


def test_a_start_outside_its_limits_is_moved_inside_and_said_so():
    turns = [Quaternion((0, 0, 1), 2.5)] * len(FIGURE.joints)
    found = solve_body(BodyPose(FIGURE, Matrix.Identity(4), turns), {"hand.L": Goal(Point((0.3, -0.3, 1)))})
    assert found.projected
    assert outside(found.pose) == []


def test_a_reference_is_what_the_pose_keeps_to_and_the_feet_stand_on():
    other = poses_of_body(FIGURE, humanoid.random_states(FIGURE, 1, np.random.default_rng(3)))[0]
    found = solve_body(other, {}, hold=FEET, reference=STAND)
    assert max((found.pose.tip(name) - STAND.tip(name)).length for name in FEET) < 1e-3


@pytest.mark.parametrize("motion", ["UP_DOWN", "FIXED"])
def test_hips_move_only_as_they_may(motion):
    figure = humanoid.body(motion)
    joints = list(figure.joints)
    joints[0] = Joint("pelvis", joints[0].offset, Quaternion(), Locked())
    figure = Body(joints, figure.parents, figure.tips, motion)
    stand = humanoid.standing(figure)
    goals = {"hand.L": Goal(Point((0.25, -0.45, 0.7 if motion == "FIXED" else 0.35)))}
    found = solve_body(stand, goals, hold=FEET, balance=True)
    way = found.pose.head(0) - stand.head(0)
    assert way.xy.length < 1e-6
    assert abs(way.z) < 1e-6 if motion == "FIXED" else way.z < -0.02
    assert found.pose.rotations[0] == stand.rotations[0]
    assert max((found.pose.tip(name) - stand.tip(name)).length for name in FEET) < 1e-4
    assert found.reached


def test_two_arms_on_a_spine_that_goes_nowhere_reach_both():
    """The case that was refused: two arms of eight bones that share the spine."""
    limits = EulerLimits("XYZ", (-1.0, -1.0, -1.0), (1.0, 1.0, 1.0))
    joints, parents = [Joint("spine", Vector(), Quaternion(), limits)], [-1]
    for k in range(2):
        joints.append(Joint(f"spine {k}", Vector((0, 0, 0.4)), Quaternion(), limits))
        parents.append(len(parents) - 1)
    tips = []
    for side in (1, -1):
        above = 2
        for k in range(5):
            joints.append(Joint(f"arm {side} {k}", Vector((side * 0.3, 0, 0)), Quaternion(), limits))
            parents.append(above)
            above = len(parents) - 1
        tips.append(BodyTip(f"hand {side}", above, Vector((side * 0.2, 0, 0))))
    arms = Body(joints, parents, tips, "FIXED")
    there = poses_of_body(arms, _drawn(arms, 30))
    for pose in there:
        goals = {tip.name: Goal(Point(pose.tip(tip.name)), (Orientation(pose.tip_rotation(tip.name)),)) for tip in tips}
        assert solve_body(arms.rest_pose(), goals).reached


def _drawn(body, count):
    tree, random = body.tree, np.random.default_rng(2)
    states = tree.posed(np.tile(np.eye(4)[0][None, :, None], (len(body.joints), 1, count)), _frames(count))
    states.angles = tree.lower + random.random((tree.angles, count)) * (tree.upper - tree.lower)
    return states


def _frames(count):
    return States(
        np.empty((0, count)), np.empty((0, 4, count)), np.empty((0, 4, 1)), np.eye(3)[..., None], np.zeros((3, 1))
    )


@pytest.mark.parametrize(
    ("error", "said", "more"),
    [
        (ChainError, "no tip 'tail'", {"goals": {"tail": Goal(Point((0, 0, 0)))}}),
        (ChainError, "no tip 'tail'", {"goals": {}, "hold": ["tail"]}),
        (
            SettingError,
            "'hand.L' cannot be held and reach",
            {"goals": {"hand.L": Goal(Point((0, 0, 0)))}, "hold": ["hand.L"]},
        ),
        (SettingError, "is no angle", {"goals": {}, "angle_tolerance": 0.0}),
        (SettingError, "is not a distance", {"goals": {"hand.L": Goal(Point((0, 0, 0)), (), -1.0)}}),
        (TargetError, "'hand.L'.*Field has no form", {"goals": {"hand.L": Goal(Field(lambda place: -place))}}),
    ],
)
def test_what_cannot_be_asked_for_is_refused_by_name(error, said, more):
    goals = more.pop("goals")
    with pytest.raises(error, match=said):
        solve_body(STAND, goals, **more)


def test_a_start_of_other_bones_or_of_no_numbers_is_refused():
    for pose in (
        BodyPose(FIGURE, Matrix.Identity(4), STAND.rotations[:-1]),
        BodyPose(FIGURE, Matrix.Translation((float("nan"), 0, 0)), STAND.rotations),
    ):
        with pytest.raises(ChainError, match="start pose is not valid"):
            solve_body(pose, {"hand.L": Goal(Point((0, 0, 0)))})


def test_a_joint_without_limits_serves_as_any_other():
    joints = [Joint(f"link {i}", Vector((0, 0, 0.5)), Quaternion(), Free()) for i in range(4)]
    body = Body(
        joints, (-1, 0, 1, 1), (BodyTip("a", 2, Vector((1, 0, 0))), BodyTip("b", 3, Vector((-1, 0, 0)))), "FIXED"
    )
    found = solve_body(body.rest_pose(), {"a": Goal(Point((0.5, 0.5, 1))), "b": Goal(Point((-0.5, 0.2, 1.2)))})
    assert found.reached

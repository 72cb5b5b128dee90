# SPDX-License-Identifier: GPL-3.0-or-later
"""The turn of a hand traded in a single pose after another one: the same cost as arrays have, and its least."""

from math import degrees, radians
from random import Random

import numpy as np
import pytest
from mathutils import Matrix, Quaternion, Vector

from ik_triangulation.goals import Goal, Orientation, Point, Pole
from ik_triangulation.goals.from_goals import tasks_of
from ik_triangulation.kinematics import Cone, EulerLimits, Hinge, Pose
from ik_triangulation.kinematics.batch import Tree
from ik_triangulation.kinematics.rotation import about, rotation_angle
from ik_triangulation.solvers.natural.giving_way import in_reach
from ik_triangulation.solvers.natural.one_limb import pose_or_give_way
from ik_triangulation.solvers.natural.one_trade import OneTrade, trade_one
from ik_triangulation.solvers.natural.tip_limb import TipLimb
from ik_triangulation.solvers.natural.traded import Trade, WristPath
from ik_triangulation.solvers.natural.trading import followed, trailing
from ik_triangulation.solvers.natural.two_bones import TwoBones
from ik_triangulation.solvers.solver import LimbForm

from .arms import arm

WRISTS = {
    "box": EulerLimits("YXZ", tuple(map(radians, (-60, -150, -60))), tuple(map(radians, (60, 150, 60)))),
    "cone": Cone(radians(60), radians(-150), radians(150)),
    "hinge": Hinge(Vector((1.0, 0.2, 0.0)), radians(-70), radians(60)),
}
ELBOWS = {"cone": Cone(radians(155), radians(-35), radians(35)), "hinge": Hinge(Vector((1.0, 0.0, 0.0)), -2.6, 0.1)}
SHOULDER, FORM, RATE = Cone(radians(125), radians(-110), radians(110)), LimbForm(has_end=True), 2.5


def turning(random, angle):
    axis = Vector([random.gauss(0.0, 1.0) for _ in range(3)]).normalized()
    return about(axis, angle)


def drag(seed, wrist="box", elbow="cone", pole=False, shoulder=SHOULDER, bend=-0.6):
    """The reference, the pose before, the goal of before and one that is moved a little and turned beyond the wrist."""
    random = Random(seed)
    chain = arm(seed, [shoulder, ELBOWS[elbow], WRISTS[wrist]])
    rotations = [Quaternion(), about(Vector((1.0, 0.0, 0.0)), bend), Quaternion()]
    reference = Pose(chain, Matrix.Identity(4), rotations)
    turned = [
        joint.freedom.nearest(turning(random, 0.4) @ each) for joint, each in zip(chain.joints, rotations, strict=True)
    ]
    before = Pose(chain, Matrix.Identity(4), turned)
    soft = [Orientation(before.tip_rotation)] + ([Pole(Vector((0.5, -1.0, 0.3)))] if pole else [])
    place = before.tip + 0.03 * chain.reach * Vector([random.gauss(0.0, 1.0) for _ in range(3)])
    last = Goal(Point(before.tip), tuple(soft), 1e-4)
    more = [Orientation(turning(random, 1.8) @ before.tip_rotation), *soft[1:]]
    return reference, before, last, Goal(Point(place), tuple(more), 1e-4)


def by_arrays(reference, before, last, goal, form=FORM):
    """The same as a stretch of two frames."""
    tree = Tree.of(reference.chain)
    goals = [last, goal]
    frames = tree.states([before, before])
    given = np.array([rotation[:] for rotation in reference.rotations])[:, :, None]
    tasks = tasks_of(goals, reference.chain.reach)
    wanted = TwoBones(tree, frames, tasks, given).end
    flexion = None if form.flexion is None else np.array(form.flexion)[:, None]
    limb = TwoBones(tree, frames, in_reach(tree, frames, tasks), given, flexion)
    tip = np.array(tree.tips[0].place)[:, None]
    every = np.arange(2)
    tips = TipLimb(limb, limb.goal + np.einsum("ijf,jf->if", limb.end, np.broadcast_to(tip, (3, 2))), flexion, every)
    pole = None if limb.pole is None else tips.swivels_to(limb.pole_from_root(every), np.zeros(2))
    trade = Trade(tips, wanted, 1.0, (1.0, 1.0), RATE, np.array([True, False]), pole)
    rotations = np.array([rotation[:] for rotation in before.rotations])[:, :, None]
    upper = np.array(reference.chain.rests[0] @ before.rotations[0].to_matrix())[:, :, None]
    wrist = tips.range.nearest(rotations[2])
    return trade, WristPath(tips.swivels_of(upper, wrist, every[:1]), wrist)


CASES = [("box", "cone", False), ("cone", "hinge", False), ("hinge", "cone", False), ("box", "hinge", True)]


@pytest.mark.parametrize("bend", [-0.6, -0.15, 0.0], ids=["bent", "nearly straight", "straight"])
@pytest.mark.parametrize("flexion", [None, Vector((0.3, -0.6, 1.0))], ids=["its own", "told"])
@pytest.mark.parametrize(("wrist", "elbow", "pole"), CASES)
def test_a_single_pose_costs_what_it_does_in_a_shot(wrist, elbow, pole, flexion, bend):
    form = LimbForm(has_end=True, flexion=flexion)
    case = reference, before, last, goal = drag(3, wrist, elbow, pole, bend=bend)
    one = OneTrade(reference, goal, form, before, last, goal.target.closest(before.tip), RATE)
    trade, first = by_arrays(*case, form)
    random, found = Random(5), []
    for _ in range(12):
        own = one.range.inside([each + random.gauss(0.0, 0.4) for each in one.before])
        swivel = random.uniform(-0.8, 0.8)
        path = WristPath(
            np.append(first.swivels, first.swivels + swivel), np.concatenate((first.wrist, np.array(own)[:, None]), 1)
        )
        found.append((one.cost([swivel, *own]), trade.cost(path)))
    scalar, arrays = np.array(found).T
    np.testing.assert_allclose(np.diff(scalar), np.diff(arrays), rtol=2e-3, atol=2e-2)  # the first frame costs the same


@pytest.mark.parametrize("seed", range(6))
def test_a_move_ends_near_the_least_cost_inside_the_limits(seed):
    reference, before, last, goal = drag(seed)
    place = goal.target.closest(before.tip)
    one = OneTrade(reference, goal, FORM, before, last, place, RATE)
    values, cost = one.refined([0.0, *one.before])
    for _ in range(5):  # a move takes some steps of a descent
        values, cost = one.refined(values)
    random = Random(seed)
    for _ in range(40):
        near = [each + random.gauss(0.0, 0.03) for each in values]
        assert one.cost([near[0], *one.range.inside(near[1:])]) > cost - 2e-3 * cost
    pose = trade_one(reference, goal, FORM, before, last, place, None, RATE)
    assert (pose.tip - place).length < 1e-5 * reference.chain.reach
    for joint, rotation in zip(reference.chain.joints, pose.rotations, strict=True):
        assert joint.freedom.allows(rotation)


def test_a_hand_beyond_its_range_creeps_no_further_once_its_target_rests():
    reference, before, _, goal = drag(2)
    place, turns = goal.target.closest(before.tip), []
    for _ in range(20):
        pose = trade_one(reference, goal, FORM, before, goal, place, None, RATE)
        turns.append(degrees(max(map(rotation_angle, before.rotations, pose.rotations))))
        before = pose
    assert max(turns) < 45.0
    assert max(turns[-5:]) < 0.5


@pytest.mark.parametrize("seed", range(4))
def test_a_move_is_sought_from_another_pose_where_that_costs_less(seed):
    reference, before, last, goal = drag(seed, "cone")
    place = goal.target.closest(before.tip)
    one = OneTrade(reference, goal, FORM, before, last, place, RATE)
    other = trade_one(reference, goal, FORM, before, goal, place, None, 0.2)  # a slow rate hurries less
    alone, both = (trade_one(reference, goal, FORM, before, last, place, found, RATE) for found in (None, other))
    cost = [one.cost(one.values_of(pose.rotations)) for pose in (alone, both, other)]
    assert cost[1] <= min(cost) + 1e-3 * abs(cost[1])
    for pose in (alone, both):
        assert (pose.tip - place).length < 1e-5 * reference.chain.reach
        assert all(joint.freedom.allows(turn) for joint, turn in zip(pose.chain.joints, pose.rotations, strict=True))


def test_what_the_price_rounds_off_a_hand_that_can_turn_as_told_is_made_up():
    """A hand told to turn by what its wrist can is off by nothing, soon after its target rests."""
    for seed in range(4):
        reference, before, last, _ = drag(seed)
        random = Random(seed)
        goal = Goal(last.target, (Orientation(turning(random, 0.05) @ before.tip_rotation),), 1e-4)
        for _ in range(6):
            before = trade_one(reference, goal, FORM, before, goal, goal.target.closest(before.tip), None, RATE)
        assert degrees(rotation_angle(before.tip_rotation, goal.soft[0].rotation)) < 0.01


def largest_turn(before, after):
    return degrees(max(map(rotation_angle, before.rotations, after.rotations)))


@pytest.mark.parametrize("wrist", ["box", "cone"])
def test_a_drag_takes_a_natural_pose_or_a_nearer_one_and_trades_the_turn_of_a_hand_that_has_none(wrist):
    kinds = dict.fromkeys(("natural", "nearer", "traded"), 0)
    for seed in range(12):
        for shoulder in (SHOULDER, Cone(radians(30), radians(-20), radians(20))):
            reference, before, last, goal = drag(seed, wrist, shoulder=shoulder)
            if seed % 2:  # the hand trails already behind a target that goes on from a half turn
                more = (turning(Random(seed), angle) @ before.tip_rotation for angle in (2.9, 3.3))
                last, goal = (Goal(goal.target, (Orientation(each),), 1e-4) for each in more)
                before = trade_one(reference, last, FORM, before, last, goal.target.closest(before.tip), None, RATE)
            natural, place = reference.copy(), goal.target.closest(before.tip)
            natural.project()
            can = pose_or_give_way(natural, goal, FORM)
            pose = followed(reference, goal, FORM, before, last)
            if pose is None:
                assert not can
                continue
            assert all(each.freedom.allows(turn) for each, turn in zip(pose.chain.joints, pose.rotations, strict=True))
            assert (pose.tip - place).length < 1e-3 * reference.chain.reach
            if not can:
                kinds["traded"] += 1
            elif pose.rotations == natural.rotations:
                kinds["natural"] += 1
            else:
                kinds["nearer"] += 1
                assert largest_turn(before, pose) < largest_turn(before, natural)
            if can:
                untold = Goal(goal.target, (), goal.tolerance)
                assert followed(reference, untold, FORM, before, last) is None
                assert followed(natural, Goal(Point(natural.tip), goal.soft, 1e-4), FORM, before, last) is None
                assert trailing(reference, untold, FORM, before, last, natural) is natural
                assert trailing(reference, goal, FORM, before, untold, natural) is natural
                assert trailing(reference, goal, FORM, natural, last, natural) is natural
    assert min(kinds.values()) > 3

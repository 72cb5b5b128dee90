# SPDX-License-Identifier: GPL-3.0-or-later
"""A body that stands takes part in what its arms cannot reach alone: it turns, leans, hinges, and crouches last."""

from dataclasses import replace

import numpy as np
import pytest
from mathutils import Vector

from ik_triangulation.cooperative import finished
from ik_triangulation.goals.from_goals import balance_of, hold_tasks, point_task
from ik_triangulation.goals.orientation import LookTask
from ik_triangulation.goals.task import FadedTask, Level
from ik_triangulation.kinematics import Hinge
from ik_triangulation.kinematics.batch import Geometry
from ik_triangulation.kinematics.batch.algebra import lengths
from ik_triangulation.motion.body_path import body_path
from ik_triangulation.motion.shot import Shot
from ik_triangulation.solvers.batch.change import System
from ik_triangulation.solvers.body.amounts import curvature_by_secant, with_moves
from ik_triangulation.solvers.body.hanging import COMFORTABLE, arm_of
from ik_triangulation.solvers.body.reaching import BEGIN, HIGHEST, LOWEST, reaching_of
from scripts.benchmarks import humanoid
from scripts.benchmarks.body_goals import FEET, HANDS, goals_of, stands

FIGURE = humanoid.body()
TREE = FIGURE.tree
NAMES = [joint.name for joint in FIGURE.joints]
HIPS, SHOULDERS, KNEES, ANKLES = ("pelvis", "pelvis"), ("upper arm.L", "upper arm.R"), ("shin.L", "shin.R"), FEET


def standing(ways, figure=FIGURE):
    """A stand for each column of ways (3, F), the tasks of both hands going these ways from where they hang, and
    balance."""
    reference, placed = stands(figure, ways.shape[1]), humanoid.standing(figure).frames[..., None]
    tasks, geometry = hold_tasks(figure, FEET, placed), Geometry(figure.tree, reference)
    for name in HANDS:
        number = figure.number_of[name]
        goal = point_task(geometry.tip(number) + ways, np.array([1e-3]))
        tasks.append(replace(goal, tip=number, level=Level.REACH))
    return reference, tasks, balance_of(figure, FEET, placed)


def middle(geometry, pair):
    return sum(geometry.heads[NAMES.index(name)] for name in pair) / 2.0


def lean(geometry, low, high):
    """Angle [degrees] ahead, which is -Y, of the line from the middle of a pair of joints to that of another."""
    line = middle(geometry, high) - middle(geometry, low)
    return np.degrees(np.arctan2(-line[1], line[2]))


def knee(geometry):
    return lean(geometry, ANKLES, KNEES) - lean(geometry, KNEES, HIPS)


def down(depths, ahead=0.35):
    depths = np.asarray(depths, float)
    return np.array([0.0 * depths, -ahead * np.minimum(depths / 0.3, 1.0), -depths])


def amounts_of(ways):
    reference, tasks, steady = standing(np.array(ways, float).T)
    return reaching_of(TREE, reference, tasks, steady).amounts(tasks)


def yaw(geometry):
    left, right = (geometry.heads[NAMES.index(name)] for name in SHOULDERS)
    return np.degrees(np.arctan2(*(left - right)[1::-1]))


def one_hand(way, number=0):
    """Poses from which the left hand reaches, and before, as goals of the other hand are where it hangs."""
    reference, tasks, steady = standing(np.array(way, float)[:, None])
    tasks = [*tasks[:4], tasks[4 + number]]
    reaching = reaching_of(TREE, reference, tasks, steady)
    return Geometry(TREE, reaching.least(tasks)), Geometry(TREE, reference), reaching.amounts(tasks)[:, 0]


def test_what_the_arms_reach_by_themselves_is_reached_standing():
    assert not amounts_of([(0.0, 0.0, 0.0), (0.1, -0.2, 0.2), (0.0, -0.3, 0.4)]).any()


def test_a_hand_overhead_that_its_arm_reaches_by_itself_moves_nothing_else():
    number = FIGURE.number_of[HANDS[0]]
    begin, arm = Geometry(TREE, standing(np.zeros((3, 1)))[0]), arm_of(TREE, number)
    for out in ([0.4453, -0.0164, 0.8952], *np.abs(np.random.default_rng(3).normal(size=(10, 3)))):
        far = 0.8 * arm.length * np.array(out) / np.linalg.norm(out)
        _, _, amounts = one_hand((begin.heads[arm.anchor] - begin.tip(number))[:, 0] + far)
        assert not amounts.any(), out


def test_a_girdle_that_brings_the_shoulder_nearer_leaves_nothing_to_the_trunk():
    """A hand up and ahead that is beyond a comfortable arm, but not beyond one with the share of its girdle."""
    way = (0.0, -0.36, 1.0)
    after, before, amounts = one_hand(way)
    shoulder, tip = NAMES.index(SHOULDERS[0]), FIGURE.number_of[HANDS[0]]
    place, length = before.tip(tip) + np.array(way)[:, None], arm_of(TREE, tip).length
    far = [lengths(place - geometry.heads[shoulder])[0] / length for geometry in (before, after)]
    assert far[0] > COMFORTABLE + 0.05
    assert far[1] < COMFORTABLE
    assert not amounts.any()


@pytest.mark.parametrize("size", [1e-5, 1e-3])
def test_a_hand_that_begins_off_its_place_by_rounding_moves_no_frame_of_the_body(size):
    ways = down(np.linspace(0.0, 0.8, 14) ** 2).T
    rounded = ways + size * np.eye(14)[0][:, None]
    assert np.abs(amounts_of(rounded) - amounts_of(ways)).max() < 2.0 * size


def test_a_moment_between_two_frames_that_are_looked_at_takes_part_in_a_reach():
    ways = np.zeros((7, 3))
    ways[4] = 0.0, -0.35, -0.8
    assert amounts_of(ways)[3].max() > 0.02


def test_the_lower_the_hands_go_the_more_the_body_takes_part_and_the_legs_last():
    reference, tasks, steady = standing(down(np.linspace(0.0, 0.75, 40)))
    _, _, hinge, crouch = reaching_of(TREE, reference, tasks, steady).amounts(tasks)
    for amount in (hinge, crouch):
        assert amount[0] < 0.5
        assert (np.diff(amount) > -0.02).all()
        assert np.diff(amount).max() < 0.15  # of hands that start at once, so that the body does too
    assert hinge[-1] > 0.5
    assert crouch[-1] > 0.3
    assert np.flatnonzero(hinge > 0.2)[0] < np.flatnonzero(crouch > 0.2)[0]


def test_trunk_and_legs_begin_with_a_hand_that_goes_far():
    time = np.clip(np.linspace(-0.25, 1.25, 60), 0.0, 1.0)
    path = time**3 * (10.0 - 15.0 * time + 6.0 * time**2)
    for way in ((0.0, -0.75, 0.2), (0.65, 0.0, 0.3), (0.0, -0.35, -0.8)):
        moved = np.abs(amounts_of(np.outer(path, way))).max(0)
        assert np.flatnonzero(moved > 0.1 * moved.max())[0] <= np.flatnonzero(path > 0.1)[0] + 2


@pytest.mark.parametrize("seed", range(8))
def test_no_other_amounts_cost_less(seed):
    """Steps of Newton's method end where none of many random amounts near them is cheaper."""
    random = np.random.default_rng(seed)
    ways = random.uniform((-0.6, -0.8, -0.8), (0.6, 0.4, 0.6), (1, 3))
    reference, tasks, steady = standing(ways.T)
    reaching, at = reaching_of(TREE, reference, tasks[:5], steady), np.zeros(1, np.intp)
    goals = reaching.goals(tasks[:5], at)
    found, least = reaching.cheapest(np.repeat(BEGIN[:, None], 1, 1), at, goals, 30)
    assert least == pytest.approx(reaching.cost(found, at, goals))
    for _ in range(40):
        other = np.clip(found + random.normal(0.0, 0.05, found.shape), LOWEST[:, None], HIGHEST[:, None])
        assert reaching.cost(other, at, goals)[0] > least[0] - 1e-3


def test_curvature_by_secant_explains_what_slopes_change_by_where_they_rise_faster():
    random = np.random.default_rng(6)
    step, change, rows = random.normal(size=(3, 4, 200))
    curve, none = rows[:, None] * rows[None], np.zeros((4, 4, 200))
    left = change - (curve * step).sum(1)
    faster = (left * step).sum(0) / (lengths(left) * lengths(step))
    more = curvature_by_secant(none, curve, change, step)
    assert ((curve + more) * step).sum(1)[:, faster > 0.2] == pytest.approx(change[:, faster > 0.2])
    assert not more[..., faster <= 0.0].any()
    assert np.linalg.eigvalsh(np.moveaxis(more, -1, 0)).min() > -1e-9
    again = curvature_by_secant(more, curve, random.normal(size=(4, 200)), random.normal(size=(4, 200)))
    assert np.linalg.eigvalsh(np.moveaxis(again, -1, 0)).min() > -1e-9


def test_the_joints_that_the_basis_turns_are_where_the_whole_body_has_them():
    reference, tasks, steady = standing(down(np.zeros(50)))
    reaching, at = reaching_of(TREE, reference, tasks, steady), np.arange(50)
    amounts = np.random.default_rng(5).uniform((-0.6, -0.4, 0.0, 0.0), (0.6, 0.4, 0.8, 0.8), (50, 4)).T
    whole, part = reaching.standing(amounts), reaching.with_speeds(amounts, at)[0]
    assert len(part.frames) < len(whole.frames)
    assert part.frames == pytest.approx(whole.frames[list(reaching.stand.rows)], abs=1e-12)


@pytest.mark.parametrize("with_balance", [False, True])
def test_velocities_by_the_amounts_are_finite_differences(with_balance):
    """Where legs lean for balance they are nearly so: a line from hips to feet is taken for upright."""
    reference, tasks, steady = standing(down(np.zeros(200)))
    reaching, at = reaching_of(TREE, reference, tasks, steady if with_balance else None), np.arange(200)
    amounts = np.random.default_rng(4).uniform((-0.6, -0.4, 0.0, 0.0), (0.6, 0.4, 0.8, 0.8), (200, 4)).T
    shoulder, step = TREE.tips[FIGURE.number_of[HANDS[0]]].first, 1e-4
    own = reaching.with_speeds(amounts, at)[1].of_head(reaching.stand.rows[shoulder])
    for number, more in enumerate(step * np.eye(4)[..., None]):
        ends = (reaching.standing(amounts + sign * more).heads[shoulder] for sign in (1.0, -1.0))
        off = lengths(own[number] - np.subtract(*ends) / (2.0 * step))
        assert np.median(off) < (0.03 if with_balance else 1e-6)
        assert (off < 0.15).mean() > 0.9


@pytest.mark.parametrize(
    "amounts", [(0, 0, 0, 0.7), (0, 0, 1, 0), (1, 0, 0.3, 0), (0, 0.8, 0, 0.2), (-0.6, 0.2, 0.4, 0.8)]
)
def test_it_keeps_its_feet_its_limits_and_its_weight_above_them(amounts):
    reference, tasks, steady = standing(down([0.5]))
    geometry = reaching_of(TREE, reference, tasks, steady).standing(np.array(amounts, float)[:, None])
    states, before = geometry.states, Geometry(TREE, reference)
    for name in FEET:
        number = FIGURE.number_of[name]
        assert np.linalg.norm(geometry.tip(number) - before.tip(number)) < 0.04
    assert System(TREE, states, [steady]).measured[0].off[0] < 0.02
    assert (TREE.lower <= states.angles).all()
    assert (states.angles <= TREE.upper).all()


def test_a_lean_aside_leaves_both_legs_as_long_as_they_are():
    """A pelvis that rolls would shorten the leg that stands on its lower side, and bend a straight knee by much."""
    reference, tasks, _ = standing(down([0.5]))
    geometry = reaching_of(TREE, reference, tasks).standing(np.array([[0.0], [0.9], [0.0], [0.0]]))
    before = Geometry(TREE, reference)
    for name in FEET:
        number = FIGURE.number_of[name]
        assert np.linalg.norm(geometry.tip(number) - before.tip(number)) < 1e-3
    leans = middle(geometry, SHOULDERS) - middle(geometry, HIPS)
    assert abs(leans[0, 0]) > 0.1


def test_a_crouch_has_the_pattern_of_people_who_lift():
    reference, tasks, _ = standing(down([0.5]))
    geometry = reaching_of(TREE, reference, tasks).standing(np.array([[0.0], [0.0], [0.5], [1.0]]))
    before = Geometry(TREE, reference)
    assert knee(geometry)[0] - knee(before)[0] == pytest.approx(100.0, abs=6.0)
    assert lean(geometry, ANKLES, KNEES)[0] - lean(before, ANKLES, KNEES)[0] == pytest.approx(22.0, abs=3.0)
    assert lean(geometry, HIPS, SHOULDERS)[0] - lean(before, HIPS, SHOULDERS)[0] == pytest.approx(55.0, abs=10.0)
    moved = middle(geometry, HIPS) - middle(before, HIPS)
    assert moved[2, 0] < -0.2
    assert moved[1, 0] > 0.1  # back


@pytest.mark.parametrize("way", [(0.0, -0.75, 0.2), (-0.65, -0.45, 0.15), (0.65, 0.0, 0.3)])
def test_a_hand_that_goes_far_ahead_across_or_aside_bends_no_knee(way):
    after, before, amounts = one_hand(way)
    assert np.abs(amounts[:3]).max() > 0.2
    assert amounts[3] < 0.1
    assert knee(after)[0] - knee(before)[0] < 15.0


def test_to_the_floor_ahead_a_body_hinges_and_crouches_and_hardly_turns_or_leans_aside():
    _, _, (turn, aside, hinge, crouch) = one_hand((0.0, -0.35, -0.8))
    assert abs(turn) < 0.4
    assert abs(aside) < 0.1
    assert hinge > 0.3
    assert crouch > 0.6


@pytest.mark.parametrize("number", [0, 1])
def test_one_hand_stoops_to_the_floor_inside_its_shoulder_and_squats_outside(number):
    outwards = 1.0 - 2.0 * number
    (across, _, inside), (beside, _, outside) = (
        one_hand((outwards * way, -0.3, -0.75), number) for way in (-0.35, 0.15)
    )
    assert inside[2] > outside[2] + 0.5
    assert inside[3] < outside[3] - 0.3
    assert knee(across)[0] < knee(beside)[0] - 20.0
    assert lean(across, HIPS, SHOULDERS)[0] > lean(beside, HIPS, SHOULDERS)[0] + 10.0


def test_a_squat_to_what_is_far_outside_has_less_hinge_than_a_lift():
    squat, lift = one_hand((0.4, -0.1, -0.8))[2], amounts_of(down([0.8]).T)[:, 0]
    assert squat[3] > lift[3] > 0.8
    assert squat[2] / squat[3] < 0.7 * lift[2] / lift[3]


def test_only_places_above_and_below_but_not_aside_or_behind_change_what_a_turn_costs():
    ways = {"below": (0.0, 0.0, -1.0), "above": (0.0, 0.0, 1.0), "aside": (1.0, 0.0, 0.0), "behind": (0.0, 1.0, 0.0)}
    reference, tasks, steady = standing(np.array(list(ways.values())).T)
    reaching, tip, at = reaching_of(TREE, reference, tasks, steady), tasks[4].tip, np.arange(4)
    shoulder = Geometry(TREE, reference).heads[reaching.arm(tip).anchor]
    below, aside, _ = reaching.where(tip, shoulder + np.array(list(ways.values())).T, at)
    assert below == pytest.approx([1.0, -1.0, 0.0, 0.0], abs=0.05)
    assert aside == pytest.approx(0.0, abs=0.05)


def test_the_trunk_turns_to_a_hand_that_goes_across_and_the_other_way_for_the_other_hand():
    left, before, _ = one_hand((-0.65, -0.45, 0.15))
    right, _, _ = one_hand((0.65, -0.45, 0.15), 1)
    turned = yaw(left)[0] - yaw(before)[0]
    assert -70.0 < turned < -20.0
    assert yaw(right)[0] - yaw(before)[0] == pytest.approx(-turned, abs=2.0)


def test_an_arm_without_a_goal_hangs_while_the_trunk_leans():
    after, before, amounts = one_hand((0.1, -0.3, -0.75))
    shoulder, elbow = (NAMES.index(name) for name in ("upper arm.R", "forearm.R"))
    arms = [(geometry.heads[elbow] - geometry.heads[shoulder])[:, 0] for geometry in (after, before)]
    tilt = [np.degrees(np.arccos(-arm[2] / np.linalg.norm(arm))) for arm in arms]
    assert amounts[2] > 0.3
    assert lean(after, HIPS, SHOULDERS)[0] > 40.0
    assert tilt[0] < tilt[1] + 25.0


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_an_arm_under_which_the_trunk_leans_hangs_ahead_of_it(side):
    reference, tasks, steady = standing(np.zeros((3, 1)))
    reaching = reaching_of(TREE, reference, tasks, steady)
    geometry = Geometry(TREE, reaching.posed(np.array([-side, side, 0.0, 0.0])[:, None], tasks))
    turned = np.radians(yaw(geometry)[0])
    ahead = np.array([np.sin(turned), -np.cos(turned), 0.0])
    arms = []
    for end in "LR" if side > 0.0 else "RL":  # the shoulder that goes up first
        shoulder, elbow = (geometry.heads[NAMES.index(f"{part}.{end}"), :, 0] for part in ("upper arm", "forearm"))
        arms.append((elbow - shoulder) / np.linalg.norm(elbow - shoulder))
    assert arms[0] @ ahead > 0.3 > 0.1 > abs(arms[1] @ ahead)
    assert min(-arm[2] for arm in arms) > np.cos(np.radians(35.0))


def test_steps_of_a_drag_come_to_the_amounts_of_the_whole():
    reference, tasks, steady = standing(down([0.6]))
    reaching = reaching_of(TREE, reference, tasks, steady)
    whole, amounts = reaching.amounts(tasks), None
    for _ in range(12):
        amounts = reaching.amounts(tasks, amounts)
    assert amounts == pytest.approx(whole, abs=0.05)


def test_a_solved_descent_leans_and_goes_back_before_its_knees_go_ahead():
    reference, tasks, steady = standing(down(0.75 * (0.5 - 0.5 * np.cos(np.linspace(0.0, 2.0 * np.pi, 72)))))
    states, met = finished(body_path(Shot(tree=TREE, reference=reference, tasks=tasks, steady=steady)))
    assert met.all()
    geometry, begin = Geometry(TREE, states), Geometry(TREE, reference)
    bend, shin = knee(geometry) - knee(begin), lean(geometry, ANKLES, KNEES) - lean(begin, ANKLES, KNEES)
    back = lean(geometry, HIPS, SHOULDERS) - lean(begin, HIPS, SHOULDERS)
    deep = bend > 15.0
    assert 20 < deep.sum() < 72
    assert shin[0] < 8.0  # a stand is a stand
    assert (shin[deep] < 0.45 * bend[deep]).all()
    assert (back[deep] > 0.45 * bend[deep]).all()
    hips = middle(geometry, HIPS) - middle(begin, HIPS)
    assert (hips[1] > -0.005).all()  # never ahead
    assert hips[1].max() > 0.15
    assert np.abs(states.angles[:, -1] - states.angles[:, 0]).max() < np.radians(3.0)


def test_a_body_that_is_not_held_by_its_legs_or_does_not_move_takes_no_part():
    reference, tasks, steady = standing(down([0.5]))
    assert reaching_of(TREE, reference, tasks[4:], None) is None
    hands = goals_of(FIGURE, reference, "feet held, hands, look")[:1]
    assert reaching_of(TREE, reference, [replace(hands[0], level=Level.HOLD), *tasks[4:]], None) is None
    figure = humanoid.body("FIXED")
    fixed, goals, steady = standing(down([0.5]), figure)
    assert reaching_of(figure.tree, fixed, goals, steady) is None


def test_hips_that_only_move_up_and_down_go_straight_down():
    figure = humanoid.body("UP_DOWN")
    reference, tasks, steady = standing(down([0.6]), figure)
    amounts = np.array([0.0, 0.0, 0.0, 0.8])[:, None]
    states = reaching_of(figure.tree, reference, tasks, steady).standing(amounts).states
    moved = (states.place - reference.place)[:, 0]
    assert np.abs(moved[:2]).max() < 1e-9
    assert moved[2] < -0.1


def test_a_hand_without_influence_asks_for_no_posture():
    reference, tasks, steady = standing(down([0.5, 0.5]))
    present = np.array([0.0, 1.0])
    faded = [FadedTask(task=task, rest=np.zeros((3, 2)), present=present) for task in tasks[4:]]
    amounts = reaching_of(TREE, reference.take([0]), tasks, steady.take([0])).amounts(
        [task.take([0]) for task in faded]
    )
    assert not amounts.any()
    amounts = reaching_of(TREE, reference.take([1]), tasks, steady.take([0])).amounts(
        [task.take([1]) for task in faded]
    )
    assert amounts[2:].max() > 0.2


def test_knees_that_can_bend_only_about_the_other_axis_go_ahead_too():
    joints = [
        replace(joint, freedom=Hinge(Vector((-1.0, 0.0, 0.0)), np.radians(-150.0), 0.0))
        if "shin" in joint.name
        else joint
        for joint in FIGURE.joints
    ]
    figure = replace(FIGURE, joints=tuple(joints))
    reference, tasks, _ = standing(down([0.5]), figure)
    crouch = np.array([0.0, 0.0, 0.0, 1.0])[:, None]
    geometry = reaching_of(figure.tree, reference, tasks).standing(crouch)
    assert knee(geometry)[0] > 60.0


def test_hands_that_reach_farther_than_a_body_does_without_a_step_are_short_at_their_farthest():
    ways = np.array([(0.0, -0.1, 0.1), (0.0, -0.9, 0.3), (0.0, -3.0, 0.3), (0.0, -2.0, 0.2)]).T
    reference, tasks, steady = standing(ways)
    reaching, (left, right) = reaching_of(TREE, reference, tasks, steady), map(FIGURE.number_of.get, HANDS)
    assert reaching.short(tasks) == {left: 2, right: 2}
    near = reaching_of(
        TREE,
        *(
            each.take([0, 1]) if hasattr(each, "take") else [t.take([0, 1]) for t in each]
            for each in (reference, tasks, steady)
        ),
    )
    assert near.short([task.take([0, 1]) for task in tasks]) == {}
    assert near.short([task.take([0, 0]) for task in tasks]) == {}
    one = [task for task in tasks if task.tip != right]
    assert reaching.short(one) == {left: 2}


def test_a_look_far_aside_turns_the_trunk_unless_a_reach_turns_it_farther():
    """By half of what is beyond 40 degrees; a reach to the other side counts as well."""
    reference, tasks, steady = standing(np.array([[0.0], [0.0], [0.0]]))
    head, up = FIGURE.number_of["head"], np.array([[0.0], [0.0], [1.0]])
    ahead = np.array([[0.0], [-1.0], [0.0]])
    reaching = reaching_of(TREE, reference, tasks, steady)

    def turned(amount, angle):
        way = np.array([[np.sin(np.radians(angle))], [-np.cos(np.radians(angle))], [0.0]])
        eyes = Geometry(TREE, reference).tip(head)
        look = LookTask(axis=ahead, point=eyes + 5.0 * way, up=up, length=1.0, tolerance=np.ones(1), tip=head)
        amounts = np.array([amount, 0.0, 0.0, 0.0])[:, None]
        return yaw(Geometry(TREE, reaching.posed(amounts, [*tasks, look])))[0]

    alone = [turned(amount, 0.0) for amount in (0.0, 0.3, -0.3)]
    assert alone[0] == pytest.approx(0.0, abs=1e-3)
    assert alone[1] == pytest.approx(-alone[2], rel=1e-3)
    assert abs(alone[1]) > 10.0
    side = np.sign(alone[1])
    for angle in (60.0, 90.0, -120.0):
        look = np.sign(angle) * 0.5 * (abs(angle) - 40.0)
        for amount in (0.0, 0.05, -0.05):
            reach = side * amount / 0.3 * abs(alone[1])
            expected = look if reach * look >= 0.0 else look + reach
            assert turned(amount, angle) == pytest.approx(expected, rel=1e-3)
    assert turned(side * 0.3, 45.0) == pytest.approx(abs(alone[1]), rel=1e-6)


def there_and_back(first, second):
    """Ways (3, F) of a hand to one place, back and to another one, with rests, and what is missing to it as amounts."""
    ease = 0.5 - 0.5 * np.cos(np.linspace(0.0, np.pi, 20))
    share = np.concatenate([np.outer(end, ease) for end in (first, -first, second)], 1)
    begin = np.repeat(np.stack([np.zeros(3), first, np.zeros(3)], 1), 20, 1)
    way = begin + share
    missing = np.maximum(lengths(way) - 0.8, 0.0)
    return way, missing * np.array([1.0, -0.5, 0.8, 0.0])[:, None]


def test_amounts_begin_with_the_move_of_a_hand_and_know_nothing_of_another_move():
    random = np.random.default_rng(3)
    for _ in range(20):
        first, *others = (each / np.linalg.norm(each) * random.uniform(1.0, 2.0) for each in random.normal(size=(3, 3)))
        found = []
        for second in others:
            way, amounts = there_and_back(first, second)
            found.append(with_moves(amounts, [way], [np.ones(60)]))
            gone, turned = lengths(way), np.abs(found[-1][0])
            assert (np.abs(found[-1]) >= np.abs(amounts) - 1e-12).all()
            np.testing.assert_allclose(found[-1][:, [0, 19, 40, 59]], amounts[:, [0, 19, 40, 59]], atol=1e-12)
            assert np.argmax(amounts[0] > 0.1 * amounts[0, 19]) > 6
            assert np.argmax(turned > 0.1 * turned[19]) <= 1 + np.argmax(gone > 0.1 * gone[19])
        np.testing.assert_array_equal(found[0][:, :40], found[1][:, :40])


def test_amounts_of_hands_that_wander_about_are_as_they_are():
    angles = np.linspace(0.0, 4.0 * np.pi, 80)
    way = np.stack((np.cos(angles) * angles / 10.0, np.sin(angles) * angles / 10.0, np.zeros(80)))
    amounts = np.maximum(lengths(way) - 0.8, 0.0) * np.ones((4, 1))
    np.testing.assert_array_equal(with_moves(amounts, [way], [np.ones(80)]), amounts)

# SPDX-License-Identifier: GPL-3.0-or-later
"""Whole paths of a body: everything is reached, feet stay, knees bend, nothing jumps."""

from dataclasses import replace

import numpy as np
import pytest

from ik_triangulation.cooperative import finished
from ik_triangulation.goals.from_goals import balance_of, hold_tasks
from ik_triangulation.goals.task import Level
from ik_triangulation.kinematics.batch import Geometry
from ik_triangulation.motion.body_easing import largest_turns, unsteadiness
from ik_triangulation.motion.body_path import BodyPathSettings, body_path
from ik_triangulation.motion.shot import Shot
from ik_triangulation.solvers.batch.change import System
from scripts.benchmarks import humanoid
from scripts.benchmarks.body_goals import (
    FEET,
    KINDS,
    crouch,
    goals_of,
    half_frames,
    judge,
    random_path,
    reached_of,
    stands,
)

FIGURE = humanoid.body()
TREE = FIGURE.tree
NAMES = [FIGURE.joints[i].name for i in TREE.joint_of[: TREE.angles]]


def shot_of(reference, tasks, steady=None):
    return Shot(tree=TREE, reference=reference, tasks=tasks, steady=steady)


def knees(states):
    return np.degrees(states.angles[[n for n, name in enumerate(NAMES) if name.startswith("shin")]])


@pytest.fixture(scope="module")
def crouched():
    reference, tasks, steady = crouch(FIGURE, 72)
    states, met = finished(body_path(shot_of(reference, tasks, steady)))
    assert met.all()
    return states, tasks


def test_both_hands_go_to_the_floor_and_the_feet_stay(crouched):
    states, tasks = crouched
    judged = judge(FIGURE, states, tasks)
    assert reached_of(judged).all()
    assert judged[0][:2].max() < 1e-5


def test_the_feet_stay_at_half_frames_too(crouched):
    states, tasks = crouched
    half = half_frames(FIGURE, states)
    assert judge(FIGURE, half, [task.take(slice(len(half))) for task in tasks])[0][:2].max() < 1e-3


def test_hips_go_down_and_knees_bend_forwards(crouched):
    states, _ = crouched
    heads = Geometry(TREE, states).heads
    height = heads[0, 2]
    assert height[0] - height.min() > 0.15
    assert knees(states).max(1).min() > 50.0
    shin, foot = (
        next(i for i, joint in enumerate(FIGURE.joints) if joint.name == name) for name in ("shin.L", "foot.L")
    )
    low = int(height.argmin())
    assert heads[shin, 1, low] < heads[foot, 1, low] - 0.1  # ahead is -Y


def test_the_centre_of_mass_is_never_outside(crouched):
    states, _ = crouched
    whole = balance_of(FIGURE, FEET, humanoid.standing(FIGURE).frames[..., None], 0.0)
    assert System(TREE, states, [whole]).measured[0].off.max() == 0.0


def test_nothing_turns_fast_or_jumps(crouched):
    states, _ = crouched
    assert np.degrees(largest_turns(TREE, states).max()) < 9.0
    assert unsteadiness(TREE, states) < 3.0


def test_the_body_stands_as_it_stood_when_the_hands_are_back(crouched):
    states, _ = crouched
    turned = np.abs(states.angles[:, -1] - states.angles[:, 0]).max()
    assert np.degrees(turned) < 15.0
    assert abs(states.place[2, -1] - states.place[2, 0]) < 0.05


@pytest.mark.parametrize("kind", KINDS)
def test_paths_that_some_motion_has_are_reached_without_a_jump(kind, long):
    for seed in range(3 if long else 1):
        way = random_path(FIGURE, seed, 60, 3)
        tasks = goals_of(FIGURE, way, kind)
        states, met = finished(body_path(shot_of(stands(FIGURE, len(way)), tasks)))
        assert met.all()
        assert reached_of(judge(FIGURE, states, tasks)).all()
        assert unsteadiness(TREE, states) < 3.0


def test_a_path_out_of_reach_keeps_its_feet():
    reference, tasks, steady = crouch(FIGURE, 24)
    away = 2.0 * np.sin(np.linspace(0.0, np.pi, 24)) * np.array([[0.0], [-1.0], [0.0]])
    tasks = [*tasks[:4], *(task.to_points(task.target.place + away) for task in tasks[4:])]
    states, met = finished(body_path(shot_of(reference, tasks, steady)))
    assert 0 < met.sum() < 24
    far, _, violation = judge(FIGURE, states, tasks)
    assert far[:2].max() < 1e-3
    assert violation.max() <= 0.0


def test_a_reference_that_meets_its_goals_is_the_result():
    way = random_path(FIGURE, 1, 30, 3)
    tasks = goals_of(FIGURE, way, "feet held, hands, look")
    states, met = finished(body_path(shot_of(way, tasks)))
    assert met.all()
    assert np.abs(states.angles - way.angles).max() == 0.0


def test_feet_that_walk_in_the_animation_are_held_frame_by_frame():
    reference = stands(FIGURE, 40)
    reference.place = reference.place + np.linspace(0.0, 1.0, 40) * np.array([[0.0], [-1.0], [0.0]])
    frames = Geometry(TREE, reference).frames
    tasks = hold_tasks(FIGURE, FEET, frames)
    hand = goals_of(FIGURE, reference, "five places")[0]
    lift = 0.3 * np.sin(np.linspace(0.0, np.pi, 40)) * np.array([[0.0], [0.0], [1.0]])
    hand = replace(hand.to_points(hand.target.place + lift), level=Level.REACH)
    states, met = finished(body_path(shot_of(reference, [*tasks, hand], balance_of(FIGURE, FEET, frames))))
    assert met.all()
    assert judge(FIGURE, states, [*tasks, hand])[0].max() < 1e-3


@pytest.mark.parametrize("seed", range(6))
def test_who_stands_does_not_sway_long_before_a_hand_goes_somewhere_fast(seed):
    random, reference = np.random.default_rng(seed), stands(FIGURE, 73)
    frames = Geometry(TREE, reference).frames
    hand = goals_of(FIGURE, reference, "five places")[0]
    begin, fast = int(random.integers(28, 40)), int(random.integers(8, 16))
    way = random.normal(size=(3, 1)) * [[1.0], [0.5], [1.0]]
    way *= 0.6 / np.linalg.norm(way)
    moved = way * np.sin(np.pi * np.clip((np.arange(73) - begin) / fast, 0.0, 1.0)) ** 2
    hand = replace(hand.to_points(hand.target.place + moved), level=Level.REACH)
    tasks = [*hold_tasks(FIGURE, FEET, frames), hand]
    states, met = finished(body_path(shot_of(reference, tasks, balance_of(FIGURE, FEET, frames))))
    assert met.all()
    before = Geometry(TREE, states.take(np.arange(begin - 9))).frames
    assert np.abs(before[:, :, :3] - frames[:, :, :3, :1]).max() < np.radians(1.5)
    assert np.abs(before[:, :, 3] - frames[:, :, 3, :1]).max() < 0.01


@pytest.mark.parametrize("frames", [1, 2, 3])
def test_few_frames_are_a_path_as_well(frames):
    reference, tasks, steady = crouch(FIGURE, 9)
    some = np.arange(4, 4 + frames)
    states, met = finished(body_path(shot_of(reference, tasks, steady).take(some)))
    assert met.all()
    assert len(states) == frames


def test_it_gives_way_between_its_parts_and_gives_the_same_each_time():
    reference, tasks, steady = crouch(FIGURE, 30)
    work, parts = body_path(shot_of(reference, tasks, steady), settings=BodyPathSettings(fine=2)), 0
    while True:
        try:
            next(work)
            parts += 1
        except StopIteration as end:
            found = end.value
            break
    again = finished(body_path(shot_of(reference, tasks, steady), settings=BodyPathSettings(fine=2)))
    assert parts > 3
    assert np.array_equal(found.states.angles, again.states.angles)
    assert np.array_equal(found.states.place, again.states.place)


def test_hips_that_go_nowhere_leave_the_legs_as_they_are():
    figure = humanoid.body("FIXED")
    reference, tasks, _ = crouch(figure, 30, 0.6)
    states, met = finished(body_path(Shot(tree=figure.tree, reference=reference, tasks=tasks)))
    assert met.all()
    assert np.abs(np.diff(states.place, axis=1)).max() == 0.0 if states.place.shape[1] > 1 else True


def test_goals_that_leap_from_frame_to_frame_are_met_but_for_one_which_is_told():
    """Each frame is a pose of its own, which no frame beside it leads to."""
    there = humanoid.random_states(FIGURE, 8, np.random.default_rng(2))
    tasks = goals_of(FIGURE, there, "five places")
    states, met = finished(body_path(shot_of(stands(FIGURE, 8), tasks)))
    judged = judge(FIGURE, states, tasks)
    assert met.sum() >= 7
    assert np.array_equal(met, reached_of(judged))
    assert judged[2].max() <= 0.0

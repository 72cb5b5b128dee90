# SPDX-License-Identifier: GPL-3.0-or-later
"""A body leads over into frames that it misses and out of them; what it reaches, and its feet, stay."""

from dataclasses import replace

import numpy as np
import pytest

from ik_triangulation.cooperative import finished
from ik_triangulation.goals.task import PlaceTask
from ik_triangulation.kinematics.batch import Geometry
from ik_triangulation.kinematics.batch.algebra import lengths
from ik_triangulation.motion.body_easing import _changes, _faded, led_over
from ik_triangulation.motion.body_path import body_path
from ik_triangulation.solvers.batch.change import System
from ik_triangulation.solvers.natural.posture import Posture
from ik_triangulation.solvers.natural.soft_edge import Pace
from scripts.benchmarks.body_goals import crouch, judge

from .test_body_path import FIGURE, TREE, shot_of

FRAMES = 32


@pytest.fixture(scope="module")
def paths():
    """The tasks of a hand that goes out of reach and back, and the states with a hard and with a soft edge."""
    reference, tasks, _ = crouch(FIGURE, FRAMES)
    hand = FIGURE.number_of["hand.L"]
    place = Geometry(TREE, reference).tip(hand)
    way = 2.2 * np.sin(np.linspace(0.0, np.pi, FRAMES)) ** 2 * np.array([[0.3], [-1.0], [0.2]])
    goal = next(task for task in tasks if task.tip == hand and isinstance(task, PlaceTask))
    tasks = [*tasks[:4], goal.to_points(place + way)]
    shot = shot_of(reference, tasks)
    return tasks, [finished(body_path(replace(shot, soft=soft))).states for soft in ((), (hand,))]


def test_frames_that_are_reached_and_the_feet_stay(paths):
    tasks, (hard, soft) = paths
    met = System(TREE, hard, tasks).met
    assert 8 < met.sum() < FRAMES - 4
    assert np.array_equal(System(TREE, soft, tasks).met, met)
    assert np.abs(TREE.rotations(soft)[..., met] - TREE.rotations(hard)[..., met]).max() == 0.0
    assert judge(FIGURE, soft, tasks)[0][:2].max() < 1e-4


def test_the_body_leaves_its_goals_as_fast_as_it_moves(paths):
    tasks, every = paths
    met = System(TREE, every[0], tasks).met
    edge = np.flatnonzero(met[1:] != met[:-1])
    posture = Posture(TREE, every[0].take(np.zeros(FRAMES, np.intp)))
    bends = [np.abs(np.diff(posture.offsets(states), 2)).max(0) for states in every]  # around frames 1, 2, ...
    hard, soft = (bend[[edge[0], edge[-1] - 1]] for bend in bends)  # the first and the last frame that is missed
    assert (soft < 0.75 * hard).all()


def test_the_hand_does_not_fall_back_where_its_target_leaves_the_reach(paths):
    tasks, every = paths
    met = System(TREE, every[0], tasks).met
    first = int(np.flatnonzero(~met)[0])
    for states in every:
        tip = Geometry(TREE, states).tip(tasks[-1].tip)
        off = lengths(tip - tasks[-1].target.place)
        moved = lengths(np.diff(tasks[-1].target.place))[first - 1]
        assert off[first] < 1.5 * moved


@pytest.mark.parametrize("length", [1, 2, 5])
def test_a_short_run_is_bridged_between_its_sides_and_not_beyond_them(length):
    offsets = np.zeros((1, length + 6))
    run = np.arange(3, 3 + length)
    offsets[0, run] = 1.0
    missed = np.isin(np.arange(length + 6), run)
    bridged = offsets[0, run] + _changes(offsets, missed, run, ((2, 1), (3 + length, 4 + length)), 0.3)[0]
    assert np.abs(bridged).max() < 0.1


class Unmoved(PlaceTask):
    """A place that no joint seems to bring back, so that a frame loses it for any change."""

    def rows(self, *_, **__):
        pass


def test_a_frame_that_would_lose_another_goal_does_not_go_back_alone(paths):
    tasks, (hard, soft) = paths
    run = np.flatnonzero(~System(TREE, hard, tasks).met)
    frames, second = np.arange(FRAMES), run[1]
    tolerance = np.where(frames == second, 1e-6, 1e3)
    tip = tasks[-1].tip
    lost = Unmoved(target=tasks[-1].to_points(Geometry(TREE, hard).tip(tip)).target, tolerance=tolerance, tip=tip)
    posture = Posture(TREE, hard.take(np.zeros(FRAMES, np.intp)))
    led = finished(led_over(TREE, posture, hard, [*tasks[:4], lost], np.isin(frames, run), Pace()))
    changes, whole = (posture.offsets(states) - posture.offsets(hard) for states in (led, soft))
    assert np.abs(changes[:, second]).max() == 0.0
    assert np.abs(changes[:, run[-1]]).max() > 0.5 * np.abs(whole[:, run[-1]]).max()
    beside = slice(second - 1, second + 2)
    assert np.abs(np.diff(changes[:, beside])).max() < 0.25 * np.abs(whole[:, beside]).max()


def test_a_change_fades_on_both_sides_of_a_frame_that_loses_a_goal():
    share = _faded(12, np.array([4]), 3.0)
    assert share[4] == 0.0
    assert share[4:8] == pytest.approx([0.0, 7.0 / 27.0, 20.0 / 27.0, 1.0]), "3 s^2 - 2 s^3 of thirds"
    assert np.array_equal(share[1:5], share[7:3:-1])
    assert (share[[0, 1, 7, 11]] == 1.0).all()

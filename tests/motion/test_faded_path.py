# SPDX-License-Identifier: GPL-3.0-or-later
"""Goals of a body fade in and out: free without influence, on their way between, and without a pop."""

from dataclasses import replace

import numpy as np
import pytest

from ik_triangulation.cooperative import finished
from ik_triangulation.goals.from_goals import hold_tasks, point_task
from ik_triangulation.goals.task import Level
from ik_triangulation.kinematics.batch import Geometry
from ik_triangulation.motion import faded_path as faded
from ik_triangulation.motion.body_easing import largest_turns, unrest
from ik_triangulation.motion.body_path import body_path
from ik_triangulation.motion.faded_path import faded_path, standing
from ik_triangulation.motion.shot import Shot
from scripts.benchmarks import humanoid
from scripts.benchmarks.body_goals import FEET, HANDS, stands

FIGURE = humanoid.body()
TREE, COUNT = FIGURE.tree, 25
HAND, OTHER = (FIGURE.number_of[name] for name in HANDS)
FOOT = FIGURE.number_of[FEET[0]]
WAY = np.array((0.1, -0.35, -0.5))


def place_of(states, tip):
    return Geometry(TREE, states).tip(tip)


def problem():
    """A stand whose feet are held, and a hand that has to be elsewhere in all frames."""
    reference = stands(FIGURE, COUNT)
    held = hold_tasks(FIGURE, FEET, humanoid.standing(FIGURE).frames[..., None])
    start = place_of(reference, HAND)[:, :1]
    goal = start + WAY[:, None]
    task = replace(point_task(goal, np.array([1e-3])), tip=HAND, level=Level.REACH)
    return reference, [*held, task], start, goal


def shot_of(reference, tasks, influence=None):
    return Shot(tree=TREE, reference=reference, tasks=tasks, influence=influence or {})


def solved(influence, tip=HAND):
    reference, tasks, _, _ = problem()
    states, met = finished(
        faded_path(Shot(tree=TREE, reference=reference, tasks=tasks, influence={tip: np.asarray(influence, float)}))
    )
    return states, met


def test_full_influence_is_the_path_itself():
    reference, tasks, _, _ = problem()
    part = replace(shot_of(reference, tasks, {HAND: np.ones(COUNT)}), part_from=0)  # of a longer path: no loop to close
    states, _ = finished(faded_path(part))
    same, _ = finished(body_path(shot_of(reference, tasks)))
    assert np.array_equal(states.angles, same.angles)


def test_a_tip_without_influence_is_free():
    _, _, start, _ = problem()
    states, met = solved(np.zeros(COUNT))
    assert met.all()
    assert np.abs(place_of(states, HAND) - start).max() < 5e-3


@pytest.mark.parametrize("share", [0.2, 0.5, 0.9])
def test_a_tip_goes_the_share_of_the_way_that_its_influence_says(share):
    _, _, start, goal = problem()
    states, met = solved(np.full(COUNT, share))
    assert met.all()
    assert np.abs(place_of(states, HAND) - (start + share * (goal - start))).max() < 1e-2


def test_a_fade_has_no_pop():
    t = np.clip((np.arange(COUNT) - 6.0) / 12.0, 0.0, 1.0)
    share = t * t * (3.0 - 2.0 * t)
    states, met = solved(share)
    assert met.all()
    steps = np.linalg.norm(np.diff(place_of(states, HAND)), axis=0)
    largest = np.diff(share).max() * np.linalg.norm(WAY)
    assert steps.max() < 1.25 * largest
    assert np.abs(np.diff(steps)).max() < 0.35 * largest
    assert np.degrees(largest_turns(TREE, states)).max() < 20.0
    assert np.abs(place_of(states, FOOT) - place_of(stands(FIGURE, 1), FOOT)).max() < 1e-4


def test_a_little_influence_changes_little():
    none, _ = solved(np.zeros(COUNT))
    little, _ = solved(np.full(COUNT, 0.01))
    assert np.abs(place_of(little, HAND) - place_of(none, HAND)).max() < 0.02


def test_a_held_foot_without_influence_is_free():
    reference, tasks, _, goal = problem()
    states, met = finished(
        faded_path(Shot(tree=TREE, reference=reference, tasks=tasks, influence={FOOT: np.zeros(COUNT)}))
    )
    assert met.all()
    assert np.abs(place_of(states, HAND) - goal).max() < 1e-3
    assert np.abs(place_of(states, FOOT) - place_of(reference, FOOT)).max() > 1e-3


def test_the_ends_of_a_loop_meet_calmly_without_solving_it_again(monkeypatch):
    reference, (*held, task), start, _ = problem()
    share = 0.5 - 0.5 * np.cos(2.0 * np.pi * np.arange(COUNT) / (COUNT - 1))
    moving = task.to_points(start + np.outer(WAY, share) + np.outer((0.0, 0.0, -0.2), np.ones(COUNT)))
    shot, solved_parts = shot_of(reference, [*held, moving]), []
    monkeypatch.setattr(faded, "body_path", lambda part: solved_parts.append(part) or body_path(part))
    open_ended, _ = finished(body_path(shot))
    states, met = finished(faded_path(shot))
    assert met.all()
    assert len(solved_parts) == 1
    assert np.degrees(largest_turns(TREE, open_ended.take([COUNT - 1, 0]))).max() > 0.1, "a seam"
    assert np.degrees(largest_turns(TREE, states.take([COUNT - 1, 0]))).max() < 1e-4
    through = np.arange(-3, 4) % (COUNT - 1)
    assert unrest(TREE, states.take(through)).max() < unrest(TREE, open_ended.take(through)).max()


def test_legs_are_turned_to_feet_that_are_held_on_hips_that_stay():
    reference = stands(FIGURE, 3)
    lowered = reference.copy()
    lowered.place = reference.place - np.array([[0.0], [0.0], [0.12]])
    held = hold_tasks(FIGURE, FEET, humanoid.standing(FIGURE).frames[..., None])
    found = finished(standing(FIGURE, lowered, held, {}, 24.0))
    geometry, before = Geometry(TREE, found), Geometry(TREE, lowered)
    for task in held:
        assert (task.measure(geometry).off <= 3.0 * task.tolerance).all()
    still = [
        number
        for number, joint in enumerate(FIGURE.joints)
        if not joint.name.startswith(("thigh", "shin", "foot", "toe"))
    ]
    assert geometry.frames[still] == pytest.approx(before.frames[still], abs=1e-9)
    assert finished(standing(FIGURE, reference, held, {}, 24.0)) is reference
    off = {FIGURE.number_of[name]: np.zeros(3) for name in FEET}
    assert finished(standing(FIGURE, lowered, held, off, 24.0)) is lowered

# SPDX-License-Identifier: GPL-3.0-or-later
"""Goals of a body fade in and out: free without influence, on their way between, and without a pop; ends that stay."""

from dataclasses import replace

import numpy as np
import pytest

from ik_triangulation.cooperative import finished
from ik_triangulation.goals.from_goals import balance_of, hold_tasks, point_task
from ik_triangulation.goals.task import Level
from ik_triangulation.kinematics.batch import Geometry
from ik_triangulation.kinematics.batch.algebra import angles_between
from ik_triangulation.motion import faded_path as faded
from ik_triangulation.motion.body_easing import largest_turns, unrest
from ik_triangulation.motion.body_path import body_path
from ik_triangulation.motion.faded_path import faded_path, standing
from ik_triangulation.motion.shot import Shot
from scripts.benchmarks import humanoid
from scripts.benchmarks.body_goals import FEET, HANDS, random_path, stands

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


def lowered(reference, share):
    """A shot of a reference with its feet held and its balance, whose hands go a share (F) of the way down."""
    geometry, frames = Geometry(TREE, reference), Geometry(TREE, reference).frames
    tasks = hold_tasks(FIGURE, FEET, frames)
    for name, aside in zip(HANDS, (-0.1, 0.1), strict=True):
        tip = FIGURE.number_of[name]
        place = geometry.tip(tip) + np.outer((aside, -0.4, -0.5), share)
        tasks.append(replace(point_task(place, np.array([1e-3])), tip=tip, level=Level.REACH))
    return replace(shot_of(reference, tasks), steady=balance_of(FIGURE, FEET, frames).allowing(geometry))


def off_reference(shot, states):
    """Largest turn [degrees] of a joint off the reference, and way [m] of the hips, at each frame (F)."""
    turns = angles_between(TREE.rotations(states), TREE.rotations(shot.reference))
    return np.degrees(turns.max(0)), np.linalg.norm(states.place - shot.reference.place, axis=0)


@pytest.mark.parametrize("ends", ["both", "first", "last"])
def test_a_first_or_last_frame_whose_pose_is_right_stays_and_no_step_becomes_larger(ends):
    count, changed = 40, 0
    t = np.linspace(0.0, 1.0, count)
    share = {"both": np.sin(np.pi * t) ** 2, "first": t * t * (3.0 - 2.0 * t), "last": 1.0 - t}[ends]
    for seed in range(1, 5):
        shot = lowered(random_path(FIGURE, seed, count, 3, 0.25), share)
        loose, met = finished(body_path(shot))
        states, still_met = finished(faded_path(shot))
        right = {"both": [0, -1], "first": [0], "last": [-1]}[ends]
        assert max(each[right].max() for each in off_reference(shot, states)) < 1e-6
        assert (still_met | ~met).all()
        assert largest_turns(TREE, states).max() < 1.15 * largest_turns(TREE, loose).max()
        assert np.abs(place_of(states, FOOT) - place_of(shot.reference, FOOT)).max() < 1e-4
        changed += off_reference(shot, loose)[0][right].max() > 1.0
        wrong = {"first": -1, "last": 0}.get(ends)
        if wrong is not None:
            assert off_reference(shot, states)[0][wrong] > 10.0
    assert changed >= 2, "without that they would not stay"


@pytest.mark.parametrize("count", [12, 14])
def test_a_loop_that_begins_right_and_hurries_begins_and_ends_so_no_faster_than_it_would_pop(count):
    shot = lowered(stands(FIGURE, count), 0.5 - 0.5 * np.cos(np.linspace(0.0, 2.0 * np.pi, count)))
    loose = finished(body_path(shot))[0]
    states, met = finished(faded_path(shot))
    assert met.all()
    assert max(each[[0, -1]].max() for each in off_reference(shot, states)) < 1e-6
    pop = off_reference(shot, loose)[0][0]
    assert np.degrees(largest_turns(TREE, states).max()) < max(pop, 1.25 * np.degrees(largest_turns(TREE, loose).max()))


def test_a_loop_that_begins_right_begins_and_ends_so_at_one_speed():
    t = np.linspace(0.0, 2.0 * np.pi, 49)
    shot = lowered(stands(FIGURE, 49), 0.5 - 0.5 * np.cos(t))
    states, met = finished(faded_path(shot))
    assert met.all()
    assert max(each[[0, -1]].max() for each in off_reference(shot, states)) < 1e-6
    assert off_reference(shot, finished(body_path(shot))[0])[0][0] > 1.0
    through = unrest(TREE, states.take(np.arange(-3, 4) % 48))
    assert through.max() < 1.5 * unrest(TREE, states).max()


@pytest.mark.parametrize("is_turned_round", [False, True])
def test_a_loop_stays_closed_where_its_goals_leave_too_fast_for_one_end_to_stay(is_turned_round):
    t = np.linspace(0.0, 1.0, 25)
    down = np.clip((1.0 - t) / 0.9, 0.0, 1.0)
    share = np.minimum(np.clip(t / 0.1, 0.0, 1.0), down * down * (3.0 - 2.0 * down))
    shot = lowered(stands(FIGURE, 25), share[::-1] if is_turned_round else share)
    states, met = finished(faded_path(shot))
    assert met.all()
    assert np.degrees(largest_turns(TREE, states.take([24, 0]))).max() < 1e-4
    assert off_reference(shot, states)[0][0] > 10.0, "both ends are led to"


def test_a_frame_that_is_right_stays_where_its_goals_have_no_influence_yet():
    t = np.linspace(0.0, 1.0, 40)
    shot = lowered(random_path(FIGURE, 2, 40, 3, 0.25), np.sin(np.pi * t))
    influence = {tip: np.clip(5.0 * t, 0.0, 1.0) for tip in (HAND, OTHER)}
    states, met = finished(faded_path(replace(shot, influence=influence)))
    assert met.all()
    assert max(each[[0, -1]].max() for each in off_reference(shot, states)) < 1e-6


def test_a_loop_whose_influence_fades_in_and_out_is_closed():
    reference, (*held, task), start, _ = problem()
    share = 0.5 - 0.5 * np.cos(2.0 * np.pi * np.arange(COUNT) / (COUNT - 1))
    moving = task.to_points(start + np.outer(WAY, share) + np.outer((0.0, 0.0, -0.2), np.ones(COUNT)))
    shot = shot_of(reference, [*held, moving], {HAND: 0.5 + 0.4 * share})
    states, met = finished(faded_path(shot))
    assert met.all()
    assert np.degrees(largest_turns(TREE, states.take([COUNT - 1, 0]))).max() < 1e-4
    apart = {HAND: np.linspace(0.5, 0.9, COUNT)}
    states, _ = finished(faded_path(replace(shot, influence=apart)))
    assert np.degrees(largest_turns(TREE, states.take([COUNT - 1, 0]))).max() > 1.0, "no loop"


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

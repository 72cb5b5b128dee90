# SPDX-License-Identifier: GPL-3.0-or-later
"""A body that an empty on one hand drives moves as people do: it turns and leans first, and bends its knees last."""

import pytest

from scripts.benchmarks import job_shots, jobs, scenes

pytestmark = pytest.mark.usefixtures("empty_scene")

EXACT = 1e-3  # m


def posture_of(job):
    with scenes.extension():
        found = jobs.posture_of(job)
    assert found.off < EXACT
    assert found.slip < EXACT
    assert found.turn < 30.0
    return found


def test_for_a_cup_across_the_body_it_turns_and_bends_no_knee():
    found = posture_of("cup across")
    assert found.knee <= 25.0
    assert found.trunk <= 40.0
    assert -64.0 <= found.shoulders <= -25.0
    assert found.shoulders < found.hips < -5.0
    assert found.clavicle >= 5.0
    assert found.free <= 15.0


@pytest.mark.parametrize(
    ("job", "knee"),
    [
        pytest.param("far ahead", 40.0, marks=pytest.mark.long),
        pytest.param("far aside", 25.0, marks=pytest.mark.long),
        ("lean on a table", 40.0),
    ],
)
def test_what_is_far_ahead_or_aside_is_reached_by_leaning(job, knee):
    found = posture_of(job)
    assert found.knee <= knee
    assert found.free <= 15.0


def test_who_stands_with_feet_close_together_leans_aside_without_a_hasty_frame():
    with scenes.extension():
        found = jobs.posture_of("far aside", "t-pose")
    assert found.turn < 7.5
    assert found.knee < 39.0


def test_a_shoulder_rises_for_a_shelf_while_the_trunk_stays_upright():
    found = posture_of("shelf")
    assert found.trunk <= 15.0
    assert 8.0 <= found.clavicle <= 25.0
    assert found.knee <= 25.0


def test_a_hand_goes_to_the_floor_by_bending_the_knees():
    assert 90.0 <= posture_of("one hand to the floor").knee <= 150.0


def test_who_looks_over_the_shoulder_turns_chest_and_hips_as_well():
    found = posture_of("look over the shoulder")
    assert 30.0 <= found.shoulders <= 60.0
    assert 8.0 <= found.hips <= 25.0
    assert found.knee <= 15.0


def test_who_climbs_by_four_empties_stays_behind_the_ladder():
    with scenes.extension():
        shot = job_shots.baked("ladder")
    for pose in shot.shown[9::10]:
        assert pose["spine"][0].translation.y > pose["hand.L"][1].y + 0.2


def test_who_steps_over_something_goes_over_the_foot_that_stands_and_no_farther():
    with scenes.extension():
        shot = job_shots.baked("step over")
    aside = [pose["spine"][0].translation.x for pose in shot.shown]
    foot = shot.before["foot.L"][1].x
    assert -0.75 * foot < min(aside) < -0.4 * foot
    assert 0.4 * foot < max(aside) < 0.75 * foot


def test_knees_go_aside_and_not_through_the_floor_for_hips_that_are_keyed_low():
    with scenes.extension():
        shot = job_shots.baked("push-up")
    assert min(pose[f"shin.{side}"][0].translation.z for pose in shot.shown for side in "LR") > -0.02

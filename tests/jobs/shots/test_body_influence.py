# SPDX-License-Identifier: GPL-3.0-or-later
"""Influence on the limbs of a body: keyed, it frees a limb and brings it back, without a pop."""

import bpy
import numpy as np
import pytest

from ik_triangulation.jobs.bake import bake_body
from ik_triangulation.jobs.pose import solve_body_pose
from ik_triangulation.jobs.shots.problem import body_of

from ...bodies import FEET, SMALL, set_up_rig, tails

pytestmark = pytest.mark.usefixtures("empty_scene")
LAST = 30
FRAMES = range(1, LAST + 1)


def rig_with(tip, keys, down=(-0.3, -0.3, -0.5)):
    """A body whose limb `tip` has its influence keyed: values by frame."""
    rig = set_up_rig(LAST, down)
    stored = rig.pose.bones[tip].ik_triangulation
    for frame, value in keys.items():
        stored.influence = value
        rig.keyframe_insert(f'pose.bones["{tip}"].ik_triangulation.influence', frame=frame)
    return rig


def reach(rig, tip):
    """Distance of a hand's tip from its target at each frame."""
    target, found = rig.pose.bones[tip].ik_triangulation.target, []
    for frame in FRAMES:
        bpy.context.scene.frame_set(frame)
        tail = rig.matrix_world @ rig.pose.bones[tip].tail
        found.append((tail - target.matrix_world.translation).length)
    return np.array(found)


def test_a_hand_fades_in_without_a_pop_while_the_feet_stay():
    rig = rig_with("hand.L", {8: 0.0, 20: 1.0})
    feet = {foot: tails(rig, foot, [1])[0] for foot in FEET}
    report = bake_body(body_of(rig, "hand.L"), 1, LAST)
    assert report.reached, report.text
    away = reach(rig, "hand.L")
    assert away[20:].max() < 2e-3
    assert away[:8].max() > 0.15
    places = np.array(tails(rig, "hand.L", FRAMES))
    steps = np.linalg.norm(np.diff(places, axis=0), axis=1)
    assert np.abs(np.diff(steps)).max() < 0.4 * steps.max()
    assert steps.max() < 0.15
    for foot in FEET:
        assert max((place - feet[foot]).length for place in tails(rig, foot, FRAMES)) < 1e-3


def test_frames_on_the_way_are_neither_reached_nor_missed():
    rig = rig_with("hand.L", {1: 0.5}, down=(1.5, 0.0, 0.0))
    report = bake_body(body_of(rig, "hand.R"), 12, 16)
    assert not report.tips["hand.L"].missed
    assert report.tips["hand.L"].error == 0.0
    assert report.tips["hand.R"].missed


def test_a_held_foot_without_influence_gives_way_and_one_with_it_does_not():
    rig = rig_with("foot.L", {8: 1.0, 14: 0.0, 18: 0.0, 24: 1.0}, (-0.4, -0.4, -0.7))
    report = bake_body(body_of(rig, "hand.L"), 1, LAST)
    feet = {foot: np.array(tails(rig, foot, FRAMES)) for foot in FEET}
    away = {foot: np.linalg.norm(places - places[0], axis=1) for foot, places in feet.items()}
    assert away["foot.R"].max() < 1e-3
    assert away["foot.L"][:8].max() < 1e-3
    assert away["foot.L"][23:].max() < 1e-3
    assert away["foot.L"][13:18].max() > 0.01
    steps = np.linalg.norm(np.diff(feet["foot.L"], axis=0), axis=1)
    assert steps.max() < 0.25  # beside the foot that stays it is a counterweight
    assert np.abs(np.diff(steps)).max() < 0.8 * steps.max()
    assert report.tips["foot.L"].held


def test_influence_counts_for_a_single_pose_too():
    rig = set_up_rig(LAST, (-0.3, -0.3, -0.5))
    bpy.context.scene.frame_set(LAST // 2)
    start = (rig.matrix_world @ rig.pose.bones["hand.L"].tail).copy()
    target = rig.pose.bones["hand.L"].ik_triangulation.target.matrix_world.translation.copy()
    rig.pose.bones["hand.L"].ik_triangulation.influence = 0.5
    rig.pose.bones["hand.R"].ik_triangulation.influence = 0.0
    report = solve_body_pose(body_of(rig, "hand.L"))
    assert report.reached
    tail = rig.matrix_world @ rig.pose.bones["hand.L"].tail
    assert (tail - start.lerp(target, 0.5)).length < 0.01


def test_a_foot_that_is_free_does_not_support():
    rig = rig_with("foot.L", {1: 0.0}, SMALL)
    report = bake_body(body_of(rig, "hand.L"), 1, LAST)
    assert report.outside > 0.03, "the centre of mass is not above the other foot alone"
    alone = bake_body(body_of(rig_with("foot.L", {1: 1.0}, SMALL), "hand.L"), 1, LAST)
    assert alone.outside == 0.0

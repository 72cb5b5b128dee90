# SPDX-License-Identifier: GPL-3.0-or-later
"""All frames of a live body with animated targets are solved once, until something they depend on changes."""

from dataclasses import replace

import bpy
import numpy as np
import pytest
from mathutils import Vector

from ik_triangulation.cooperative import finished
from ik_triangulation.goals.from_goals import Refusal
from ik_triangulation.jobs.live.motion import AheadOfBake, LiveGoals, solve_ahead, solve_shown_ahead
from ik_triangulation.jobs.setup import set_up_body
from ik_triangulation.jobs.shots.problem import BodyProblem, body_of
from ik_triangulation.rig.body import Contact
from ik_triangulation.rig.frames.body_samples import body_now, read_body

from ...bodies import HANDS, SMALL, human_rig, set_up_rig

pytestmark = pytest.mark.usefixtures("empty_scene")
LAST = 16


@pytest.fixture
def rig(empty_scene):
    return set_up_rig(LAST, SMALL)


def ahead(rig, known=None):
    scene, view_layer = bpy.context.scene, bpy.context.view_layer
    view_layer.update()
    body, frame = body_of(rig, "hand.L"), float(scene.frame_current)
    goals = LiveGoals(body, view_layer.depsgraph, frame)
    samples = body_now(body, view_layer.depsgraph, frame, scene)
    return solve_ahead(body, "hand.L", goals, goals.first, samples, known, scene, view_layer)


def test_the_frames_are_those_that_a_bake_solves_with_its_smoothing(rig):
    rig.pose.bones["hand.L"].ik_triangulation.smoothing = 0.8
    found, body = ahead(rig), body_of(rig, "hand.L")
    assert found.frames == range(1, LAST + 1)
    problem = BodyProblem(body, finished(read_body(body, bpy.context.scene, range(1, LAST + 1))))
    rough, _ = finished(problem.path(bpy.context.scene))
    states, _ = finished(problem.path(bpy.context.scene, 0.8))
    assert np.abs(rough.angles - states.angles).max() > 1e-3
    assert np.abs(found.states.angles - states.angles).max() < 1e-3
    assert np.abs(found.at(5.0).angles - states.angles[:, [4]]).max() < 1e-3


def test_they_are_solved_again_only_if_something_has_changed(rig):
    first = ahead(rig)
    bpy.context.scene.frame_set(7)
    assert ahead(rig, first) is first
    target = rig.pose.bones["hand.R"].ik_triangulation.target
    target.location.z += 0.1
    target.keyframe_insert("location", frame=7)
    bpy.context.scene.frame_set(7)
    again = ahead(rig, first)
    assert isinstance(again, AheadOfBake)
    assert again is not first
    bpy.context.scene.render.fps *= 2  # by which the speed of a body is eased
    assert ahead(rig, again) is not again


def test_what_blender_had_to_evaluate_holds_for_one_frame_rate(rig):
    scene, view_layer = bpy.context.scene, bpy.context.view_layer
    body = body_of(rig, "hand.L")
    now = body_now(body, view_layer.depsgraph, 1.0, scene)
    found = solve_shown_ahead(body, "hand.L", now, scene, view_layer)
    assert found.shows(2, scene)
    scene.render.fps *= 2
    assert not found.shows(2, scene)


def test_it_is_left_to_a_drag_where_a_target_is_off_its_animation_or_nothing_moves(rig):
    target = rig.pose.bones["hand.R"].ik_triangulation.target
    target.location.z += 0.1
    assert ahead(rig) == Refusal("a target is not where its keys have it", chosen=True)
    for name in HANDS:
        rig.pose.bones[name].ik_triangulation.target.animation_data_clear()
    assert ahead(rig) == Refusal("no target moves", chosen=True)


def test_it_is_refused_with_a_reason_outside_the_range_and_where_an_influence_is_below_one(rig):
    rig.pose.bones["hand.R"].ik_triangulation.influence = 0.5
    assert ahead(rig) == Refusal("tips have an influence below 1 or an animated one")
    rig.pose.bones["hand.R"].ik_triangulation.influence = 1.0
    bpy.context.scene.frame_set(LAST + 5)
    assert ahead(rig) == Refusal("the frame is none of those that are baked", chosen=True)


def test_a_hand_that_nobody_has_moved_goes_along_as_in_a_bake(empty_scene):
    rig = human_rig(with_head=True)
    set_up_body(rig)
    target = rig.pose.bones["hand.L"].ik_triangulation.target
    start = target.location.copy()
    for frame, share in ((1, 0.0), (LAST, 1.0)):
        target.location = start + Vector((-0.3, -0.3, -0.5)) * share
        target.keyframe_insert("location", frame=frame)
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, LAST
    bpy.context.scene.frame_set(LAST)
    found, body = ahead(rig), body_of(rig, "hand.L")
    problem = BodyProblem(body, finished(read_body(body, bpy.context.scene, range(1, LAST + 1))))
    states, _ = finished(problem.path(bpy.context.scene))
    rotations = [problem.body.tree.rotations(each) for each in (found.states, states)]
    assert (2.0 * np.arccos(np.minimum(1.0, np.abs((rotations[0] * rotations[1]).sum(1))))).max() < np.radians(1.0)


def test_where_the_present_frame_is_solved_alone_it_says_why(rig):
    scene, view_layer = bpy.context.scene, bpy.context.view_layer
    view_layer.update()
    body = body_of(rig, "hand.L")
    goals = LiveGoals(body, view_layer.depsgraph, 1.0)
    samples = body_now(body, view_layer.depsgraph, 1.0, scene)

    def refused(body, frame=1.0):
        now = goals.first._replace(frame=frame)
        return solve_ahead(body, "hand.L", goals, now, samples, None, scene, view_layer)

    contact = Contact("foot.L", 1, 5)
    assert "contacts" in refused(replace(body, contacts=(contact,))).reason
    for frame in (1.5, 0.0, LAST + 1.0):
        assert refused(body, frame) == Refusal("the frame is none of those that are baked", chosen=True)
    alone = solve_shown_ahead(body, "hand.L", samples._replace(frames=[1.5]), scene, view_layer)
    assert alone == Refusal("the frame is none of those that are baked", chosen=True)

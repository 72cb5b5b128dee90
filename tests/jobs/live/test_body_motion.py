# SPDX-License-Identifier: GPL-3.0-or-later
"""A body goes from pose to pose: small steps follow, leaps are posed anew, and what rests is as it is posed anew."""

import bpy
import numpy as np
import pytest
from mathutils import Vector

from ik_triangulation.goals.from_goals import body_tasks
from ik_triangulation.jobs.live.motion import BodyMotion
from ik_triangulation.jobs.shots.problem import body_of
from ik_triangulation.kinematics.batch import Geometry
from ik_triangulation.rig.frames.body_samples import body_now
from ik_triangulation.solvers.natural.posture import Posture

from ...bodies import HANDS, human_rig, set_up_rig

pytestmark = pytest.mark.usefixtures("empty_scene")


@pytest.fixture
def rig(empty_scene):
    rig = set_up_rig()
    for name in HANDS:
        rig.pose.bones[name].ik_triangulation.target.animation_data_clear()
    return rig


def samples_of(rig, way=(0.0, 0.0, 0.0)):
    target = rig.pose.bones["hand.L"].ik_triangulation.target
    before = target.location.copy()
    target.location += Vector(way)
    bpy.context.view_layer.update()
    scene = bpy.context.scene
    samples = body_now(body_of(rig, "hand.L"), bpy.context.view_layer.depsgraph, scene.frame_current, scene)
    target.location = before
    return samples


def motion_of(rig, states=None):
    return BodyMotion(body_of(rig, "hand.L"), samples_of(rig), bpy.context.scene, states)


def goals_of(motion, samples):
    return body_tasks(motion.problem.body, samples.goals, 0.02)


def largest(motion, one, other):
    return np.degrees(np.abs(Posture(motion.problem.body.tree, one).offsets(other)).max())


def dragged(rig, motion, way, moves=30):
    for part in np.linspace(0.0, 1.0, moves):
        motion.follow(goals_of(motion, samples_of(rig, Vector(way) * part)))


def test_small_steps_follow_without_a_leap_and_meet_their_goals(rig):
    motion, before = motion_of(rig), None
    for part in np.linspace(0.0, 1.0, 30):
        goals = goals_of(motion, samples_of(rig, Vector((-0.2, -0.2, -0.4)) * part))
        motion.follow(goals)
        assert motion.is_met(goals)
        if before is not None:
            assert largest(motion, before, motion.states) < 15.0
        before = motion.states.copy()


def test_a_leap_is_posed_as_from_the_first(rig):
    motion, goals = motion_of(rig), None
    motion.follow(goals_of(motion, samples_of(rig)))
    goals = goals_of(motion, samples_of(rig, (-0.3, -0.3, -0.5)))
    motion.follow(goals)
    fresh = motion_of(rig)
    fresh.follow(goals)
    assert largest(motion, motion.states, fresh.states) < 1e-6
    assert not motion.rest()


def test_what_rests_is_as_posed_anew(rig):
    motion, way = motion_of(rig), (-0.2, -0.2, -0.4)
    dragged(rig, motion, way)
    assert motion.rest()
    assert not motion.rest()
    fresh = motion_of(rig)
    fresh.follow(goals_of(fresh, samples_of(rig, way)))
    assert largest(motion, motion.states, fresh.states) < 1e-6


def test_it_goes_on_from_a_pose_of_the_same_body_only(rig):
    first = motion_of(rig)
    dragged(rig, first, (0.0, -0.1, -0.1), 3)
    assert motion_of(rig, first.states).states is first.states
    rig.pose.bones["spine.001"].lock_rotation = (True, True, True)
    rig.pose.bones["spine.001"].lock_rotation_w = rig.pose.bones["spine.001"].lock_rotations_4d = True
    assert motion_of(rig, first.states).states is None


LOOKED = (-0.4, -0.6, -0.4)  # way of the hand, at which the head looks


@pytest.fixture
def looking(empty_scene):
    rig = set_up_rig(rig=human_rig(with_head=True))
    for name in HANDS:
        rig.pose.bones[name].ik_triangulation.target.animation_data_clear()
    assert body_of(rig, "hand.L").free_heads
    return rig


def head_turn(motion, one, other):
    """Angle [degrees] between the heads of two poses."""
    tree = motion.problem.body.tree
    head = motion.problem.body.number_of["head"]
    first, second = (Geometry(tree, each).tip_rotation(head)[..., 0] for each in (one, other))
    return np.degrees(np.arccos(np.clip((np.trace(first.T @ second) - 1.0) / 2.0, -1.0, 1.0)))


def test_a_head_looks_at_the_hand_while_it_is_dragged_and_no_more_once_it_rests(looking):
    motion = motion_of(looking)
    motion.follow(goals_of(motion, samples_of(looking)))
    before = start = motion.shown
    for part in np.linspace(0.0, 1.0, 30):
        motion.follow(goals_of(motion, samples_of(looking, Vector(LOOKED) * part)))
        assert head_turn(motion, before, motion.shown) < 4.0
        before = motion.shown
    assert head_turn(motion, start, before) > 8.0
    assert motion.rest()
    assert head_turn(motion, before, motion.shown) < 3.0
    looks, states = head_turn(motion, motion.states, motion.shown), motion.states.copy()
    for _ in range(12):  # a look does not add up
        motion.follow(goals_of(motion, samples_of(looking, LOOKED)))
    assert abs(head_turn(motion, motion.states, motion.shown) - looks) < 1.0
    assert head_turn(motion, states, motion.states) < 2.0


def test_what_was_taken_is_shown_as_it_is_and_does_not_turn_its_head_where_it_goes_on(looking):
    motion = motion_of(looking)
    goals = goals_of(motion, samples_of(looking, LOOKED))
    motion.follow(goals)
    taken = motion.shown.copy()
    other = motion_of(looking)
    other.take(taken, goals)
    assert largest(other, other.shown, taken) == 0.0
    assert head_turn(other, other.states, taken) > 5.0
    other.follow(goals_of(other, samples_of(looking, Vector(LOOKED) * 1.01)))
    assert head_turn(other, other.shown, taken) < 3.5


def test_without_a_free_head_it_is_shown_as_it_is(rig):
    motion = motion_of(rig)
    motion.follow(goals_of(motion, samples_of(rig, LOOKED)))
    assert motion.shown is motion.states

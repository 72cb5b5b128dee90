# SPDX-License-Identifier: GPL-3.0-or-later
"""A body goes from pose to pose: small steps follow, leaps are posed anew, and what rests is as it is posed anew."""

import bpy
import numpy as np
import pytest
from mathutils import Vector

from ik_triangulation.goals.from_goals import body_tasks
from ik_triangulation.jobs.live.motion import BodyMotion
from ik_triangulation.jobs.shots.problem import body_of
from ik_triangulation.rig.frames.body_samples import body_now
from ik_triangulation.solvers.natural.posture import Posture

from ...bodies import HANDS, set_up_rig

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

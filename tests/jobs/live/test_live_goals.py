# SPDX-License-Identifier: GPL-3.0-or-later
"""The goals of a live body are read anew as long as nobody else changes the rig, and compared without the pose."""

import bpy
import pytest
from mathutils import Vector

from ik_triangulation.jobs.live.motion import LiveGoals
from ik_triangulation.jobs.shots.problem import body_of

from ...bodies import HANDS, set_up_rig
from ...rigs import rotate

pytestmark = pytest.mark.usefixtures("empty_scene")


@pytest.fixture
def rig(empty_scene):
    rig = set_up_rig()
    for name in HANDS:
        rig.pose.bones[name].ik_triangulation.target.animation_data_clear()
    return rig


def goals_of(rig):
    bpy.context.view_layer.update()
    return LiveGoals(body_of(rig, "hand.L"), bpy.context.evaluated_depsgraph_get(), 1.0)


def seen(now):
    return now.surroundings(bpy.context.evaluated_depsgraph_get())


def again(goals, touched=()):
    bpy.context.view_layer.update()
    return goals.again(bpy.context.evaluated_depsgraph_get(), 1.0, set(touched))


def test_a_target_that_moves_is_seen_and_the_goal_is_where_it_is(rig):
    goals = goals_of(rig)
    target = rig.pose.bones["hand.L"].ik_triangulation.target
    assert seen(again(goals)) == seen(goals.first)
    target.location += Vector((0.1, 0.0, -0.2))
    now = again(goals)
    assert seen(now) != seen(goals.first)
    goal = goals.goals(now)["hand.L"][0]
    assert (goal.target.closest(Vector()) - target.location).length < 1e-6


def test_the_pose_of_the_body_does_not_count(rig):
    goals = goals_of(rig)
    rotate(rig.pose.bones["spine.001"], (0.9, 0.1, 0.0, 0.0))
    assert seen(again(goals, [rig])) == seen(goals.first)
    assert seen(goals_of(rig).first) == seen(goals.first)


def test_what_may_change_more_has_the_rig_read_anew(rig):
    goals = goals_of(rig)
    assert again(goals, [rig.data]) is None
    assert again(goals, [bpy.context.scene]) is None
    rig.location.x += 1.0
    assert again(goals) is None


def test_a_body_with_drivers_is_always_read_anew(rig):
    rig.pose.bones["shin.L"].driver_add("rotation_quaternion", 1)
    assert again(goals_of(rig)) is None


def test_a_target_that_is_removed_is_no_error_here(rig):
    goals = goals_of(rig)
    bpy.data.objects.remove(rig.pose.bones["hand.L"].ik_triangulation.target)
    assert goals.again(bpy.context.evaluated_depsgraph_get(), 1.0, set()) is None

# SPDX-License-Identifier: GPL-3.0-or-later
"""A published method takes its own steps until Finish takes over."""

import pytest
from mathutils import Vector

from ik_triangulation.goals import Goal, Point
from ik_triangulation.kinematics.pose import LENGTH_ROUNDING
from ik_triangulation.solvers import SolverSettings
from ik_triangulation.solvers.solve import take_own_steps

from ..chains import straight

NEAR, FAR, EDGE = Vector((0.3, 1.0, 0.4)), Vector((0.0, 0.5, 4.0)), Vector((0.0, 1.0, 2.75))


def own_part(target, solver, **given):
    pose = straight((1.0,) * 3).rest_pose()
    settings = SolverSettings(solver=solver, iterations=20, **given)
    part = take_own_steps(pose, Goal(Point(target), (), 1e-3), settings)
    assert part.error == pytest.approx((target - pose.tip).length)
    return part


def test_without_finish_a_method_goes_on_where_it_would_stop_for_it():
    with_finish, alone = own_part(EDGE, "CCD"), own_part(EDGE, "CCD", finish=False)
    assert with_finish.steps < alone.steps
    assert alone.error < with_finish.error


def test_no_more_is_asked_of_a_target_out_of_reach_than_is_possible():
    part = own_part(FAR, "FABRIK", finish=False)
    possible = FAR.length - 3.0
    assert part.out_of_reach
    assert part.enough == pytest.approx(possible, abs=4.0 * LENGTH_ROUNDING * 3.0)
    assert part.steps < 20


def test_a_target_within_reach_is_asked_within_its_tolerance():
    part = own_part(NEAR, "TRIANGULATION")
    assert (part.steps, part.enough, part.out_of_reach) == (1, 1e-3, False)


def test_a_method_that_solves_a_whole_goal_at_once_takes_one_step_and_none_where_nothing_is_left_to_do():
    pose = straight((1.0, 1.0, 1.0)).rest_pose()
    goal = Goal(Point(Vector((0.5, 1.8, 0.3))), (), 1e-4)
    settings = SolverSettings(solver="NATURAL")
    assert take_own_steps(pose, goal, settings).steps == 1
    assert (pose.tip - goal.target.location).length < 1e-4
    before = pose.rotations[:]
    assert take_own_steps(pose, goal, settings).steps == 0
    assert pose.rotations == before
    assert take_own_steps(pose, goal, SolverSettings(solver="NATURAL", iterations=0)).steps == 0

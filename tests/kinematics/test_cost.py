# SPDX-License-Identifier: GPL-3.0-or-later
"""Costs: turns, total angle and travel of what a pose has recorded."""

from math import pi, radians, sqrt

import pytest
from mathutils import Quaternion, Vector

from tests.chains import straight

Z = Vector((0.0, 0.0, 1.0))


def test_costs_of_turns_worked_out_by_hand():
    pose = straight((1.0, 1.0)).rest_pose()
    pose.turn(0, Quaternion(Z, pi / 2.0))  # the tip goes from (0, 2) to (-2, 0)
    pose.turn(1, Quaternion(Z, pi / 2.0))  # and on to (-1, -1)
    pose.turn(1, Quaternion(Z, radians(4.0)))  # too little to count as a turn
    cost = pose.cost
    assert cost.turns == 2
    assert cost.total_angle == pytest.approx(pi + radians(4.0), abs=1e-5)
    chord = 2.0 * pose.link(1).length * 0.034899  # 2 sin of half of 4 degrees
    assert cost.travel == pytest.approx(2.0 * sqrt(2.0) + sqrt(2.0) + chord, abs=1e-4)


def test_a_pose_that_was_not_turned_cost_nothing():
    cost = straight((1.0, 1.0)).rest_pose().cost
    assert (cost.turns, cost.total_angle, cost.travel) == (0, 0.0, 0.0)


def test_turning_there_and_back_is_counted_twice():
    pose = straight((1.0,)).rest_pose()
    pose.turn(0, Quaternion(Z, 1.0))
    pose.turn(0, Quaternion(Z, -1.0))
    assert pose.cost.total_angle == pytest.approx(2.0, abs=1e-5)
    assert pose.cost.turns == 2

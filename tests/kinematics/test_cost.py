# SPDX-License-Identifier: GPL-3.0-or-later
"""A pose remembers its turns, and what they cost comes out as measured while turning."""

from math import pi, radians, sin, sqrt
from random import Random

import pytest
from mathutils import Vector

from ik_triangulation.kinematics import Cost
from ik_triangulation.kinematics.rotation import about, rotation_angle

from ..chains import bits, hinged, mixed, random_base, random_direction, random_pose, random_rotation, straight

Z = Vector((0.0, 0.0, 1.0))


def test_two_turns_cost_what_the_hand_works_out():
    pose = straight((1.0, 1.0)).rest_pose()
    assert pose.cost == Cost(0, 0.0, 0.0)
    pose.turn(0, about(Z, pi / 2.0))  # the tip goes from (0, 2) to (-2, 0)
    pose.turn(1, about(Z, radians(3.0)))  # and by a chord of 3 degrees at radius 1: too little for a turn
    cost = pose.cost
    assert cost.turns == 1
    assert cost.total_angle == pytest.approx(radians(93.0), abs=1e-6)
    assert cost.travel == pytest.approx(2.0 * sqrt(2.0) + 2.0 * sin(radians(1.5)), abs=1e-6)


@pytest.mark.parametrize(("degrees", "turns"), [(4.99, 0), (5.01, 1), (-5.01, 1), (180.0, 1)])
def test_rotations_above_five_degrees_count_as_turns(degrees, turns):
    pose = straight((1.0, 1.0)).rest_pose()
    pose.turn(1, about(Z, radians(degrees)))
    assert pose.cost.turns == turns
    assert pose.cost.total_angle == pytest.approx(abs(radians(degrees)), abs=1e-6)


def test_there_and_back_costs_both_ways():
    pose = straight((2.0,)).rest_pose()
    pose.turn(0, about(Z, 1.0))
    pose.turn(0, about(Z, -1.0))
    assert pose.cost.turns == 2
    assert pose.cost.total_angle == pytest.approx(2.0, abs=1e-6)
    assert pose.cost.travel == pytest.approx(8.0 * sin(0.5), abs=1e-5)


@pytest.mark.parametrize("make", [mixed, hinged])
def test_the_replay_costs_what_was_measured_while_turning(make):
    random = Random(1)
    for seed in range(40):
        chain = make(seed, random.randint(1, 8), 10.0)
        pose = random_pose(chain, random, random_base(random, 3.0))
        pose.project()
        turns, angle, travel = 0, 0.0, 0.0
        for _ in range(15):
            i, tip = random.randrange(len(pose)), pose.tip.copy()
            before = [rotation.copy() for rotation in pose.rotations]
            if random.random() < 0.5:
                pose.turn(i, random_rotation(random))
            else:
                pose.swing(i, random_direction(random), random_direction(random))
            step = rotation_angle(before[i], pose.rotations[i])
            turns, angle, travel = turns + (step > radians(5.0)), angle + step, travel + (pose.tip - tip).length
        cost = pose.cost
        assert cost.turns == turns
        assert cost.total_angle == pytest.approx(angle, abs=1e-5)
        assert cost.travel == pytest.approx(travel, abs=1e-5 * chain.reach)


def test_asking_for_the_cost_changes_nothing():
    random = Random(2)
    pose = random_pose(mixed(3, 6), random)
    pose.swing(2, random_direction(random), random_direction(random))
    before, turns = bits(pose.rotations), len(pose.turns)
    assert pose.cost == pose.cost
    assert bits(pose.rotations) == before
    assert len(pose.turns) == turns


def test_turns_taken_back_cost_nothing():
    pose = straight((1.0, 1.0, 1.0)).rest_pose()
    pose.turn(0, about(Z, 0.7))
    kept, turns, cost = pose.rotations[:], len(pose.turns), pose.cost
    pose.turn(2, about(Z, 2.0))
    pose.turn(0, about(Z, 1.0))
    pose.restore(kept, turns)
    assert pose.cost == cost


def test_moving_into_the_limits_and_copying_cost_nothing():
    pose = random_pose(hinged(4, 5), Random(3))
    assert pose.project()
    assert pose.cost == Cost(0, 0.0, 0.0)
    pose.turn(1, about(Z, 1.0))
    assert pose.copy().cost == Cost(0, 0.0, 0.0)

# SPDX-License-Identifier: GPL-3.0-or-later
"""Cyclic coordinate descent takes as many sweeps as the 2007 paper counted, and keeps hinges on their axes."""

from math import pi
from random import Random

import numpy as np
import pytest
from mathutils import Vector

from ik_triangulation.goals import Point
from ik_triangulation.kinematics import Hinge
from ik_triangulation.kinematics.rotation import (
    about,
    angle_between,
    clamp_to_range,
    rotation_angle,
    rotation_between,
    twist,
)
from ik_triangulation.solvers import ccd, solve

from ..chains import PAPER, bits, forward, hinged, limited, random_chain, random_direction, random_pose, straight
from . import tables_2009

TARGETS = 4_000, 20_000  # in the short and in the long form
X = Vector((1.0, 0.0, 0.0))


def in_the_papers_cube(random):
    return Vector([random.uniform(-30.0, 30.0) for _ in range(3)])


def swept(places, aim):
    """One sweep over the heads and the end effector, by Rodrigues' formula."""
    places = places.copy()
    for i in reversed(range(len(places) - 1)):
        to_tip, to_aim, beyond = places[-1] - places[i], aim - places[i], places[i + 1 :] - places[i]
        axis = np.cross(to_tip, to_aim)
        angle = np.arctan2(np.linalg.norm(axis), to_tip @ to_aim)
        axis /= np.linalg.norm(axis) or 1.0
        across, along = np.cross(axis, beyond), np.outer(beyond @ axis, axis)
        places[i + 1 :] = places[i] + beyond * np.cos(angle) + across * np.sin(angle) + along * (1.0 - np.cos(angle))
    return places


def test_the_papers_experiment_takes_the_papers_number_of_sweeps(long):
    """The paper: 8.351 sweeps on average, and 92.12 % of the targets within 20."""
    random, chain, targets = Random(2007), straight(PAPER), TARGETS[long]
    counts = []
    while len(counts) < targets:
        aim = in_the_papers_cube(random)
        if aim.length <= chain.reach:
            solution = solve(chain.rest_pose(), Point(aim), solver="CCD", tolerance=0.5, iterations=99, finish=False)
            counts.append(solution.iterations if solution.reached else None)
    reached = [count for count in counts if count is not None]
    assert len(reached) > 0.99 * targets
    assert sum(reached) / len(reached) == pytest.approx(8.351, rel=0.05)
    assert sum(count <= 20 for count in reached) / targets == pytest.approx(0.9212, abs=0.005 if long else 0.01)


@pytest.mark.parametrize("row", range(10))
def test_the_sweeps_cost_what_the_tables_of_2009_print(row):
    """The paper's loop tests the error from before the last sweep, so it does one more than it needs."""
    pose, aim = tables_2009.CHAIN.rest_pose(), tables_2009.aim(row)
    sweeps, error = 0, (aim - pose.tip).length
    while error > 0.1 and sweeps < 100:
        error = (aim - pose.tip).length
        ccd.step(pose, aim)
        sweeps += 1
    turns, angle, travel = tables_2009.cells(pose)
    assert turns == tables_2009.CCD[row][0]
    assert (angle, travel) == pytest.approx(tables_2009.CCD[row][1:], rel=0.005)


def test_every_sweep_is_that_of_plain_vectors_in_double_precision():
    random, chain = Random(5), straight(PAPER)
    for _ in range(100):
        pose, aim = chain.rest_pose(), in_the_papers_cube(random)
        places, _ = forward(chain, pose.base, pose.rotations)
        for _ in range(3):
            ccd.step(pose, aim)
            places = swept(places, np.array(aim))
            assert np.abs(np.array([*(pose.head(i) for i in range(5)), pose.tip]) - places).max() < 1e-3


def test_every_joint_of_a_sweep_ends_pointing_the_end_effector_at_the_aim():
    random = Random(1)
    for seed in range(50):
        pose = random_pose(random_chain(seed, 1), random)
        aim = random_direction(random) * 3.0
        ccd.step(pose, aim)
        assert angle_between(pose.tip - pose.head(0), aim - pose.head(0)) < 2e-6


@pytest.mark.parametrize("make", [random_chain, hinged])
def test_no_sweep_takes_the_end_effector_away_from_the_aim(make):
    random = Random(2)
    for seed in range(60):
        chain = make(seed, random.randint(1, 10), 5.0)
        pose = random_pose(chain, random)
        pose.project()
        aim = random_direction(random) * chain.reach * random.random()
        for _ in range(5):
            before = (aim - pose.tip).length
            ccd.step(pose, aim)
            assert (aim - pose.tip).length <= before + 2e-6 * chain.reach


def test_a_chain_of_hinges_stays_on_its_hinges():
    random = Random(3)
    for seed in range(60):
        chain = hinged(seed, random.randint(1, 10))
        pose = random_pose(chain, random)
        pose.project()
        for _ in range(20):
            ccd.step(pose, random_direction(random) * chain.reach * random.random())
        for joint, rotation in zip(chain.joints, pose.rotations, strict=True):
            hinge = joint.freedom
            assert rotation_angle(about(hinge.axis, twist(rotation, hinge.axis)), rotation) < 1e-6


def test_hinges_about_one_axis_keep_the_chain_in_its_plane():
    chain = straight((1.0, 1.0, 1.0), [Hinge(X)] * 3)
    solution = solve(chain.rest_pose(), Point((0.7, 1.0, 1.2)), solver="CCD", finish=False)
    for i in range(3):
        assert abs(solution.pose.link(i).x) < 1e-6
    assert solution.error == pytest.approx(0.7, abs=1e-3)


def test_a_limited_hinge_stops_at_its_limit():
    chain = straight((1.0, 1.0), [Hinge(X, -0.1, 0.1), Hinge(X, 0.0, pi / 2.0)])
    solution = solve(chain.rest_pose(), Point((0.0, -1.0, 1.0)), solver="CCD", finish=False)
    assert not solution.reached
    assert [twist(rotation, X) for rotation in solution.pose.rotations] == pytest.approx([0.1, pi / 2.0], abs=1e-6)


def test_a_chain_at_the_aim_is_hardly_moved():
    random = Random(4)
    for seed in range(30):
        pose = random_pose(limited(seed, 5), random)
        pose.project()
        before = [rotation.copy() for rotation in pose.rotations]
        ccd.step(pose, pose.tip.copy())
        assert max(map(rotation_angle, before, pose.rotations)) < 2e-5


def test_a_straight_chain_aiming_at_itself_is_left_as_it_is():
    """The known deadlock: no joint gains anything, and `solve` leaves the way out to other means."""
    pose = straight((1.0, 1.0, 1.0)).rest_pose()
    before = bits(pose.rotations)
    ccd.step(pose, Vector((0.0, 2.5, 0.0)))
    assert bits(pose.rotations) == before


def test_in_stages_a_hinge_turns_freely_is_turned_back_to_its_axis_and_clamped():
    """The stages of the source, worked out one after the other."""
    random = Random(31)
    for seed in range(40):
        chain = hinged(seed, 4)
        pose = random_pose(chain, random)
        pose.project()
        aim = pose.head(0) + random_direction(random) * 0.7 * chain.reach
        staged = pose.copy()
        ccd.step_in_stages(staged, aim)
        for i in reversed(range(4)):
            head, hinge = pose.head(i), chain.joints[i].freedom
            free = pose.into(i, rotation_between(pose.tip - head, aim - head)) @ pose.rotations[i]
            on_axis = rotation_between(free @ hinge.axis, hinge.axis) @ free
            pose.put(i, about(hinge.axis, clamp_to_range(twist(on_axis, hinge.axis), hinge.lower, hinge.upper)))
            assert rotation_angle(staged.rotations[i], pose.rotations[i]) < 1e-5


def test_the_best_turn_about_a_hinge_reaches_more_than_the_stages():
    random, reached = Random(32), {"CCD": 0, "CCD_STAGES": 0}
    for seed in range(150):
        chain = hinged(seed, 5)
        goal, start = random_pose(chain, random), chain.rest_pose()
        goal.project()
        for solver in reached:
            solution = solve(
                start, Point(goal.tip), solver=solver, tolerance=1e-3 * chain.reach, iterations=50, finish=False
            )
            reached[solver] += solution.reached
    assert reached["CCD"] >= reached["CCD_STAGES"] > 0

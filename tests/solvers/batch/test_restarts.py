# SPDX-License-Identifier: GPL-3.0-or-later
"""Restarts as a batch: what some pose within the limits reaches is reached, also where angles are at their ends."""

from dataclasses import replace
from itertools import product
from math import radians
from random import Random

import numpy as np
import pytest
from mathutils import Quaternion, Vector

from ik_triangulation.goals import Goal, Orientation, Point
from ik_triangulation.goals.from_goals import point_task, tasks_of
from ik_triangulation.kinematics import Hinge
from ik_triangulation.kinematics.batch import Geometry, Tree
from ik_triangulation.kinematics.batch.algebra import compose, exponential, matrices, rotate
from ik_triangulation.kinematics.body import states_of
from ik_triangulation.solvers.batch import restarts
from ik_triangulation.solvers.batch.change import System
from ik_triangulation.solvers.batch.descent import at_one_level
from ik_triangulation.solvers.batch.restarts import aligned, restart, solve_cold, strayed
from scripts.benchmarks import humanoid

from ...chains import forward, hinged, limited, mixed, random_chain, random_cone, random_direction, straight

X = Vector((1.0, 0.0, 0.0))
BASE = np.eye(4)
CLOSE = 1e-3  # of the reach
UPRIGHT = {"upright": True, "by_places": True}
PLANAR = [
    ((-180, 30), (-110, 0)),
    ((-30, 170), (0, 150)),
    ((-90, 60), (-140, -5)),
    ((-100, 30), (5, 150)),
    ((-180, 30), (-110, 0), (-40, 70)),
    ((-10, 90), (0, 110), (0, 80)),
    ((-60, 175), (0, 140), (-30, 60)),
]


def coned(seed, links):
    random = Random(seed)
    return random_chain(seed, links, 2.0, [random_cone(random) for _ in range(links)])


def rests(tree, chain, count):
    pose = chain.rest_pose()
    pose.project()
    return tree.states([pose]).take(np.zeros(count, int))


def at_ends(tree, chain, count, seed, ends=0.8):
    """Poses with most angles at an end of their range."""
    return strayed(tree, rests(tree, chain, count), np.ones(count), np.random.default_rng(seed), ends)


def tips(tree, chain, states):
    """Ends of the chain by forward kinematics that shares no code with the product."""
    turned = np.moveaxis(tree.rotations(states), -1, 0)
    return np.array([forward(chain, BASE, rotations)[0][-1] for rotations in turned])


def assert_all_reached(chain, places, seed=0):
    """Every place is reached from rest, as it is told, and within the limits."""
    tree, tolerance = Tree.of(chain), CLOSE * chain.reach
    states = rests(tree, chain, len(places))
    met, _ = solve_cold(tree, states, [point_task(places.T.copy(), np.array([tolerance]))], seed=seed)
    off = np.linalg.norm(tips(tree, chain, states) - places, axis=1)
    assert met.all(), f"{(~met).sum()} of {len(met)} missed by up to {off.max() / chain.reach:.1e} of the reach"
    assert (off <= tolerance * (1.0 + 1e-9)).all()
    for rotations in np.moveaxis(tree.rotations(states), -1, 0):
        for joint, rotation in zip(chain.joints, rotations, strict=True):
            assert joint.freedom.allows(Quaternion(rotation))


@pytest.mark.parametrize("make", [hinged, limited, coned, mixed])
def test_targets_with_angles_at_their_ends_are_reached(make, long):
    for seed in range(6 if long else 3):
        chain = make(seed, Random(seed).randint(2, 7))
        tree = Tree.of(chain)
        assert_all_reached(chain, tips(tree, chain, at_ends(tree, chain, 24, seed)))


@pytest.mark.parametrize("ranges", PLANAR, ids=str)
def test_planar_limbs_reach_every_combination_of_the_ends_of_their_ranges(ranges, long):
    hinges = [Hinge(X, *map(radians, ends)) for ends in ranges]
    for lengths in ((1.0, 1.0, 1.0), (0.45, 0.3, 0.1)):
        chain = straight(lengths[: len(hinges)], hinges)
        corners = [[Quaternion(X, radians(angle)) for angle in angles] for angles in product(*ranges)]
        places = np.array([forward(chain, BASE, rotations)[0][-1] for rotations in corners])
        for seed in range(4 if long else 2):
            assert_all_reached(chain, places, seed)


def test_a_narrow_way_in_is_found():
    """Few of all random starts get there: 96 of them, of which none was chosen, missed it with some seeds."""
    random, hinges = Random(3), []
    for _ in range(4):
        lower, width = random.uniform(0.2, 1.0), random.uniform(0.3, 2.0)
        hinges.append(Hinge(random_direction(random), lower, lower + width))
    chain = random_chain(3, 4, 2.0, hinges)
    angles = radians(80.73), hinges[1].lower, radians(63.29), hinges[3].upper
    there = [Quaternion(hinge.axis, angle) for hinge, angle in zip(hinges, angles, strict=True)]
    place = forward(chain, BASE, there)[0][-1]
    for seed in range(20):
        assert_all_reached(chain, place[None], seed)


def test_place_and_orientation_are_met_together():
    """An arm of seven hinges, each with a range that leaves out a part of the circle."""
    random, axes = Random(5), [Vector(axis) for axis in ((0, 0, 1), (0, 1, 0), (0, 0, 1), (0, -1, 0)) * 2][:7]
    hinges = [Hinge(axis, radians(random.uniform(-170, -60)), radians(random.uniform(60, 170))) for axis in axes]
    chain = random_chain(5, 7, 2.0, hinges)
    tree, count = Tree.of(chain), 150
    there = strayed(tree, rests(tree, chain, count), np.ones(count), np.random.default_rng(1), 0.0)
    geometry = Geometry(tree, there)
    goals = []
    for n, rotations in enumerate(np.moveaxis(tree.rotations(there), -1, 0)):
        turned = Quaternion()
        for joint, rotation in zip(chain.joints, rotations, strict=True):
            turned = turned @ joint.rest @ Quaternion(rotation)
        soft = (Orientation(turned @ chain.tip_rest),)
        goals.append(Goal(Point(geometry.tip()[:, n]), soft, CLOSE * chain.reach, radians(0.1)))
    states = rests(tree, chain, count)
    met, _ = solve_cold(tree, states, at_one_level(tasks_of(goals, chain.reach)))
    assert met.all()


def test_out_of_reach_no_state_ends_farther_away_and_its_value_is_what_is_measured():
    chain = limited(4, 5)
    tree = Tree.of(chain)
    places = tips(tree, chain, at_ends(tree, chain, 12, 0)) * 2.0
    tasks = [point_task(places.T.copy(), np.array([CLOSE * chain.reach]))]
    states = rests(tree, chain, 12)
    met, value = np.zeros(12, bool), System(tree, states, tasks).value
    before = value.copy()
    restart(tree, states, tasks, met, value, rounds=(8,))
    assert (value <= before).all()
    assert value == pytest.approx(System(tree, states, tasks).value)
    assert not met.all()


def test_the_same_seed_gives_the_same_poses_and_another_one_others():
    chain = hinged(5, 4)
    tree = Tree.of(chain)
    places = tips(tree, chain, at_ends(tree, chain, 20, 1)) * 1.3
    tasks = [point_task(places.T.copy(), np.array([CLOSE * chain.reach]))]

    def run(seed):
        states = rests(tree, chain, 20)
        solve_cold(tree, states, tasks, seed=seed, rounds=(8,))
        return states.angles

    assert (run(7) == run(7)).all()
    assert (run(7) != run(8)).any()


@pytest.mark.parametrize("share", [0.1, 1.0])
@pytest.mark.parametrize("make", [hinged, limited, coned, mixed])
def test_poses_that_stray_are_inside_their_limits(make, share):
    chain = make(2, 6)
    tree = Tree.of(chain)
    states = strayed(tree, rests(tree, chain, 50), np.full(50, share), np.random.default_rng(0), 0.5)
    for rotations in np.moveaxis(tree.rotations(states), -1, 0):
        for joint, rotation in zip(chain.joints, rotations, strict=True):
            assert joint.freedom.allows(Quaternion(rotation))


def test_a_hinge_that_turns_all_the_way_has_no_end_to_stop_at():
    """From one side of the seam of its range to the other, the short way."""
    chain = straight((1.0, 1.0), [Hinge(X, radians(-180), radians(180)), Hinge(X, 0.0, radians(1))])
    tree = Tree.of(chain)
    pose = chain.rest_pose()
    pose.put(0, Quaternion(X, radians(170)))
    states = tree.states([pose])
    place = forward(chain, BASE, [Quaternion(X, radians(-170)), Quaternion()])[0][-1]
    solve_cold(tree, states, [point_task(place[:, None], np.array([CLOSE]))], rounds=())
    assert np.degrees(states.angles[0, 0]) == pytest.approx(190.0, abs=1.0)


@pytest.mark.parametrize("up", [(0.0, 0.0, 1.0), (0.6, 0.0, 0.8)])
def test_an_upright_turn_is_the_one_about_the_vertical_that_turns_directions_nearest(up):
    """Of all turns about the vertical, tried one degree apart, none has a larger sum of cosines, but for the weight of
    the direction that a body faces as it is."""
    random, up = np.random.default_rng(4), np.array(up)
    products = random.normal(size=(20, 3, 3))
    found = restarts._about(up, products)
    angles = np.radians(np.arange(360.0))
    turns = matrices(exponential(up[:, None] * angles))
    value = np.einsum("fij,jia->fa", products, turns) + 0.05 * np.cos(angles)
    own = np.einsum("fij,jif->f", products, found)
    cosine = 0.5 * (np.einsum("iif->f", found) - 1.0)
    assert (own + 0.05 * cosine >= value.max(1) - 1e-9).all()
    assert np.einsum("ijf,j->if", found, up) == pytest.approx(np.broadcast_to(up[:, None], (3, 20)))
    assert restarts._about(up, np.zeros((1, 3, 3)))[..., 0] == pytest.approx(np.eye(3))


def test_a_body_that_stays_upright_is_turned_about_the_vertical_alone():
    body = humanoid.body()
    tree, states = body.tree, states_of([humanoid.standing(body)])
    geometry, up = Geometry(tree, states), np.array([[0.0], [0.0], [1.0]])
    turn = matrices(exponential(np.array([[0.3], [0.2], [0.9]])))
    tasks = []
    for name in ("hand.L", "hand.R", "foot.L"):
        number = body.number_of[name]
        tasks.append(replace(point_task(rotate(turn, geometry.tip(number)), np.array([1e-3])), tip=number))
    hips = [Geometry(tree, aligned(tree, states, tasks, **how)).frames[0] for how in (UPRIGHT, {})]
    changes = [compose(frame[:, :3], geometry.frames[0][:, :3].swapaxes(0, 1)) for frame in hips]
    kept, leant = (np.abs(rotate(change, up) - up).max() for change in changes)
    assert kept < 1e-9
    assert leant > 0.1
    assert np.trace(changes[0][..., 0]) == pytest.approx(1.0 + 2.0 * np.cos(0.9), abs=0.1)

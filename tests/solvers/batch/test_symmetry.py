# SPDX-License-Identifier: GPL-3.0-or-later
"""What a batch finds does not depend on the size of the tree, where it stands, how it is turned, or left and right.

As of solve(), sizes by powers of two change no bit. A rigid motion is rounded in double precision only.
"""

from dataclasses import replace
from math import ldexp
from random import Random

import numpy as np
import pytest
from mathutils import Matrix

from ik_triangulation.kinematics import Pose
from ik_triangulation.kinematics.batch import States, Tree
from ik_triangulation.kinematics.batch.algebra import compose, matrices, rotate
from ik_triangulation.solvers.batch.descent import Descent, descend
from ik_triangulation.solvers.batch.restarts import solve_cold

from ...trees import (
    KINDS,
    batch_of,
    body,
    drawn,
    orient_task,
    place_task,
    places,
    poses_inside,
    poses_of,
    rest_of,
    special,
)
from ..test_symmetry import mirrored, opposite, turned_over

COUNT = 30
every_kind = pytest.mark.parametrize("build", KINDS.values(), ids=list(KINDS))


def scenes(seed):
    """Trees of every kind with states and tasks: a place alone, and with an orientation; a body with two tips."""
    for build in (*KINDS.values(), special):
        tree, states = batch_of(build(seed, 6), COUNT, seed)
        there = drawn(tree, states, np.random.default_rng(seed))
        both = [place_task(tree, there), orient_task(tree, there)]
        yield tree, states, both[:1]
        yield tree, states, both
    tree = body()
    states = drawn(tree, rest_of(tree, COUNT), np.random.default_rng(seed), 0.5)
    there = drawn(tree, states, np.random.default_rng(seed + 1), 0.3)
    yield tree, states, [make(tree, there, tip, 1 - tip) for tip in (1, 0) for make in (place_task, orient_task)]


def scaled(tree, states, tasks, size):
    """All of it as many times as large."""
    joints = [replace(joint, offset=joint.offset * size) for joint in tree.joints]
    tips = [replace(tip, place=tip.place * size, reach=tip.reach * size) for tip in tree.tips]
    larger = [
        replace(task, length=task.length * size)
        if hasattr(task, "length")
        else replace(task, target=places(task.target.place * size), tolerance=task.tolerance * size)
        for task in tasks
    ]
    there = States(states.angles, states.balls, states.held, states.root, states.place * size)
    return Tree(joints, tree.parents, tips, tree.moves_root), there.copy(), larger


@pytest.mark.parametrize("exponent", [-30, -7, 1, 20])
@pytest.mark.parametrize("solve", [descend, lambda *given: solve_cold(*given, rounds=(4, 4))], ids=["near", "cold"])
def test_a_size_that_is_a_power_of_two_changes_no_bit(solve, exponent):
    size = ldexp(1.0, exponent)
    for tree, states, tasks in scenes(3):
        here, (other, there, larger) = states.copy(), scaled(tree, states, tasks, size)
        met, value = solve(tree, here, tasks)
        met_there, value_there = solve(other, there, larger)
        assert np.array_equal(here.angles, there.angles)
        assert np.array_equal(here.balls, there.balls)
        assert np.array_equal(here.place * size, there.place)
        assert np.array_equal(value * size**2, value_there)
        assert np.array_equal(met, met_there)


@every_kind
@pytest.mark.parametrize("oriented", [False, True], ids=["place", "place and orientation"])
def test_a_rigid_motion_of_tree_and_targets_changes_nothing(build, oriented):
    tree, states = batch_of(build(4, 6), COUNT, 4)
    there = drawn(tree, states, np.random.default_rng(5), 0.05)
    tasks = [place_task(tree, there), orient_task(tree, there)][: 1 + oriented]
    turn = matrices(np.array([0.5, -0.1, 0.7, 0.5])[:, None])
    move = np.array([[1.0], [-7.0], [3.0]])
    there = states.copy()
    there = States(there.angles, there.balls, there.held, compose(turn, there.root), rotate(turn, there.place) + move)
    moved = [replace(tasks[0], target=places(rotate(turn, tasks[0].target.place) + move))]
    moved += [replace(task, rotation=compose(turn, task.rotation)) for task in tasks[1:]]
    bounds = Descent(iterations=1)
    _, value = descend(tree, states, tasks, bounds)
    _, value_there = descend(tree, there, moved, bounds)
    assert np.allclose(value, value_there, rtol=1e-6, atol=1e-12)
    assert np.abs(tree.rotations(states) - tree.rotations(there)).max() < 1e-6


@every_kind
@pytest.mark.parametrize("axis", range(3), ids="xyz")
def test_a_mirrored_tree_is_solved_as_the_mirror_image(build, axis):
    """Poses are handed over in single precision, and what that decides differently is no more than it is."""
    chain, random = build(2, 5), Random(6)
    poses = [Pose(chain, Matrix.Identity(4), pose.rotations) for pose in poses_inside(chain, COUNT, random)]
    images = [
        Pose(mirrored(chain, axis), pose.base, [turned_over(each, axis) for each in pose.rotations]) for pose in poses
    ]
    trees = Tree.of(chain), Tree.of(images[0].chain)
    here, there = trees[0].states(poses), trees[1].states(images)
    task = place_task(trees[0], drawn(trees[0], here, np.random.default_rng(2), 0.1))
    place = task.target.place.copy()
    place[axis] *= -1.0
    bounds = Descent(iterations=1)
    _, value = descend(trees[0], here, [task], bounds)
    _, value_there = descend(trees[1], there, [replace(task, target=places(place))], bounds)
    assert np.allclose(np.sqrt(value), np.sqrt(value_there), atol=1e-4 * chain.reach)
    for pose, image in zip(poses_of(chain, trees[0], here), poses_of(images[0].chain, trees[1], there), strict=True):
        assert (opposite(image.tip, axis) - pose.tip).length < 1e-4 * chain.reach

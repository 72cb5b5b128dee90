# SPDX-License-Identifier: GPL-3.0-or-later
"""Poses become states and rotations again, and changes of states stay inside the limits."""

from math import pi
from random import Random

import numpy as np
import pytest
from mathutils import Quaternion

from ik_triangulation.kinematics import Cone, EulerLimits, Free, Hinge, Locked, unframed
from ik_triangulation.kinematics.batch import Geometry, Tree
from ik_triangulation.kinematics.rotation import rotation_angle

from ...chains import RANDOM, mixed, random_base, random_chain, random_pose
from ...trees import KINDS, SPECIAL, batch_of, drawn, poses_inside, random_tree, rest_of, special, stiffened, violation

BUILDERS = {**KINDS, "special": special}
every_chain = pytest.mark.parametrize("build", BUILDERS.values(), ids=list(BUILDERS))


def test_the_columns_that_move_a_joint_are_those_of_its_ancestors_and_its_own():
    for seed in range(8):
        tree = random_tree(seed, 9)
        for joint in range(9):
            columns, joints = tree.moving(joint)
            every = np.arange(len(tree.joint_of))
            assert [tree.above[i, joint] for i in tree.joint_of] == np.isin(every, every[columns]).tolist()
            assert np.array_equal(np.arange(9)[joints], tree.joint_of[columns])


@every_chain
@pytest.mark.parametrize("seed", range(4))
def test_poses_inside_their_limits_become_states_and_the_same_rotations(build, seed):
    chain = build(seed, 8)
    poses = poses_inside(chain, 5, Random(seed))
    tree = Tree.of(chain)
    rotations = tree.rotations(tree.states(poses))
    assert np.abs(np.linalg.norm(rotations, axis=1) - 1.0).max() < 1e-7
    for n, pose in enumerate(poses):
        for i, rotation in enumerate(pose.rotations):
            assert rotation_angle(Quaternion(rotations[i, :, n].tolist()), rotation) < 3e-6, chain.joints[i].freedom


@every_chain
def test_poses_outside_their_limits_become_the_nearest_states_inside(build):
    chain, random = build(3, 8), Random(3)
    poses = [random_pose(chain, random, random_base(random)) for _ in range(20)]
    tree = Tree.of(chain)
    states = tree.states(poses)
    assert violation(tree, states) == 0.0
    rotations = tree.rotations(states)
    for n, pose in enumerate(poses):
        pose.project()
        for i, rotation in enumerate(pose.rotations):
            assert rotation_angle(Quaternion(rotations[i, :, n].tolist()), rotation) < 3e-6, chain.joints[i].freedom


@every_chain
def test_rotations_of_states_are_inside_the_limits_of_every_joint(build):
    chain = build(6, 9)
    tree, states = batch_of(chain, 30, 6)
    rotations = tree.rotations(drawn(tree, states, np.random.default_rng(6)))
    for i, joint in enumerate(chain.joints):
        for q in rotations[i].T.tolist():
            assert rotation_angle(joint.freedom.nearest(Quaternion(q)), Quaternion(q)) < 3e-6, joint.freedom


def test_a_base_that_does_not_move_is_kept_once():
    chain, random = mixed(1, 4), Random(1)
    still, moving = (Tree.of(chain).states(poses_inside(chain, 4, random, moves)) for moves in (False, True))
    assert (still.root.shape[-1], still.place.shape[-1]) == (1, 1)
    assert (moving.root.shape[-1], moving.place.shape[-1]) == (4, 4)


def test_euler_limits_with_one_angle_from_rest_are_a_hinge():
    chain = random_chain(1, 2, 1.0, [EulerLimits("XYZ", (0.0, -1.0, 0.0), (0.0, 1.0, 0.0))] * 2)
    assert Tree.of(chain).angles == 2


def test_each_column_has_its_joint_and_its_compliance():
    chain = stiffened(random_chain(2, len(SPECIAL), 1.0, SPECIAL), Random(2))
    tree = Tree.of(chain)
    counts = np.bincount(tree.joint_of, minlength=len(SPECIAL))
    moving = {Hinge: 1, Free: 3, Cone: 3}
    for i, freedom in enumerate(map(unframed, SPECIAL)):
        if type(freedom) in moving:
            assert counts[i] == moving[type(freedom)]
        else:
            assert counts[i] == len(getattr(freedom, "axes", ()))
    stiffness = np.array([chain.joints[i].stiffness for i in tree.joint_of])
    assert np.allclose(tree.compliance[:, 0], (1.0 - stiffness) ** 2)


@pytest.mark.parametrize("kind", RANDOM, ids=lambda kind: kind.__name__)
def test_only_joints_that_do_not_move_are_locked(kind):
    """A kind of limit that kinematics.batch.coordinates does not know would count as locked."""
    tree = Tree.of(random_chain(1, 1, 1.0, [RANDOM[kind](Random(1))]))
    assert (tree.held == [0]) == (kind is Locked)


@every_chain
def test_no_change_however_large_leaves_the_limits(build):
    random = np.random.default_rng(8)
    for seed in range(20):
        tree, states = batch_of(build(seed, 5), 20, seed)
        for size in (0.1, 1.0, 10.0):
            change = size * random.normal(size=(tree.columns, len(states)))
            states = tree.moved(states, Geometry(tree, states).frames, change)
            assert violation(tree, states) == 0.0


def test_ranges_are_what_the_bounds_and_the_largest_change_leave():
    tree, states = batch_of(random_chain(3, 6, 1.0, SPECIAL[:6]), 10, 3)
    low, high = tree.ranges(states, 0.3)
    assert (low <= 0.0).all()
    assert (high >= 0.0).all()
    assert (np.maximum(np.abs(low), np.abs(high)) <= 0.3).all()
    assert (states.angles + low >= tree.lower - 1e-15).all()
    assert (states.angles + high <= tree.upper + 1e-15).all()


def test_a_swing_passes_through_rest_to_the_other_side_of_its_cone():
    tree, _ = batch_of(random_chain(1, 1, 1.0, [Cone(1.0)]), 1, 1)
    states = rest_of(tree, 1)
    states.angles[0] = 0.3
    after = tree.moved(states, Geometry(tree, states).frames, np.array([[-0.8], [0.0], [0.0]]))
    assert np.allclose(after.angles[:2, 0], (-0.5, 0.0))


def test_the_ancestor_table_tells_which_joints_rotate_with_which():
    tree = random_tree(4)
    for j, parent in enumerate(tree.parents):
        ancestors = {j}
        while parent >= 0:
            ancestors.add(parent)
            parent = tree.parents[parent]
        assert set(np.flatnonzero(tree.above[:, j])) == ancestors


def test_a_tree_is_a_chain_only_if_every_joint_leads_to_its_one_tip():
    assert Tree.of(mixed(1, 5)).is_chain
    assert not random_tree(1).is_chain
    chain = mixed(1, 5)
    tip = Tree.of(chain).tips[0]
    assert not Tree(chain.joints, [-1, 0, 1, 2, 2], [tip]).is_chain


def test_a_root_that_moves_gives_three_columns_more():
    tree = random_tree(2, moves_root=True)
    states = drawn(tree, rest_of(tree, 3), np.random.default_rng(2))
    assert tree.columns == len(tree.joint_of) + 3
    change = np.zeros((tree.columns, 3))
    change[-3:] = np.array([[0.5], [0.0], [-1.0]])
    after = tree.moved(states, Geometry(tree, states).frames, change)
    moved = tree.size * np.array([[0.5], [0.0], [-1.0]])
    assert np.allclose(after.place - states.place, moved)
    assert np.allclose(Geometry(tree, after).heads - Geometry(tree, states).heads, moved)


def test_angles_of_half_turns_and_more_stay_in_their_ranges():
    chain = random_chain(1, 3, 1.0, [Hinge((0.0, 0.0, 1.0), 10.0, 11.0), Hinge((1.0, 0.0, 0.0), -4.0, 4.0), Cone(pi)])
    tree, states = batch_of(chain, 10, 1)
    assert violation(tree, states) == 0.0

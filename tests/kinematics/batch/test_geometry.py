# SPDX-License-Identifier: GPL-3.0-or-later
"""Forward kinematics of many poses is that of each pose alone."""

from random import Random

import numpy as np
import pytest
from mathutils import Matrix, Quaternion

from ik_triangulation.kinematics import Pose
from ik_triangulation.kinematics.batch import Geometry, Tree

from ...chains import mixed
from ...trees import KINDS, ROUNDING, batch_of, drawn, limb_of, poses_inside, random_tree, rest_of, special, widened

BUILDERS = {**KINDS, "special": special}
every_chain = pytest.mark.parametrize("build", BUILDERS.values(), ids=list(BUILDERS))


@every_chain
@pytest.mark.parametrize("seed", range(4))
def test_heads_frames_and_tips_are_those_of_each_pose(build, seed):
    chain = build(seed, 1 + 3 * seed)
    poses = poses_inside(chain, 6, Random(seed))
    tree = Tree.of(chain)
    geometry = Geometry(tree, tree.states(poses))
    for n, pose in enumerate(poses):
        near = ROUNDING * (chain.reach + pose.base.to_translation().length)
        assert np.abs(geometry.heads[:, :, n] - np.array(pose.heads)).max() < near
        frames = np.array([pose.frame(i) for i in range(len(pose))])
        assert np.abs(geometry.frames[:, :, :3, n] - frames).max() < ROUNDING
        assert np.abs(geometry.tip()[:, n] - np.array(pose.tip)).max() < near
        assert np.abs(geometry.tip_rotation()[..., n] - np.array(pose.tip_rotation.to_matrix())).max() < ROUNDING


@pytest.mark.parametrize("seed", range(6))
def test_every_tip_of_a_tree_is_that_of_the_chain_which_leads_to_it(seed):
    tree = random_tree(seed, moves_root=seed % 2 == 0)
    states = drawn(tree, rest_of(tree, 5), np.random.default_rng(seed))
    geometry, rotations = Geometry(tree, states), tree.rotations(states)
    for number in range(len(tree.tips)):
        chain, along = limb_of(tree, number)
        for n in range(len(states)):
            pose = Pose(chain, _base(states, n), [Quaternion(q) for q in rotations[along, :, n].tolist()])
            assert np.abs(geometry.tip(number)[:, n] - np.array(pose.tip)).max() < 10.0 * ROUNDING
            rotation = np.array(pose.tip_rotation.to_matrix())
            assert np.abs(geometry.tip_rotation(number)[..., n] - rotation).max() < ROUNDING


@every_chain
@pytest.mark.parametrize("links", [33, 50])
def test_few_poses_of_a_long_line_are_those_of_many(build, links):
    tree, states = batch_of(build(3, links), 40, 3)
    together = Geometry(tree, states).frames
    for some in ([4], [0, 11, 39]):
        assert np.abs(Geometry(tree, states.take(np.array(some))).frames - together[..., some]).max() < 1e-12 * links


def _base(states, n):
    return Matrix.Translation(states.place[:, n if states.place.shape[-1] > 1 else 0].tolist())


@every_chain
def test_a_change_of_one_column_rotates_about_its_axis(build):
    chain = build(5, 6)
    _, states = batch_of(chain, 7, 5)
    tree = Tree.of(widened(chain))  # so that no bound shortens the change
    geometry = Geometry(tree, states)
    step = 1e-6
    for column, axis in enumerate(geometry.axes()):
        changes = []
        for sign in (1.0, -1.0):
            change = np.zeros((tree.columns, len(states)))
            change[column] = sign * step
            changes.append(Geometry(tree, tree.moved(states, geometry.frames, change)).tip_rotation())
        after, before = changes
        turned = np.einsum("ijf,kjf->ikf", after - before, 0.5 * (after + before)) / (2.0 * step)
        spin = np.stack((turned[2, 1], turned[0, 2], turned[1, 0]))
        assert np.abs(spin - axis).max() < 1e-6


def test_axes_of_angles_are_the_first_ones_of_all_columns():
    for build in KINDS.values():
        tree, states = batch_of(build(2, 6), 5, 2)
        geometry = Geometry(tree, states)
        assert np.array_equal(geometry.axes()[: tree.angles], geometry.angle_axes())


def test_poses_are_taken_and_put_back_with_all_that_was_measured():
    tree, states = batch_of(mixed(4, 6), 9, 4)
    first, second = Geometry(tree, states.copy()), Geometry(tree, drawn(tree, states, np.random.default_rng(1)))
    for geometry in (first, second):
        geometry.tip(), geometry.tip_rotation()
    some = np.array([1, 4, 8])
    taken = second.take(some)
    first.put(some, second)
    for geometry, columns in ((taken, some), (first, np.arange(9))):
        again = Geometry(tree, geometry.states)
        for found, fresh in (
            (geometry.frames, again.frames),
            (geometry.tip(), again.tip()),
            (geometry.tip_rotation(), again.tip_rotation()),
            (geometry.axes(), again.axes()),
        ):
            assert np.abs(found - fresh).max() < 1e-14, columns


def test_the_geometry_of_states_is_made_once_and_anew_after_they_have_changed():
    tree = random_tree(1, moves_root=True)
    states = drawn(tree, rest_of(tree, 5), np.random.default_rng(1))
    made = Geometry.of(tree, states)
    before = made.frames.copy()
    assert Geometry.of(tree, states) is made
    states.take(slice(2, 3)).place[:] += 1.0  # seen through a slice: written to all
    moved = Geometry.of(tree, states)
    assert np.array_equal(moved.frames, Geometry(tree, states).frames)
    assert not np.array_equal(moved.frames, before)
    assert np.array_equal(made.frames, before)
    other = random_tree(1, moves_root=True)
    assert Geometry.of(other, states).tree is other


def test_shifted_poses_are_those_of_a_root_that_is_elsewhere():
    tree, states = batch_of(mixed(3, 6), 5, 4)
    geometry = Geometry(tree, states)
    geometry.tip()  # remembered, and not to be taken along
    way = np.random.default_rng(1).normal(size=(3, 5))
    shifted = geometry.shifted(way)
    assert shifted.frames[:, :, 3] == pytest.approx(geometry.frames[:, :, 3] + way)
    assert np.array_equal(shifted.frames[:, :, :3], geometry.frames[:, :, :3])
    assert shifted.tip() == pytest.approx(geometry.tip() + way)
    again = Geometry(tree, shifted.states)
    assert again.frames == pytest.approx(shifted.frames, abs=1e-12)
    assert shifted.axes() == pytest.approx(again.axes(), abs=1e-12)

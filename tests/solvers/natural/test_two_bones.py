# SPDX-License-Identifier: GPL-3.0-or-later
"""Every swivel of a limb of two bones reaches, and the costs of a swivel are those of the poses it gives."""

from dataclasses import replace

import numpy as np
import pytest

from ik_triangulation.kinematics import Free, Hinge
from ik_triangulation.kinematics.batch import Geometry
from ik_triangulation.kinematics.batch.algebra import compose, conjugated, lengths, matrices, product
from ik_triangulation.solvers.batch.change import System
from ik_triangulation.solvers.batch.swings import smallest_rotations
from ik_triangulation.solvers.natural.two_bones import TwoBones, suits

from ...trees import orient_task, place_task
from .arms import arm, motion

SEEDS = range(8)


def limb_of(seed, freedoms=None, links=3):
    tree, there = motion(arm(seed, freedoms, links), seed)
    tasks = [place_task(tree, there), *([orient_task(tree, there)] if links == 3 else [])]
    reference = tree.rotations(there.take([0]))
    return TwoBones(tree, there, tasks, reference), tree, there, tasks


def at(limb, tree, there, swivel):
    return tree.posed(limb.rotations(np.broadcast_to(swivel, len(there))), there)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("links", [2, 3])
def test_place_and_orientation_are_exact_at_every_swivel(seed, links):
    limb, tree, there, tasks = limb_of(seed, links=links)
    for swivel in (-3.0, -1.0, 0.0, 0.4, 2.0):
        system = System(tree, at(limb, tree, there, swivel), tasks)
        assert max(measured.off.max() for measured in system.measured) < 1e-6 * tree.size


@pytest.mark.parametrize("seed", SEEDS)
def test_the_first_frame_keeps_the_pose_that_is_the_reference(seed):
    limb, tree, there, _ = limb_of(seed)
    found, given = (tree.rotations(each)[..., 0] for each in (at(limb, tree, there, 0.0), there))
    assert np.abs(np.einsum("nq,nq->n", found, given)).min() > 1.0 - 1e-9


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("links", "turned"), [(2, False), (3, False), (3, True)])
def test_a_reference_at_rest_bends_each_frame_as_one_that_moves_in_another(seed, links, turned):
    tree, there = motion(arm(seed, None, links), seed)
    tasks = [place_task(tree, there), *([orient_task(tree, there)] if turned else [])]
    rest = np.repeat(tree.rotations(there.take([0])), len(there), -1)
    moves, swivels = rest.copy(), np.full(len(there), 0.4)
    moves[..., -1] = tree.rotations(there)[..., 25]
    assert not np.allclose(moves, rest)
    for flexion in (None, np.array([[0.3], [0.9], [0.2]])):
        one, other = (TwoBones(tree, there, tasks, each, flexion).rotations(swivels) for each in (rest, moves))
        assert np.abs(one - other)[..., :-1].max() < 1e-12


@pytest.mark.parametrize("seed", SEEDS)
def test_turns_off_the_reference_are_those_of_the_pose(seed):
    limb, tree, there, _ = limb_of(seed)
    reference = tree.rotations(there.take([0]))
    for swivel in (-2.0, 0.3, 1.1):
        own = tree.rotations(at(limb, tree, there, swivel))
        wave = np.array([1.0, np.cos(swivel), np.sin(swivel)])[:, None]
        turned = product(own, conjugated(np.broadcast_to(reference, own.shape)))
        cosines = 2.0 * turned[:, 0] ** 2 - 1.0
        assert np.abs((wave * limb.turn_of_upper()).sum(0) - cosines[0]).max() < 1e-6
        assert np.abs((wave * limb.turn_of_end()).sum(0) - cosines[2]).max() < 1e-6
        swing = (matrices(own[2])[:, 1] * matrices(reference[2])[:, 1]).sum(0)
        assert np.abs((wave * limb.swing_of_end()).sum(0) - swing).max() < 1e-6


@pytest.mark.parametrize("seed", SEEDS)
def test_an_elbow_on_a_hinge_turns_about_nothing_else(seed):
    freedoms = [Free(), Hinge((1.0, 0.0, 0.0), -2.6, 0.0), Free()]
    limb, tree, there, tasks = limb_of(seed, freedoms)
    elbow = limb.rotations(np.zeros(len(there)))[1]
    assert np.abs(elbow[2:]).max() < 1e-9
    system = System(tree, at(limb, tree, there, 0.7), tasks)
    assert max(measured.off.max() for measured in system.measured) < 1e-5 * tree.size


def test_what_is_too_far_is_pointed_at_with_a_straight_limb():
    tree, there = motion(arm(3, links=2), 3)
    task = place_task(tree, there)
    task = replace(task, target=task.target._replace(place=4.0 * task.target.place))
    limb = TwoBones(tree, there, [task], tree.rotations(there.take([0])))
    assert not limb.possible.any()
    geometry = Geometry(tree, at(limb, tree, there, 0.0))
    root, elbow = geometry.heads
    reach = lengths(elbow - root) + lengths(geometry.tip() - elbow)
    assert np.abs(lengths(geometry.tip() - root) - reach).max() < 1e-5 * tree.size


def test_least_turns_lead_from_vector_to_vector_and_opposite_ones_too():
    random = np.random.default_rng(2)
    a, b = (each / lengths(each) for each in random.normal(size=(2, 3, 40)))
    b[:, :3] = -a[:, :3]
    turned = compose(matrices(smallest_rotations(a, b)), a[:, None])[:, 0]
    assert np.abs(turned - b).max() < 1e-6


def test_limbs_of_other_joints_and_goals_are_refused():
    tree, there = motion(arm(1), 1)
    place, orient = place_task(tree, there), orient_task(tree, there)
    assert suits(tree, [place, orient], with_end=True)
    assert suits(tree, [place], with_end=True)
    assert not suits(tree, [place], with_end=False)
    assert not suits(tree, [orient], with_end=True)
    two, pose = motion(arm(1, links=2), 1)
    assert suits(two, [place_task(two, pose)], with_end=False)
    assert not suits(two, [place_task(two, pose), orient_task(two, pose)], with_end=False)

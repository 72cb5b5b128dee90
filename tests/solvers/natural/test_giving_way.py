# SPDX-License-Identifier: GPL-3.0-or-later
"""A limb whose end cannot turn as told puts it in its place, and turns it as near to that as it can."""

from dataclasses import replace

import numpy as np
import pytest

from ik_triangulation.kinematics import Cone, EulerLimits, Free
from ik_triangulation.kinematics.batch import Geometry
from ik_triangulation.kinematics.batch.algebra import compose, exponential, lengths, matrices, turn_vectors
from ik_triangulation.kinematics.batch.limit_arrays import LimitArrays
from ik_triangulation.solvers.natural import LimbForm
from ik_triangulation.solvers.natural.giving_way import CLOSE, in_reach, limbs_giving_way

from ...trees import orient_task, place_task
from .arms import arm, motion, natural_path

NARROW = [Cone(2.6, -2.4, 2.4), Cone(2.7, -0.6, 0.6), EulerLimits("YXZ", (-0.5, -1.0, -0.5), (0.5, 1.0, 0.5))]
FREE = [Free(), Free(), Free()]
LIMB = LimbForm(has_end=True)


def goals(seed, freedoms, turned=0.0, away=1.0):
    """A limb that moves, with its end told to turn by an angle [rad] more than it did, and so much farther away."""
    tree, there = motion(arm(seed, freedoms), seed)
    place, orient = place_task(tree, there), orient_task(tree, there)
    axis = np.random.default_rng(seed).normal(size=(3, 1))
    more = matrices(exponential(np.repeat(turned * axis / lengths(axis), len(there), 1)))
    place = replace(place, target=place.target._replace(place=away * place.target.place))
    return tree, there, [place, replace(orient, rotation=compose(more, orient.rotation))]


def off(tree, states, tasks):
    """Distances from the place, and angles from the orientation [rad]."""
    geometry = Geometry(tree, states)
    turned = geometry.tip_rotation().swapaxes(0, 1)
    return lengths(geometry.tip() - tasks[0].target.place), lengths(turn_vectors(compose(tasks[1].rotation, turned)))


def given(tree, there, tasks, swivels=None):
    reference = tree.rotations(there.take([0]))
    some = np.zeros(len(there)) if swivels is None else swivels
    return limbs_giving_way(tree, there, in_reach(tree, there, tasks), reference, None, some)


@pytest.mark.parametrize("seed", range(6))
def test_goals_in_reach_stay_and_others_come_to_its_edge(seed):
    tree, there, tasks = goals(seed, FREE)
    for task, nearer in zip(tasks, in_reach(tree, there, tasks), strict=True):
        if task is tasks[0]:
            assert nearer is task
        else:
            assert np.abs(nearer.rotation - task.rotation).max() < 1e-6
    tree, there, far = goals(seed, FREE, away=5.0)
    place, orient = in_reach(tree, there, far)
    states, fits = given(tree, there, far)
    assert fits.all()
    assert off(tree, states, [place, orient])[0].max() < 1e-5
    line = far[0].target.place - place.target.place
    assert lengths(np.cross(line, Geometry(tree, states).tip() - Geometry(tree, states).heads[0], axis=0)).max() < 1e-2


@pytest.mark.parametrize("turned", [0.0, 0.8, 2.0])
@pytest.mark.parametrize("seed", range(6))
def test_the_place_is_met_inside_the_ranges(seed, turned):
    tree, there, tasks = goals(seed, NARROW, turned)
    states, fits = given(tree, there, tasks)
    assert fits.mean() > 0.8
    assert off(tree, states, tasks)[0][fits].max() < 2.0 * CLOSE * tree.size
    for joint, rotations in zip(tree.joints, tree.rotations(states), strict=True):
        assert LimitArrays(joint.freedom).excess(rotations).max() < 1e-6


def test_a_free_end_does_not_give_way():
    for seed in range(6):
        tree, there, tasks = goals(seed, FREE, turned=1.0)
        tasks = in_reach(tree, there, tasks)
        states, fits = given(tree, there, tasks)
        assert fits.all()
        assert off(tree, states, tasks)[1].max() < 1e-5


def test_the_pose_changes_as_smoothly_as_the_goal():
    for seed in range(8):
        tree, there, tasks = goals(seed, NARROW, turned=1.2)
        states, fits = given(tree, there, tasks)
        both = tree.rotations(states)
        turns = 2.0 * np.arccos(np.minimum(1.0, np.abs(np.einsum("nif,nif->nf", both[..., 1:], both[..., :-1]))))
        assert np.degrees(turns[:, fits[1:] & fits[:-1]]).max() < 30.0


def test_what_is_out_of_reach_is_posed_without_a_search():
    tree, there, far = goals(3, NARROW, away=5.0)
    path = natural_path(tree, there, far, tree.rotations(there.take([0])), LIMB)
    assert not path.possible.any()
    place, _ = in_reach(tree, there, far)
    assert np.median(off(tree, path.states, [place, far[1]])[0]) < 1e-4

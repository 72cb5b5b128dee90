# SPDX-License-Identifier: GPL-3.0-or-later
"""Natural poses reach, keep inside their limits, and depend on the reference and the goals alone."""

from dataclasses import replace

import numpy as np
import pytest
from mathutils import Matrix, Quaternion, Vector

from ik_triangulation.goals import Goal, Orientation, Point
from ik_triangulation.goals.from_goals import point_task
from ik_triangulation.kinematics import Cone, EulerLimits, Free, Hinge, Pose
from ik_triangulation.kinematics.batch.algebra import exponential, lengths, matrices, product
from ik_triangulation.kinematics.batch.limit_arrays import LimitArrays
from ik_triangulation.kinematics.rotation import rotation_angle
from ik_triangulation.solvers.batch.change import System
from ik_triangulation.solvers.natural import LimbForm, natural_pose

from ...trees import orient_task, place_task
from .arms import arm, motion, natural_path

LIMBS = {
    "free": [Free(), Free(), Free()],
    "cones": [Cone(2.2, -1.9, 1.9), Cone(2.7, -0.6, 0.6), EulerLimits("YXZ", (-1.0, -2.6, -1.0), (1.0, 2.6, 1.0))],
    "hinge": [Cone(2.4, -2.0, 2.0), Hinge((1.0, 0.0, 0.0), -2.7, 0.0), Free()],
}
LIMB = LimbForm(has_end=True)


def solved(seed, kind, given=None, **more):
    tree, there = motion(arm(seed, LIMBS[kind]), seed)
    tasks = [place_task(tree, there), orient_task(tree, there)]
    reference = tree.rotations(there.take([0])) if given is None else given(tree, there)
    return tree, there, natural_path(tree, there, tasks, reference, LIMB, **more)


def angles_off(tree, states, there):
    both = tree.rotations(states), tree.rotations(there)
    return 2.0 * np.arccos(np.minimum(1.0, np.abs(np.einsum("nqf,nqf->nf", *both))))


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("kind", LIMBS)
def test_what_was_done_within_the_limits_is_reached_within_them(kind, seed):
    tree, _, path = solved(seed, kind)
    assert path.possible.all()
    assert path.met.mean() > 0.97
    rotations = tree.rotations(path.states)
    for joint, rotation in zip(tree.joints, rotations, strict=True):
        assert LimitArrays(joint.freedom).excess(rotation).max() < 1e-6


@pytest.mark.parametrize("kind", LIMBS)
def test_a_motion_that_is_the_reference_is_given_back(kind):
    for seed in range(6):
        tree, there, path = solved(seed, kind, given=lambda tree, there: tree.rotations(there))
        assert np.degrees(angles_off(tree, path.states, there)).max() < 8.0


def test_the_first_pose_alone_is_a_better_guide_than_rest():
    first, rest = [], []
    for seed in range(12):
        tree, there, path = solved(seed, "free")
        first.append(np.median(angles_off(tree, path.states, there)))
        still = np.zeros((3, 4, 1))
        still[:, 0] = 1.0
        tree, there, path = solved(seed, "free", given=lambda tree, there, still=still: still)
        rest.append(np.median(angles_off(tree, path.states, there)))
    assert np.mean(first) < np.mean(rest)
    assert np.degrees(np.mean(first)) < 15.0


@pytest.mark.parametrize("kind", LIMBS)
def test_joints_of_smooth_motions_do_not_jump(kind):
    for seed in range(8):
        tree, there, path = solved(seed, kind)
        turns = np.degrees(angles_off(tree, path.states.take(slice(1, None)), path.states.take(slice(None, -1))))
        given = np.degrees(angles_off(tree, there.take(slice(1, None)), there.take(slice(None, -1))))
        assert turns.max() < 3.0 * given.max() + 3.0


def test_a_frame_with_its_neighbours_is_that_of_the_whole_path():
    for seed in range(6):
        tree, there = motion(arm(seed), seed, count=90)
        tasks, reference = [place_task(tree, there), orient_task(tree, there)], tree.rotations(there.take([0]))
        whole = natural_path(tree, there, tasks, reference, LIMB).states
        for k in (20, 45, 70):
            near = np.arange(k - 8, k + 9)
            part = natural_path(tree, there.take(near), [t.take(near) for t in tasks], reference, LIMB).states
            assert np.degrees(angles_off(tree, part.take([8]), whole.take([k]))).max() < 0.5


def test_a_cycle_closes():
    tree, there = motion(arm(4), 4, count=81)
    lap = there.take(slice(0, 80))
    tasks, reference = [place_task(tree, lap), orient_task(tree, lap)], tree.rotations(lap.take([0]))
    states = natural_path(tree, lap, tasks, reference, LIMB, cyclic=True).states
    turned = np.degrees(angles_off(tree, states.take(np.arange(1, 81) % 80), states))
    assert turned[:, -1].max() < 1.3 * turned.max(1).max()
    shifted = np.roll(np.arange(80), 31)
    other = natural_path(tree, lap.take(shifted), [t.take(shifted) for t in tasks], reference, LIMB, cyclic=True).states
    assert np.degrees(angles_off(tree, other, states.take(shifted))).max() < 0.1


def test_what_lengths_cannot_reach_is_told_and_the_tip_comes_as_near_as_it_can():
    tree, there = motion(arm(5), 5)
    far = place_task(tree, there)
    far = replace(far, target=far.target._replace(place=5.0 * far.target.place))
    path = natural_path(tree, there, [far], tree.rotations(there.take([0])), LIMB)
    assert not path.possible.any()
    assert not path.met.any()


@pytest.mark.parametrize("kind", LIMBS)
def test_a_single_pose_reaches_place_and_orientation(kind):
    for seed in range(10):
        chain = arm(seed, LIMBS[kind])
        tree, there = motion(chain, seed)
        goal = Pose(chain, Matrix.Identity(4), [Quaternion(q) for q in tree.rotations(there)[:, :, 40]])
        start = Pose(chain, Matrix.Identity(4), [Quaternion(q) for q in tree.rotations(there)[:, :, 5]])
        assert natural_pose(start, Goal(Point(goal.tip), (Orientation(goal.tip_rotation),), 1e-4), LIMB)
        assert (start.tip - goal.tip).length < 1e-4
        assert rotation_angle(start.tip_rotation, goal.tip_rotation) < 1e-3


def test_a_hand_keeps_its_rotation_where_the_target_tells_none():
    chain = arm(7)
    tree, there = motion(chain, 7)
    start = Pose(chain, Matrix.Identity(4), [Quaternion(q) for q in tree.rotations(there)[:, :, 0]])
    hand, aim = start.rotations[2].copy(), start.tip + Vector((0.1, -0.2, 0.1))
    assert natural_pose(start, Goal(Point(aim)), LIMB)
    assert (start.tip - aim).length < 1e-5
    assert rotation_angle(start.rotations[2], hand) < 1e-3


def test_a_scaled_chain_is_left_as_it_is():
    chain = arm(1)
    start = Pose(chain, Matrix.Diagonal((1.0, 2.0, 1.0, 1.0)), [Quaternion()] * 3)
    before = start.rotations[:]
    assert not natural_pose(start, Goal(Point(Vector((0.3, 0.2, 0.1)))), LIMB)
    assert start.rotations == before


def test_the_elbow_of_a_straight_limb_goes_where_flexion_says():
    chain = arm(9, links=2)
    start = Pose(chain, Matrix.Identity(4), [Quaternion(), chain.joints[1].rest.conjugated()])
    root, tip = start.head(0), start.tip
    side = (tip - root).orthogonal().normalized()
    for outwards in (side, -side):
        pose = start.copy()
        assert natural_pose(pose, Goal(Point(root + 0.8 * (tip - root))), LimbForm(flexion=outwards))
        elbow = pose.head(1) - root
        assert elbow.dot(outwards) > 0.1 * elbow.length


def test_states_of_the_reference_outside_its_limits_are_taken_inside():
    chain = arm(3, LIMBS["hinge"])
    tree, there = motion(chain, 3)
    tasks = [place_task(tree, there), orient_task(tree, there)]
    wild = np.random.default_rng(1).normal(size=(3, 4, 1))
    path = natural_path(tree, there, tasks, wild / lengths(wild)[:, None], LIMB)
    assert LimitArrays(chain.joints[1].freedom).excess(tree.rotations(path.states)[1]).max() < 1e-6


def test_smoothing_calms_the_elbow_of_a_hand_that_trembles_and_the_hand_stays_exact():
    for seed in range(4):
        tree, there = motion(arm(seed), seed)
        trembling, noise = tree.rotations(there), np.random.default_rng(seed).normal(size=(3, len(there)))
        trembling[2] = product(exponential(0.1 * noise), trembling[2])
        shaken = tree.posed(trembling, there)
        tasks, restless = [place_task(tree, shaken), orient_task(tree, shaken)], []
        for smoothing in (0.0, 0.5, 1.0):
            path = natural_path(tree, there, tasks, trembling[..., :1], LIMB, smoothing=smoothing)
            assert path.met.all()
            ways = matrices(tree.rotations(path.states)[0])[:, 1]
            restless.append((np.diff(ways, 2) ** 2).sum())
        assert restless[2] < restless[1] < 0.6 * restless[0]


@pytest.mark.parametrize("beyond", [0.5, 1.0, 1.6])
def test_a_path_is_measured_as_it_is_returned_or_not_at_all(beyond):
    tree, there = motion(arm(3, LIMBS["cones"]), 3)
    place = place_task(tree, there)
    place = point_task(beyond * place.target.place, place.tolerance)
    tasks, reference = [place, orient_task(tree, there)], tree.rotations(there.take([0]))
    path = natural_path(tree, there, tasks, reference, LIMB)
    assert beyond != 1.0 or path.measured
    if path.measured:
        fresh = System(tree, path.states, tasks)
        assert np.array_equal(path.measured.value, fresh.value)
        assert np.array_equal(path.measured.met, fresh.met)

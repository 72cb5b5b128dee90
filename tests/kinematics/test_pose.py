# SPDX-License-Identifier: GPL-3.0-or-later
"""Poses: lazy frames equal plain forward kinematics whatever is turned and read in whichever order."""

from math import pi
from random import Random

import numpy as np
import pytest
from mathutils import Matrix, Quaternion, Vector

from ik_triangulation.kinematics import Chain, Free, Hinge, Inheritance, Joint, Pose
from ik_triangulation.solvers import ccd, triangulation
from tests.chains import (
    bits,
    forward,
    matrix_of,
    mixed,
    random_base,
    random_chain,
    random_direction,
    random_pose,
    random_rotation,
    straight,
)

X = Vector((1.0, 0.0, 0.0))


def assert_equals_forward_kinematics(pose, random):
    """Read everything in random order and compare."""
    places, frames = forward(pose.chain, pose.base, pose.rotations)
    slack = 3e-6 * max(1.0, pose.chain.reach + float(np.abs(places).max()))
    reads = [(kind, i) for kind in ("head", "link", "end", "frame", "tip") for i in range(len(pose))]
    random.shuffle(reads)
    for kind, i in reads:
        if kind == "head":
            assert np.allclose(pose.head(i), places[i], atol=slack)
        elif kind == "link":
            assert np.allclose(pose.link(i), places[i + 1] - places[i], atol=slack)
        elif kind == "end":
            assert np.allclose(pose.end(i), places[i + 1], atol=slack)
        elif kind == "frame":
            assert np.allclose(np.array(pose.frame(i)), frames[i], atol=1e-5)
        else:
            assert np.allclose(pose.tip, places[-1], atol=slack)


@pytest.mark.parametrize("build", [random_chain, mixed])
def test_frames_are_right_after_any_turns_read_in_any_order(build):
    random = Random(1)
    for seed in range(40):
        pose = random_pose(build(seed, random.randint(1, 7)), random, random_base(random))
        pose.project()
        saved = pose.rotations[:]
        for _ in range(12):
            i = random.randrange(len(pose))
            action = random.randrange(6)
            if action == 0:
                pose.turn(i, random_rotation(random))
            elif action == 1:
                pose.swing(i, random_direction(random), random_direction(random))
            elif action == 2:
                pose.swing(i, pose.tip - pose.head(i), random_direction(random))
            elif action == 3:
                pose = pose.copy()
            elif action == 4:
                pose.restore(saved, turns=0)
            else:
                assert np.allclose(pose.tip, forward(pose.chain, pose.base, pose.rotations)[0][-1], atol=1e-4)
            if random.random() < 0.4:
                assert_equals_forward_kinematics(pose, random)
        assert_equals_forward_kinematics(pose, random)


def test_turn_rotates_the_rest_of_a_free_chain_about_the_joint_in_armature_space():
    random = Random(2)
    for seed in range(30):
        pose = random_pose(random_chain(seed, 5), random, random_base(random))
        i, rotation = random.randrange(5), random_rotation(random)
        head, tip = pose.head(i).copy(), pose.tip.copy()
        pose.turn(i, rotation)
        assert np.allclose(pose.head(i), head, atol=1e-6)
        assert np.allclose(pose.tip, head + rotation @ (tip - head), atol=1e-5)


def test_swing_brings_one_direction_onto_the_other():
    random = Random(3)
    for seed in range(100):
        pose = random_pose(random_chain(seed, 4), random, random_base(random))
        goal = random_direction(random)
        i = random.randrange(4)
        pose.swing(i, pose.tip - pose.head(i), goal)
        assert (pose.tip - pose.head(i)).normalized().dot(goal) == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize("scale", [(-1.0, 1.0, 1.0), (2.0, 0.5, 1.0), (1.0, -2.0, 1.0)])
def test_swing_and_turn_work_below_a_scaled_or_mirrored_bone(scale):
    random = Random(4)
    inherited = Inheritance("FULL", True, Matrix.Identity(3))
    for _ in range(20):
        joints = (
            Joint("a", Vector(), random_rotation(random), Free(), scale=Vector(scale), inheritance=inherited),
            Joint("b", Vector((0.0, 1.0, 0.2)), random_rotation(random), Free(), scale=Vector((1.0,) * 3)),
        )
        pose = random_pose(Chain(joints, Vector((0.0, 1.0, 0.0))), random, random_base(random))
        assert_equals_forward_kinematics(pose, random)
        goal = random_direction(random)
        pose.swing(1, pose.link(1), goal)
        assert pose.link(1).normalized().dot(goal) == pytest.approx(1.0, abs=1e-5)
        assert_equals_forward_kinematics(pose, random)
        # Small turns about an axis move the first link that way also where its frame is mirrored.
        pose.turn(0, Quaternion(random_direction(random), 0.3))
        assert_equals_forward_kinematics(pose, random)


def test_a_copy_is_independent_and_has_no_turns():
    random = Random(5)
    pose = random_pose(random_chain(1, 4), random)
    pose.turn(1, random_rotation(random))
    other = pose.copy()
    assert other.turns == []
    before, tip = bits(pose.rotations), pose.tip.copy()
    other.turn(0, random_rotation(random))
    other.turn(3, random_rotation(random))
    assert bits(pose.rotations) == before
    assert tuple(pose.tip) == tuple(tip)
    assert len(pose.turns) == 1


def test_restore_takes_back_later_turns():
    random = Random(6)
    pose = random_pose(random_chain(2, 4), random)
    pose.turn(2, random_rotation(random))
    kept, tip = pose.rotations[:], pose.tip.copy()
    pose.turn(0, random_rotation(random))
    pose.turn(3, random_rotation(random))
    pose.restore(kept, turns=1)
    assert len(pose.turns) == 1
    assert np.allclose(pose.tip, tip, atol=1e-6)


def test_project_moves_into_the_limits_and_says_so():
    chain = straight((1.0, 1.0), [Free(), Hinge(X, 0.2, 0.5)])
    pose = Pose(chain, Matrix.Identity(4), [Quaternion(), Quaternion((0.0, 0.0, 1.0), 1.0)])
    assert pose.project()
    assert not pose.project()
    assert pose.turns == []
    axis, angle = pose.rotations[1].to_axis_angle()
    assert axis.x * angle == pytest.approx(0.2, abs=1e-6)


def test_a_straight_joint_bends_so_that_the_next_bends_positively():
    pose = straight((1.0, 1.0)).rest_pose()
    along = Vector((0.0, 1.0, 0.0))
    side = pose.bend(0, along)
    assert abs(side.dot(along)) < 1e-6
    pose.swing(0, along, (along + side).normalized())
    pose.swing(1, pose.link(1), along)
    assert pose.rotations[1].to_axis_angle()[0].x > 0.99


@pytest.mark.parametrize("sweep", [triangulation.step, triangulation.step_2007, ccd.step])
def test_a_pass_over_the_chain_works_out_each_frame_a_bounded_number_of_times(sweep, monkeypatch):
    counts = []
    extend = Pose._extend
    monkeypatch.setattr(Pose, "_extend", lambda pose: (counts.append(1), extend(pose)))
    for links in (10, 40, 160):
        pose = straight((1.0,) * links).rest_pose()
        sweep(pose, Vector((0.3, 0.4 * links, 0.2)))
        counts.clear()
        sweep(pose, Vector((0.3, 0.2 * links, 0.4)))
        assert len(counts) <= 3 * links


def test_the_matrices_of_rotations_agree_with_plain_formulas():
    random = Random(7)
    for _ in range(50):
        rotation = random_rotation(random)
        assert np.allclose(np.array(rotation.to_matrix()), matrix_of(rotation), atol=1e-6)
        assert abs(rotation.angle) <= 2.0 * pi

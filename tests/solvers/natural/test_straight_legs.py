# SPDX-License-Identifier: GPL-3.0-or-later
"""A knee that is straight in the reference bends forwards, from there on, whatever the foot does."""

from dataclasses import replace
from itertools import pairwise
from random import Random

import numpy as np
import pytest
from mathutils import Matrix, Quaternion, Vector

from ik_triangulation.goals import Goal, Point
from ik_triangulation.kinematics import Chain, Cone, EulerLimits, Free, Joint, Pose
from ik_triangulation.kinematics.batch import Tree
from ik_triangulation.kinematics.rotation import rotation_angle
from ik_triangulation.solvers.natural import LimbForm, natural_pose
from ik_triangulation.solvers.natural.one_limb import pose_one

from ...trees import place_task
from .arms import natural_path

FORWARD = Vector((0.0, -1.0, 0.0))
FORM = LimbForm(has_end=True, flexion=FORWARD)
LIMITS = [Cone(2.5, -1.05, 1.05), Cone(2.7, -0.5, 0.5), EulerLimits("YXZ", (-1.3, -0.95, -1.05), (1.3, 0.95, 1.05))]
STEPS = 40
NEAR = 1e-5


def leg(bend, noise, seed, limits, toes=-0.15):
    """A leg that hangs down, its knee bent forwards by `bend` [degrees] at rest; each bone is off by `noise` [m].

    Its `toes` are so far behind the ankle [m].
    """
    random = Random(seed)
    forward = 0.4 * np.sin(np.radians(bend)) / 2.0
    places = (0.0, 0.0, 0.9), (0.0, -forward, 0.5), (0.0, 0.0, 0.1), (0.0, toes, 0.02)
    places = [Vector(place) + Vector([random.gauss(0.0, noise) for _ in range(3)]) for place in places]
    ways = [b - a for a, b in pairwise(places)]
    turns = [Vector((0.0, 1.0, 0.0)).rotation_difference(way) for way in ways]
    own = [Quaternion(), *turns]
    rests = [own[i].inverted() @ own[i + 1] for i in range(3)]
    offsets = [places[0], *(Vector((0.0, way.length, 0.0)) for way in ways)]
    freedoms = LIMITS if limits else [Free()] * 3
    joints = [Joint(f"joint {i}", offsets[i], rests[i], freedoms[i]) for i in range(3)]
    return Chain(tuple(joints), offsets[3])


def lifted(chain):
    """The poses of a leg whose tip goes up, and a little ahead, from rest; and the places that the tip is to reach."""
    tip = np.array(chain.rest_pose().tip)
    goals = tip + np.linspace(0.0, 1.0, STEPS)[:, None] ** 2 * np.array([0.0, -0.05, 0.3])
    return poses_for(chain, goals), goals


def poses_for(chain, goals):
    """The poses of a leg at rest whose tip is to be at places (STEPS, 3)."""
    tree = Tree.of(chain)
    frames = tree.states([chain.rest_pose()] * STEPS)
    task = place_task(tree, frames)
    task = replace(task, target=task.target._replace(place=goals.T))
    path = natural_path(tree, frames, [task], tree.rotations(frames.take([0])), FORM)
    turned = tree.rotations(path.states).transpose(2, 0, 1)
    return [Pose(chain, Matrix.Identity(4), [Quaternion(q) for q in each]) for each in turned]


def bends(poses):
    """Signed bend of the knee at each frame [degrees]: positive if it is ahead of the line from hip to ankle."""
    found = []
    for pose in poses:
        thigh, shin = pose.head(1) - pose.head(0), pose.head(2) - pose.head(1)
        ahead = thigh.cross(shin).dot(Vector((1.0, 0.0, 0.0)))
        found.append(np.degrees(np.arctan2(ahead, thigh.dot(shin))))
    return np.array(found)


@pytest.mark.parametrize("limits", [False, True], ids=["free", "limited"])
@pytest.mark.parametrize("noise", [0.0, 0.002])
@pytest.mark.parametrize("bend", [-3.0, 0.0, 3.0, 12.0])
def test_a_straight_knee_bends_forwards_from_rest_on(bend, noise, limits):
    for seed in range(3):
        chain = leg(bend, noise, seed, limits)
        poses, goals = lifted(chain)
        found = bends(poses)
        for turned, rest in zip(poses[0].rotations, chain.rest_pose().rotations, strict=True):
            assert rotation_angle(turned, rest) < 1e-3
        assert max((pose.tip - Vector(goal)).length for pose, goal in zip(poses, goals, strict=True)) < NEAR
        assert (found[6:] > 5.0).all()
        assert found[-1] > 60.0
        # A knee that is bent back at rest cannot come forwards without a step: straight is farther away.
        assert np.abs(np.diff(found)).max() < (8.0 if bend >= 0.0 else 20.0)


def test_an_ankle_turns_little_more_than_the_toes_are_ahead():
    chain = leg(0.0, 0.0, 0, True)
    poses, _ = lifted(chain)
    ahead = Vector((0.0, 0.0, -1.0)).angle(chain.rest_pose().tip - chain.rest_pose().head(1))
    turned = [rotation_angle(pose.rotations[2], Quaternion()) for pose in poses]
    assert 0.5 * ahead < max(turned) < 1.51 * ahead
    assert np.abs(np.diff(turned)).max() < 0.1


@pytest.mark.parametrize("limits", [False, True], ids=["free", "limited"])
def test_an_end_whose_tip_is_on_the_inner_side_turns_out_rather_than_have_its_knee_bend_backwards(limits):
    chain = leg(0.0, 0.0, 0, limits, toes=0.1)
    rest = chain.rest_pose()
    away = np.array(rest.tip - rest.head(0))
    goals = np.array(rest.head(0)) + away * np.linspace(0.97, 1.03, STEPS)[:, None]
    poses = poses_for(chain, goals)
    assert max((pose.tip - Vector(goal)).length for pose, goal in zip(poses, goals, strict=True)) < NEAR
    assert bends(poses).min() > -0.1
    assert np.abs(np.diff(bends(poses))).max() < 10.0
    single = chain.rest_pose()
    assert natural_pose(single, Goal(Point(Vector(goals[-1])), (), 1e-4), FORM)
    assert bends([single]).min() > -0.1


@pytest.mark.parametrize("bend", [0.0, 3.0, 40.0])
def test_a_single_pose_is_that_of_the_path(bend):
    for seed in range(3):
        chain = leg(bend, 0.002, seed, False)
        poses, goals = lifted(chain)
        for frame in (4, 20, 39):
            pose = chain.rest_pose()
            assert natural_pose(pose, Goal(Point(Vector(goals[frame])), (), 1e-4), FORM)
            for found, wanted in zip(pose.rotations, poses[frame].rotations, strict=True):
                assert rotation_angle(found, wanted) < 0.05


def test_a_single_pose_of_an_end_that_does_not_turn_needs_no_arrays():
    chain = leg(40.0, 0.0, 0, False)
    tip = chain.rest_pose().tip + Vector((0.0, -0.05, 0.1))
    assert pose_one(chain.rest_pose(), Goal(Point(tip)), FORM)
    assert not pose_one(leg(0.0, 0.0, 0, False).rest_pose(), Goal(Point(tip)), FORM)

# SPDX-License-Identifier: GPL-3.0-or-later
"""Where an arm of a body leaps for the turn of its hand, that turn is traded over the shot; nothing else changes."""

from dataclasses import replace

import numpy as np
import pytest
from mathutils import Vector

from ik_triangulation.cooperative import finished
from ik_triangulation.goals.from_goals import point_task
from ik_triangulation.goals.orientation import OrientTask
from ik_triangulation.goals.task import Level
from ik_triangulation.kinematics import Cone
from ik_triangulation.kinematics.batch import Geometry, States
from ik_triangulation.kinematics.batch.algebra import (
    angles_between,
    compose,
    exponential,
    lengths,
    matrices,
    turn_vectors,
)
from ik_triangulation.solvers.body.swivelling import leaping_ends, with_traded_ends

from .test_swivelling import body

FRAMES, FPS, SHOULDER, HAND = 80, 30.0, 2, 4
RANGE, LEFT = np.radians(50.0), 2.0 * np.pi  # of twist and swing; a whole roll, which this arm cannot make


def figure():
    """A body whose shoulder and hand have ranges."""
    whole = body(Vector((0.0, 1.0, 0.0)))
    joints = list(whole.joints)
    for number in (SHOULDER, HAND):
        joints[number] = replace(joints[number], freedom=Cone(RANGE, -RANGE, RANGE))
    return replace(whole, joints=tuple(joints)).tree


def shot_of(seed):
    """A tree, a bent arm (F), and tasks that leave its hand in place and roll it round as fast as a seed says."""
    random, tree = np.random.default_rng(seed), figure()
    rotations = np.zeros((len(tree.joints), 4, FRAMES))
    rotations[:, 0] = 1.0
    bend = random.uniform(0.3, 0.6)
    rotations[3, 0], rotations[3, 3] = np.cos(bend), np.sin(bend)
    none = np.empty((0, 1)), np.empty((0, 4, 1))
    frame = States(*none, rotations[tree.held], np.eye(3)[:, :, None], np.zeros((3, 1)))
    states = tree.posed(rotations, frame)
    begin = Geometry(tree, states)
    way = np.array([1.0, *random.uniform(-0.3, 0.3, 2)])
    share = 0.5 - 0.5 * np.cos(np.linspace(0.0, np.pi, FRAMES))
    roll = LEFT * random.choice((-1.0, 1.0)) * share * (way / np.linalg.norm(way))[:, None]
    near = np.array([1e-3])
    place = replace(point_task(begin.tip(0), near), level=Level.REACH)
    rotation = compose(matrices(exponential(roll)), begin.tip_rotation(0))
    turn = OrientTask(rotation=rotation, length=0.1, tolerance=near, level=Level.TURN)
    return tree, states, [place, turn]


def largest_turn(tree, states):
    rotations = tree.rotations(states)
    return np.degrees(angles_between(rotations[..., 1:], rotations[..., :-1]).max())


def swung_over(tree, states, frame):
    """The states with the hand at the other end of its twist from a frame on."""
    rotations = tree.rotations(states).copy()
    half = 0.5 * np.where(np.arange(FRAMES) < frame, -RANGE, RANGE)
    rotations[HAND] = np.stack((np.cos(half), np.sin(half), 0.0 * half, 0.0 * half))
    return tree.posed(rotations, states)


@pytest.mark.parametrize("frame", [20, 40, 57])
def test_a_turn_is_traded_around_a_leap_and_as_it_is_told_away_from_it(frame):
    tree, states, (place, turn) = shot_of(frame)
    leaping = swung_over(tree, states, frame)
    told = Geometry(tree, leaping).tip_rotation(0).copy()
    told[..., frame:] = told[..., :1]
    tasks = [place, replace(turn, rotation=told, tolerance=np.array([np.pi]))]
    assert leaping_ends(tree, states, tasks, FPS) == {}
    (share,) = leaping_ends(tree, leaping, tasks, FPS).values()
    assert (share[frame - 6 : frame + 6] == 1.0).all()
    assert (share[: frame - 12] == 0.0).all()
    assert (share[frame + 12 :] == 0.0).all()
    assert (np.diff(share[frame - 13 : frame]) >= 0.0).all()
    as_fast = replace(tasks[1], rotation=Geometry(tree, leaping).tip_rotation(0))
    assert leaping_ends(tree, leaping, [place, as_fast], FPS) == {}
    assert leaping_ends(tree, leaping, [place], FPS) == {}
    assert leaping_ends(tree, leaping, [place, tasks[1].at_level(Level.HOLD)], FPS) == {}


@pytest.mark.parametrize("seed", range(4))
def test_a_hand_that_cannot_roll_round_as_told_turns_calmly_and_the_body_stays(seed):
    tree, states, tasks = shot_of(seed)
    shares = {0: np.where(np.arange(FRAMES) < 10, 0.0, 1.0)}
    posed, (turn,) = finished(with_traded_ends(tree, states, states, tasks, shares, FPS, 0.0))
    geometry = Geometry(tree, posed)
    assert largest_turn(tree, posed) < 20.0
    assert lengths(geometry.tip(0) - tasks[0].target.place).max() < 0.03 * 0.7
    assert np.abs(tree.rotations(posed)[:2] - tree.rotations(states)[:2]).max() < 1e-12
    off = lengths(turn_vectors(compose(geometry.tip_rotation(0), turn.rotation.swapaxes(0, 1))))
    assert off[10:].max() < 1e-6
    assert np.abs(turn.rotation[..., :10] - tasks[1].rotation[..., :10]).max() < 1e-12
    asked = lengths(turn_vectors(compose(turn.rotation, tasks[1].rotation.swapaxes(0, 1))))
    assert asked[[0, -1]].max() < 0.1, "there the hand is turned as it is told"
    assert asked.max() > 0.2


def test_only_tips_with_a_share_are_traded():
    tree, states, tasks = shot_of(0)
    posed, found = finished(with_traded_ends(tree, states, states, tasks, {}, FPS, 0.0))
    assert not found
    assert np.abs(tree.rotations(posed) - tree.rotations(states)).max() < 1e-12


def test_a_limb_with_an_animated_twist_is_to_turn_as_told():
    tree = body(Vector((0.0, 1.0, 0.0)), twist=True).tree
    rotations = np.zeros((len(tree.joints), 4, FRAMES))
    half = np.linspace(0.0, 0.4, FRAMES)
    rotations[:, 0] = 1.0
    rotations[3] = np.stack((np.cos(half), np.sin(half), 0.0 * half, 0.0 * half))
    none = np.empty((0, 1)), np.empty((0, 4, 1))
    frame = States(*none, rotations[tree.held], np.eye(3)[:, :, None], np.zeros((3, 1)))
    states = tree.posed(rotations, frame)
    told = Geometry(tree, states).tip_rotation(0)[..., ::-1]
    turn = OrientTask(rotation=told, length=0.1, tolerance=np.array([1e-3]), level=Level.TURN)
    posed, found = finished(with_traded_ends(tree, states, states, [turn], {0: np.ones(FRAMES)}, FPS, 0.0))
    assert found == [turn]
    assert np.abs(tree.rotations(posed) - tree.rotations(states)).max() < 1e-12

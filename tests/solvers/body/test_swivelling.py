# SPDX-License-Identifier: GPL-3.0-or-later
"""Limbs of a body posed as single ones: tips are at their goals, elbows on their side, and nothing else moves."""

from dataclasses import replace

import numpy as np
import pytest
from mathutils import Quaternion, Vector

from ik_triangulation.goals.from_goals import point_task
from ik_triangulation.goals.orientation import OrientTask
from ik_triangulation.goals.support import Heel
from ik_triangulation.goals.task import Level
from ik_triangulation.kinematics import Body, BodyTip, Free, Joint, Locked
from ik_triangulation.kinematics.batch import Geometry, States
from ik_triangulation.kinematics.batch.algebra import angles_between
from ik_triangulation.kinematics.body_anatomy import BodyAnatomy, Part, TwoPartLimb
from ik_triangulation.motion.limb_motion import limbs_of_still_body
from ik_triangulation.solvers.body import swivelling
from ik_triangulation.solvers.body.swivelling import LimbOfBody, limbs_with_swivel, with_swivels

from .test_clearing import figure

FRAMES = 9
UP = Vector((0.0, 0.0, 1.0))
PARTS = Part.HIPS, Part.TRUNK, Part.UPPER_ARM, Part.FOREARM, Part.HAND


def body(outwards, twist=False):
    """A trunk with one straight arm; with `twist` its upper arm has a locked joint on the way."""
    ways = [(0, 0, 0), (0, 0, 0.5), (0.2, 0, 0), *[(0.1, 0, 0)] * twist, (0.3 - 0.1 * twist, 0, 0), (0.3, 0, 0)]
    locked = [3] if twist else []
    joints = [
        Joint(f"joint {n}", Vector(way), Quaternion(), Locked() if n in locked else Free())
        for n, way in enumerate(ways)
    ]
    last = len(joints) - 1
    parts = (*PARTS[:3], *[Part.UPPER_ARM] * twist, *PARTS[3:])
    anatomy = BodyAnatomy(parts, (TwoPartLimb(2, last - 1, last),), (None,), (outwards,))
    tip = BodyTip("hand", last, Vector((0.1, 0, 0)))
    return Body(joints, range(-1, last), [tip], "FREE", UP, anatomy=anatomy)


def at_rest(tree):
    balls = np.zeros((len(tree.balls), 4, FRAMES))
    balls[:, 0] = 1.0
    held = np.zeros((len(tree.held), 4, 1))
    held[:, 0] = 1.0
    return States(np.empty((0, FRAMES)), balls, held, np.eye(3)[:, :, None], np.zeros((3, 1)))


@pytest.mark.parametrize("outwards", [(0.0, 1.0, 0.0), (0.0, -1.0, 0.0)])
def test_an_elbow_goes_to_its_side_with_the_hand_at_its_goal(outwards):
    tree = body(Vector(outwards)).tree
    reference = at_rest(tree)
    states = reference.copy()
    half = np.linspace(0.3, 0.6, FRAMES)  # of the bend that a body's path has found
    states.balls[3, 0], states.balls[3, 3] = np.cos(half), np.sin(half)
    begin = Geometry(tree, states)
    task = replace(point_task(begin.tip(0), np.array([1e-4])), level=Level.REACH)
    moved = with_swivels(tree, states, reference, [task], 30.0, 0.0)
    geometry = Geometry(tree, moved)
    assert np.abs(geometry.tip(0) - begin.tip(0)).max() < 1e-5
    shoulder, elbow = geometry.heads[2], geometry.heads[3]
    line = geometry.tip(0) - shoulder
    off = elbow - shoulder - line * ((elbow - shoulder) * line).sum(0) / (line * line).sum(0)
    assert (np.array(outwards) @ off > 0.02).all()
    assert np.abs(tree.rotations(moved)[:2] - tree.rotations(states)[:2]).max() < 1e-12, "the trunk stays"


def test_a_forearm_without_a_hand_goes_to_the_side_of_its_elbow_and_keeps_a_turn_that_is_asked():
    whole, outwards = body(UP), Vector((0.0, 1.0, 0.0))
    anatomy = BodyAnatomy(PARTS[:4], (TwoPartLimb(2, 3, 3),), (None,), (outwards,))
    tip = BodyTip("forearm", 3, Vector((0.3, 0, 0)))
    tree = Body(whole.joints[:4], range(-1, 3), [tip], "FREE", UP, anatomy=anatomy).tree
    reference = at_rest(tree)
    states = reference.copy()
    states.balls[3, 0], states.balls[3, 3] = np.cos(0.4), np.sin(0.4)
    begin = Geometry(tree, states)
    near = np.array([1e-4])
    place = replace(point_task(begin.tip(0), near), level=Level.REACH)
    turn = OrientTask(rotation=begin.tip_rotation(0), length=0.1, tolerance=near, level=Level.TURN)
    moved = with_swivels(tree, states, reference, [place], 30.0, 0.0)
    geometry = Geometry(tree, moved)
    assert limbs_with_swivel(tree) == ((2, 0),)
    assert not LimbOfBody.of(tree, 2, 0, tree.rotations(states)).form.has_end
    assert np.abs(geometry.tip(0) - begin.tip(0)).max() < 1e-5
    assert (begin.heads[3, 1] < begin.heads[2, 1] + 1e-9).all()
    assert (geometry.heads[3, 1] - geometry.heads[2, 1] - geometry.tip(0)[1] / 2 > 0.02).all()
    both = with_swivels(tree, states, reference, [place, turn], 30.0, 0.0)
    assert np.abs(tree.rotations(both) - tree.rotations(states)).max() < 1e-12


def test_a_limb_that_nobody_knows_has_no_swivel():
    assert limbs_with_swivel(body(None).tree) == ()
    assert len(limbs_with_swivel(body(UP).tree)) == 1


def test_a_body_is_limbs_alone_only_where_nothing_else_moves():
    assert limbs_of_still_body(body(UP).tree) == ()
    still = replace(body(UP), hips_motion="FIXED").tree
    assert limbs_of_still_body(still) == ((0, 0),)
    limb = LimbOfBody.of(still, 0, 0, still.rotations(at_rest(still)))
    assert limb.joints == (0, 1, 2, 3, 4)
    assert not limb.form.has_end


def test_a_locked_joint_for_a_twist_is_part_of_a_rigid_link_unless_its_twist_is_animated():
    tree = body(UP, twist=True).tree
    assert limbs_with_swivel(tree) == ((2, 0),)
    rotations = tree.rotations(at_rest(tree))
    rotations[3] = np.array(Quaternion((1.0, 0.0, 0.0), 0.3))[:, None]
    limb = LimbOfBody.of(tree, 2, 0, rotations)
    assert limb.joints == (2, 4, 5)
    assert limb.form.has_end
    own = Geometry(limb.tree, limb.frames(tree, Geometry(tree, tree.posed(rotations, at_rest(tree))), rotations))
    whole = Geometry(tree, replace(tree.posed(rotations, at_rest(tree)), held=rotations[tree.held]))
    assert np.abs(own.tip(0) - whole.tip(0)).max() < 1e-6
    assert np.abs(own.tip_rotation(0) - whole.tip_rotation(0)).max() < 1e-6
    rotations[3, 1, -1] += 0.1
    assert LimbOfBody.of(tree, 2, 0, rotations).joints == (2, 3, 4, 5)


def largest_turn(rotations):
    return np.degrees(angles_between(rotations[..., 1:], rotations[..., :-1]).max())


@pytest.mark.parametrize("speed", [5.0, 9.0, 14.0])  # degrees a frame
def test_an_elbow_does_not_swing_round_where_its_hand_has_rolled_by_a_half_turn(speed):
    tree = body(UP).tree
    reference = at_rest(tree)
    states = reference.copy()
    states.balls[3, 0], states.balls[3, 2] = np.cos(0.4), -np.sin(0.4)
    roll = 0.5 * np.radians(180.0 + speed * (np.arange(FRAMES) - 0.5 * (FRAMES - 1)))
    states.balls[4, 0], states.balls[4, 1] = np.cos(roll), np.sin(roll)
    begin = Geometry(tree, states)
    near = np.array([1e-4])
    tasks = [replace(point_task(begin.tip(0), near), level=Level.REACH)]
    tasks.append(OrientTask(rotation=begin.tip_rotation(0), length=0.1, tolerance=near, level=Level.TURN))
    moved = with_swivels(tree, states, reference, tasks, 30.0, 0.0)
    geometry = Geometry(tree, moved)
    assert np.abs(geometry.tip(0) - begin.tip(0)).max() < 1e-5
    assert np.abs(geometry.tip_rotation(0) - begin.tip_rotation(0)).max() < 1e-5
    assert largest_turn(tree.rotations(moved)) < 1.5 * speed + 1e-3


@pytest.mark.parametrize(("crouch", "wide"), [(40.0, 0.0), (85.0, 0.0), (130.0, 0.0), (130.0, 30.0)])
def test_knees_of_a_squat_open_as_deeply_as_they_bend_while_feet_stay(crouch, wide):
    """From 50 to 120 degrees of bend the knees swivel smoothly to 22 off straight ahead; those that are wider stay."""
    tree = figure().tree
    rest = at_rest(tree)
    turns = tree.rotations(rest)
    for side, (hip, knee, ankle) in ((1.0, (8, 9, 10)), (-1.0, (11, 12, 13))):
        bends = np.radians(crouch) * np.linspace(0.5, 1.0, FRAMES)
        apart = Quaternion((0.0, 0.0, 1.0), side * np.radians(wide))
        for frame, bend in enumerate(bends.tolist()):
            ahead = Quaternion((1.0, 0.0, 0.0), -0.5 * bend)
            turns[hip, :, frame] = apart @ ahead
            turns[knee, :, frame] = Quaternion((1.0, 0.0, 0.0), bend)
            turns[ankle, :, frame] = ahead @ apart.inverted()
    states = tree.posed(turns, rest)
    before, legs = Geometry(tree, states), []
    for joints in (LimbOfBody.of(tree, first, tip, turns) for first, tip in ((8, 2), (11, 3))):
        hip, knee, ankle = joints.joints
        across, upright = np.array([[1.0], [0.0], [0.0]]), np.array([[0.0], [0.0], [1.0]])
        legs.append((joints, Heel(knee, ankle, across, upright)))
    after = Geometry(tree, swivelling._opened(tree, states, legs))
    share = np.clip((crouch * np.linspace(0.5, 1.0, FRAMES) - 50.0) / 70.0, 0.0, 1.0)
    wanted = np.maximum(22.0 * share**2 * (3.0 - 2.0 * share), wide)
    for side, (limb, _) in zip((1.0, -1.0), legs, strict=True):
        hip, knee, ankle = limb.joints
        line = after.heads[knee] - 0.5 * (after.heads[hip] + after.heads[ankle])
        assert np.degrees(np.arctan2(side * line[0], -line[1])) == pytest.approx(wanted, abs=1e-3)
        assert after.heads[ankle] == pytest.approx(before.heads[ankle], abs=1e-6)
        assert after.frames[ankle] == pytest.approx(before.frames[ankle], abs=1e-6)
    alone = swivelling._opened(tree, states, legs[:1])
    assert tree.rotations(alone) == pytest.approx(turns, abs=1e-6), "one leg has nothing to go apart from"

# SPDX-License-Identifier: GPL-3.0-or-later
"""Straight knees and elbows bend the way they bend, whatever freedom their joints have."""

from dataclasses import replace

import numpy as np
import pytest
from mathutils import Quaternion, Vector

from ik_triangulation.cooperative import finished
from ik_triangulation.goals.from_goals import point_task
from ik_triangulation.goals.task import Level
from ik_triangulation.kinematics import Body, BodyTip, Cone, EulerLimits, Free, Hinge, Joint
from ik_triangulation.kinematics.batch import Geometry
from ik_triangulation.kinematics.body import states_of
from ik_triangulation.kinematics.body_anatomy import BodyAnatomy, Part, TwoPartLimb
from ik_triangulation.motion.body_path import body_path
from ik_triangulation.motion.shot import Shot
from ik_triangulation.solvers.body.flexing import bending_limbs, flexed, inclined, length_of, two_part_limbs, wrist_of
from scripts.benchmarks import humanoid

FREEDOMS = [Free(), Hinge((1, 0, 0), -2.0, 2.0), EulerLimits("XYZ", (-2, -1, -1), (2, 1, 1))]
every_freedom = pytest.mark.parametrize("freedom", FREEDOMS, ids=lambda each: type(each).__name__)


def leg(freedom=FREEDOMS[0]):
    """A straight leg that hangs down, whose knee bends about +X: the shin goes back, to +Y, and the knee ahead."""
    names = ("hips", "thigh", "shin", "foot")
    offsets = ((0, 0, 1), (0.1, 0, 0), (0, 0, -0.45), (0, 0, -0.45))
    freedoms = (Free(), Free(), freedom, Free())
    joints = [Joint(n, Vector(o), Quaternion(), f) for n, o, f in zip(names, offsets, freedoms, strict=True)]
    return Body(
        joints,
        (-1, 0, 1, 2),
        (BodyTip("foot", 3, Vector((0, -0.1, 0))), BodyTip("hips", 0, Vector((0, 0, 0.1)))),
        "FIXED",
    )


def knee(body, states):
    """How far the knee is ahead (-Y) of the line from hip to ankle (F)."""
    heads = Geometry(body.tree, states).heads
    return 0.5 * (heads[1, 1] + heads[3, 1]) - heads[2, 1]


def test_knees_are_found_and_those_whose_limits_tell_the_way_are_left_to_them():
    assert bending_limbs(leg().tree) == ((1, 2, 3),)
    assert bending_limbs(leg(Hinge((1, 0, 0), 0.0, 2.0)).tree) == ()
    assert bending_limbs(leg(EulerLimits("XYZ", (0, 0, -2), (0, 0, 2))).tree) == ()
    assert bending_limbs(humanoid.body().tree) == ()


def test_elbows_are_found_past_clavicles_and_before_hands():
    figure = humanoid.body()
    joints = [replace(joint, freedom=Free()) for joint in figure.joints]
    tree = Body(joints, figure.parents, figure.tips).tree
    names = {figure.joints[i].name for _, i, _ in bending_limbs(tree)}
    assert {"shin.L", "shin.R"} <= names
    assert not names & {"spine 2", "neck 2", "toe.L", "clavicle.L"}


@every_freedom
def test_a_straight_knee_bends_ahead(freedom):
    body = leg(freedom)
    states = states_of([body.rest_pose()])
    bent = flexed(body.tree, states, states)
    assert knee(body, bent)[0] > 0.02
    assert np.array_equal(bent.place, states.place)


@every_freedom
def test_a_knee_that_went_back_comes_ahead_as_far_and_one_bent_by_hand_stays(freedom):
    body = leg(freedom)
    rest = body.rest_pose()
    back = type(rest)(body, rest.base, [*rest.rotations[:2], Quaternion((1, 0, 0), -0.8), rest.rotations[3]])
    states, straight = states_of([back]), states_of([rest])
    assert knee(body, states)[0] < -0.05
    assert knee(body, flexed(body.tree, states, straight))[0] == pytest.approx(-knee(body, states)[0], rel=0.2)
    assert flexed(body.tree, states, states) is states  # somebody bent it so


@every_freedom
def test_posture_inclines_straight_knees_by_as_much_as_is_asked(freedom):
    body = leg(freedom)
    reference = states_of([body.rest_pose()] * 3)
    assert inclined(body.tree, reference, np.zeros((1, 3)), [0]) is reference
    bends = knee(body, inclined(body.tree, reference, np.array([[0.0, 0.5, 1.0]]), [0]))
    assert np.array_equal(knee(body, inclined(body.tree, reference, np.ones((1, 3)), [])), knee(body, reference))
    assert bends[0] == pytest.approx(0.0, abs=1e-9)
    assert 0.0 < bends[1] < bends[2]


@every_freedom
def test_a_leg_of_balls_that_steps_up_keeps_its_knee_ahead(freedom):
    body = leg(freedom)
    reference = states_of([body.rest_pose()] * 30)
    place = Geometry(body.tree, reference).tip(0)
    way = np.array([[0.0], [-0.1], [0.4]]) * np.sin(np.linspace(0.0, np.pi, 30))
    task = replace(point_task(place + way, np.array([1e-3])), tip=0, level=Level.REACH)
    states, met = finished(body_path(Shot(tree=body.tree, reference=reference, tasks=[task])))
    assert met.all()
    assert knee(body, states)[5:25].min() > 0.05


@pytest.mark.parametrize(("swing", "found"), [(2.0, True), (0.21, True), (0.19, False)])
def test_a_cone_bends_both_ways_as_far_as_it_opens(swing, found):
    assert bool(bending_limbs(leg(Cone(swing)).tree)) == found


def test_a_limb_without_an_end_leads_to_its_tip():
    whole, parts = leg(), (Part.HIPS, Part.THIGH, Part.SHIN)
    anatomy = BodyAnatomy(parts, (TwoPartLimb(1, 2, 2),), (None,), (Vector((0, -1, 0)),))
    tips = (BodyTip("hips", 0, Vector((0, 0, 0.1))), BodyTip("shin", 2, Vector((0, 0.03, -0.4))))
    body = Body(whole.joints[:3], (-1, 0, 1), tips, "FIXED", anatomy=anatomy)
    (limb,), geometry = two_part_limbs(body.tree), Geometry(body.tree, states_of([body.rest_pose()]))
    assert wrist_of(geometry, limb) == pytest.approx(np.array([[0.1], [0.03], [0.15]]))
    assert length_of(body.tree, limb) == pytest.approx(0.45 + np.hypot(0.03, 0.4))
    (limb,), geometry = two_part_limbs(whole.tree), Geometry(whole.tree, states_of([whole.rest_pose()]))
    assert wrist_of(geometry, limb) == pytest.approx(np.array([[0.1], [0.0], [0.1]]))
    assert length_of(whole.tree, limb) == pytest.approx(0.9)

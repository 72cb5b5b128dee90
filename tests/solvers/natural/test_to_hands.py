# SPDX-License-Identifier: GPL-3.0-or-later
"""Free heads turn a part of the way to hands that go, as much to the one side as to the other."""

from dataclasses import replace
from math import radians, tanh

import numpy as np
import pytest

from ik_triangulation.goals.from_goals import point_task
from ik_triangulation.goals.orientation import LookTask
from ik_triangulation.goals.task import Level
from ik_triangulation.kinematics.batch import Geometry
from ik_triangulation.kinematics.body import states_of
from ik_triangulation.solvers.natural.looking import turned_to_hands

from ..body.test_clearing import figure

BODY = figure(head=(0.0, -0.02, 0.2))
TREE = BODY.tree
LEFT, RIGHT, HEAD = (BODY.number_of[name] for name in ("tip 2", "tip 5", "head"))
FACE, UP = np.array([[0.0], [-1.0], [0.0]]), np.array([[0.0], [0.0], [1.0]])
LOOK = LookTask(axis=FACE, up=UP, point=FACE, length=0.3, tolerance=np.array([1e-3]), tip=HEAD)


def rest(count=1):
    return states_of([BODY.rest_pose()] * count)


def going(tip, place, level=Level.REACH, states=None):
    """The task of a hand that goes to a place (3), seen from the eyes, in every pose."""
    geometry = Geometry(TREE, states or rest())
    places = geometry.tip(HEAD) + np.array(place, float)[:, None]
    return replace(point_task(places, np.array([1e-3])), tip=tip, level=level)


def face(tasks, heads=(LOOK,), influence=None, states=None):
    """Where the face looks (3, F) then."""
    states = states or rest()
    given = states, states, heads, tasks, influence or {}, TREE.compliance, 24.0
    found = turned_to_hands(TREE, *given)
    return np.einsum("ijf,jk->if", Geometry(TREE, found).tip_rotation(HEAD), FACE)


def yaw(way):
    """Angle [degrees] to the left, which is +X."""
    return np.degrees(np.arctan2(way[0], -way[1]))


@pytest.mark.parametrize("aside", [10.0, 40.0, 80.0])
def test_a_hand_far_away_turns_the_head_by_half_the_angle_and_never_by_more_than_45_degrees(aside):
    place = 1.5 * np.array([np.sin(radians(aside)), -np.cos(radians(aside)), 0.0])
    wanted = 45.0 * tanh(0.5 * aside / 45.0)
    turned = face([going(LEFT, place)])
    assert yaw(turned)[0] == pytest.approx(wanted, abs=1.0)  # for steps that look nowhere exactly
    assert abs(turned[2, 0]) < 0.02, "it does not nod"
    mirrored = face([going(RIGHT, place * (-1.0, 1.0, 1.0))])
    assert mirrored == pytest.approx(turned * [[-1.0], [1.0], [1.0]], abs=1e-6)


def test_it_looks_between_two_hands():
    places = [1.5 * np.array([side * np.sin(0.6), -np.cos(0.6), -0.3]) for side in (1.0, -1.0)]
    turned = face([going(tip, place) for tip, place in zip((LEFT, RIGHT), places, strict=True)])
    assert abs(yaw(turned)[0]) < 0.1
    assert turned[2, 0] < -0.05


@pytest.mark.parametrize("angle", [100.0, 115.0, 129.0])
def test_less_and_less_of_what_is_behind_is_looked_at(angle):
    def turned(degrees):
        return yaw(face([going(LEFT, 1.5 * np.array([np.sin(radians(degrees)), -np.cos(radians(degrees)), 0.0]))]))[0]

    left = (130.0 - angle) / 40.0
    wanted = 45.0 * tanh(0.5 * left * left * (3.0 - 2.0 * left) * angle / 45.0)
    assert turned(angle) == pytest.approx(wanted, abs=1.0)
    assert abs(turned(131.0)) < 1e-6


def test_what_tells_a_head_nothing_leaves_it():
    aside = (1.0, -1.0, 0.0)
    given, states = going(LEFT, aside), rest()
    for tasks, heads, influence in (
        ([replace(given, level=Level.HOLD)], [LOOK], {}),
        ([going(BODY.number_of["tip 8"], aside)], [LOOK], {}),  # a foot
        ([going(LEFT, (Geometry(TREE, states).tip(LEFT) - Geometry(TREE, states).tip(HEAD))[:, 0])], [LOOK], {}),
        ([given, replace(LOOK, point=FACE)], [LOOK], {}),  # it looks somewhere else already
        ([given], [], {}),
        ([], [LOOK], {}),
    ):
        found = turned_to_hands(TREE, states, states, heads, tasks, influence, TREE.compliance, 24.0)
        assert found is states
    assert yaw(face([given], influence={LEFT: np.zeros(1)}))[0] == pytest.approx(0.0, abs=1e-6)
    assert yaw(face([going(LEFT, (0.1, -0.1, 0.0))]))[0] == pytest.approx(0.0, abs=1e-6), "a hand at the ear"
    half = yaw(face([given], influence={LEFT: np.full(1, 0.5)}))[0]
    assert 0.0 < half < yaw(face([given]))[0]


def test_the_head_goes_before_the_hand_and_the_ends_of_a_shot_are_their_own():
    count, late = 49, 24
    states = rest(count)
    geometry = Geometry(TREE, states)
    task = going(LEFT, (1.2, -1.2, 0.0), states=states)
    places = task.target.place.copy()
    places[:, :late] = geometry.tip(LEFT)[:, :late]  # it jumps
    turned = yaw(face([task.to_points(places)], states=states))
    whole = yaw(face([going(LEFT, (1.2, -1.2, 0.0))]))[0]
    assert turned[0] == pytest.approx(0.0, abs=1e-6)
    assert turned[-1] == pytest.approx(whole, abs=0.5)
    assert turned[late - 1] > 0.3 * whole
    assert (np.diff(turned) > -0.1).all()
    assert int(np.argmax(turned > 0.5 * whole)) == pytest.approx(late - 0.3 * 24.0, abs=2.0)

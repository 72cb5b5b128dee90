# SPDX-License-Identifier: GPL-3.0-or-later
"""Numbers of goals are checked before anything is solved; each message names the number."""

from math import inf, nan

import pytest
from mathutils import Quaternion, Vector

from ik_triangulation.errors import SettingError, TargetError
from ik_triangulation.goals import Avoid, Direction, Effort, LookAt, Near, Orientation, Pole
from ik_triangulation.goals.shapes import (
    MOST_WEIGHT,
    check_finite,
    check_weight,
    checked_direction,
    checked_location,
    checked_radius,
    unit_vector,
)


@pytest.mark.parametrize("bad", [nan, inf, -inf, 1e19])
def test_a_location_beyond_what_can_be_squared_is_refused(bad):
    with pytest.raises(TargetError, match="Cup"):
        checked_location("Cup", (0.0, bad, 0.0))


def test_what_is_checked_cannot_be_changed_any_more():
    given = Vector((1.0, 2.0, 3.0))
    checked = checked_location("Cup", given)
    given.x = 5.0
    assert tuple(checked) == (1.0, 2.0, 3.0)
    assert checked.is_frozen


@pytest.mark.parametrize("length", [1e-30, 1e-8, 1.0, 1e15])
def test_a_direction_has_unit_length_however_long_it_was(length):
    direction = checked_direction("Axis", Vector((3.0, 0.0, -4.0)) * length)
    assert (direction - Vector((0.6, 0.0, -0.8))).length < 1e-6


def test_a_direction_without_length_is_refused():
    assert unit_vector(Vector()) is None
    with pytest.raises(TargetError, match=r"Axis .* has no direction. Give it a length"):
        checked_direction("Axis", (0.0, 0.0, 0.0))


@pytest.mark.parametrize("radius", [0.0, -1.0, nan, inf])
def test_a_radius_is_a_positive_length(radius):
    with pytest.raises(TargetError, match="Ring radius"):
        checked_radius("Ring radius", radius)


@pytest.mark.parametrize("weight", [-1e-9, nan, inf, MOST_WEIGHT * 1.01])
def test_a_weight_under_which_nothing_else_counts_is_refused(weight):
    with pytest.raises(SettingError, match="Pole weight"):
        check_weight("Pole", weight)


def test_the_ends_of_the_range_of_weights_are_allowed():
    check_weight("Pole", 0.0)
    check_weight("Pole", MOST_WEIGHT)
    check_finite("Obstacle", (0.0, -1e30))
    with pytest.raises(SettingError, match="Obstacle is not finite"):
        check_finite("Obstacle", (0.0, nan))


GOALS = {
    "Avoid": (Avoid, ()),
    "Direction": (Direction, Vector((0.0, 0.0, 1.0))),
    "Effort": (Effort, Vector((0.0, 0.0, -1.0))),
    "Look At": (LookAt, Vector((0.0, 0.0, 1.0))),
    "Near": (Near, (Quaternion(),)),
    "Orientation": (Orientation, Quaternion()),
    "Pole": (Pole, Vector((0.0, 0.0, 1.0))),
}


@pytest.mark.parametrize("name", GOALS)
def test_every_goal_refuses_such_a_weight_by_its_name(name):
    kind, given = GOALS[name]
    assert kind(given, weight=0.0).weight == 0.0
    with pytest.raises(SettingError, match=f"{name} weight"):
        kind(given, weight=-1.0)


@pytest.mark.parametrize("name", ["Direction", "Look At", "Orientation", "Pole"])
def test_every_goal_refuses_what_is_not_finite_by_its_name(name):
    kind, given = GOALS[name]
    with pytest.raises(SettingError, match=name):
        kind(type(given)((nan, *given[1:])))

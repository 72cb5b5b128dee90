# SPDX-License-Identifier: GPL-3.0-or-later
"""Every kind of joint lets through what it allows, bit by bit, and moves the rest to the nearest allowed rotation."""

from math import inf, nan
from random import Random

import pytest
from mathutils import Quaternion, Vector

from ik_triangulation.errors import FreedomError, IKError
from ik_triangulation.kinematics import Cone, EulerLimits, Free, Hinge, Locked, framed
from ik_triangulation.kinematics.rotation import about, angle_between, from_euler, rotation_angle

from ..chains import random_cone, random_direction, random_hinge, random_limits, random_rotation
from .freedoms import RANGES


def test_the_limits_a_rotation_stands_on_are_named():
    assert Hinge(Vector((1, 0, 0)), 0.0, 2.0).on_limits(Quaternion()) == ["bend minimum"]
    assert Hinge(Vector((1, 0, 0)), -1.0, 2.0).on_limits(Quaternion()) == []
    limits = EulerLimits("XYZ", (0.0, -1.0, -0.5), (0.0, 1.0, 0.5))
    assert limits.on_limits(from_euler((0.0, 1.0, -0.5), "XYZ")) == ["Y maximum", "Z minimum"]
    assert Cone(1.0, -0.2, 0.7).on_limits(about(Vector((0, 1, 0)), 0.7)) == ["twist maximum"]
    assert Free().on_limits(Quaternion()) == Locked().on_limits(Quaternion()) == []


@pytest.mark.parametrize("make", [lambda _: Free(), random_hinge, random_limits, lambda _: Locked()])
def test_swinging_returns_an_allowed_unit_rotation(make):
    random = Random(11)
    for _ in range(300):
        freedom = make(random)
        rotation = freedom.nearest(random_rotation(random))
        swung = freedom.swung(rotation, random_direction(random), random_direction(random))
        assert swung.magnitude == pytest.approx(1.0, abs=1e-6)
        assert freedom.nearest(swung) is swung


def test_a_free_joint_turns_one_direction_onto_the_other():
    random = Random(12)
    for _ in range(500):
        rotation, start, end = random_rotation(random), random_direction(random), random_direction(random) * 9.0
        swung = Free().swung(rotation, start, end)
        assert angle_between(swung @ (rotation.conjugated() @ start), end) < 2e-6
        assert Free().nearest(rotation) is rotation


def test_a_locked_joint_never_moves():
    random = Random(13)
    for _ in range(100):
        rotation = random_rotation(random)
        assert Locked().nearest(rotation) is rotation
        assert Locked().swung(rotation, random_direction(random), random_direction(random)) is rotation
    assert not Locked().moves
    assert not Hinge(Vector((1.0, 0.0, 0.0)), 0.5, 0.5).moves


def random_framed(random):
    return framed(random.choice((random_limits, random_cone))(random), random_rotation(random))


EVERY_KIND = [lambda _: Free(), random_hinge, random_limits, random_cone, random_framed, lambda _: Locked()]


@pytest.mark.parametrize("make", EVERY_KIND)
def test_coordinates_lie_within_their_bounds_and_lead_back_to_the_rotation(make):
    random = Random(14)
    for _ in range(200):
        freedom = make(random)
        rotation = freedom.nearest(random_rotation(random))
        coordinates = freedom.coordinates(rotation)
        assert bool(coordinates) == freedom.moves
        assert all(lower - 1e-9 <= value <= upper + 1e-9 for _, value, lower, upper in coordinates)
        again = freedom.at(rotation, [coordinate.value for coordinate in coordinates])
        assert rotation_angle(again, rotation) < 2e-6


@pytest.mark.parametrize("make", EVERY_KIND)
def test_a_coordinate_turns_the_joint_about_its_axis(make):
    random, small, turned = Random(15), 1e-3, 0
    for _ in range(200):
        freedom = make(random)
        rotation = freedom.nearest(random_rotation(random))
        coordinates = freedom.coordinates(rotation)
        values = [coordinate.value for coordinate in coordinates]
        for n, (axis, value, lower, upper) in enumerate(coordinates):
            step = small if value + small <= upper else -small
            if not lower <= value + step <= upper:
                continue
            moved = freedom.at(rotation, [*values[:n], value + step, *values[n + 1 :]])
            assert rotation_angle(about(axis, step) @ rotation, moved) < 1e-2 * small
            turned += 1
    assert turned >= 200 or not freedom.moves


@pytest.mark.parametrize("make", [lambda _: Free(), random_hinge, random_limits, random_cone])
def test_values_beyond_the_bounds_and_random_rotations_are_allowed_ones(make):
    random = Random(16)
    for _ in range(200):
        freedom = make(random)
        rotation = freedom.nearest(random_rotation(random))
        values = [random.uniform(-20.0, 20.0) for _ in freedom.coordinates(rotation)]
        for result in (freedom.at(rotation, values), freedom.random(random)):
            assert result.magnitude == pytest.approx(1.0, abs=1e-6)
            assert freedom.nearest(result) is result


WRONG = {
    "inverted hinge": lambda: Hinge(Vector((1, 0, 0)), 1.0, -1.0),
    "hinge from nowhere": lambda: Hinge(Vector((1, 0, 0)), nan, 1.0),
    "hinge to nowhere": lambda: Hinge(Vector((1, 0, 0)), 0.0, nan),
    "hinge without axis": lambda: Hinge(Vector((0, 0, 0))),
    "hinge axis NaN": lambda: Hinge(Vector((1, nan, 0))),
    "hinge axis infinite": lambda: Hinge(Vector((inf, 0, 0))),
    "unknown order": lambda: EulerLimits("XYX", (0, 0, 0), (1, 1, 1)),
    "quaternion order": lambda: EulerLimits("QUATERNION", (0, 0, 0), (1, 1, 1)),
    "inverted limit": lambda: EulerLimits("XYZ", (0, 0, 2), (1, 1, 1)),
    "cone of nothing": lambda: Cone(-0.1),
    "cone NaN": lambda: Cone(nan),
    "cone infinite": lambda: Cone(inf),
    "inverted twist": lambda: Cone(1.0, 0.5, -0.5),
    "twist NaN": lambda: Cone(1.0, nan, 0.5),
    "limit NaN": lambda: EulerLimits("XYZ", (0, nan, 0), (1, 1, 1)),
}


@pytest.mark.parametrize("make", WRONG.values(), ids=list(WRONG))
def test_what_describes_no_rotation_is_refused_in_one_line(make):
    with pytest.raises(FreedomError) as caught:
        make()
    assert isinstance(caught.value, IKError)
    assert "\n" not in str(caught.value)
    assert str(caught.value).endswith(".")


def test_a_rest_rotation_is_left_alone_by_every_range_that_holds_it():
    for lower, upper in RANGES.values():
        if lower <= 0.0 <= upper:
            rest = Quaternion()
            assert Hinge(Vector((1, 2, 3)), lower, upper).nearest(rest) is rest


def test_framed_limits_are_those_of_the_inner_joint_in_other_axes():
    random = Random(31)
    for _ in range(100):
        inner, frame = random_limits(random), random_rotation(random)
        freedom = framed(inner, frame)
        own = random_rotation(random)
        rotation = frame @ own @ frame.conjugated()
        assert rotation_angle(freedom.nearest(rotation), frame @ inner.nearest(own) @ frame.conjugated()) < 2e-6
    hinge = framed(Hinge((1, 0, 0), -0.2, 1.0), Quaternion((1, 0, 0), 0.3) @ Quaternion((0, 0, 1), 0.4))
    assert isinstance(hinge, Hinge)
    assert framed(inner, Quaternion()) is inner

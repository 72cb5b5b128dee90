# SPDX-License-Identifier: GPL-3.0-or-later
"""Every kind of joint lets through what it allows, bit by bit, and moves the rest to the nearest allowed rotation."""

from math import cos, inf, isinf, nan, pi, radians, sin, tau
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mathutils import Quaternion, Vector

from ik_triangulation.errors import FreedomError, IKError
from ik_triangulation.kinematics import Cone, EulerLimits, Free, Hinge, Locked
from ik_triangulation.kinematics.euler import EULER_ORDERS, from_euler, other_euler, to_euler
from ik_triangulation.kinematics.ranges import clamp_to_range
from ik_triangulation.kinematics.rotation import about, angle_between, rotation_angle, twist, wrap

from ..chains import random_cone, random_direction, random_hinge, random_limits, random_range, random_rotation

RANGES = {
    "around rest": (-0.5, 1.2),
    "from rest": (0.0, 2.6),
    "one angle": (0.4, 0.4),
    "rest itself": (0.0, 0.0),
    "without rest": (0.7, 1.3),
    "without rest, negative": (-2.4, -0.2),
    "across half a turn": (radians(150.0), radians(210.0)),
    "across minus half a turn": (radians(-200.0), radians(-140.0)),
    "from half a turn": (pi, radians(250.0)),
    "beyond half a turn": (-0.3, 5.0),
    "far round": (10.0, 11.0),
    "a full turn": (-pi, pi),
    "beyond a full turn": (-4.0, 4.0),
    "only from below": (0.5, inf),
    "only from above": (-inf, -0.5),
    "no limit": (-inf, inf),
}
every_range = pytest.mark.parametrize(("lower", "upper"), RANGES.values(), ids=list(RANGES))
every_order = pytest.mark.parametrize("order", EULER_ORDERS)
angles = st.floats(-pi, pi)


def outside(angle, lower, upper):
    """How far [rad] an angle stands outside a range, whole turns aside."""
    if isinf(lower) or isinf(upper) or upper - lower >= tau:
        return 0.0
    middle = (lower + upper) / 2.0
    return max(0.0, abs(wrap(angle - middle)) - (upper - lower) / 2.0)


def samples(lower, upper, count=720):
    """Angles all over a range, its ends among them."""
    if isinf(lower) or isinf(upper):
        lower, upper = -pi, pi
    return [lower + (upper - lower) * n / count for n in range(count + 1)]


def rotations(random, axis, count):
    """Rotations of all kinds: any, those about an axis, and some with the other sign."""
    for n in range(count):
        rotation = random_rotation(random) if n % 2 else about(axis, random.uniform(-tau, tau))
        yield -rotation if n % 3 == 0 else rotation


@every_range
def test_a_hinge_allows_what_it_returned_bit_by_bit(lower, upper):
    random = Random(1)
    for _ in range(20):
        hinge = Hinge(random_direction(random), lower, upper)
        for rotation in rotations(random, hinge.axis, 60):
            nearest = hinge.nearest(rotation)
            assert hinge.nearest(nearest) is nearest


@every_range
def test_a_hinge_lets_every_angle_of_its_range_through_bit_by_bit(lower, upper):
    random = Random(2)
    for _ in range(10):
        hinge = Hinge(random_direction(random), lower, upper)
        for angle in samples(lower, upper, 50):
            for rotation in (about(hinge.axis, angle), -about(hinge.axis, angle), about(hinge.axis, angle + tau)):
                assert hinge.nearest(rotation) is rotation


@every_range
def test_a_hinge_ends_on_its_axis_and_inside_its_range(lower, upper):
    random = Random(3)
    for _ in range(20):
        hinge = Hinge(random_direction(random), lower, upper)
        for rotation in rotations(random, hinge.axis, 60):
            nearest = hinge.nearest(rotation)
            angle = twist(nearest, hinge.axis)
            assert nearest.magnitude == pytest.approx(1.0, abs=1e-6)
            assert rotation_angle(about(hinge.axis, angle), nearest) < 1e-6
            assert outside(angle, lower, upper) < 1e-6


@every_range
def test_a_hinge_goes_to_the_nearest_rotation_there_is(lower, upper):
    random = Random(4)
    for _ in range(6):
        hinge = Hinge(random_direction(random), lower, upper)
        allowed = [about(hinge.axis, angle) for angle in samples(lower, upper)]
        for rotation in rotations(random, hinge.axis, 10):
            brute = min(rotation_angle(candidate, rotation) for candidate in allowed)
            assert rotation_angle(hinge.nearest(rotation), rotation) <= brute + 1e-6


@every_range
def test_a_hinge_swings_as_near_as_it_can(lower, upper):
    random = Random(5)
    for _ in range(20):
        hinge = Hinge(random_direction(random), lower, upper)
        rotation = hinge.nearest(random_rotation(random))
        start, end = random_direction(random) * 3.0, random_direction(random) * 0.2
        swung = hinge.swung(rotation, start, end)
        at_rest = rotation.conjugated() @ start
        brute = min(angle_between(about(hinge.axis, angle) @ at_rest, end) for angle in samples(lower, upper))
        assert angle_between(swung @ at_rest, end) <= brute + 2e-6
        assert outside(twist(swung, hinge.axis), lower, upper) < 1e-6


def test_a_hinge_does_not_turn_for_a_direction_along_its_axis():
    hinge = Hinge(Vector((0.0, 0.0, 2.0)), -1.0, 1.0)
    rotation = about(hinge.axis, 0.3)
    along, across = Vector((0.0, 0.0, 5.0)), Vector((1.0, 0.0, 0.0))
    assert hinge.swung(rotation, along, across) is rotation
    assert hinge.swung(rotation, across, -along) is rotation
    assert hinge.swung(rotation, Vector(), across) is rotation
    assert hinge.swung(rotation, across, Vector()) is rotation


@pytest.mark.parametrize("length", [1e-6, 1.0, 1e6])
def test_a_hinge_axis_is_a_direction_of_any_length(length):
    hinge = Hinge(Vector((0.0, 3.0, 4.0)) * length)
    assert hinge.axis.length == pytest.approx(1.0, abs=1e-6)
    assert hinge.bend_axis == hinge.axis


@every_range
@given(angle=st.floats(-50.0, 50.0))
@settings(derandomize=True, max_examples=100, deadline=None)
def test_fitting_an_angle_ends_inside_the_range_and_moves_it_no_more_than_needed(lower, upper, angle):
    fitted = clamp_to_range(angle, lower, upper)
    assert lower - 1e-12 <= fitted <= upper + 1e-12
    assert abs(wrap(fitted - angle)) <= outside(angle, lower, upper) + 1e-12


@every_order
def test_euler_limits_allow_what_they_returned_bit_by_bit(order):
    random = Random(6)
    for _ in range(60):
        limits = random_limits(random, order)
        for rotation in rotations(random, random_direction(random), 20):
            nearest = limits.nearest(rotation)
            assert limits.nearest(nearest) is nearest


@every_order
def test_euler_limits_anywhere_on_the_circle_allow_what_they_returned_bit_by_bit(order):
    random = Random(7)
    for _ in range(100):
        ranges = [random_range(random) for _ in "xyz"]
        limits = EulerLimits(order, *zip(*ranges, strict=True))
        for rotation in rotations(random, random_direction(random), 10):
            nearest = limits.nearest(rotation)
            assert limits.nearest(nearest) is nearest


@every_order
@pytest.mark.parametrize("off", [0.0, 1e-7, 1e-5, 1e-4, 1e-3, 1e-2])
def test_euler_limits_let_what_they_allow_through_also_beside_the_poles(order, off):
    random = Random(8)
    middle = "XYZ".index(order[1])
    for _ in range(100):
        ranges = [random_range(random, 1.0) for _ in "xyz"]
        pole = random.choice((-pi, pi)) / 2.0
        ranges[middle] = pole - off, pole + off
        limits = EulerLimits(order, *zip(*ranges, strict=True))
        corners = [tuple(random.choice(pair) for pair in ranges) for _ in range(6)]
        inside = [tuple(random.uniform(*pair) for pair in ranges) for _ in range(6)]
        for triple in corners + inside:
            rotation = from_euler(triple, order)
            assert limits.nearest(rotation) is rotation


@every_order
def test_euler_angles_stay_inside_their_limits(order):
    random = Random(9)
    for _ in range(60):
        ranges = [random_range(random, 3.0) for _ in "xyz"]
        limits = EulerLimits(order, *zip(*ranges, strict=True))
        for rotation in rotations(random, random_direction(random), 20):
            nearest = limits.nearest(rotation)
            triple = limits.angles(nearest)
            for angle, (lower, upper) in zip(triple, ranges, strict=True):
                assert lower - 1e-12 <= angle <= upper + 1e-12
            assert rotation_angle(from_euler(triple, order), nearest) < 1e-6


@every_order
@given(x=angles, y=angles, z=angles)
@settings(derandomize=True, max_examples=200, deadline=None)
def test_allowed_euler_angles_are_let_through_from_either_triple(order, x, y, z):
    rotation = from_euler((x, y, z), order)
    for triple in ((x, y, z), other_euler((x, y, z), order), to_euler(rotation, order)):
        limits = EulerLimits(order, [angle - 1e-3 for angle in triple], [angle + 1e-3 for angle in triple])
        assert limits.nearest(rotation) is rotation


@every_order
def test_one_euler_angle_too_far_is_clamped_and_the_others_are_kept(order):
    first = "XYZ".index(order[0])
    lower, upper = [-1.0, -1.0, -1.0], [1.0, 1.0, 1.0]
    triple = [0.2, -0.3, 0.4]
    triple[first] = 1.1
    limits = EulerLimits(order, lower, upper)
    angles = limits.angles(from_euler(triple, order))
    assert angles[first] == pytest.approx(1.0, abs=0.05)
    assert rotation_angle(limits.nearest(from_euler(triple, order)), from_euler(triple, order)) <= 0.1 + 1e-6


@every_range
def test_a_cone_allows_what_it_returned_bit_by_bit(lower, upper):
    random = Random(18)
    for _ in range(20):
        cone = Cone(random.uniform(0.0, pi), lower, upper)
        for rotation in rotations(random, random_direction(random), 10):
            nearest = cone.nearest(rotation)
            assert nearest.magnitude == pytest.approx(1.0, abs=5e-7)
            assert cone.nearest(nearest) is nearest


@every_range
def test_no_rotation_in_a_cone_is_nearer_than_the_nearest(lower, upper):
    random = Random(19)
    for _ in range(10):
        cone = Cone(random.uniform(0.0, pi), lower, upper)
        allowed = [cone.random(random) for _ in range(300)]
        for rotation in rotations(random, random_direction(random), 10):
            apart = rotation_angle(cone.nearest(rotation), rotation)
            assert apart <= min(rotation_angle(other, rotation) for other in allowed) + 1e-6


def test_a_cone_lets_swings_inside_it_through_and_stops_the_others_at_its_edge():
    random, cone = Random(20), Cone(0.8, -0.5, 0.5)
    for _ in range(200):
        direction = random.uniform(-pi, pi)
        axis = Vector((cos(direction), 0.0, sin(direction)))
        swing, twisted = random.uniform(0.0, 1.6), about(Vector((0.0, 1.0, 0.0)), random.uniform(-0.5, 0.5))
        rotation = about(axis, swing) @ twisted
        nearest = cone.nearest(rotation)
        if swing <= 0.8:
            assert nearest is rotation
        else:
            assert rotation_angle(nearest, about(axis, 0.8) @ twisted) < 2e-6
            assert cone.on_limits(nearest) == ["swing maximum"]


def test_the_limits_a_rotation_stands_on_are_named():
    assert Hinge(Vector((1, 0, 0)), 0.0, 2.0).on_limits(Quaternion()) == ["bend minimum"]
    assert Hinge(Vector((1, 0, 0)), -1.0, 2.0).on_limits(Quaternion()) == []
    limits = EulerLimits("XYZ", (0.0, -1.0, -0.5), (0.0, 1.0, 0.5))
    assert limits.on_limits(from_euler((0.0, 1.0, -0.5), "XYZ")) == ["Y maximum", "Z minimum"]
    assert Cone(1.0, -0.2, 0.7).on_limits(about(Vector((0, 1, 0)), 0.7)) == ["twist maximum"]
    assert Free().on_limits(Quaternion()) == Locked().on_limits(Quaternion()) == []


def test_a_frozen_euler_joint_does_not_move():
    limits = EulerLimits("XYZ", (0.1, 0.2, 0.3), (0.1, 0.2, 0.3))
    assert not limits.moves
    random = Random(10)
    for _ in range(100):
        assert rotation_angle(limits.nearest(random_rotation(random)), from_euler((0.1, 0.2, 0.3), "XYZ")) < 1e-6


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


EVERY_KIND = [lambda _: Free(), random_hinge, random_limits, random_cone, lambda _: Locked()]


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
    random, small = Random(15), 1e-3
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


@every_range
def test_random_rotations_of_a_hinge_fill_its_range(lower, upper):
    random, hinge = Random(17), Hinge(Vector((1.0, 0.0, 0.0)), lower, upper)
    drawn = [hinge.random(random) for _ in range(400)]
    assert all(hinge.nearest(rotation) is rotation for rotation in drawn)
    for angle in samples(lower, upper, 20):
        assert min(rotation_angle(about(hinge.axis, angle), rotation) for rotation in drawn) < 0.2


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


def test_the_message_names_the_axis_of_an_inverted_limit():
    with pytest.raises(FreedomError, match="Euler limit Y is inverted"):
        EulerLimits("XYZ", (0, 2, 0), (1, 1, 1))


def test_a_rest_rotation_is_left_alone_by_every_range_that_holds_it():
    for lower, upper in RANGES.values():
        if lower <= 0.0 <= upper:
            rest = Quaternion()
            assert Hinge(Vector((1, 2, 3)), lower, upper).nearest(rest) is rest

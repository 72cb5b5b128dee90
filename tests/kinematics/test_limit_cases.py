# SPDX-License-Identifier: GPL-3.0-or-later
"""Limits as they come from the field: across half a turn, whole turns off, open at one end, at pi in single precision.

Every case is one range about one axis; it must mean the same for a hinge, for each Euler axis and for a cone's twist.
"""

from math import inf, nextafter, pi, radians, tau
from random import Random

import numpy as np
import pytest
from mathutils import Quaternion, Vector

from ik_triangulation.errors import FreedomError
from ik_triangulation.goals import Point
from ik_triangulation.kinematics import Cone, EulerLimits, Hinge, Locked
from ik_triangulation.kinematics.rotation import EULER_ORDERS, about, from_euler, rotation_angle, twist, wrap
from ik_triangulation.solvers import solve

from ..chains import bits, random_pose, random_rotation, straight

AXES = tuple(Vector([float(i == j) for j in range(3)]) for i in range(3))
PI = float(np.float32(pi))  # greater than pi by 8.7e-8
BEYOND = float(np.nextafter(np.float32(pi), np.float32(4.0)))
LEAST = 2e-6  # [rad]

# Ends of the range, angles that it allows, and pairs of others and where they end [degrees].
CASES = {
    "as drawn": (-10, 10, (0, -10, 10, 360), ((11, 10), (-90, -10), (179, 10), (-179, -10))),
    "a whole turn on": (350, 370, (0, -10, 10, 360), ((11, 10), (-90, -10), (179, 10), (-179, -10))),
    "a whole turn back": (-370, -350, (0, -10, 10, 360), ((11, 10), (-90, -10), (179, 10))),
    "five turns on": (1790, 1810, (0, -10, 10), ((11, 10), (-90, -10))),
    "across half a turn": (170, 190, (180, -180, 175, -175), ((160, 170), (-160, -170), (10, 170), (-10, -170))),
    "across minus half a turn": (-190, -170, (180, -180, 175, -175), ((160, 170), (-160, -170), (10, 170))),
    "135 to 225 degrees": (135, 225, (135, 180, -135, 225), ((134, 135), (-134, -135), (1, 135), (-1, -135))),
    "to half a turn": (0, 180, (0, 90, 180, -180), ((-1, 0), (-89, 0), (-91, 180), (-179, 180))),
    "from half a turn": (180, 270, (180, -180, -90, -135), ((-89, -90), (170, 180), (0.5, -90))),
    "a knee": (5, 150, (5, 90, 150), ((0, 5), (-90, 5), (170, 150), (-150, 150))),
    "only from": (30, inf, (0, 30, 180, -90), ()),
    "only to": (-inf, -30, (0, 30, 180, -90), ()),
    "none": (-inf, inf, (0, 180, -180, 90), ()),
    "a full turn": (-180, 180, (0, 180, -180, 90), ()),
    "more than a turn": (-200, 200, (0, 180, -180, 190), ()),
    "one angle": (45, 45, (45, 405), ((44, 45), (-90, 45), (0, 45))),
    "one angle at half a turn": (180, 180, (180, -180), ((90, 180), (-90, 180), (1, 180))),
}
every_case = pytest.mark.parametrize(("lower", "upper", "inside", "moved"), CASES.values(), ids=list(CASES))


def about_axis(freedom, axis, angle):
    """The rotation by that angle [degrees] about one of the axes, and what the freedom makes of it."""
    rotation = about(axis, radians(angle))
    return rotation, freedom.nearest(rotation)


def each_kind(lower, upper):
    """The range as a hinge, as the first, middle and last Euler angle beside frozen ones, and as a twist."""
    lower, upper = radians(lower), radians(upper)
    yield from ((Hinge(axis, lower, upper), axis) for axis in AXES)
    for order in EULER_ORDERS:
        for i, axis in enumerate(AXES):
            low, high = ([end if j == i else 0.0 for j in range(3)] for end in (lower, upper))
            yield EulerLimits(order, low, high), axis
    yield Cone(0.0, lower, upper), AXES[1]


@every_case
def test_a_range_means_the_same_for_every_kind_of_joint(lower, upper, inside, moved):
    for freedom, axis in each_kind(lower, upper):
        for angle in inside:
            rotation, nearest = about_axis(freedom, axis, angle)
            assert nearest is rotation, (freedom, angle)
        for angle, end in moved:
            _, nearest = about_axis(freedom, axis, angle)
            assert rotation_angle(nearest, about(axis, radians(end))) < LEAST, (freedom, angle)
            assert freedom.nearest(nearest) is nearest


@every_case
def test_a_joint_is_solved_to_the_angle_its_range_allows(lower, upper, inside, moved):
    """A single link turned towards angles inside the range, and towards others, from where it may stand."""
    for axis, along in ((AXES[0], AXES[1]), (AXES[2], AXES[1])):
        hinge = Hinge(axis, radians(lower), radians(upper))
        chain = straight((1.0,), [hinge])
        for angle, end in (*((angle, angle) for angle in inside), *moved):
            target = Point(about(axis, radians(angle)) @ along)
            solution = solve(chain.rest_pose(), target, tolerance=1e-5)
            stands = twist(solution.pose.rotations[0], axis)
            assert abs(wrap(stands - radians(end))) < 2e-5
            assert solution.reached == (angle == end)


@pytest.mark.parametrize("end", [pi, PI, BEYOND, nextafter(pi, 0.0), -pi, -PI, -BEYOND])
@pytest.mark.parametrize("axis", AXES, ids="xyz")
@pytest.mark.whole
def test_half_a_turn_is_the_same_from_both_sides_of_its_rounding(end, axis):
    """Single precision stores pi as a little more than pi: neither side of it may be thrown to the other limit."""
    ends = (0.0, end) if end > 0.0 else (end, 0.0)
    i = AXES.index(axis)
    hinge = Hinge(axis, *ends)
    euler = [
        EulerLimits(order, *([ends[n] if j == i else 0.0 for j in range(3)] for n in (0, 1))) for order in EULER_ORDERS
    ]
    for freedom in (hinge, *euler):
        for half in (pi, -pi, PI, -PI, BEYOND, -BEYOND):
            for rotation in (about(axis, half), -about(axis, half), Quaternion(axis, half)):
                assert rotation_angle(freedom.nearest(rotation), rotation) < LEAST


@pytest.mark.parametrize("ends", [(-PI, PI), (-BEYOND, BEYOND), (-pi, pi), (PI, PI), (-PI, -PI)])
def test_limits_at_pi_allow_what_they_returned(ends):
    random = Random(1)
    for freedom in (Hinge(AXES[0], *ends), EulerLimits("XYZ", ends[:1] * 3, ends[1:] * 3), Cone(pi, *ends)):
        for _ in range(100):
            nearest = freedom.nearest(random_rotation(random))
            assert freedom.nearest(nearest) is nearest


@pytest.mark.parametrize("order", EULER_ORDERS)
@pytest.mark.parametrize("pole", [-90.0, 90.0])
@pytest.mark.parametrize("width", [0.0, 1e-4, 5.0])
@pytest.mark.whole
def test_a_gimbal_pose_stays_where_only_a_sum_of_angles_is_known(order, pole, width):
    """With the middle axis at +-90 degrees, at the end of its range or in the middle of it."""
    middle, random = "XYZ".index(order[1]), Random(order)
    for low, high in ((pole - width, pole), (pole, pole + width), (pole - width, pole + width)):
        ranges = [(-60.0, 60.0)] * 3
        ranges[middle] = low, high
        limits = EulerLimits(order, *([radians(pair[n]) for pair in ranges] for n in (0, 1)))
        for _ in range(30):
            angles = [radians(random.uniform(-60.0, 60.0)) for _ in range(3)]
            angles[middle] = radians(pole)
            rotation = from_euler(angles, order)
            assert limits.nearest(rotation) is rotation


INVERTED = {
    "hinge": (lambda: Hinge(AXES[0], 1.0, 0.9), "Hinge is inverted"),
    "X": (lambda: EulerLimits("XYZ", (1, 0, 0), (0, 1, 1)), "limit X is inverted"),
    "Y": (lambda: EulerLimits("ZXY", (0, 1, 0), (1, 0, 1)), "limit Y is inverted"),
    "Z": (lambda: EulerLimits("YZX", (0, 0, 1), (1, 1, 0)), "limit Z is inverted"),
    "by the last bit": (lambda: EulerLimits("XYZ", (0, BEYOND, 0), (1, PI, 1)), "limit Y is inverted"),
    "shifted upper end": (lambda: Hinge(AXES[0], radians(350.0), radians(10.0)), "Hinge is inverted"),
    "open the wrong way": (lambda: Hinge(AXES[0], inf, -inf), "Hinge is inverted"),
    "twist": (lambda: Cone(1.0, 0.5, 0.4), "Cone twist is inverted"),
}


@pytest.mark.parametrize(("make", "message"), INVERTED.values(), ids=list(INVERTED))
def test_an_inverted_range_is_refused_and_its_axis_named(make, message):
    with pytest.raises(FreedomError, match=message):
        make()


def test_joints_that_are_locked_or_limited_to_one_value_stay_in_a_solve():
    random = Random(2)
    kinds = [Locked(), Hinge(AXES[0], 0.3, 0.3), EulerLimits("XYZ", (0.1,) * 3, (0.1,) * 3), Cone(0.0, 0.2, 0.2)]
    pose = random_pose(straight((1.0,) * 4, kinds), random)
    pose.project()
    solution = solve(pose, Point((1.0, 1.0, 1.0)))
    assert not solution.projected
    assert bits(solution.pose.rotations) == bits(pose.rotations)
    assert solution.pose.turns == []


@pytest.mark.parametrize("turns", [-2, -1, 1, 2])
def test_limits_whole_turns_off_solve_to_the_same_pose(turns):
    """One link after the other has its range written whole turns away; the pose is the same to rounding."""
    here = [Hinge(AXES[i % 3], -0.4, 1.2) for i in range(4)]
    there = [Hinge(hinge.axis, hinge.lower + turns * tau, hinge.upper + turns * tau) for hinge in here]
    target = Point((1.0, 2.0, 1.5))
    first, second = (solve(straight((1.0,) * 4, kinds).rest_pose(), target).pose for kinds in (here, there))
    assert max(map(rotation_angle, first.rotations, second.rotations)) < 1e-3

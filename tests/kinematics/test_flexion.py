# SPDX-License-Identifier: GPL-3.0-or-later
"""The axis in which a limb is bent at rest, and how a bone's own axes lie to it."""

from math import pi, radians
from random import Random

import pytest
from mathutils import Quaternion, Vector

from ik_triangulation.kinematics import EulerLimits, framed
from ik_triangulation.kinematics.framed import bend_about, flexion_axis, hinge_axis, to_quarter, turn_to
from ik_triangulation.kinematics.rotation import about

from ..chains import random_rotation


def test_a_turn_about_the_axis_of_flexion_bends_more():
    random = Random(1)
    for _ in range(20):
        turn = random_rotation(random)
        upper, lower = turn @ Vector((0, 2, 0)), turn @ Quaternion((1, 0, 0), 0.3) @ Vector((0, 1, 0))
        axis = flexion_axis([upper, lower], [1])
        assert (axis - turn @ Vector((1, 0, 0))).length < 1e-5
        assert bend_about(axis, upper, lower) == pytest.approx(0.3, abs=1e-5)
        assert bend_about(axis, upper, about(axis, 0.5) @ lower) == pytest.approx(0.8, abs=1e-5)
        assert bend_about(-axis, upper, lower) == pytest.approx(-0.3, abs=1e-5)


@pytest.mark.parametrize("joints", [[], [0], [1]])
def test_a_straight_limb_has_no_axis_of_flexion(joints):
    links = [Vector((0, 1, 0)), Vector((0, 1, 0.005)), Vector((1, 0, 0))]
    assert flexion_axis(links, joints) is None


def test_joints_share_the_axis_as_much_as_each_is_bent():
    links = [Vector((0, 1, 0)), Vector((0, 1, 1)), Vector((0.2, 1, 1))]
    alone, both = flexion_axis(links, [1]), flexion_axis(links, [1, 2])
    assert 0.0 < alone.angle(both) < flexion_axis(links, [2]).angle(both)


def test_a_bone_is_turned_to_the_axis_as_near_as_can_be():
    random = Random(2)
    for _ in range(20):
        rest, turn = random_rotation(random).to_matrix(), random.uniform(-pi, pi)
        axis = rest @ (about(Vector((0, 1, 0)), turn) @ Vector((1, 0.7, 0)))
        assert turn_to(rest, axis) == pytest.approx(turn, abs=1e-5)
        assert turn_to(rest, rest.col[1]) == 0.0
    assert turn_to(rest, None) == 0.0


@pytest.mark.parametrize(("degrees", "quarters"), [(0, 0), (44, 0), (46, 1), (-100, -1), (179, 2)])
def test_the_nearest_quarter(degrees, quarters):
    assert to_quarter(radians(degrees)) == pytest.approx(quarters * pi / 2.0)


def test_joints_that_bend_against_each_other_tell_one_axis():
    links = [Vector((0, 0, -1)), Vector((0, 1, -1)), Vector((0, -1, -1))]
    assert (flexion_axis(links, [1, 2], against=[2]) - Vector((1, 0, 0))).length < 1e-6


@pytest.mark.parametrize(
    ("lower", "upper", "axis"),
    [
        ((-0.1, -0.5, -0.5), (2.0, 0.5, 0.5), (1, 0, 0)),
        ((-0.5, -0.5, -2.0), (0.5, 0.5, 0.1), (0, 0, -1)),
        ((-2.0, -0.5, -0.5), (2.0, 0.5, 0.5), None),
        ((-0.1, -0.5, -0.1), (2.0, 0.5, 2.0), None),
    ],
)
def test_limits_that_bend_one_way_have_a_hinge_about_which_a_straight_limb_bends(lower, upper, axis):
    limits, frame = EulerLimits("XYZ", lower, upper), Quaternion((0, 1, 0), 0.7)
    assert hinge_axis(limits) == (axis and Vector(axis))
    assert limits.bend_axis == Vector(axis or (1, 0, 0))
    turned = framed(limits, frame)
    assert (turned.bend_axis - frame @ limits.bend_axis).length < 1e-6
    assert (hinge_axis(turned) is None) == (axis is None)

# SPDX-License-Identifier: GPL-3.0-or-later
"""Limits in other axes are the same limits seen from there; and the axis about which a limb flexes."""

from math import inf, pi, radians
from random import Random

import pytest
from mathutils import Matrix, Quaternion, Vector

from ik_triangulation.errors import FreedomError
from ik_triangulation.kinematics import Cone, EulerLimits, Free, Hinge, Locked, framed
from ik_triangulation.kinematics.framed import allowed_flexion, anatomical_flexion, mirrored, told_flexion, unframed
from ik_triangulation.kinematics.rotation import about, rotation_angle

from ..chains import random_cone, random_limits, random_rotation
from .test_mirror import image, rest_of_image

ROUNDING = 3e-6  # [rad] of mathutils
KINDS = {"euler": random_limits, "cone": random_cone}
X, Y, Z = (Vector([float(i == j) for j in range(3)]) for i in range(3))


@pytest.mark.parametrize("kind", KINDS)
def test_it_is_the_inner_freedom_in_the_axes_of_the_frame(kind):
    random = Random(f"framed {kind}")
    for _ in range(20):
        inner, frame = KINDS[kind](random), random_rotation(random)
        freedom = framed(inner, frame)
        assert unframed(freedom) is inner
        assert (freedom.names, freedom.moves) == (inner.names, inner.moves)
        assert (freedom.bend_axis - frame @ inner.bend_axis).length < 1e-6
        assert {freedom: 1}[framed(inner, frame)] == 1
        for _ in range(5):
            own = random_rotation(random)
            rotation = frame @ own @ frame.conjugated()
            nearest = inner.nearest(own)
            assert rotation_angle(freedom.nearest(rotation), frame @ nearest @ frame.conjugated()) < 1e-4
            assert freedom.on_limits(frame @ nearest @ frame.conjugated()) == inner.on_limits(nearest)
            here, there = freedom.coordinates(rotation), inner.coordinates(own)
            for one, other in zip(here, there, strict=True):
                assert (one.axis - frame @ other.axis).length < 1e-4
                assert (one.value, one.lower, one.upper) == pytest.approx(other[1:], abs=1e-4)
            values = [0.7 * each.value for each in there]
            if values:
                assert (
                    rotation_angle(freedom.at(rotation, values), frame @ inner.at(own, values) @ frame.conjugated())
                    < 1e-4
                )
            allowed = freedom.random(random)
            assert freedom.nearest(allowed) is allowed


def test_frames_of_frames_are_one_and_what_has_no_axes_or_turns_by_nothing_has_none():
    random = Random(2)
    limits, one, two = random_limits(random), random_rotation(random), random_rotation(random)
    twice = framed(framed(limits, one), two)
    assert unframed(twice) is limits
    assert rotation_angle(twice.frame, two @ one) < ROUNDING
    assert framed(limits, Quaternion()) is limits
    for kind in (Free(), Locked()):
        assert framed(kind, one) is kind
    hinge = framed(Hinge(X, -1.0, 2.0), one)
    assert (hinge.axis - one @ X).length < 1e-6
    assert (hinge.lower, hinge.upper) == (-1.0, 2.0)


def test_framed_limits_are_mirrored_with_their_frame():
    random = Random(3)
    for kind in KINDS.values():
        for _ in range(5):
            rest, freedom = random_rotation(random).to_matrix(), framed(kind(random), random_rotation(random))
            other = rest_of_image(rest)
            opposite = mirrored(freedom, other.transposed() @ Matrix.Diagonal((1.0, -1.0, -1.0)) @ rest)
            for _ in range(5):
                reflected = image(freedom.random(random), rest, other)
                assert rotation_angle(opposite.nearest(reflected), reflected) < ROUNDING


def test_a_cone_about_another_axis_than_the_bone_has_no_mirror_image():
    with pytest.raises(FreedomError, match="Their Y axes are no mirror images"):
        mirrored(Cone(0.5), Matrix.Rotation(pi / 2.0, 3, "X"))


@pytest.mark.parametrize(("axis", "lower", "upper"), [(X, -0.2, 0.9), (-Y, -0.9, 0.2), (Z, -inf, 1.0)])
def test_a_hinge_along_an_axis_is_an_angle_of_any_order_with_the_others_frozen(axis, lower, upper):
    along = max(range(3), key=lambda i: abs(axis[i]))
    low, high = [0.0] * 3, [0.0] * 3
    low[along], high[along] = (-0.2, 0.9) if along < 2 else (-inf, 1.0)
    for order in ("XYZ", "ZXY"):
        assert Hinge(axis, lower, upper).in_euler(order) == EulerLimits(order, tuple(low), tuple(high))
    assert Hinge((1.0, 0.1, 0.0), lower, upper).in_euler("XYZ") is None


def test_euler_limits_have_the_form_of_their_own_order_alone():
    limits = EulerLimits("YZX", (-1, -1, -1), (1, 1, 1))
    assert limits.in_euler("YZX") is limits
    assert limits.in_euler("XYZ") is None


def bent(degrees, aside=0.0):
    """Two links along Y, the second bent about X, which itself is turned about Y."""
    return [Y, about(about(Y, aside) @ X, radians(degrees)) @ Y]


@pytest.mark.parametrize(
    ("degrees", "aside", "told"),
    [
        (4.9, 0.0, False),  # noise of modelling
        (5.1, 0.0, True),
        (10.0, radians(44.0), True),
        (10.0, radians(46.0), False),  # not as anatomy has it
        (19.0, radians(90.0), False),
        (21.0, radians(90.0), True),  # so clear that it tells all the same
        (21.0, radians(180.0), True),
    ],
)
def test_a_bend_at_rest_tells_the_axis_if_it_is_no_noise_and_as_anatomy_has_it_or_clear(degrees, aside, told):
    axis = about(Y, aside) @ X
    found = told_flexion(bent(degrees, aside), [1], X)
    assert (found is not None) == told
    if told:
        assert (found - axis).length < 1e-5
        assert (told_flexion(bent(degrees, aside), iter([1]), -axis, against={1}) + axis).length < 1e-5


def test_a_straight_elbow_flexes_towards_the_direction_and_one_that_points_there_tells_nothing():
    upper, lower = Vector((0.0, 0.4, 0.0)), Vector((0.0, 0.2, 0.0))
    assert (anatomical_flexion(Z, upper, lower) + X).length < 1e-6
    assert (anatomical_flexion(2.0 * Z + 5.0 * Y, upper, lower) + X).length < 1e-6
    assert anatomical_flexion(Y, upper, lower) is None
    clear = anatomical_flexion(Z, *bent(30.0, 0.4))
    assert (clear - about(Y, 0.4) @ X).length < 1e-5
    weak = anatomical_flexion(Z, *bent(3.0, 0.0))
    assert (weak + X).length < 1e-6


def test_limits_let_a_joint_flex_about_what_they_leave_of_the_axis():
    free = EulerLimits("XYZ", (-2.0, -1.0, -1.0), (2.0, 1.0, 1.0))
    oblique = Vector((0.8, 0.0, 0.6))
    assert (allowed_flexion(free, oblique) - oblique).length < 1e-6
    assert (allowed_flexion(free, -oblique) + oblique).length < 1e-6
    one_way = EulerLimits("XYZ", (-0.1, 0.0, -1.0), (2.0, 0.0, 0.16))
    assert (allowed_flexion(one_way, oblique) - X).length < 1e-6  # too little range about Z to this side
    assert (allowed_flexion(one_way, -oblique) + Z).length < 1e-6  # and about X to the other
    assert (allowed_flexion(one_way, Vector((-1.0, 0.0, 0.1))) - X).length < 1e-6  # nothing is left: the widest range
    assert (allowed_flexion(EulerLimits("XYZ", (-2.0, 0.0, 0.0), (0.0, 0.0, 1.0)), Y) + X).length < 1e-6
    even = Hinge(X, -1.0, 1.0)
    for side in (1.0, -1.0):  # of two equal ranges the one to the side of the axis
        assert (allowed_flexion(even, Vector((0.3 * side, 0.9, 0.0))) - side * X).length < 1e-6
    assert (allowed_flexion(Locked(), oblique) - oblique).length < 1e-6

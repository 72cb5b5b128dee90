# SPDX-License-Identifier: GPL-3.0-or-later
"""The mirrored joint may do the mirror image of what the joint may do, and nothing else."""

from math import pi, radians
from random import Random

import pytest
from mathutils import Matrix, Quaternion

from ik_triangulation.errors import FreedomError
from ik_triangulation.kinematics import Free, Locked
from ik_triangulation.kinematics.framed import mirror_between, mirrored
from ik_triangulation.kinematics.rotation import rotation_angle

from ..chains import random_cone, random_hinge, random_limits, random_rotation

MIRROR = Matrix.Diagonal((-1.0, 1.0, 1.0))
KINDS = {"hinge": random_hinge, "euler": random_limits, "cone": random_cone}


def rest_of_image(rest):
    """Rest frame of a bone whose head, tail and roll are mirrored, as Blender's Symmetrize makes it."""
    return MIRROR @ rest @ MIRROR


def image(rotation, rest, other):
    """The mirrored rotation in the other's rest frame, by matrices alone."""
    posed = MIRROR @ (rest @ rotation.to_matrix() @ rest.transposed()) @ MIRROR
    return (other.transposed() @ posed @ other).to_quaternion()


def check(freedom, rest, other, random):
    """Allowed rotations are allowed in the mirror, both ways, and the others are not."""
    opposite = mirrored(freedom, mirror_between(rest, other))
    for _ in range(20):
        for here, there, a, b in ((freedom, opposite, rest, other), (opposite, freedom, other, rest)):
            reflected = image(here.random(random), a, b)
            assert rotation_angle(there.nearest(reflected), reflected) < 3e-6
            any_rotation = random_rotation(random)
            off = rotation_angle(here.nearest(any_rotation), any_rotation)
            reflected = image(any_rotation, a, b)
            assert rotation_angle(there.nearest(reflected), reflected) == pytest.approx(off, abs=1e-5)


@pytest.mark.parametrize("kind", KINDS)
def test_the_mirror_image_of_an_allowed_rotation_is_allowed_and_no_other(kind):
    random = Random(kind)
    for _ in range(10):
        rest = random_rotation(random).to_matrix()
        check(KINDS[kind](random), rest, rest_of_image(rest), random)


def test_a_hinge_is_mirrored_whatever_the_rolls():
    random = Random(1)
    for _ in range(10):
        rest = random_rotation(random).to_matrix()
        roll = Quaternion((0.0, 1.0, 0.0), random.uniform(-pi, pi)).to_matrix()
        check(random_hinge(random), rest, rest_of_image(rest) @ roll, random)


def test_a_cone_is_mirrored_whatever_the_rolls():
    random = Random(2)
    for _ in range(10):
        rest = random_rotation(random).to_matrix()
        roll = Quaternion((0.0, 1.0, 0.0), random.uniform(-pi, pi)).to_matrix()
        check(random_cone(random), rest, rest_of_image(rest) @ roll, random)


@pytest.mark.parametrize("quarters", [1, 2, 3])
def test_euler_limits_are_mirrored_across_quarter_turns_of_the_roll(quarters):
    random = Random(3)
    turned = Quaternion((0.0, 1.0, 0.0), quarters * pi / 2.0).to_matrix()
    for _ in range(10):
        rest = random_rotation(random).to_matrix()
        check(random_limits(random), rest, rest_of_image(rest) @ turned, random)


@pytest.mark.parametrize("degrees", [0.6, 5.0, 89.0, -60.0])
def test_euler_limits_are_refused_where_the_rolls_are_no_mirror_images(degrees):
    random = Random(4)
    rest = random_rotation(random).to_matrix()
    other = rest_of_image(rest) @ Quaternion((0.0, 1.0, 0.0), radians(degrees)).to_matrix()
    with pytest.raises(FreedomError, match=r"Their X axes are no mirror images.*Symmetrize"):
        mirrored(random_limits(random), mirror_between(rest, other))


def test_rolls_that_are_hardly_off_do_no_harm():
    random = Random(7)
    rest, limits = random_rotation(random).to_matrix(), random_limits(random)
    other = rest_of_image(rest) @ Quaternion((0.0, 1.0, 0.0), radians(0.1)).to_matrix()
    assert mirrored(limits, mirror_between(rest, other)) == mirrored(limits, mirror_between(rest, rest_of_image(rest)))


def test_a_cone_is_refused_where_the_bones_are_no_mirror_images():
    rest = Matrix.Identity(3)
    other = Quaternion((1.0, 0.0, 0.0), 0.02).to_matrix()
    with pytest.raises(FreedomError, match="Their Y axes are no mirror images"):
        mirrored(random_cone(Random(5)), mirror_between(rest, other))


def test_free_and_locked_joints_are_their_own_mirror_images():
    mirror = mirror_between(Matrix.Identity(3), random_rotation(Random(6)).to_matrix())
    assert (mirrored(Free(), mirror), mirrored(Locked(), mirror)) == (Free(), Locked())

# SPDX-License-Identifier: GPL-3.0-or-later
"""The angles of every kind of joint are those of the scalar joints."""

from math import inf, pi
from random import Random

import numpy as np
import pytest
from mathutils import Quaternion

from ik_triangulation.kinematics import Cone, EulerLimits, Free, Hinge, Locked
from ik_triangulation.kinematics.batch.algebra import compose, matrices, normalized
from ik_triangulation.kinematics.batch.coordinates import Cones, EulerAngles, Frames, Hinges, bounded, finite_range
from ik_triangulation.kinematics.freedom import finite
from ik_triangulation.kinematics.rotation import EULER_ORDERS, about, from_euler, rotation_angle

from ...chains import random_cone, random_direction, random_hinge, random_rotation
from ...trees import ROUNDING


def turned(kind, angles):
    """Rotation matrices of the joints of a kind."""
    rotations = np.empty((max(kind.joints) + 1, 3, 3, angles.shape[-1]))
    kind.turn(angles, rotations)
    return rotations[list(kind.joints)]


def drawn_angles(kind, count, seed):
    lower, upper = finite_range(kind.lower, kind.upper)
    return lower + np.random.default_rng(seed).random((len(lower), count)) * (upper - lower)


def groups():
    """Three joints of a kind, which do not follow one another in the tree."""
    random = Random(4)
    joints = (0, 2, 3)
    yield Hinges(joints, [random_hinge(random) for _ in joints], 0), "hinges"
    yield Cones(joints, [random_cone(random) for _ in joints], 0), "cones"
    for order in EULER_ORDERS:
        yield EulerAngles(joints, [EulerLimits(order, (-1.0, 0.2, -2.0), (0.5, 0.2, 3.0))] * 3, 0), order
    for orders in (EULER_ORDERS[:3], EULER_ORDERS[3:]):
        freedoms = [EulerLimits(order, (-1.0, 0.2, -2.0), (0.5, 0.2, 3.0)) for order in orders]
        yield EulerAngles(joints, freedoms, 0, frames=Frames.of(freedoms, orders)), "-".join(orders)


every_kind = pytest.mark.parametrize(("kind", "name"), list(groups()), ids=[name for _, name in groups()])


@every_kind
def test_matrices_and_quaternions_of_angles_agree(kind, name):
    angles = drawn_angles(kind, 12, 1)
    found = turned(kind, angles)
    assert np.abs(found - matrices(kind.quaternions(angles))).max() < 1e-14


@every_kind
def test_many_rotations_are_read_at_once_and_give_themselves_again(kind, name):
    angles = drawn_angles(kind, 200, 5)
    if isinstance(kind, Cones):
        angles = kind.inside(angles)
    rotations = kind.quaternions(angles)
    again = kind.quaternions(kind.angles(-rotations))
    assert np.abs(np.einsum("jif,jif->jf", rotations, again)).min() > 1.0 - 1e-12


@every_kind
def test_rotations_outside_the_limits_are_read_as_angles_inside(kind, name):
    drawn = normalized(np.random.default_rng(6).normal(size=(3, 4, 200)))
    angles = kind.angles(drawn)
    assert (angles >= kind.lower).all()
    assert (angles <= kind.upper).all()


@every_kind
def test_rotations_are_read_as_the_angles_that_give_them(kind, name):
    angles = drawn_angles(kind, 12, 2)
    if isinstance(kind, Cones):
        angles = kind.inside(angles)
    rotations, rows = kind.quaternions(angles), len(kind.lower) // len(kind.joints)
    for n in range(12):
        for j in range(len(kind.joints)):
            rotation = Quaternion(rotations[j, :, n].tolist())
            values = np.zeros((len(kind.lower), 1))
            values[rows * j : rows * (j + 1), 0] = kind.read(j, rotation)
            again = Quaternion(kind.quaternions(values)[j, :, 0].tolist())
            assert rotation_angle(again, rotation) < ROUNDING


def test_hinges_rotate_about_their_axes():
    random = Random(1)
    axes = [random_direction(random) for _ in range(3)]
    kind = Hinges((0, 1, 2), [Hinge(axis) for axis in axes], 0)
    angles = drawn_angles(kind, 5, 3)
    for j, axis in enumerate(axes):
        for n in range(5):
            wanted = np.array(about(axis, angles[j, n]).to_matrix())
            assert np.abs(turned(kind, angles)[j, :, :, n] - wanted).max() < ROUNDING


def test_rotations_of_hinges_follow_those_at_rest():
    random = Random(6)
    hinges, rests = [random_hinge(random) for _ in range(3)], np.array([random_rotation(random) for _ in range(3)])
    rests = matrices(normalized(rests[:, :, None]))
    plain, rested = Hinges((0, 1, 2), hinges, 0), Hinges((0, 1, 2), hinges, 0, rests)
    angles = drawn_angles(plain, 5, 6)
    assert np.abs(turned(rested, angles) - compose(rests, turned(plain, angles))).max() < 1e-14


@pytest.mark.parametrize("order", EULER_ORDERS)
def test_euler_angles_are_those_of_blender_with_the_frozen_one_where_it_is(order):
    kind = EulerAngles((0,), [EulerLimits(order, (-3.0, 0.4, -3.0), (3.0, 0.4, 3.0))], 0)
    angles = drawn_angles(kind, 8, 4)
    for n in range(8):
        x, z = angles[:, n]
        wanted = np.array(from_euler((x, 0.4, z), order).to_matrix())
        assert np.abs(turned(kind, angles)[0, :, :, n] - wanted).max() < ROUNDING


def test_cones_swing_and_twist_as_their_scalar_joints():
    cone = Cone(pi, -1.0, 2.0)
    kind = Cones((0,), [cone], 0)
    angles = kind.inside(drawn_angles(kind, 20, 5))
    for n in range(20):
        x, z, twist = angles[:, n]
        axis = np.array((x, 0.0, z))
        wanted = about(axis / np.linalg.norm(axis), np.linalg.norm(axis)) @ about((0.0, 1.0, 0.0), twist)
        assert np.abs(turned(kind, angles)[0, :, :, n] - np.array(wanted.to_matrix())).max() < ROUNDING


def test_a_swing_beyond_its_cone_comes_to_the_edge_in_its_direction():
    kind = Cones((0, 1), [Cone(0.5), Cone(0.0)], 0)
    angles = np.array([[3.0], [4.0], [0.1], [1.0], [-1.0], [0.2]])
    inside = kind.inside(angles.copy())
    assert np.allclose(inside[:, 0], (0.3, 0.4, 0.1, 0.0, 0.0, 0.2))
    assert np.hypot(inside[0, 0], inside[1, 0]) <= 0.5
    assert np.array_equal(kind.inside(inside.copy()), inside)


def test_only_euler_limits_with_one_angle_from_rest_become_a_hinge():
    hinge = bounded(EulerLimits("ZXY", (0.0, -0.5, 0.0), (0.0, inf, 0.0)))
    assert (tuple(hinge.axis), hinge.lower, hinge.upper) == ((0.0, 1.0, 0.0), -0.5, inf)
    for freedom in (EulerLimits("XYZ", (0.1, -0.5, 0.0), (0.1, 0.5, 0.0)), Free(), Locked(), Cone(1.0), hinge):
        assert bounded(freedom) is freedom


def test_ranges_without_an_end_are_drawn_from_as_by_the_scalar_joints():
    for ends in ((-inf, inf), (0.5, inf), (-inf, -0.5), (-4.0, 4.0), (0.1, 0.3)):
        found = finite_range(*(np.array([[end]]) for end in ends))
        assert [float(end[0, 0]) for end in found] == pytest.approx(finite(*ends))

# SPDX-License-Identifier: GPL-3.0-or-later
"""An elbow bends to a distance, in the plane of its reference, on a hinge within its range, and out where straight."""

from math import radians

import numpy as np
import pytest

from ik_triangulation.kinematics import EulerLimits, Free, Hinge
from ik_triangulation.kinematics.batch.algebra import IDENTITY, cross, dot, exponential, lengths, matrices, rotate
from ik_triangulation.solvers.natural.elbow import (
    TURNED,
    Elbow,
    _with_turning_end,
    axes_of,
    directions,
    flexion_at_rest,
    hinge_turns,
)

UP, LOW = np.array([[0.0], [1.0], [0.0]]), np.array([[0.0], [0.8], [0.0]])
X = np.array([[1.0], [0.0], [0.0]])
DISTANCES = np.linspace(0.25, 1.79, 40)


def turned(axis, angle, count=40):
    vectors = np.repeat(np.asarray(axis, float).reshape(3, 1) * angle, count, 1)
    return matrices(exponential(vectors))


def bent(freedom, rotation, flexion=X, low=LOW):
    elbow = Elbow(freedom, IDENTITY, UP, low)
    lower, normal = elbow.bent(rotation, np.broadcast_to(flexion, (3, len(DISTANCES))), DISTANCES)
    return lower, normal, UP + rotate(lower, low)


@pytest.mark.parametrize("angle", [-2.0, -0.5, 0.0, 0.02, 0.15, 1.0, 2.5])
def test_the_distance_is_met_from_any_reference(angle):
    _, _, end = bent(Free(), turned((0.6, 0.0, 0.8), angle))
    assert np.abs(lengths(end) - DISTANCES).max() < 1e-9


def test_the_plane_of_a_bent_reference_is_kept_and_so_is_its_twist():
    twist = turned((0.0, 1.0, 0.0), 0.4)
    rotation = np.einsum("ijf,jkf->ikf", turned((0.6, 0.0, 0.8), 1.0), twist)
    lower, normal, end = bent(Free(), rotation)
    plane = directions(cross(UP, rotate(rotation, LOW)))
    assert np.abs(dot(plane, end)).max() < 1e-9
    assert np.abs(normal - plane).max() < 1e-9
    at_reference = np.abs(lengths(end) - float(lengths(UP + rotate(rotation, LOW))[0])).argmin()
    assert np.abs(lower[..., at_reference] - rotation[..., at_reference]).max() < 0.1


def test_a_straight_reference_bends_about_the_axis_of_flexion():
    flexion = directions(np.array([[0.3], [0.0], [-0.9]]))
    _, normal, end = bent(Free(), turned((1.0, 0.0, 0.0), 0.0), flexion)
    assert np.abs(normal - flexion).max() < 1e-9
    assert (dot(cross(UP, end), np.broadcast_to(flexion, end.shape)) > 0.0).all()


def test_a_reference_that_is_nearly_straight_is_blended_with_flexion_without_a_step():
    normals = []
    for angle in np.radians(np.linspace(1.0, 30.0, 60)):
        _, normal, _ = bent(Free(), turned((0.0, 0.0, 1.0), -angle))
        normals.append(normal[:, 0])
    steps = lengths(np.diff(np.array(normals).T, axis=1))
    assert steps.max() < 0.35


@pytest.mark.parametrize(("angle", "kept"), [(1e-4, False), (1e-2, True)])
def test_rounding_of_a_straight_reference_does_not_tell_its_plane(angle, kept):
    rotation = turned((0.6, 0.0, 0.8), angle, 1)
    distance = lengths(UP + rotate(rotation, LOW))
    _, normal = Elbow(Free(), IDENTITY, UP, LOW).bent(rotation, X, distance)
    own = np.array([[0.6], [0.0], [0.8]])
    assert np.abs(normal - (own if kept else X)).max() < 1e-4


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_a_hinge_bends_to_the_side_that_its_range_allows(side):
    lower, upper = sorted((0.0, side * 3.1))
    frames, _, end = bent(Hinge((1.0, 0.0, 0.0), lower, upper), turned((1.0, 0.0, 0.0), side * 0.5), X)
    assert np.abs(lengths(end) - DISTANCES).max() < 1e-9
    assert np.abs(rotate(frames, X) - X).max() < 1e-12
    assert (side * end[2] > 0.0).all()


def test_a_hinge_that_cannot_bend_so_far_comes_as_near_as_it_can():
    _, _, end = bent(Hinge((1.0, 0.0, 0.0), 0.0, radians(60.0)), turned((1.0, 0.0, 0.0), 0.3))
    nearest = float(lengths(UP + rotate(turned((1.0, 0.0, 0.0), radians(60.0), 1), LOW))[0])
    assert np.abs(lengths(end) - np.maximum(DISTANCES, nearest)).max() < 1e-6


def test_a_hinge_of_any_axis_meets_the_distance_where_its_bend_does():
    axis = directions(np.array([[0.9], [0.3], [0.2]]))
    _, _, end = bent(Hinge(axis[:, 0]), turned(axis, 0.8), X)
    least, most = lengths(end).min(), lengths(end).max()
    inside = (least + 1e-6 < DISTANCES) & (most - 1e-6 > DISTANCES)
    assert inside.sum() > 20
    assert np.abs(lengths(end) - DISTANCES)[inside].max() < 1e-6


def test_flexion_at_rest_is_the_bend_of_the_bones_or_the_joints_own_axis():
    low = np.array([[0.0], [0.8], [-0.1]])
    assert flexion_at_rest(Free(), IDENTITY, UP, low)[:, 0] == pytest.approx((-1.0, 0.0, 0.0))
    assert flexion_at_rest(Free(), IDENTITY, UP, LOW)[:, 0] == pytest.approx((1.0, 0.0, 0.0))
    assert flexion_at_rest(Hinge((0.0, 0.0, 1.0)), IDENTITY, UP, LOW)[:, 0] == pytest.approx((0.0, 0.0, 1.0))


def test_axes_are_orthonormal():
    random = np.random.default_rng(1)
    axes = axes_of(*random.normal(size=(2, 3, 20)))
    assert np.abs(np.einsum("ijf,ikf->jkf", axes, axes) - IDENTITY).max() < 1e-12
    assert np.abs(np.linalg.det(np.moveaxis(axes, -1, 0)) - 1.0).max() < 1e-12


def test_an_upper_bone_turns_its_hinge_by_degrees_as_the_elbow_opens_from_straight():
    bends = np.radians(np.linspace(0.0, 60.0, 61))
    low = np.stack((np.zeros(61), np.cos(bends), -np.sin(bends)))
    wanted = np.broadcast_to([[np.cos(0.6)], [0.0], [-np.sin(0.6)]], (3, 61))
    turn = hinge_turns(UP, low, np.broadcast_to(X, (3, 61)), wanted)
    angles = np.arctan2(-turn[2, 0], turn[0, 0])
    assert np.abs(angles - 0.6 * np.minimum(bends / TURNED, 1.0)).max() < 1e-9
    assert angles[0] == 0.0


@pytest.mark.parametrize("freedom", [Free(), Hinge((0.3, 1.0, 0.2), -2.5, 2.5)])
@pytest.mark.parametrize("bone", [None, LOW * 0.8])
def test_the_normal_alone_is_that_of_the_whole_bend(freedom, bone):
    elbow = Elbow(freedom, IDENTITY, UP, LOW, bone)
    distance = np.linspace(0.3, 1.9, 40)
    given = turned((1.0, 0.2, 0.4), 0.3), np.broadcast_to(X, (3, 40)), distance
    assert np.array_equal(elbow.normal_of_bend(*given), elbow.bent_with_end(*given)[1])


@pytest.mark.parametrize("aside", [-80.0, -20.0, -10.0, 0.0, 14.0, 16.0, 170.0])
def test_an_elbow_with_limits_bends_about_its_hinge_and_up_to_15_degrees_off_it(aside):
    """By limits that bend it about -X it is bent about the axis nearest to flexion, across the upper bone."""
    limits = EulerLimits("XYZ", (-2.7, -0.4, -0.3), (0.0, 0.4, 0.3))
    rest = turned((0.0, 1.0, 0.0), 0.3, 1)
    hinge = rotate(rest, -X)
    flexion = 2.0 * rotate(turned((0.0, 1.0, 0.0), radians(aside), 5), hinge) + 0.7 * UP
    normals = Elbow(limits, rest, UP, LOW).on_own_hinge(flexion)
    wanted = rotate(turned((0.0, 1.0, 0.0), radians(min(max(aside, -15.0), 15.0)), 5), hinge)
    assert normals == pytest.approx(wanted, abs=1e-7)
    for freedom in (Free(), Hinge((1.0, 0.0, 0.0), -2.7, 0.0)):
        assert Elbow(freedom, rest, UP, LOW).on_own_hinge(flexion) is flexion


def test_an_end_that_turns_out_where_an_elbow_would_bend_backwards_stays_on_its_side():
    random, count = np.random.default_rng(2), 60_000
    first, second, size = random.uniform(0.2, 2.0, (3, count))
    third = size * np.exp(1j * random.uniform(-np.pi, np.pi, count))
    reference, apart, most = (random.uniform(*ends, count) for ends in ((-1.0, 0.5), (0.1, 6.0), (0.0, 3.0)))
    bend, turn = _with_turning_end(first, second, third, reference, apart, most)
    upper = first + second * np.exp(1j * bend)
    end = third * np.exp(1j * (bend + turn))
    backwards = (reference < 0.0) & (bend == reference)
    nearest, farthest = np.abs(np.abs(upper) - np.abs(end)), np.abs(upper) + np.abs(end)
    met = np.abs(np.abs(upper + end) - np.clip(apart, nearest, farthest))
    assert met[backwards].max() < 1e-9
    before, after = np.angle(third * np.exp(1j * bend) / upper), np.angle(end / upper)
    sides = np.sign(before[backwards]), np.sign(after[backwards])
    told = np.abs(after[backwards]) > 1e-6
    assert (sides[0] == sides[1])[told].all()
    assert min((sides[0][told] > 0.0).sum(), (sides[0][told] < 0.0).sum()) > 20

# SPDX-License-Identifier: GPL-3.0-or-later
"""The shell is the boundary of what a limb reaches: no pose leaves it, and it is where poses end."""

from math import pi
from random import Random

import numpy as np
import pytest
from mathutils import Matrix, Vector

from ik_triangulation.kinematics import Cone, Free, Hinge, Pose
from ik_triangulation.maps import shell as module
from ik_triangulation.maps.shell import is_free, reach_shell, spheres

from ..chains import random_base, random_chain, random_pose, straight

X = Vector((1.0, 0.0, 0.0))
POINTS = 7  # across the reach: fewer than in the overlay, to be quicker


@pytest.fixture(scope="module", autouse=True)
def _coarse():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_FINE", POINTS)
        yield


def sizes(surface):
    return np.linalg.norm(surface.places, axis=1)


def is_closed(surface):
    """Tell whether each edge has a triangle on either side, seen from which it goes the other way round."""
    sides = np.concatenate([np.roll(surface.triangles, i, axis=1)[:, :2] for i in range(3)])
    sides = sides[sides[:, 0] != sides[:, 1]]
    there, back = ({tuple(side) for side in those.tolist()} for those in (sides, sides[:, ::-1]))
    return there == back


@pytest.mark.parametrize("seed", range(5))
def test_no_pose_leaves_the_spheres_of_a_free_limb(seed):
    random = Random(seed)
    chain = random_chain(seed, 3, 10.0)
    pose = random_pose(chain, random, random_base(random))
    nearest, farthest = chain.reaches[0]
    found = spheres(pose)
    assert [sizes(each).mean() for each in found] == pytest.approx([farthest, *[nearest] * (nearest > 0.0)], rel=1e-5)
    for _ in range(50):
        other = Pose(chain, pose.base, random_pose(chain, random).rotations)
        assert nearest - 1e-4 < (other.tip - pose.head(0)).length < farthest + 1e-4


@pytest.mark.parametrize("radius", [0.5, 3.0])
def test_a_sphere_is_round_and_closed_and_faces_outwards(radius):
    (sphere,) = spheres(straight((0.5 * radius, 0.5 * radius)).rest_pose())
    assert sphere.places.shape == (28 * 56, 3)
    assert (sphere.places.dtype, sphere.triangles.dtype) == (np.float32, np.int32)
    assert sizes(sphere) == pytest.approx(np.full(28 * 56, radius), rel=1e-6)
    assert sphere.places == pytest.approx(radius * sphere.normals, abs=1e-6)
    assert sphere.places.min(0) == pytest.approx([-radius] * 3, rel=2e-3)
    assert sphere.places.max(0) == pytest.approx([radius] * 3, rel=2e-3)
    a, b, c = (sphere.places[sphere.triangles[:, i]].astype(float) for i in range(3))
    areas = np.cross(b - a, c - a)
    assert (np.einsum("ni,ni->n", areas, a + b + c) > -1e-9).all()
    assert np.einsum("ni,ni->", a, np.cross(b, c)) / 6.0 == pytest.approx(4.0 / 3.0 * pi * radius**3, rel=0.01)
    assert np.linalg.norm(areas, axis=1).sum() / 2.0 == pytest.approx(4.0 * pi * radius**2, rel=0.01)


def test_only_ball_joints_without_limits_are_free():
    assert is_free(straight((1.0, 1.0), [Free(), Free()]).rest_pose())
    assert not is_free(straight((1.0, 1.0), [Free(), Hinge(X)]).rest_pose())


@pytest.fixture(scope="module")
def cone():
    """A limb of two links that reaches what is before it."""
    return straight((1.0, 0.7), [Cone(0.9, -0.5, 0.5), Hinge(X, -1.5, 1.5)]).rest_pose()


@pytest.fixture(scope="module")
def shell(cone):
    return reach_shell(cone)


def test_a_shell_is_closed_and_faces_outwards(shell):
    assert is_closed(shell)
    assert np.allclose(np.linalg.norm(shell.normals, axis=1), 1.0, atol=1e-4)
    a, b, c = (shell.places[shell.triangles[:, i]].astype(float) for i in range(3))
    volume = np.einsum("ni,ni->", a, np.cross(b, c)) / 6.0
    assert 0.1 < volume < 4.0 / 3.0 * pi * 1.7**3


def test_a_shell_is_round_where_the_limb_is_straight(shell):
    ahead = shell.places[:, 1] > 0.9 * 1.7
    assert ahead.sum() > 20
    assert np.allclose(sizes(shell)[ahead], 1.7, rtol=0.01)
    assert sizes(shell).max() < 1.7 * 1.02


@pytest.mark.parametrize("seed", range(5))
def test_poses_end_inside_the_shell_or_on_it(cone, shell, seed):
    random = Random(seed)
    cell = 2.0 * 1.7 / POINTS
    for _ in range(40):
        rotations = [joint.freedom.random(random) for joint in cone.chain.joints]
        tip = np.array(Pose(cone.chain, cone.base, rotations).tip)
        away = shell.places - tip
        nearest = np.linalg.norm(away, axis=1).argmin()
        assert away[nearest] @ shell.normals[nearest] > -cell  # at most a cell of the grid outside


def test_a_shell_does_not_depend_on_where_the_limb_is(cone, shell):
    base = random_base(Random(3)) @ Matrix.Translation((5.0, 1.0, 2.0))
    other = reach_shell(Pose(cone.chain, base, cone.rotations))
    low, high = shell.places.min(0), shell.places.max(0)
    assert np.allclose(other.places.min(0), low, atol=0.3)
    assert np.allclose(other.places.max(0), high, atol=0.3)


def test_what_is_reached_in_a_plane_is_a_closed_disc():
    hinges = [Hinge(X, -1.0, 1.0)] * 3
    found = reach_shell(straight((1.0, 1.0, 1.0), hinges).rest_pose())
    assert is_closed(found)
    assert found.places.min(0) == pytest.approx([-0.588, -1.304, -3.0], abs=0.003), "as thick as the grid needs it"
    assert found.places.max(0) == pytest.approx([0.588, 3.0, 3.0], abs=0.003)
    assert np.abs(found.places).mean(0) == pytest.approx([0.253, 1.337, 1.840], abs=0.003)


@pytest.mark.parametrize(("lengths", "radii"), [((1.0, 0.5), (0.5, 1.5)), ((1.0, 1.0), (2.0,))])
def test_the_shell_of_a_free_limb_is_on_the_spheres_that_bound_it(lengths, radii):
    found = reach_shell(straight(lengths, [Free(), Free()]).rest_pose())
    away = np.abs(sizes(found)[:, None] - np.array(radii)).min(1)
    assert away.max() < 0.01, "of a cell of 0.4"
    assert is_closed(found)
    inwards = (found.places * found.normals).sum(1) < 0.0
    assert inwards.any() == (len(radii) == 2)
    assert (inwards == (sizes(found) < 1.0)).all()


def test_a_limb_of_one_bone_has_a_shell_as_thick_as_the_grid_needs():
    found = reach_shell(straight((1.0,), [Free()]).rest_pose())
    assert is_closed(found)
    away = sizes(found)
    assert (len(away), away.min(), away.mean(), away.max()) == pytest.approx((628, 0.836, 1.044, 1.129), abs=0.003)


@pytest.mark.parametrize(("count", "resolution"), [(9, POINTS), (10, 14)])
def test_limbs_of_many_joints_have_a_coarser_shell(count, resolution):
    at = (np.arange(resolution) + 0.5) * 2.0 / resolution - 1.0
    inside = at[:, None, None] ** 2 + at[:, None] ** 2 + at**2 <= 1.0
    assert next(reach_shell.steps(straight((1.0,) * count).rest_pose())) == (0, inside.sum())

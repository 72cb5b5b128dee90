# SPDX-License-Identifier: GPL-3.0-or-later
"""What is dragged stays under the mouse, in any view, along an axis, in a plane and parallel to the screen."""

from itertools import pairwise
from math import cos, pi, sin
from random import Random

import pytest
from mathutils import Matrix, Quaternion, Vector

from ik_triangulation.ui.gizmos.mouse import View, move_along, move_in_plane, move_in_view, turned_by

from ...rigs import random_rotation, random_vector

SIZE = 1000, 600
NEAR, FAR = 0.01, 1000.0  # Blender's own
AXES = [Vector(row) for row in Matrix.Identity(3)]


def view_of(random, is_perspective, turned=None):
    """A view from about 6 units off the origin."""
    turned = turned or random_rotation(random)
    towards = turned @ Vector((0.0, 0.0, 1.0))
    eye = 6.0 * towards + random_vector(random)
    into = (Matrix.Translation(eye) @ turned.to_matrix().to_4x4()).inverted()
    wide, high = 1.0, SIZE[1] / SIZE[0]
    if is_perspective:
        lens = 1.0 / (0.5 * 36.0 / 50.0)
        clip = Matrix(
            (
                (lens / wide, 0, 0, 0),
                (0, lens / high, 0, 0),
                (0, 0, -(FAR + NEAR) / (FAR - NEAR), -2 * FAR * NEAR / (FAR - NEAR)),
                (0, 0, -1, 0),
            )
        )
    else:
        clip = Matrix.Diagonal((1 / (4 * wide), 1 / (4 * high), -1 / FAR, 1.0))
    return View(clip @ into, towards, *SIZE)


kinds = pytest.mark.parametrize("is_perspective", [False, True])


@kinds
def test_a_point_parallel_to_the_screen_goes_with_the_mouse(is_perspective):
    random = Random(1)
    for _ in range(50):
        view, pivot = view_of(random, is_perspective), random_vector(random, -0.5, 0.5)
        start = view.place(pivot)
        now = start + Vector((random.uniform(-200, 200), random.uniform(-200, 200)))
        move = move_in_view(view, pivot, start, now)
        assert (view.place(pivot + move) - now).length < 0.3
        assert abs(move.dot(view.towards)) < 1e-4


@kinds
def test_a_point_in_a_plane_stays_in_it_under_the_mouse(is_perspective):
    random = Random(2)
    for _ in range(50):
        view, pivot = view_of(random, is_perspective), random_vector(random, -0.5, 0.5)
        normal = (view.towards + random_vector(random, -0.5, 0.5)).normalized()
        start = view.place(pivot)
        now = start + Vector((random.uniform(-80, 80), random.uniform(-80, 80)))
        move = move_in_plane(view, pivot, normal, start, now)
        assert abs(move.dot(normal)) < 1e-4
        assert (view.place(pivot + move) - now).length < 0.3


@kinds
def test_a_point_on_an_axis_stays_on_it_as_near_to_the_mouse_as_can_be(is_perspective):
    random = Random(3)
    for _ in range(50):
        view, pivot = view_of(random, is_perspective), random_vector(random, -0.3, 0.3)
        axis = view.towards.cross(random_vector(random)).normalized()
        start = view.place(pivot)
        along = view.place(pivot + 0.5 * axis)
        move = move_along(view, pivot, axis, start, along)
        assert (move - 0.5 * axis).length < 2e-3
        assert move.cross(axis).length < 1e-5


@kinds
def test_it_does_not_matter_where_the_mouse_takes_hold(is_perspective):
    view, pivot = view_of(Random(4), is_perspective, Quaternion()), Vector()
    start = view.place(pivot) + Vector((30.0, 5.0))
    assert move_along(view, pivot, AXES[0], start, start).length == 0.0
    move = move_along(view, pivot, AXES[0], start, start + Vector((50.0, -20.0)))
    assert move.x > 0.0
    assert move.yz.length < 1e-6


@kinds
@pytest.mark.parametrize("up", [-60.0, 60.0])
def test_towards_the_viewer_up_and_down_count(is_perspective, up):
    view, pivot = view_of(Random(5), is_perspective, Quaternion()), Vector()
    start = view.place(pivot)
    sight = view.sight(pivot)
    move = move_along(view, pivot, -sight, start, start + Vector((10.0, up)))
    assert 0.1 < move.length < 3.0
    assert move.dot(-sight) * up > 0.0
    flat = move_in_plane(view, pivot, sight.orthogonal().normalized(), start, start + Vector((40.0, up)))
    assert flat.length < 3.0, "a plane that is seen edge-on takes the target far off"
    assert abs(flat.dot(sight.orthogonal().normalized())) < 1e-5


def test_the_mouse_turns_about_the_pivot():
    view = view_of(Random(6), True)
    pivot = Vector((0.1, 0.2, -0.1))
    centre = view.place(pivot)
    places = [centre + 80.0 * Vector((cos(angle), sin(angle))) for angle in (0.0, 0.5, 3.0, 3.5, 6.2)]
    turns = [turned_by(view, pivot, one, two) for one, two in pairwise(places)]
    assert turns == pytest.approx([0.5, 2.5, 0.5, 2.7], abs=1e-4)
    assert turned_by(view, pivot, places[1], places[0]) == pytest.approx(-0.5, abs=1e-4)
    assert abs(turned_by(view, pivot, centre, places[0])) <= pi

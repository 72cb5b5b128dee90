# SPDX-License-Identifier: GPL-3.0-or-later
"""Targets given in another space."""

from math import dist, inf, isfinite, nan
from random import Random

import pytest
from mathutils import Matrix, Vector

from ik_triangulation.errors import TargetError
from ik_triangulation.goals import Box, Field, Line, Plane, Point, Ray, Segment, Transformed

from ..chains import random_direction
from .targets import (
    SHAPES,
    X,
    Y,
    every_shape,
    looked_for,
    moved,
)


@every_shape
@pytest.mark.parametrize("mirror", [1.0, -1.0])
def test_through_a_uniform_scale_the_nearest_place_is_exact(build, mirror, long):
    random = Random(7)
    for _ in range(10 if long else 4):
        size = random.uniform(0.2, 5.0)
        target = moved(build, random_direction(random), random, (mirror * size, size, size))
        point = random_direction(random) * random.uniform(0.0, 4.0)
        nearest = target.closest(point)
        least = looked_for(target, point)
        assert dist(nearest, point) == pytest.approx(least, abs=2e-4 * size)
        assert looked_for(target, nearest) < 2e-3 * size
        assert target.least_distance(point) == pytest.approx(least, abs=2e-4 * size)
        greatest = target.greatest_distance(point)
        if isfinite(greatest):
            assert greatest == pytest.approx(looked_for(target, point, farthest=True), abs=1e-3 * size)


@every_shape
def test_through_any_scale_what_is_nearest_is_on_the_target_and_its_distances_are_bounds(build, long):
    random = Random(8)
    for _ in range(10 if long else 4):
        target = moved(build, random_direction(random), random, (3.0, 1.0, random.uniform(1.0, 3.0)))
        point = random_direction(random) * random.uniform(0.0, 4.0)
        nearest = target.closest(point)
        assert looked_for(target, nearest) < 3e-3
        assert dist(nearest, point) <= dist(target.into @ target.target.closest(target.out @ point), point) + 1e-5
        assert target.least_distance(point) <= looked_for(target, point) + 1e-4
        assert target.greatest_distance(point) >= looked_for(target, point, farthest=True) - 1e-4


@pytest.mark.parametrize("build", [SHAPES[kind] for kind in (Point, Plane, Line, Ray, Segment, Box)])
def test_through_a_scale_of_three_to_one_what_is_nearest_is_so_within_a_hundredth(build):
    random = Random(9)
    for _ in range(10):
        target = moved(build, random_direction(random), random, (3.0, 1.0, random.uniform(1.0, 3.0)))
        point = random_direction(random) * random.uniform(0.0, 4.0)
        assert dist(target.closest(point), point) <= 1.01 * looked_for(target, point) + 1e-4


def test_a_field_in_a_stretched_space_is_asked_once_and_where_the_point_is():
    asked = []
    target = Transformed(Field(lambda point: asked.append(tuple(point)) or Y), Matrix.Diagonal((2.0, 4.0, 1.0, 1.0)))
    assert tuple(target.closest(Vector((2.0, 8.0, 0.0)))) == (2.0, 12.0, 0.0)
    assert asked == [(1.0, 2.0, 0.0)]


def test_a_sheared_box_can_be_aimed_at_from_the_space_in_which_it_is_none():
    stretch = Matrix.Diagonal((2.0, 1.0, 1.0, 1.0))
    frame = Matrix.Rotation(0.5, 4, "Z")
    with pytest.raises(TargetError, match="right angles"):
        Box(stretch @ frame)
    target = Transformed(Box(frame), stretch)
    corner = stretch @ frame @ Vector((1.0, 1.0, 1.0))
    assert dist(target.closest(corner), corner) < 1e-6


@pytest.mark.parametrize(
    "into",
    [Matrix.Diagonal((1.0, 0.0, 1.0, 1.0)), Matrix.Diagonal((nan, 1.0, 1.0, 1.0)), Matrix.Translation((inf, 0, 0))],
)
def test_a_space_that_has_lost_an_extent_is_refused(into):
    with pytest.raises(TargetError, match=r"^Target's space cannot be inverted\. Give its object scale values other"):
        Transformed(Point(X), into)

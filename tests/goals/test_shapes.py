# SPDX-License-Identifier: GPL-3.0-or-later
"""Every kind of target names its nearest place, checked by brute force; and every solver reaches it."""

from math import dist, hypot, inf, isfinite, isinf, nan
from random import Random
from re import escape

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mathutils import Matrix, Vector

from ik_triangulation.errors import TargetError
from ik_triangulation.goals import (
    Box,
    Cylinder,
    Field,
    Line,
    Plane,
    Point,
    Ray,
    Ring,
    Segment,
    SolidCylinder,
    SolidSphere,
    Sphere,
    Target,
)
from ik_triangulation.goals.shapes import NEAREST
from ik_triangulation.solvers import solve

from ..chains import GENERAL, random_base, random_chain, random_direction, random_pose
from ..strategies import examples
from .targets import (
    FAR,
    SHAPES,
    X,
    Y,
    Z,
    cylinder_through,
    every_shape,
    is_inside,
    looked_for,
    moved,
    places,
    sphere_through,
)


def field_through(place, random):
    return Field(lambda point: place - point)


def round_seen_from_elsewhere(place, random):
    return moved(sphere_through, place, random, [random.uniform(0.2, 5.0)] * 3)


def pole_in_a_stretched_space(place, random):
    return moved(cylinder_through, place, random, (3.0, 1.0, 0.5))


EVERYTHING = [*SHAPES.values(), field_through, round_seen_from_elsewhere, pole_in_a_stretched_space]


def cases(build, seed, count=10):
    random = Random(seed)
    for _ in range(count):
        yield build(random_direction(random), random), random_direction(random) * random.uniform(0.0, 4.0)


@every_shape
def test_what_is_nearest_is_on_the_target_and_no_place_of_it_is_nearer(build):
    for target, point in cases(build, 1):
        nearest = target.closest(point)
        assert looked_for(target, nearest) < 1e-3
        assert dist(nearest, point) == pytest.approx(looked_for(target, point), abs=1e-4)
        share = np.random.default_rng(2).uniform(0.0, 1.0, (1000, 3))
        assert dist(nearest, point) <= np.linalg.norm(places(target, share) - np.array(point), axis=1).min() + 1e-5


@every_shape
def test_what_is_nearest_to_a_place_of_the_target_is_that_place(build):
    share = np.random.default_rng(3).uniform(0.0, 1.0, (20, 3))
    for target, _ in cases(build, 3):
        for place in map(Vector, places(target, share)):
            assert dist(target.closest(place), place) < 2e-6 * FAR


@every_shape
def test_least_and_greatest_distance_are_those_to_the_nearest_and_farthest_place(build):
    for target, point in cases(build, 4):
        assert target.least_distance(point) == pytest.approx(looked_for(target, point), abs=1e-4)
        greatest = target.greatest_distance(point)
        assert isinf(greatest) == isinstance(target, Plane | Line | Ray | Cylinder)
        if isfinite(greatest):
            assert greatest == pytest.approx(looked_for(target, point, farthest=True), abs=1e-3)


@pytest.mark.parametrize("build", EVERYTHING)
def test_the_same_place_comes_for_the_same_point_and_the_point_stays(build):
    for target, point in cases(build, 5):
        before = tuple(point)
        assert tuple(target.closest(point)) == tuple(target.closest(point.copy()))
        assert tuple(point) == before


@every_shape
@pytest.mark.parametrize("size", [2.0**-40, 2.0**50])
def test_size_makes_no_difference(build, size):
    for target, point in cases(build, 6):
        large = type(target)(*(scaled(value, size) for name, value in vars(target).items()))
        assert dist(large.closest(point * size) / size, target.closest(point)) < 1e-5


def scaled(value, size):
    if isinstance(value, Matrix):
        return Matrix.Diagonal((size, size, size, 1.0)) @ value
    return value * size


coordinates = st.floats(-1000.0, 1000.0, width=32)
vectors = st.tuples(coordinates, coordinates, coordinates).map(Vector)
directions = vectors.filter(any)
radii = st.floats(1e-3, 1000.0)
shapes = st.one_of(
    st.builds(Point, vectors),
    st.builds(Plane, vectors, directions),
    st.builds(Line, vectors, directions),
    st.builds(Ray, vectors, directions),
    st.tuples(vectors, vectors).filter(lambda ends: ends[0] != ends[1]).map(lambda ends: Segment(*ends)),
    st.builds(Sphere, vectors, radii),
    st.builds(Cylinder, vectors, directions, radii),
    st.builds(Ring, vectors, directions, radii),
    st.tuples(vectors, radii, radii, radii).map(
        lambda box: Box(Matrix.Translation(box[0]) @ Matrix.Diagonal((*box[1:], 1)))
    ),
)


@examples(500)
@given(shapes, vectors)
def test_the_nearest_place_is_finite_and_nearest_to_itself(target, point):
    nearest = target.closest(point)
    assert all(map(isfinite, nearest))
    largest = max(1.0, *map(abs, (*point, *nearest)))
    assert dist(target.closest(nearest), nearest) < 2e-5 * max(largest, 1000.0)
    assert target.least_distance(point) <= target.greatest_distance(point) * (1.0 + 1e-5) + 1e-3


extremes = st.sampled_from((0.0, -0.0, 1e-45, -1e-38, 1e-20, 1.0, -1.0, 1e9, -1e18, 1e18))
far_vectors = st.tuples(extremes, extremes, extremes).map(Vector)
far_directions = far_vectors.filter(any)
far_radii = extremes.filter(lambda radius: radius > 0.0)


@examples(500)
@given(far_vectors, far_directions, far_radii, far_vectors)
def test_no_size_that_is_taken_gives_numbers_that_are_none(location, direction, radius, point):
    for target in (
        Plane(location, direction),
        Line(location, direction),
        Ray(location, direction),
        Sphere(location, radius),
        Cylinder(location, direction, radius),
        Ring(location, direction, radius),
        Box(Matrix.Translation(location) @ Matrix.Diagonal((radius, 1.0, 1.0, 1.0))),
        *([Segment(location, direction)] if location != direction else []),
    ):
        assert all(map(isfinite, target.closest(point)))


def test_from_the_centre_of_a_sphere_a_place_of_it_is_nearest():
    centre = Vector((1.0, 2.0, 3.0))
    assert tuple(Sphere(centre, 0.5).closest(centre)) == (1.0, 2.0, 3.5)
    assert dist(Sphere(Vector(), 0.5).closest(Vector((1e-40, 0.0, 0.0))), (0.5, 0.0, 0.0)) < 1e-7


@pytest.mark.parametrize("axis", [X, Y, Z, -Z, Vector((1.0, 2.0, 3.0))])
@pytest.mark.parametrize("along", [-7.0, 0.0, 2.5])
def test_from_the_axis_of_a_cylinder_or_ring_a_place_of_it_is_nearest(axis, along):
    middle = Vector((1.0, 2.0, 3.0))
    point, unit = middle + axis * along, axis.normalized()
    across = Cylinder(middle, axis, 0.5).closest(point) - point
    assert across.length == pytest.approx(0.5, abs=2e-6)
    assert across.dot(unit) == pytest.approx(0.0, abs=4e-6)
    across = Ring(middle, axis, 0.5).closest(point) - middle
    assert across.length == pytest.approx(0.5, abs=2e-6)
    assert across.dot(unit) == pytest.approx(0.0, abs=4e-6)


def test_from_within_a_surface_it_is_the_surface_that_is_nearest():
    point = Vector((0.25, 0.0, 0.0))
    assert tuple(Sphere(Vector(), 1.0).closest(point)) == (1.0, 0.0, 0.0)
    assert tuple(Cylinder(Vector(), Z, 1.0).closest(point)) == (1.0, 0.0, 0.0)
    assert tuple(Ring(Vector(), Z, 1.0).closest(point)) == (1.0, 0.0, 0.0)


def test_what_is_inside_a_box_is_there():
    box = Box(Matrix.Translation((1.0, 2.0, 3.0)) @ Matrix.Diagonal((2.0, 0.5, 1.0, 1.0)))
    for point in (Vector((1.0, 2.0, 3.0)), Vector((2.9, 1.6, 3.7)), Vector((-1.0, 2.5, 2.0))):
        assert tuple(box.closest(point)) == tuple(point)


def test_beyond_its_ends_the_ends_of_a_ray_and_segment_are_nearest():
    assert tuple(Ray(X, Z).closest(Vector((5.0, 0.0, -3.0)))) == (1.0, 0.0, 0.0)
    assert tuple(Segment(X, Y).closest(Vector((5.0, -5.0, 1.0)))) == (1.0, 0.0, 0.0)
    assert tuple(Segment(X, Y).closest(Vector((-5.0, 5.0, 1.0)))) == (0.0, 1.0, 0.0)


def test_targets_cannot_be_changed():
    target = Plane([0.0, 0.0, 0.0], [0.0, 0.0, 2.0])
    with pytest.raises(TypeError):
        target.normal.x = 1.0
    with pytest.raises(TypeError):
        Box(Matrix.Identity(4)).frame[0][0] = 2.0
    with pytest.raises(AttributeError):
        target.normal = X
    assert target == Plane((0.0, 0.0, 0.0), (0.0, 0.0, 1.0))


def test_a_field_leads_where_its_function_says():
    target = Field(lambda point: (1.0, 2.0 * point.x, 0.0))
    assert tuple(target.closest(Vector((3.0, 0.0, 1.0)))) == (4.0, 6.0, 1.0)
    assert target.least_distance(X) == 0.0


def test_a_field_that_works_on_the_point_it_is_given_leaves_ours_alone():
    def towards(point):
        point.negate()
        return point

    point = Vector((1.0, 2.0, 3.0))
    assert tuple(Field(towards).closest(point)) == (0.0, 0.0, 0.0)
    assert tuple(point) == (1.0, 2.0, 3.0)


@pytest.mark.parametrize("bad", [nan, inf, -inf])
def test_a_field_that_leads_nowhere_is_refused(bad):
    with pytest.raises(TargetError, match=r"Field gives no finite vector at \(1\.0, 0\.0, 0\.0\)\. Make it"):
        Field(lambda _: (0.0, bad, 0.0)).closest(X)


ZERO = (0.0, 0.0, 0.0)
NAMES = {
    "Plane": ("location", "normal"),
    "Line": ("location", "direction"),
    "Ray": ("location", "direction"),
    "Segment": ("start", "end"),
    "Sphere": ("centre", "radius"),
    "Cylinder": ("location", "axis", "radius"),
    "Ring": ("centre", "normal", "radius"),
}
GOOD = {"radius": 1.0, "end": (0.0, 0.0, 1.0), "normal": (0.0, 0.0, 1.0), "direction": (0.0, 0.0, 1.0)}
KINDS = {kind.__name__: kind for kind in SHAPES}
arguments = [(kind, name) for kind, names in NAMES.items() for name in names]


def with_bad(kind, name, value):
    """A target of that kind with one argument replaced."""
    good = {other: GOOD.get(other, (0.0, 1.0, 0.0) if other == "axis" else ZERO) for other in NAMES[kind]}
    return KINDS[kind](**(good | {name: value}))


@pytest.mark.parametrize(("kind", "name"), [pair for pair in arguments if pair[1] != "radius"])
@pytest.mark.parametrize("bad", [nan, inf, -inf, 1e300, 2e18])
def test_numbers_that_are_none_are_refused_by_name(kind, name, bad):
    for i in range(3):
        vector = [0.0, 1.0, 0.0]
        vector[i] = bad
        with pytest.raises(TargetError, match=rf"^{kind} {name} \(.*\) is not finite or beyond 1e\+18\. Give it three"):
            with_bad(kind, name, vector)


@pytest.mark.parametrize("kind", ["Sphere", "Cylinder", "Ring"])
@pytest.mark.parametrize("bad", [0.0, -0.0, -1.0, nan, inf, -inf, 2e18])
def test_a_radius_that_is_none_is_refused(kind, bad):
    with pytest.raises(TargetError, match=f"^{kind} radius {escape(str(bad))} is not a distance. Give it a finite"):
        with_bad(kind, "radius", bad)


@pytest.mark.parametrize(("kind", "name"), [pair for pair in arguments if pair[1] in {"normal", "direction", "axis"}])
def test_a_direction_without_length_is_refused(kind, name):
    with pytest.raises(TargetError, match=rf"^{kind} {name} \(0\.0, 0\.0, 0\.0\) has no direction\. Give it a length"):
        with_bad(kind, name, ZERO)


def test_a_segment_without_length_is_refused():
    with pytest.raises(TargetError, match=r"^Segment starts and ends at \(1\.0, 0\.0, 0\.0\)\. Move its ends apart or"):
        Segment(X, X)


@pytest.mark.parametrize("axis", range(3))
def test_a_box_without_extent_along_an_axis_is_refused(axis):
    scale = [1.0] * 3
    scale[axis] = 0.0
    with pytest.raises(TargetError, match=f"^Box axis {'XYZ'[axis]} .* has no direction. Give it a length"):
        Box(Matrix.Diagonal((*scale, 1.0)))


def test_a_box_of_numbers_that_are_none_is_refused():
    with pytest.raises(TargetError, match=r"^Box location .* is not finite"):
        Box(Matrix.Translation((nan, 0.0, 0.0)))
    with pytest.raises(TargetError, match=r"^Box axis Y .* is not finite"):
        Box(Matrix.Diagonal((1.0, inf, 1.0, 1.0)))


@pytest.mark.parametrize(("first", "second"), [(0, 1), (0, 2), (1, 2)])
def test_a_sheared_box_is_refused(first, second):
    frame = Matrix.Identity(4)
    frame[first][second] = 0.001
    with pytest.raises(TargetError, match=f"^Box axes {'XYZ'[first]} and {'XYZ'[second]} are not at right.*Apply the"):
        Box(frame)


def test_rounding_is_not_taken_for_shear():
    random = Random(10)
    for _ in range(100):
        frame = random_base(random, 100.0) @ random_base(random) @ random_base(random)
        Box(frame @ Matrix.Diagonal([10.0 ** random.uniform(-3.0, 3.0) for _ in "xyz"] + [1.0]))


@pytest.mark.parametrize("solver", GENERAL)
@pytest.mark.parametrize("build", EVERYTHING)
def test_finished_every_solver_reaches_every_kind_of_target(solver, build, long):
    random = Random(11)
    for seed in range(10 if long else 2):
        chain = random_chain(seed, 4)
        there, start = random_pose(chain, random), random_pose(chain, random)
        target = build(there.tip, random)
        solution = solve(start, target, solver=solver, tolerance=1e-4)
        tip = solution.pose.tip
        assert solution.reached
        assert solution.error == pytest.approx(dist(target.closest(tip), tip), abs=2e-6)
        if not isinstance(target, Field):
            assert looked_for(target, tip) < 2e-3


def test_a_target_of_ones_own_needs_no_more_than_a_nearest_place():
    class Corner(Target):
        def closest(self, point):
            return Vector([max(1.0, x) for x in point])

    assert Corner().least_distance(Vector()) == pytest.approx(hypot(1.0, 1.0, 1.0))
    assert isinf(Corner().greatest_distance(Vector()))
    assert solve(random_chain(1, 4).rest_pose(), Corner()).reached


@pytest.mark.parametrize("build", [SHAPES[SolidSphere], SHAPES[SolidCylinder]])
def test_any_place_inside_a_solid_counts_as_reached(build):
    draw, count = np.random.default_rng(5), 0
    for target, _ in cases(build, 5):
        middle = target.centre if isinstance(target, SolidSphere) else target.location
        tried = np.array(middle)[:, None] + draw.uniform(-target.radius, target.radius, (3, 100))
        inside = np.array([place for place in tried.T if is_inside(target, place)]).T
        count += inside.shape[1]
        assert all(target.closest(Vector(place)) == Vector(place) for place in inside.T)
        assert (NEAREST[type(target)](target, inside) == inside).all()
    assert count > 200

# SPDX-License-Identifier: GPL-3.0-or-later
"""Arcs, lines and ghosts are made of the places they should be."""

from itertools import pairwise
from math import cos, pi, sin, tau
from random import Random

import numpy as np
import pytest
from mathutils import Matrix, Vector

from ik_triangulation.ui.overlay.sketch import (
    ArcStroke,
    LineStroke,
    Role,
    Sketch,
    circle,
    facing,
    octahedra,
    silhouette,
)

from ...rigs import random_rotation, random_vector

X, Y, Z = (Vector([float(i == j) for j in range(3)]) for i in range(3))


def places_of(*strokes):
    """Everything that the outlines of these go through."""
    sketch = Sketch()
    sketch.add(*strokes)
    return [Vector(place) for place in sketch.strokes()[0].places.tolist()]


def close(a, b, within=1e-5):
    return (a - b).length < within


def test_nothing_is_made_of_nothing():
    sketch = Sketch()
    sketch.add(None)
    for strokes in sketch.strokes():
        assert [len(part) for part in strokes] == [0, 0, 0]


def test_an_arc_runs_from_its_lower_to_its_upper_angle():
    arc = ArcStroke(Role.X, Vector((1.0, 2.0, 3.0)), X * 2.0, Y * 2.0, 0.0, pi / 2.0)
    places = places_of(arc)
    assert close(places[0], Vector((3.0, 2.0, 3.0)))
    assert close(places[-1], Vector((1.0, 4.0, 3.0)))
    assert all(abs((place - arc.centre).length - 2.0) < 1e-5 for place in places)
    assert all(close(a, b) for a, b in zip(places[1:-1:2], places[2::2], strict=True))  # each piece begins at the last


def test_a_sector_has_a_surface_and_lines_to_its_ends():
    apex = Vector((0.0, 0.0, -1.0))
    arc = ArcStroke(Role.Y, Vector(), X, Y, 0.0, 1.0, apex)
    sketch = Sketch()
    sketch.add(arc, ArcStroke(Role.X, Vector(), X, Y))
    outlines, fans = sketch.strokes()
    along = (outlines.roles == Role.Y).sum() - 4
    assert (fans.roles == Role.Y).all()
    assert len(fans.places) == along // 2 * 3
    assert np.allclose(fans.places[1::3], outlines.places[outlines.roles == Role.Y][4::2])
    assert np.allclose(fans.places[::3], apex)
    spokes = [place for place in places_of(arc) if close(place, apex)]
    assert len(spokes) == 2
    ends = outlines.places[outlines.roles == Role.Y][:4]  # two spokes, along which the arc begins and ends
    assert np.allclose(ends, [apex, X, apex, Vector((cos(1.0), sin(1.0), 0.0))], atol=1e-6)


def test_a_whole_circle_has_no_ends():
    assert not any(close(place, Vector()) for place in places_of(ArcStroke(Role.X, Vector(), X, Y, 0.0, tau, Vector())))


def test_lines_keep_their_roles_and_fade():
    sketch = Sketch()
    sketch.add(LineStroke(Role.TARGET, X, Y, 0.5, 0.0), ArcStroke(Role.Z, Vector(), X, Y), LineStroke(Role.NOW, Y, Z))
    outlines, _ = sketch.strokes()
    assert outlines.alphas[:4].tolist() == [0.5, 0.0, 1.0, 1.0]
    assert outlines.roles[:4].tolist() == [Role.TARGET, Role.TARGET, Role.NOW, Role.NOW]
    assert np.allclose(outlines.places[:4], [X, Y, Y, Z])
    assert set(outlines.roles[4:].tolist()) == {Role.Z}
    assert set(outlines.alphas[4:].tolist()) == {1.0}


@pytest.mark.parametrize("seed", range(5))
def test_another_space_moves_every_place_alike(seed):
    random = Random(seed)
    linear = Matrix([random_vector(random) for _ in range(3)])
    origin = random_vector(random)
    strokes = [
        ArcStroke(Role.X, *(random_vector(random) for _ in range(3)), -0.5, 2.0, random_vector(random)),
        LineStroke(Role.Y, random_vector(random), random_vector(random)),
    ]
    moved = places_of(*(stroke.through(linear, origin) for stroke in strokes))
    for before, after in zip(places_of(*strokes), moved, strict=True):
        assert close(origin + linear @ before, after)


@pytest.mark.parametrize("seed", range(5))
def test_a_ball_is_touched_by_the_view_where_its_silhouette_is(seed):
    random = Random(seed)
    centre, radius = random_vector(random), random.uniform(0.1, 2.0)
    for w in (0.0, 1.0):
        eye = (random_rotation(random) @ Vector((radius * random.uniform(1.1, 5.0), 0.0, 0.0))).to_4d()
        eye = Vector((*(eye.xyz + centre * w), w))
        for place in places_of(silhouette(Role.REACH, centre, radius, eye)):
            out = place - centre
            assert abs(out.length - radius) < 1e-4 * radius
            assert abs(out.normalized().dot((eye.xyz - place * w).normalized())) < 1e-4


def test_a_ball_has_no_silhouette_from_inside():
    assert silhouette(Role.REACH, Vector(), 1.0, Vector((0.5, 0.0, 0.0, 1.0))) is None
    assert silhouette(Role.REACH, Vector(), 1.0, Vector((0.5, 0.0, 0.0, 0.0))) is not None


def test_a_mark_faces_the_eye():
    eye = Vector((3.0, 1.0, 2.0, 1.0))
    for place in places_of(facing(Role.MISSED, Vector((1.0, 1.0, 1.0)), 0.1, eye)):
        out = place - Vector((1.0, 1.0, 1.0))
        assert abs(out.length - 0.1) < 1e-6
        assert abs(out.dot(Vector((2.0, 0.0, 1.0)))) < 1e-6


def test_a_circle_goes_round_its_normal():
    for place in places_of(circle(Role.TARGET, X, Z * 5.0, 2.0)):
        assert abs(place.z) < 1e-6
        assert abs((place - X).length - 2.0) < 1e-5


@pytest.mark.parametrize("seed", range(5))
def test_a_ghost_is_a_closed_bone_from_each_point_to_the_next(seed):
    random = Random(seed)
    points = [random_vector(random) for _ in range(4)]
    edges, faces = octahedra(points)
    assert len(edges) == 3 * 12 * 2
    assert len(faces) == 3 * 8 * 3
    for bone, (head, tail) in enumerate(pairwise(points)):
        corners = {tuple(np.round(place, 5)) for place in edges[bone * 24 : bone * 24 + 24]}
        assert len(corners) == 6
        assert {tuple(np.round(np.array(place[:], np.float32), 5)) for place in (head, tail)} <= corners
        triangles = faces[bone * 24 : bone * 24 + 24].reshape(-1, 3, 3)
        sides = [frozenset(tuple(np.round(t[i - j], 5)) for j in (0, 1)) for t in triangles for i in range(3)]
        assert all(sides.count(side) == 2 for side in sides)
        length = (tail - head).length
        for corner in corners:
            along = (Vector(corner) - head).dot(tail - head) / length
            assert -1e-4 < along < length + 1e-4
            assert (Vector(corner) - head - (tail - head) * (along / length)).length < 0.1001 * length


def test_points_on_each_other_have_no_bone_between_them():
    assert len(octahedra([X, X, Y])[0]) == 24
    assert [len(part) for part in octahedra([X, X])] == [0, 0]
    assert [len(part) for part in octahedra([X])] == [0, 0]

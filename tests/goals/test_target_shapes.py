# SPDX-License-Identifier: GPL-3.0-or-later
"""The table of target shapes: each can be built, of its size, in its place, and is told apart from the others."""

from math import hypot, isfinite

import pytest
from mathutils import Vector

from ik_triangulation.goals.target_shapes import TARGET_SHAPES

ALONG = Vector((0.0, 0.0, 1.0))
PLACE = Vector((3.0, -4.0, 5.0))
ENDLESS = {"POINT", "PLANE", "LINE", "RAY"}  # of no size
every_shape = pytest.mark.parametrize("name", TARGET_SHAPES)


@every_shape
def test_a_shape_is_built_of_any_size(name):
    for size in (1e-3, 1.0, 1e3):
        target = TARGET_SHAPES[name].build(size, ALONG)
        nearest = target.closest(PLACE)
        assert all(map(isfinite, nearest))
        assert (target.closest(nearest) - nearest).length < 1e-3 * size + 1e-5


@every_shape
def test_the_size_of_a_shape_is_that_of_its_target(name):
    small, large = (TARGET_SHAPES[name].build(size, ALONG).closest(PLACE) for size in (0.5, 1.0))
    assert ((small - large).length < 1e-6) is (name in ENDLESS), "Add a shape of no size to ENDLESS above."


@pytest.mark.parametrize("name", ["LINE", "RAY", "SEGMENT"])
def test_lines_run_the_way_they_are_told(name):
    for along in (ALONG, Vector((0.0, 1.0, 0.0))):
        nearest = TARGET_SHAPES[name].build(1.0, along).closest(along * 0.5 + along.orthogonal())
        assert (nearest - along * 0.5).length < 1e-6


def test_numbers_labels_and_displays_are_used_once():
    for column in ("number", "label"):
        values = [getattr(shape, column) for shape in TARGET_SHAPES.values()]
        assert len(set(values)) == len(values), f"Give the new shape of goals/target_shapes.py a {column} of its own."
    displays = [shape.display for shape in TARGET_SHAPES.values() if shape.display]
    assert len(set(displays)) == len(displays)


def test_the_numbers_that_files_store_are_pinned():
    numbers = {name: shape.number for name, shape in TARGET_SHAPES.items()}
    stored = {
        "POINT": 1,
        "PLANE": 2,
        "LINE": 3,
        "RAY": 4,
        "SEGMENT": 5,
        "SPHERE": 6,
        "CYLINDER": 7,
        "RING": 8,
        "BOX": 9,
    }
    assert {name: numbers[name] for name in stored} == stored
    taken = "0 is Automatic, 10 Force Field and 11 Surface: begin with 12."
    assert not {0, 10, 11} & set(numbers.values()), taken


R, Q = hypot(3.0, 12.0), hypot(0.1, 0.1)
NEAREST = {  # of a shape of size 0.5, whose lines run along Z: to (3, 4, 12), and to (0.1, 0.2, -0.1)
    "POINT": ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0)),
    "PLANE": ((3.0, 4.0, 0.0), (0.1, 0.2, 0.0)),
    "LINE": ((0.0, 0.0, 12.0), (0.0, 0.0, -0.1)),
    "RAY": ((0.0, 0.0, 12.0), (0.0, 0.0, 0.0)),
    "SEGMENT": ((0.0, 0.0, 0.5), (0.0, 0.0, 0.0)),
    "SPHERE": ((1.5 / 13.0, 2.0 / 13.0, 6.0 / 13.0), (0.05 / 0.06**0.5, 0.1 / 0.06**0.5, -0.05 / 0.06**0.5)),
    "CYLINDER": ((1.5 / R, 4.0, 6.0 / R), (0.05 / Q, 0.2, -0.05 / Q)),
    "RING": ((1.5 / R, 0.0, 6.0 / R), (0.05 / Q, 0.0, -0.05 / Q)),
    "BOX": ((0.5, 0.5, 0.5), (0.1, 0.2, -0.1)),
    "SOLID_SPHERE": ((1.5 / 13.0, 2.0 / 13.0, 6.0 / 13.0), (0.1, 0.2, -0.1)),
    "SOLID_CYLINDER": ((1.5 / R, 4.0, 6.0 / R), (0.1, 0.2, -0.1)),
}


@pytest.mark.parametrize("name", TARGET_SHAPES)
def test_the_nearest_place_of_each_shape_is_where_geometry_has_it(name):
    shape = TARGET_SHAPES[name].build(0.5, Vector((0.0, 0.0, 1.0)))
    for point, nearest in zip(((3.0, 4.0, 12.0), (0.1, 0.2, -0.1)), NEAREST[name], strict=True):
        assert tuple(shape.closest(Vector(point))) == pytest.approx(nearest, abs=1e-6)

# SPDX-License-Identifier: GPL-3.0-or-later
"""What is missing is seen by shape as well as by color: a ring where it is reached, dashes and a cross where not."""

from math import radians

import pytest
from mathutils import Quaternion, Vector

from ik_triangulation.goals import Direction, LookAt, Orientation, Point
from ik_triangulation.ui.overlay.figure import add_distance, add_turn, role_of
from ik_triangulation.ui.overlay.limb import Aim
from ik_triangulation.ui.overlay.sketch import Role, Sketch

from ...chains import straight

EYE = Vector((3.0, -50.0, 20.0, 1.0))
X, Y, Z = (Vector([float(i == j) for j in range(3)]) for i in range(3))
REACH = 2.0


def aim(place, turn=None, close=False, turned=True, due=True):
    return Aim(Point(place), place, turn, 0.0 if close else 1.0, None, close, turned, due)


def distance(which):
    sketch = Sketch()
    add_distance(sketch, which, X, REACH, EYE)
    return sketch


def turn(which):
    sketch = Sketch()
    add_turn(sketch, which, straight((1.0, 1.0)).rest_pose(), EYE)
    return sketch


def test_a_target_that_is_reached_has_a_ring():
    sketch = distance(aim(X, close=True))
    (ring,) = sketch.arcs
    assert (ring.role, ring.centre, ring.apex) == (Role.REACHED, X, None)
    assert not sketch.lines


def test_a_target_that_is_missed_has_a_dashed_line_to_a_cross():
    sketch = distance(aim(Y))
    assert not sketch.arcs
    *dashes, one, other = sketch.lines
    assert {line.role for line in sketch.lines} == {Role.MISSED}
    assert (dashes[0].start - X).length < 1e-6
    assert (dashes[-1].end - Y).length < 1e-6
    assert len(dashes) > 3
    assert sum((dash.end - dash.start).length for dash in dashes) < 0.7 * (Y - X).length
    assert all(((line.start + line.end) / 2.0 - Y).length < 1e-6 for line in (one, other))
    assert abs((one.end - one.start).dot(other.end - other.start)) < 1e-6


@pytest.mark.parametrize("close", [True, False])
def test_a_target_that_waits_has_a_grey_ring_and_no_distance(close):
    which = aim(Y, close=close)._replace(waits=True)
    assert not which.reached
    assert not which.missed
    sketch = distance(which)
    (ring,) = sketch.arcs
    assert (ring.role, ring.centre) == (Role.WAITING, Y)
    assert not sketch.lines


@pytest.mark.parametrize("far", [1e12, 3e38])
def test_a_target_far_away_has_few_dashes(far):
    assert len(distance(aim(Vector((far, 0.0, 0.0)))).lines) < 50


def test_a_limb_on_its_way_is_neither_reached_nor_missed():
    assert role_of(aim(Y, due=False)) == Role.COMING
    assert role_of(aim(Y, close=True, due=False)) == Role.REACHED
    assert role_of(aim(Y, close=True, turned=False)) == Role.MISSED


def test_the_orientation_is_drawn_at_the_target_in_the_colors_of_its_axes():
    rotation = Quaternion(X, radians(30.0))
    sketch = turn(aim(Y, Orientation(rotation)))
    shafts = sketch.lines[::3]
    assert [line.role for line in shafts] == [Role.X, Role.Y, Role.Z]
    for line, axis in zip(shafts, (X, Y, Z), strict=True):
        assert (line.end - Y).normalized().dot(rotation @ axis) > 0.9999
        assert (line.start - Y).length > 0.5 * (line.end - Y).length  # what is at the target stays visible
    for shaft, one, other in zip(*(sketch.lines[part::3] for part in range(3)), strict=True):
        along = (shaft.end - shaft.start).normalized()
        sides = [head.end - shaft.end for head in (one, other)]
        assert {head.role for head in (one, other)} == {shaft.role}
        assert all(side.dot(along) == pytest.approx(-0.08 * 0.4, abs=1e-6) for side in sides), "it points outwards"
        assert (sides[0] - sides[1]).length == pytest.approx(2.0 * 0.035 * 0.4, abs=1e-6)
    assert not sketch.arcs


@pytest.mark.parametrize("close", [True, False])
def test_a_sector_shows_by_how_much_the_tip_is_turned_off(close):
    sketch = turn(aim(Y, Orientation(Quaternion(X, radians(40.0))), close=close, turned=False))
    (sector,) = sketch.arcs
    assert sector.role == Role.MISSED
    assert sector.upper - sector.lower == pytest.approx(radians(40.0), abs=1e-3)
    assert (sector.apex is None) == close  # nothing covers the hand


def test_a_direction_has_one_arrow():
    sketch = turn(aim(Y, Direction(Z), turned=False))
    assert len(sketch.lines) == 4
    (sector,) = sketch.arcs
    assert sector.upper == pytest.approx(radians(90.0), abs=1e-3)


def test_without_an_orientation_there_is_nothing_to_turn():
    sketch = turn(aim(Y))
    assert not sketch.lines
    assert not sketch.arcs


@pytest.mark.parametrize("close", [True, False])
def test_a_look_is_a_dashed_line_from_the_bone_to_what_is_looked_at(close):
    ahead = Vector((0.0, 2.0, 3.0))
    sketch = turn(aim(Y, LookAt(ahead, X, 0.5 * Z), close=close, turned=close))
    assert not sketch.arcs
    first, *_, last = sketch.lines
    assert {line.role for line in sketch.lines} == {Role.REACHED if close else Role.MISSED}
    tip = straight((1.0, 1.0)).rest_pose().tip
    assert (first.start - tip - 0.5 * Z).length < 1e-6
    assert (last.end - ahead).length < 1e-6
    assert len(sketch.lines) > 3

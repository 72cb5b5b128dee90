# SPDX-License-Identifier: GPL-3.0-or-later
"""Pins, area and center of mass are drawn where they are; inside and outside differ by more than color."""

import bpy
import numpy as np
import pytest
from mathutils import Matrix, Vector

from ik_triangulation.ui.overlay import draw
from ik_triangulation.ui.overlay.body import Balance, DisplayedBody, HeldTip, body_sketch, support_area
from ik_triangulation.ui.overlay.sketch import Role

from ...bodies import set_up_rig
from ...rigs import nothing_lost
from .seen import drawn, layers, settings, shells
from .viewport import viewport

pytestmark = pytest.mark.usefixtures("empty_scene")

UP = Vector((0.0, 0.0, 1.0))
SQUARE = [Vector(corner) for corner in ((0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0))]
EYES = [Vector((3.0, -4.0, 2.0, 1.0)), Vector((0.0, 0.0, 1.0, 0.0)), Vector((0.0, 0.0, -5.0, 1.0))]


def body(below, slip=0.0):
    """A body over a square, with a tip that is held at its middle."""
    below = Vector(below)
    nearest = Vector((min(max(below.x, 0.0), 1.0), min(max(below.y, 0.0), 1.0), 0.0))
    place = Vector((0.5, 0.5, 0.0))
    held = HeldTip("foot", place, place + Vector((slip, 0.0, 0.0)), slip, slip > 0.0)
    balance = Balance(below + UP, below, SQUARE, nearest, (below - nearest).length)
    return DisplayedBody(Matrix.Identity(4), UP, 1.0, [held], balance)


def test_the_area_is_covered_once():
    triangles = support_area(body((0.5, 0.5, 0.0)).balance).reshape(-1, 3, 3)
    sides = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
    assert np.linalg.norm(sides, axis=1).sum() / 2.0 == pytest.approx(1.0)


@pytest.mark.parametrize("corners", [1, 2])
def test_a_point_and_a_line_have_no_area(corners):
    seen = body((0.5, 0.5, 0.0))
    balance = seen.balance._replace(corners=SQUARE[:corners])
    assert len(support_area(balance)) == 0
    body_sketch(seen._replace(balance=balance), EYES[0]).strokes()


@pytest.mark.parametrize("eye", EYES, ids=["perspective", "from above", "from below"])
def test_the_point_of_a_pin_is_where_a_tip_is_held(eye):
    sketch = body_sketch(body((0.5, 0.5, 0.0))._replace(balance=None), eye)
    assert [line.end for line in sketch.lines] == [Vector((0.5, 0.5, 0.0))] * 2
    outlines, _ = sketch.strokes()
    assert np.isfinite(outlines.places).all()
    assert set(outlines.roles) == {Role.HELD}


def test_a_tip_that_slips_has_a_line_to_its_place():
    still, moved = (body_sketch(body((0.5, 0.5, 0.0), slip)._replace(balance=None), EYES[0]) for slip in (0.0, 0.3))
    assert len(moved.lines) > len(still.lines)
    assert {line.role for line in moved.lines} == {Role.AT_LIMIT}


def test_inside_is_a_ring_and_outside_a_cross_with_a_line_to_the_area():
    inside, outside = (body_sketch(body(below), EYES[0]) for below in ((0.5, 0.5, 0.0), (1.5, 0.5, 0.0)))
    assert len(inside.arcs) == len(outside.arcs) + 1
    assert len(outside.lines) > len(inside.lines)
    assert any((line.end - Vector((1.0, 0.5, 0.0))).length < 1e-6 for line in outside.lines)
    assert Role.OUTSIDE not in {stroke.role for stroke in (*inside.lines, *inside.arcs)}


def test_the_body_has_a_switch():
    rig = set_up_rig()
    everything = drawn()
    settings().show_body = False
    assert drawn() < everything
    settings().show_body = True
    assert drawn() == everything
    settings().show = False
    assert drawn() == 0
    rig.hide_set(True)
    settings().show = True
    assert drawn() == 0


def test_drawing_a_body_changes_nothing():
    set_up_rig()
    with nothing_lost():
        assert layers()


def test_no_reach_is_drawn_of_a_limb_whose_hips_move_with_it():
    rig = set_up_rig()
    assert shells() == []
    for name in ("foot.L", "foot.R", "hand.R"):
        rig.pose.bones[name].ik_triangulation.hold = False
        rig.pose.bones[name].ik_triangulation.enabled = False
    assert shells()


def notes():
    layers()
    with viewport() as context:
        return [row.text for block in draw.texts(context) for row in block.rows]


def test_words_tell_how_far_a_tip_slips_and_the_center_of_mass_is_outside():
    rig = set_up_rig()
    bpy.context.scene.unit_settings.system = "METRIC"
    hips = rig.pose.bones["spine"]
    hips.keyframe_insert("location", frame=1)
    assert not [note for note in notes() if "slips" in note or "outside" in note]
    hips.location = (0.5, 0.0, 0.0)
    found = notes()
    assert "foot.L slips 50 cm" in found
    assert "foot.R slips 50 cm" in found
    assert any(note.startswith("Center of mass") and note.endswith("outside the feet") for note in found)

# SPDX-License-Identifier: GPL-3.0-or-later
"""Texts say what is missing in the scene's units, and are never over the hand."""

from math import radians
from random import Random
from types import SimpleNamespace

import bpy
import numpy as np
import pytest
from mathutils import Euler, Matrix, Vector

from ik_triangulation.jobs.setup import set_up_body
from ik_triangulation.ui.overlay.labels import (
    Screen,
    _first,
    anchors_of,
    distance_row,
    joint_rows,
    place_beside,
    place_distance,
    place_joint,
)
from ik_triangulation.ui.overlay.limb import displayed_limb
from ik_triangulation.ui.overlay.sketch import Role

from ...bodies import human_rig
from ...rigs import evaluated_tip
from .seen import standard
from .viewport import viewport

pytestmark = pytest.mark.usefixtures("empty_scene")

SIZE = 1000, 800
WORDS = 120.0, 20.0


def seen(rig, active="Bone 3"):
    bpy.context.view_layer.update()
    with viewport() as context:
        return displayed_limb(context, rig, rig.pose.bones["Bone 3"], active)


def row(rig):
    return distance_row(seen(rig).aim, bpy.context.scene)


def test_the_distance_is_in_the_units_of_the_scene():
    rig, target = standard()
    units = bpy.context.scene.unit_settings
    target.empty_display_type, target.location = "PLAIN_AXES", evaluated_tip(rig, "Bone 3") + Vector((0.25, 0.0, 0.0))
    units.system = "METRIC"
    assert (row(rig).text, row(rig).sign, row(rig).role) == ("25 cm away", "missed", Role.MISSED)
    units.scale_length = 0.01
    assert row(rig).text == "2.5 mm away"
    units.system = "NONE"
    assert row(rig).text == "0.25 away"


def test_a_target_that_is_reached_says_so():
    rig, target = standard()
    target.empty_display_type, target.location = "PLAIN_AXES", evaluated_tip(rig, "Bone 3")
    assert row(rig) == (Role.REACHED, "reached", "Reached")


def test_the_angle_is_told_where_the_limb_follows_the_orientation():
    rig, target = standard(orientation="FULL")
    bone = rig.pose.bones["Bone 3"]
    target.location, target.empty_display_type = evaluated_tip(rig, "Bone 3"), "PLAIN_AXES"
    target.rotation_euler = (bone.matrix @ Euler((radians(50.0), 0.0, 0.0)).to_matrix().to_4x4()).to_euler()
    assert row(rig) == (Role.MISSED, "missed", "50° off")
    target.location.x += 1.0
    assert row(rig).text.endswith(" away, 50° off")
    target.location.x -= 1.0
    target.rotation_euler = bone.matrix.to_euler()
    assert row(rig).text == "Reached"


def test_a_limb_on_its_way_has_a_distance_but_no_cross():
    rig, _ = standard(influence=0.5)
    assert (row(rig).sign, row(rig).role) == ("", Role.COMING)
    assert row(rig).text.endswith(" away")


def test_an_untouched_empty_of_a_body_says_that_it_is_not_used_yet():
    rig = human_rig(with_head=True)
    set_up_body(rig)
    bpy.context.view_layer.update()
    with viewport() as context:
        for tip in ("hand.L", "head"):
            found = displayed_limb(context, rig, rig.pose.bones[tip])
            assert distance_row(found.aim, bpy.context.scene) == (Role.WAITING, "", "Not used yet")
    rig.pose.bones["hand.L"].ik_triangulation.target.location.z += 0.3
    bpy.context.view_layer.update()
    with viewport() as context:
        found = displayed_limb(context, rig, rig.pose.bones["hand.L"])
    assert distance_row(found.aim, bpy.context.scene).text == "30 cm away"


def test_the_joint_shown_has_its_angles_and_ranges():
    rig, _ = standard()
    joint = rig.pose.bones["Bone 2"].ik_triangulation_joint
    joint.axis, joint.lower, joint.upper = (1.0, 0.0, 0.0), radians(-10.0), radians(145.0)
    bone = rig.pose.bones["Bone 2"]
    bone.rotation_mode = "XYZ"
    bone.rotation_euler = (radians(42.0), 0.0, 0.0)
    assert joint_rows(seen(rig, "Bone 2")) == [(Role.X, "Bend", "42°  (\N{MINUS SIGN}10° to 145°)")]
    bone.rotation_euler = (radians(145.0), 0.0, 0.0)
    assert joint_rows(seen(rig, "Bone 2")) == [(Role.X, "Bend", "145° at its limit")]
    joint.use_limits = False
    assert joint_rows(seen(rig, "Bone 2")) == [(Role.X, "Bend", "145°")]


def test_a_cone_has_a_swing_up_to_its_opening_and_a_twist():
    rig, _ = standard()
    swing, twist = joint_rows(seen(rig, "Bone 1"))
    assert swing == (Role.LIMIT, "Swing", "0°  (up to 45°)")
    assert twist == (Role.Y, "Twist", "0°  (\N{MINUS SIGN}45° to 45°)")


def test_a_joint_without_limits_and_no_joint_have_no_text():
    rig, _ = standard()
    rig.pose.bones["Bone 3"].ik_triangulation_joint.kind = "FREE"
    assert joint_rows(seen(rig)) == joint_rows(seen(rig, "")) == []


def overlap(one, other):
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


@pytest.mark.parametrize("seed", range(20))
def test_texts_are_on_the_screen_off_the_hand_and_off_each_other(seed):
    rig, target = standard()
    random = Random(seed)
    target.location = Vector([random.uniform(-3.0, 3.0) for _ in range(3)])
    for bone in rig.pose.bones:
        bone.rotation_mode = "XYZ"
        bone.rotation_euler = [random.uniform(-0.7, 0.7) for _ in range(3)]
    limb = seen(rig, "Bone 2")
    turned = Matrix.Rotation(random.uniform(0.0, 6.0), 4, "Z") @ Matrix.Rotation(random.uniform(-1.0, 1.0), 4, "X")
    view = Matrix.Diagonal((0.12, 0.15, 0.01, 1.0)) @ turned.inverted() @ Matrix.Translation((0.0, 0.0, -2.0))
    screen = Screen(anchors_of(limb), view, SIZE, 1.0)
    assert screen.seen
    first = place_distance(screen, WORDS)
    second = place_joint(screen, WORDS, [first])
    for box in (first, second):
        assert box[2] - box[0] == pytest.approx(WORDS[0])
        assert box[0] >= 0.0
        assert box[1] >= 0.0
        assert box[2] <= SIZE[0]
        assert box[3] <= SIZE[1]
        assert not overlap(box, screen.hand)
    assert not overlap(first, second)


def test_texts_are_beside_the_gizmo_and_beside_what_covers_the_viewport():
    rig, target = standard()
    target.empty_display_type, target.location = "PLAIN_AXES", evaluated_tip(rig, "Bone 3")
    screen = Screen(anchors_of(seen(rig)), Matrix.Diagonal((0.1, 0.1, 0.1, 1.0)), SIZE, 1.0)
    x, y = screen.aim[1]
    screen.gizmo = x - 80.0, y - 80.0, x + 80.0, y + 80.0
    screen.open = 0.0, 0.0, float(x) + 100.0, float(SIZE[1])
    first = place_distance(screen, WORDS)
    second = place_joint(screen, WORDS, [first])
    for box in (first, second):
        assert not overlap(box, screen.gizmo)
        assert box[2] <= screen.open[2]


def test_a_long_line_has_its_text_beside_it():
    rig, target = standard()
    target.empty_display_type, target.location = "PLAIN_AXES", (6.0, 0.0, 4.0)
    screen = Screen(anchors_of(seen(rig)), Matrix.Diagonal((0.1, 0.1, 0.1, 1.0)), SIZE, 1.0)
    left, bottom, right, top = place_distance(screen, WORDS)
    middle = screen.aim.mean(0)
    assert np.hypot(*(np.array(((left + right) / 2.0, (bottom + top) / 2.0)) - middle)) < 90.0


def test_nothing_is_placed_behind_the_viewer():
    rig, _ = standard()
    behind = Matrix(((1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, -1)))
    assert not Screen(anchors_of(seen(rig)), behind, SIZE, 1.0).seen


HAND, FAR_OFF = (400.0, 300.0, 460.0, 340.0), np.array([(900.0, 700.0)])
RIGHT, LEFT = (470.0, 310.0, 590.0, 330.0), (270.0, 310.0, 390.0, 330.0)
ABOVE, ABOVE_RIGHT = (370.0, 350.0, 490.0, 370.0), (470.0, 350.0, 590.0, 370.0)


@pytest.mark.parametrize(
    ("changed", "keep", "place"),
    [
        ({}, [], RIGHT),
        ({"scale": 2.0}, [], (480.0, 310.0, 600.0, 330.0)),
        ({"open": (0.0, 0.0, 589.0, 800.0)}, [], LEFT),
        ({"open": (0.0, 0.0, 590.0, 800.0)}, [], RIGHT),
        ({"open": (271.0, 0.0, 589.0, 800.0)}, [], ABOVE),
        ({}, [(465.0, 320.0, 475.0, 325.0)], LEFT),
        ({"gizmo": (465.0, 320.0, 475.0, 325.0)}, [], LEFT),
        ({"limb": np.array([(500.0, 320.0)])}, [], LEFT),
        ({"limb": np.array([(500.0, 320.0), (300.0, 320.0), (430.0, 365.0), (430.0, 275.0)])}, [], ABOVE_RIGHT),
        # All around the hand is the limb: over it rather than over the hand.
        ({"limb": np.array([(x, y) for x in range(200, 680, 5) for y in range(200, 440, 5)], float)}, [], RIGHT),
        # Nothing is open: moved onto what is, from the first place of all.
        ({"open": (100.0, 50.0, 200.0, 60.0)}, [], (100.0, 50.0, 220.0, 70.0)),
        ({"open": (600.0, 400.0, 800.0, 500.0)}, [], (600.0, 400.0, 720.0, 420.0)),
        ({"open": (100.0, 50.0, 300.0, 90.0)}, [], (180.0, 70.0, 300.0, 90.0)),
    ],
)
def test_a_text_is_at_the_first_place_beside_the_hand_that_is_free(changed, keep, place):
    usual = {"hand": HAND, "gizmo": None, "open": (0.0, 0.0, 1000.0, 800.0), "scale": 1.0, "limb": FAR_OFF}
    assert place_beside(SimpleNamespace(**{**usual, **changed}), WORDS, keep) == pytest.approx(place)


@pytest.mark.parametrize(
    ("end", "changed", "keep", "place"),
    [
        # The arcs reach 12 pixels around the joint; above and below them it is nearer than on either side.
        ((300.0, 220.0), {}, [], (240.0, 222.0, 360.0, 242.0)),
        ((312.0, 216.0), {"scale": 2.0}, [], (240.0, 232.0, 360.0, 252.0)),
        ((300.0, 220.0), {}, [(290.0, 230.0, 310.0, 235.0)], (240.0, 158.0, 360.0, 178.0)),
        ((300.0, 220.0), {"gizmo": (290.0, 230.0, 310.0, 235.0)}, [], (240.0, 158.0, 360.0, 178.0)),
        ((300.0, 220.0), {"open": (320.0, 0.0, 1000.0, 800.0)}, [], (322.0, 190.0, 442.0, 210.0)),
        ((300.0, 220.0), {"hand": (100.0, 100.0, 250.0, 300.0)}, [], (322.0, 190.0, 442.0, 210.0)),
    ],
)
def test_the_angles_of_a_joint_are_at_the_place_nearest_to_it_that_is_free(end, changed, keep, place):
    joint = np.array([(300.0, 200.0), end])
    usual = {"hand": HAND, "gizmo": None, "open": (0.0, 0.0, 1000.0, 800.0), "scale": 1.0, "limb": joint[:1]}
    screen = SimpleNamespace(joint=joint, **{**usual, **changed})
    assert place_joint(screen, WORDS, keep) == pytest.approx(place)


OPEN, AWAY, OVER = (100.0, 100.0, 150.0, 120.0), (-30.0, 100.0, 20.0, 120.0), (300.0, 300.0, 350.0, 320.0)
HIDDEN, ON_GIZMO = (500.0, 500.0, 550.0, 520.0), (700.0, 700.0, 750.0, 720.0)


@pytest.mark.parametrize(
    ("options", "chosen"),
    [
        ((HIDDEN, ON_GIZMO, AWAY, OVER, OPEN), OPEN),
        ((HIDDEN, AWAY, OVER), OVER),
        ((HIDDEN, AWAY), (0.0, 100.0, 50.0, 120.0)),
        ((HIDDEN, ON_GIZMO), HIDDEN),
        ((ON_GIZMO, HIDDEN), ON_GIZMO),
        (((990.0, 795.0, 1040.0, 815.0),), (950.0, 780.0, 1000.0, 800.0)),
        ((), (0.0, 0.0, 0.0, 0.0)),
    ],
)
def test_a_text_is_off_boxes_and_the_gizmo_then_in_the_open_and_then_off_the_limb(options, chosen):
    limb = np.array([[325.0, 326.0]])  # below it by less than the flesh around bones
    screen = SimpleNamespace(open=(0.0, 0.0, 1000.0, 800.0), gizmo=(690.0, 690.0, 760.0, 760.0), limb=limb, scale=1.0)
    assert _first(options, [(495.0, 495.0, 505.0, 505.0)], screen) == chosen

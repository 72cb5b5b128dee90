# SPDX-License-Identifier: GPL-3.0-or-later
"""Limbs are found by what they reach for, at once after each change and without a search at each question."""

from time import process_time

import bpy
import pytest

from ik_triangulation.rig import controls
from ik_triangulation.rig.scene_objects import PICTURE
from ik_triangulation.ui import context
from ik_triangulation.ui.context import active_bone, limbs_around, limbs_at_target, limbs_of, limbs_using, map_of

from ..layouts import drawn
from ..rigs import chain_rig, configure, empty, place
from .operators.rebuilt import standard
from .panels.states import PANELS

pytestmark = pytest.mark.usefixtures("empty_scene")


def only(ob):
    """Make this object the active one and the only one selected, in Object Mode."""
    if bpy.context.mode != "OBJECT":
        bpy.ops.object.mode_set(mode="OBJECT")
    for each in bpy.context.view_layer.objects:
        each.select_set(each == ob)
    bpy.context.view_layer.objects.active = ob


def test_targets_come_before_stops_and_poles():
    rig, target = standard()
    for name, count in (("Bone 1", 2), ("Bone 2", 3)):
        configure(rig, name, target=empty(f"Of {name}"), chain_count=count)
    rig.pose.bones["Bone 1"].ik_triangulation.pole_target = target
    rig.pose.bones["Bone 2"].ik_triangulation.reach_stops.add().target = target
    assert [tip.name for tip in limbs_using(bpy.context, target)] == ["Bone 3", "Bone 2", "Bone 1"]


def test_a_chain_that_is_too_long_is_around_nothing():
    rig, _ = standard()
    rig.pose.bones["Bone 3"].ik_triangulation.chain_count = 9
    assert limbs_around(bpy.context, rig.pose.bones["Bone 2"]) == []


def test_a_limb_whose_target_is_set_or_deleted_is_found_or_not_at_once():
    rig, _ = standard()
    other = empty("Other")
    only(other)
    assert active_bone(bpy.context) is None
    rig.pose.bones["Bone 3"].ik_triangulation.target = other
    assert bpy.ops.pose.ik_triangulation_solve() == {"FINISHED"}
    bpy.data.objects.remove(rig)
    assert limbs_at_target(bpy.context) == []


def test_many_questions_take_little_time_in_a_large_scene():
    standard()
    for _ in range(20):
        chain_rig(50, name="Crowd")
    only(empty("Elsewhere"))

    def asked(times):
        started = process_time()
        for _ in range(times):
            active_bone(bpy.context)
        return process_time() - started

    asked(1)
    many = asked(100)
    bpy.context.scene.frame_set(5)
    assert many < 20 * asked(1) + 0.05, "the scene is searched each time"


def test_a_redraw_after_a_bone_was_posed_or_the_rig_moved_searches_nothing(monkeypatch):
    rig, _ = standard()
    bpy.context.view_layer.update()
    searches = []
    for module, name in ((context, "is_limb"), (context, "shown_maps"), (controls, "ik_controls_of")):
        found = getattr(module, name)
        monkeypatch.setattr(module, name, lambda *of, name=name, found=found: searches.append(name) or found(*of))
    for panel in PANELS:
        drawn(panel)
    assert {"is_limb", "shown_maps"} <= set(searches)
    asked = []
    for edit in (None, lambda: setattr(rig, "location", (1.0, 2.0, 3.0)), lambda: pose(rig)):
        searches.clear()
        if edit:
            edit()
            bpy.context.view_layer.update()
        for panel in PANELS:
            drawn(panel)
        asked.append(len(searches))
    assert asked == asked[:1] * 3
    assert "shown_maps" not in searches


def pose(rig):
    rig.pose.bones[0].rotation_quaternion = (0.9, 0.1, 0.0, 0.0)


def test_a_limb_is_found_at_once_where_a_setting_changes_and_after_an_undo():
    rig, _ = standard()
    names = lambda: [tip.name for tip in limbs_of(bpy.context, bpy.data.objects["Rig"])]  # noqa: E731
    bpy.context.view_layer.update()
    assert names() == ["Bone 3"]
    bpy.ops.ed.undo_push(message="one")
    rig.pose.bones["Bone 1"].ik_triangulation.hold = True
    bpy.context.view_layer.update()
    assert names() == ["Bone 1", "Bone 3"]
    bpy.ops.ed.undo_push(message="two")
    bpy.ops.ed.undo()
    assert names() == ["Bone 3"]
    bpy.data.objects["Rig"].pose.bones["Bone 3"].name = "Hand"
    bpy.context.view_layer.update()
    assert names() == ["Hand"]


def test_a_map_that_is_parented_by_hand_or_deleted_is_seen_at_once():
    rig, _ = standard()
    bpy.context.view_layer.update()
    tip = rig.pose.bones["Bone 3"]
    assert map_of(bpy.context, tip, PICTURE) is None
    shown = place(bpy.data.objects.new("Its map", None))
    shown["ik_triangulation_map"] = f"{PICTURE} Bone 3"
    bpy.context.view_layer.update()
    assert map_of(bpy.context, tip, PICTURE) is None
    shown.parent = rig
    bpy.context.view_layer.update()
    assert map_of(bpy.context, tip, PICTURE) == shown
    bpy.data.objects.remove(shown)
    assert map_of(bpy.context, tip, PICTURE) is None

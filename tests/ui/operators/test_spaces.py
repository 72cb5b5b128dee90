# SPDX-License-Identifier: GPL-3.0-or-later
"""Spaces of the active limb's target are added from the selection, ended, listed and removed."""

import bpy
import pytest

from ik_triangulation.jobs.edits.spaces import spaces_of
from ik_triangulation.ui.panels.keys import VIEW3D_PT_ik_triangulation_spaces as PANEL

from ...bodies import followed_rig
from ...layouts import drawn
from ...rigs import empty, select

pytestmark = pytest.mark.usefixtures("empty_scene", "addon")


def listed(rig):
    return [(each.name, each.frame_start, each.frame_end) for each in spaces_of(rig, "hand.L")]


def test_a_space_goes_from_the_selected_table_to_the_selected_hips_and_ends():
    rig, scene = followed_rig(60), bpy.context.scene
    scene.frame_end = 60
    table = empty("Table", (0.5, -0.5, 1.0))
    select(rig, "hand.L")
    assert any("table" in text for text in drawn(PANEL))
    table.select_set(True)
    scene.frame_set(10)
    assert bpy.ops.pose.ik_triangulation_space_add() == {"FINISHED"}
    assert listed(rig) == [("Table", 10, 60)]
    table.select_set(False)
    select(rig, "hand.L", "spine", active="hand.L")
    scene.frame_set(30)
    with pytest.raises(RuntimeError, match="End that space first"):  # it would cut the table's in two
        bpy.ops.pose.ik_triangulation_space_add(frame_end=50)
    assert bpy.ops.pose.ik_triangulation_space_add() == {"FINISHED"}
    assert listed(rig) == [("Table", 10, 29), ("spine", 30, 60)]
    scene.frame_set(45)
    assert bpy.ops.pose.ik_triangulation_space_end() == {"FINISHED"}
    assert bpy.ops.pose.ik_triangulation_space_go() == {"FINISHED"}
    assert scene.frame_current == 30
    assert {"Table", "10 - 29", "spine", "30 - 44"} <= {*drawn(PANEL)}
    assert bpy.ops.pose.ik_triangulation_space_remove() == {"FINISHED"}
    assert listed(rig) == [("Table", 10, 29)]


def test_without_a_selection_it_is_asked_for():
    rig = followed_rig(60)
    select(rig, "hand.L")
    with pytest.raises(RuntimeError, match="Select the object or bone"):
        bpy.ops.pose.ik_triangulation_space_add()
    assert listed(rig) == []

# SPDX-License-Identifier: GPL-3.0-or-later
"""The switches of the overlay belong to the scene, and describe what they show."""

import bpy
import pytest

from ik_triangulation.ui.overlay.settings import IKT_PG_overlay

pytestmark = pytest.mark.usefixtures("empty_scene")


def test_every_part_is_on_at_first_in_each_scene():
    other = bpy.data.scenes.new("Other")
    for scene in (bpy.context.scene, other):
        assert all(getattr(scene.ik_triangulation_overlay, name) for name in IKT_PG_overlay.__annotations__)
    other.ik_triangulation_overlay.show = False
    assert bpy.context.scene.ik_triangulation_overlay.show


def test_each_switch_has_a_name_and_a_description():
    for name in IKT_PG_overlay.__annotations__:
        switch = bpy.context.scene.ik_triangulation_overlay.bl_rna.properties[name]
        assert switch.name[0].isupper()
        assert len(switch.description) > 10

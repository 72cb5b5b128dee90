# SPDX-License-Identifier: GPL-3.0-or-later
"""The panel Edit is there for limbs, and for a trail that is shown; it has the fields of what is switched on."""

import bpy
import pytest

from ...layouts import drawn
from ...rigs import chain_rig, select
from .states import panel, standard

pytestmark = pytest.mark.usefixtures("empty_scene")
EDIT = panel("_edit")


def test_without_a_limb_it_is_there_while_the_trail_is_shown():
    rig = chain_rig(3)
    select(rig, "Bone 2", active="Bone 2")
    bpy.context.view_layer.update()
    assert not EDIT.poll(bpy.context)
    bpy.context.scene.ik_triangulation_trail.show = True
    assert EDIT.poll(bpy.context)


def test_the_object_of_the_trail_is_asked_for_where_it_counts():
    standard()
    trail = bpy.context.scene.ik_triangulation_trail
    assert not {"space", "object"} & set(drawn(EDIT))
    trail.show = True
    assert "space" in drawn(EDIT)
    trail.space = "OBJECT"
    assert "object" in drawn(EDIT)

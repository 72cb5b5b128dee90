# SPDX-License-Identifier: GPL-3.0-or-later
"""The demo is added beside what is there, ready to be baked."""

from types import SimpleNamespace

import bpy
import pytest

from ik_triangulation.jobs.demo import HAND
from ik_triangulation.rig.limb import selected_bones
from ik_triangulation.ui.operators import limbs

from ...layouts import Recorder, context_now
from ...rigs import chain_rig, nothing_lost

pytestmark = pytest.mark.usefixtures("addon", "empty_scene")


def test_the_figure_is_active_in_pose_mode_with_its_hand_selected(capfd):
    other = chain_rig(2)
    bpy.context.view_layer.objects.active = other
    other.select_set(True)
    bpy.ops.object.mode_set(mode="OBJECT")
    assert bpy.ops.object.ik_triangulation_demo_add() == {"FINISHED"}
    assert "Frames 1 to " in capfd.readouterr().out
    rig = bpy.context.view_layer.objects.active
    assert (bpy.context.mode, bpy.context.selected_objects) == ("POSE", [rig])
    assert rig != other
    assert selected_bones(rig) == [HAND]
    assert rig.data.bones.active.name == HAND
    with nothing_lost(), pytest.raises(RuntimeError, match="Go to Object Mode"):
        bpy.ops.object.ik_triangulation_demo_add()


def test_it_is_in_the_menu_add():
    context = context_now()
    layout = Recorder(context)
    for draw in bpy.types.VIEW3D_MT_armature_add._dyn_ui_initialize():
        if draw.__module__ == limbs.__name__:
            draw(SimpleNamespace(layout=layout), context)
    assert layout.picture() == ["demo_add() OUTLINER_OB_ARMATURE"]

# SPDX-License-Identifier: GPL-3.0-or-later
"""The demo is added beside what is there, ready to be baked."""

import bpy
import pytest

from ik_triangulation.jobs.demo import HAND
from ik_triangulation.rig.limb import selected_bones

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

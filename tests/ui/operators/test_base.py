# SPDX-License-Identifier: GPL-3.0-or-later
"""Work that is done is finished for Blender, whatever becomes of telling its result."""

import bpy
import pytest

from ...rigs import chain_rig, select

pytestmark = pytest.mark.usefixtures("empty_scene")


def test_an_operator_whose_result_cannot_be_shown_finishes_and_says_so(monkeypatch, capfd):
    rig = chain_rig(3)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="POSE")
    select(rig, "Bone 2")
    monkeypatch.setattr("ik_triangulation.rig.limb.select_only", lambda *_: 1 / 0)
    assert bpy.ops.pose.ik_triangulation_limb_add() == {"FINISHED"}
    assert rig.pose.bones["Bone 2"].ik_triangulation.target
    assert "Done, but the result cannot be shown: ZeroDivisionError" in capfd.readouterr().out

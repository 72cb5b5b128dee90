# SPDX-License-Identifier: GPL-3.0-or-later
"""Breakdown tells between which keys it posed and what it held, and keys as Auto Keying says."""

import bpy
import pytest

from ...edited import t_pose_rig
from ...jobs.edits.test_breakdown import FEET, key
from ...rigs import curves_of, key_frames

pytestmark = pytest.mark.usefixtures("addon", "empty_scene")


def test_what_is_held_is_told_and_auto_keying_keys(capfd):
    rig = t_pose_rig()
    bpy.context.view_layer.objects.active = rig
    rig.data.bones.active = rig.data.bones["mixamorig:LeftHand"]
    for frame, turn in ((1, 0.0), (11, 0.4)):
        rig.pose.bones["mixamorig:LeftForeArm"].rotation_quaternion = (1.0, 0.0, 0.0, turn)
        key(rig, frame)
    bpy.context.scene.frame_set(6)
    assert bpy.ops.pose.ik_triangulation_breakdown() == {"FINISHED"}
    (told,) = [line for line in capfd.readouterr().out.splitlines() if "Between frames" in line]
    assert "1 and 11" in told
    assert all(f"'{foot}'" in told for foot in FEET)
    assert {len(curve.keyframe_points) for curve in curves_of(rig)} == {2}
    bpy.context.scene.tool_settings.use_keyframe_insert_auto = True
    assert bpy.ops.pose.ik_triangulation_breakdown() == {"FINISHED"}
    assert any(6 in key_frames(curve) for curve in curves_of(rig))

# SPDX-License-Identifier: GPL-3.0-or-later
"""Delete Generated Keys gives back the keys that a bake has replaced, and is one step of undo."""

import bpy
import pytest

from ...rigs import all_keys
from .rebuilt import standard

pytestmark = pytest.mark.usefixtures("empty_scene")


def keyed():
    """A limb with keys made by hand."""
    rig, _ = standard()
    for frame, angle in ((3, 0.1), (8, 0.4)):
        for bone in rig.pose.bones:
            bone.rotation_quaternion = (1.0 - angle, angle, 0.0, 0.0)
            bone.keyframe_insert("rotation_quaternion", frame=frame)
    bpy.ops.ed.undo_push(message="Set up")
    return repr(all_keys(rig))


def now():
    return repr(all_keys(bpy.data.objects["Rig"]))


@pytest.mark.parametrize("only_in_range", [False, True])
def test_keys_made_by_hand_come_back(only_in_range):
    before = keyed()
    bpy.ops.pose.ik_triangulation_bake("EXEC_DEFAULT", True, frame_start=1, frame_end=12)
    baked = now()
    assert baked != before
    assert bpy.ops.pose.ik_triangulation_generated_delete("EXEC_DEFAULT", True, use_range=only_in_range) == {"FINISHED"}
    assert now() == before
    bpy.ops.ed.undo()
    assert now() == baked
    bpy.ops.ed.undo()
    assert now() == before


def test_without_baked_keys_nothing_is_done():
    before = keyed()
    assert bpy.ops.pose.ik_triangulation_generated_delete() == {"CANCELLED"}
    assert now() == before


def test_an_action_that_cannot_be_given_back_from_under_a_layer_is_told(capfd):
    keyed()
    rig = bpy.data.objects["Rig"]
    base = rig.animation_data.action
    bpy.context.active_pose_bone.ik_triangulation.destination = "LAYER"
    bpy.ops.pose.ik_triangulation_bake(frame_start=1, frame_end=4)
    rig.keyframe_insert("location", frame=1)  # above the layer
    assert bpy.ops.pose.ik_triangulation_generated_delete() == {"FINISHED"}
    assert f"Action '{base.name}' stays on NLA track" in capfd.readouterr().out

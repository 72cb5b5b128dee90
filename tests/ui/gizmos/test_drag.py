# SPDX-License-Identifier: GPL-3.0-or-later
"""The tool finds the bone under the mouse, is there in Pose Mode, and its operator drags by a vector."""

import bpy
import numpy as np
import pytest
from mathutils import Vector

from ik_triangulation.ui.gizmos import groups, mouse

from ...edited import t_pose_rig
from ...rigs import nothing_lost
from ..overlay.viewport import viewport

pytestmark = pytest.mark.usefixtures("empty_scene", "addon")

HAND = "mixamorig:LeftHand"


def under(rig, name, aside=0.0):
    """The bone under the mouse, so many pixels beside the middle of a bone."""
    bone = rig.pose.bones[name]
    with viewport() as context:
        place = np.array(rig.matrix_world @ ((bone.head + bone.tail) / 2.0))[None]
        at = mouse.pixels_of(context, place)[0][0] + (0.0, aside)
        return mouse.bone_under(context, tuple(at))


def test_the_bone_under_the_mouse_is_found_unless_it_is_hidden_or_too_far():
    rig = t_pose_rig()
    assert under(rig, HAND) == HAND
    assert under(rig, HAND, aside=5000.0) == ""
    rig.data.bones[HAND].hide = True
    if hasattr(rig.pose.bones[HAND], "hide"):
        rig.pose.bones[HAND].hide = True
    assert under(rig, HAND) != HAND


def test_it_is_there_in_pose_mode_only():
    t_pose_rig()
    with viewport() as context:
        assert groups.VIEW3D_GGT_ik_triangulation_drag.poll(context)
        bpy.ops.object.mode_set(mode="OBJECT")
        assert not groups.VIEW3D_GGT_ik_triangulation_drag.poll(context)
        bpy.ops.object.mode_set(mode="POSE")


def test_the_operator_drags_by_a_vector_and_says_what_cannot_be_dragged():
    rig = t_pose_rig()
    place = rig.pose.bones[HAND].tail.copy()
    assert bpy.ops.pose.ik_triangulation_drag(bone=HAND, value=(-0.2, -0.3, 0.0)) == {"FINISHED"}
    assert (rig.pose.bones[HAND].tail - place - Vector((-0.2, -0.3, 0.0))).length < 2e-3
    with nothing_lost(), pytest.raises(RuntimeError, match="Nowhere"):
        bpy.ops.pose.ik_triangulation_drag(bone="Nowhere", value=(0.1, 0.0, 0.0))

# SPDX-License-Identifier: GPL-3.0-or-later
"""The gizmo is there in Pose Mode for a limb with a target, unless gizmos, overlays or its own switch are off."""

import bpy
import pytest

from ik_triangulation.ui.gizmos.groups import PROPERTY, blender_shows_its_own
from ik_triangulation.ui.gizmos.groups import VIEW3D_GGT_ik_triangulation_target as Group

from ...rigs import chain_rig, configure, empty
from ..overlay.viewport import viewport

pytestmark = pytest.mark.usefixtures("empty_scene")

TIP = "Bone 3"


@pytest.fixture
def rig():
    made = chain_rig(4)
    configure(made, TIP, target=empty(), chain_count=3)
    return made


def is_there():
    with viewport() as context:
        return Group.poll(context)


def test_it_is_there_for_a_tip_with_a_target_in_pose_mode(rig):
    assert is_there()
    rig.data.bones.active = rig.data.bones["Bone 1"]
    assert not is_there()
    rig.data.bones.active = rig.data.bones[TIP]
    bpy.ops.object.mode_set(mode="OBJECT")
    assert not is_there()
    bpy.ops.object.mode_set(mode="POSE")
    rig.data.pose_position = "REST"
    assert not is_there()
    rig.data.pose_position = "POSE"
    rig.pose.bones[TIP].ik_triangulation.target = None
    assert not is_there()
    rig.data.bones.active = None
    assert not is_there()


def test_it_is_hidden_with_gizmos_overlays_and_its_own_switch(rig):
    with viewport() as context:
        space, scene = context.space_data, context.scene
        for owner, name in (
            (space, "show_gizmo"),
            (space, "show_gizmo_context"),
            (space.overlay, "show_overlays"),
            (scene, PROPERTY),
        ):
            setattr(owner, name, False)
            assert not is_there(), name
            setattr(owner, name, True)
        assert is_there()


def test_beside_a_gizmo_of_blenders_own_it_is_told(rig):
    with viewport() as context:
        assert not blender_shows_its_own(context)
        context.space_data.show_gizmo_object_rotate = True
        assert blender_shows_its_own(context)
        context.space_data.show_gizmo_object_rotate = False

# SPDX-License-Identifier: GPL-3.0-or-later
"""The reach demo: added in Object Mode, baked in one press."""

import bpy
import pytest
from mathutils import Vector

from ik_triangulation.errors import RigError
from ik_triangulation.jobs.demo import HAND, add_demo

from ..rigs import contents, evaluated_tip, nothing_lost

pytestmark = pytest.mark.usefixtures("empty_scene")


def test_the_demo_is_baked_in_one_press_and_its_hand_rests_on_the_ball():
    scene = bpy.context.scene
    scene.cursor.location = (1.0, -2.0, 0.5)
    assert bpy.ops.object.ik_triangulation_demo_add() == {"FINISHED"}
    rig, ball = bpy.context.active_object, bpy.data.objects["Ball"]
    assert (bpy.context.mode, rig.data.bones.active.name) == ("POSE", HAND)
    foot = evaluated_tip(rig, "foot.R")
    assert bpy.ops.pose.ik_triangulation_bake() == {"FINISHED"}
    assert tuple(rig.animation_data.action.frame_range) == (1.0, 60.0)
    scene.frame_set(30)
    radius = ball.dimensions.x / 2.0
    assert 0.0 < (evaluated_tip(rig, HAND) - ball.location).length - radius < 0.03
    assert (evaluated_tip(rig, "foot.R") - foot).length < 1e-3
    assert (scene.frame_start, scene.frame_end) == (1, 250)


def test_the_skin_follows_the_bones():
    assert bpy.ops.object.ik_triangulation_demo_add() == {"FINISHED"}
    rig = bpy.context.active_object
    (skin,) = (child for child in rig.children if child.type == "MESH")
    assert {group.name for group in skin.vertex_groups} == {bone.name for bone in rig.data.bones}
    assert all(len(vertex.groups) == 1 for vertex in skin.data.vertices)
    heights = [vertex.co.z for vertex in skin.data.vertices]
    assert min(heights) > -0.05
    assert 1.7 < max(heights) < 2.0


def test_the_demo_is_not_added_in_pose_mode():
    bpy.ops.object.ik_triangulation_demo_add()
    with pytest.raises(RuntimeError, match="Go to Object Mode"):
        bpy.ops.object.ik_triangulation_demo_add()


def test_nothing_is_added_to_a_hidden_collection():
    scene, hidden = bpy.context.scene, bpy.data.collections.new("Hidden")
    scene.collection.children.link(hidden)
    hidden.hide_viewport = True
    bpy.context.view_layer.update()
    with nothing_lost(), pytest.raises(RigError, match="'Hidden' is hidden"):
        add_demo(hidden, Vector(), scene, bpy.context.view_layer)
    assert "number of objects" in contents()

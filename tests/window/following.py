# SPDX-License-Identifier: GPL-3.0-or-later
"""On a generated Rigify rig the + takes the FK arm, and Last Result offers to let the deform bones follow it."""

import addon_utils
import bpy
from mathutils import Vector

from scripts.windowed.inside import buttons, hands, screen, wait
from scripts.windowed.inside.scene import clear
from tests.rigs import key_location, select

FRAMES = 12


def hand(rig):
    """Tail of the deform bone of the hand as Blender shows it, world space."""
    shown = rig.evaluated_get(bpy.context.evaluated_depsgraph_get())
    return shown.matrix_world @ shown.pose.bones["DEF-hand.L"].tail


def generated():
    """Rigify's human, generated, in Pose Mode with the IK control of the left hand selected."""
    clear()
    addon_utils.enable("rigify", default_set=True)  # it reads its preferences
    bpy.ops.object.armature_basic_human_metarig_add()
    bpy.ops.pose.rigify_generate()
    rig = bpy.context.view_layer.objects.active
    bpy.ops.object.mode_set(mode="POSE")
    select(rig, "hand_ik.L")
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, FRAMES
    bpy.ops.view3d.view_axis(type="FRONT")
    bpy.ops.view3d.view_all()
    bpy.ops.ed.undo_push(message="Set up")
    return rig


def script():
    buttons.fold("VIEW3D_PT_ik_triangulation_result", closed=False)
    rig = generated()
    name = rig.name
    yield from screen.sidebar()

    yield from buttons.press("pose.ik_triangulation_limb_add")
    rig = bpy.data.objects[name]
    assert rig.data.bones.active.name == "hand_fk.L", rig.data.bones.active.name
    limb = rig.pose.bones["hand_fk.L"].ik_triangulation
    target, start = limb.target.name, limb.target.location.copy()
    key_location(limb.target, (1, FRAMES), lambda frame: start + Vector((-0.02, -0.02, 0.01)) * frame)
    yield from buttons.press("pose.ik_triangulation_bake")
    yield from wait.end()
    yield 1.0  # until the panels have moved to their places
    screen.picture("following-not")
    rig = bpy.data.objects[name]
    assert rig.pose.bones["upper_arm_parent.L"]["IK_FK"] == 0.0

    yield from buttons.press("pose.ik_triangulation_follow_set")
    yield 1.0
    screen.picture("following")
    for frame in range(1, FRAMES + 1):
        bpy.context.scene.frame_set(frame)
        rig = bpy.data.objects[name]
        assert rig.pose.bones["upper_arm_parent.L"]["IK_FK"] == 1.0
        assert (hand(rig) - bpy.data.objects[target].matrix_world.translation).length < 2e-3, frame

    yield from hands.press("Z", ctrl=True)
    rig = bpy.data.objects[name]
    assert rig.pose.bones["upper_arm_parent.L"]["IK_FK"] == 0.0, "undo does not give back the property"

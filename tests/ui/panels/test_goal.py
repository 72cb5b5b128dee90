# SPDX-License-Identifier: GPL-3.0-or-later
"""The panel of the goal: bones of a target, and the offset that is set there."""

import bpy
import pytest
from mathutils import Euler, Matrix, Vector

from ik_triangulation.jobs.bake import bake
from ik_triangulation.jobs.pose import solve_pose
from ik_triangulation.kinematics.rotation import rotation_angle
from ik_triangulation.rig.limb import Limb

from ...layouts import drawn
from ...rigs import chain_rig, configure, evaluated_tip, nothing_lost
from .states import MAIN, panel, standard

pytestmark = pytest.mark.usefixtures("empty_scene")


def test_a_bone_can_be_chosen_where_target_or_pole_is_an_armature():
    _, _, limb = standard()
    limb.target = limb.pole_target = chain_rig(2, name="Other")
    configure(bpy.data.objects["Rig"], "Bone 3")
    assert "subtarget" in drawn(MAIN)
    assert "pole_subtarget" in drawn(panel("_goal"))


def offset_now(rig, target):
    """Place and rotation of the tip bone's tail in the target's space, as shown."""
    shown = rig.evaluated_get(bpy.context.evaluated_depsgraph_get())
    bone = shown.pose.bones["Bone 3"]
    world = target.evaluated_get(bpy.context.evaluated_depsgraph_get()).matrix_world
    rotation = world.to_quaternion().conjugated() @ (shown.matrix_world @ bone.matrix).to_quaternion()
    return world.inverted() @ (shown.matrix_world @ bone.tail), rotation


def with_offset(**settings):
    rig, target, limb = standard(tolerance=1e-4, **settings)
    target.matrix_world = Matrix.LocRotScale((0.4, 0.6, 2.0), Euler((0.3, -0.5, 1.0)), (0.5, 0.5, 0.5))
    for number, bone in enumerate(rig.pose.bones):
        bone.rotation_quaternion = (0.95, 0.2, 0.1 * number, 0.1)
    bpy.context.view_layer.update()
    assert bpy.ops.pose.ik_triangulation_offset_set() == {"FINISHED"}
    return rig, target, limb


def test_setting_the_offset_moves_nothing_and_a_solve_then_moves_nothing_either():
    rig, target, limb = with_offset(orientation="FULL")
    assert limb.use_offset
    place_then, rotation_then = offset_now(rig, target)
    assert (Vector(limb.offset_location) - place_then).length < 1e-5
    assert rotation_angle(limb.offset_rotation, rotation_then) < 1e-5
    tip = evaluated_tip(rig, "Bone 3")
    bpy.ops.pose.ik_triangulation_solve()
    assert (evaluated_tip(rig, "Bone 3") - tip).length < 1e-4


@pytest.mark.parametrize("orientation", ["AUTO", "FULL", "DIRECTION"])
def test_the_offset_is_kept_when_the_target_moves_in_solve_and_bake(orientation):
    rig, target, limb = with_offset(orientation=orientation)
    place_then, rotation_then = offset_now(rig, target)
    turn = Euler((0.1, 0.15, -0.1)).to_quaternion()

    def kept():
        where, how = offset_now(rig, target)
        assert (where - place_then).length < 1e-3
        if orientation == "FULL":
            assert rotation_angle(how, rotation_then) < 2e-3
        if orientation == "DIRECTION":
            along = Vector((0.0, 1.0, 0.0))
            assert (how @ along).angle(rotation_then @ along) < 2e-3

    target.keyframe_insert("location", frame=1)
    target.keyframe_insert("rotation_euler", frame=1)
    target.location += Vector((0.1, -0.05, -0.15))
    target.rotation_euler = (turn @ target.rotation_euler.to_quaternion()).to_euler()
    target.keyframe_insert("location", frame=10)
    target.keyframe_insert("rotation_euler", frame=10)
    bpy.context.scene.frame_set(10)
    assert solve_pose(Limb.of(rig.pose.bones["Bone 3"])).all_reached
    kept()
    assert bake(Limb.of(rig.pose.bones["Bone 3"]), 1, 10).all_reached
    for frame in (1, 4, 10):
        bpy.context.scene.frame_set(frame)
        kept()
    assert limb.use_offset


def test_without_the_offset_the_tip_goes_to_the_target_again():
    rig, target, limb = with_offset()
    limb.use_offset = False
    bpy.ops.pose.ik_triangulation_solve()
    assert (evaluated_tip(rig, "Bone 3") - target.matrix_world.translation).length < 1e-3


def test_setting_the_offset_is_one_step_of_undo():
    standard()
    bpy.ops.ed.undo_push(message="before")
    bpy.ops.pose.ik_triangulation_offset_set()
    bpy.ops.ed.undo_push(message="after")
    limb = bpy.data.objects["Rig"].pose.bones["Bone 3"].ik_triangulation
    set_to = tuple(limb.offset_location)
    assert limb.use_offset
    bpy.ops.ed.undo()
    limb = bpy.data.objects["Rig"].pose.bones["Bone 3"].ik_triangulation
    assert not limb.use_offset
    assert tuple(limb.offset_location) == (0.0, 0.0, 0.0)
    bpy.ops.ed.redo()
    limb = bpy.data.objects["Rig"].pose.bones["Bone 3"].ik_triangulation
    assert limb.use_offset
    assert tuple(limb.offset_location) == set_to
    for name in ("offset_set", "map"):
        assert {"REGISTER", "UNDO"} <= getattr(bpy.types, f"POSE_OT_ik_triangulation_{name}").bl_options


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ("no target", "Choose a target for 'Bone 3'"),
        ("flat target", "Target 'Target' is scaled flat"),
        ("no such bone", "Bone 'Lost' is not in target 'Other'"),
        ("hidden target", "Target 'Target' is disabled in this view layer"),
        ("edit mode", "Leave Edit Mode first"),
        ("too long", "Chain length 9"),
    ],
)
def test_what_keeps_the_offset_from_being_set_is_told(how, message):
    _, target, limb = standard()
    if how == "no target":
        limb.target = None
    elif how == "flat target":
        target.scale = (1.0, 0.0, 1.0)
    elif how == "no such bone":
        limb.target, limb.subtarget = chain_rig(1, name="Other"), "Lost"
        configure(bpy.data.objects["Rig"], "Bone 3")
    elif how == "hidden target":
        target.hide_viewport = True
    elif how == "edit mode":
        bpy.ops.object.mode_set(mode="EDIT")
    else:
        limb.chain_count = 9
    with nothing_lost(), pytest.raises(RuntimeError, match=message):
        bpy.ops.pose.ik_triangulation_offset_set()

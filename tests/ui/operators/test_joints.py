# SPDX-License-Identifier: GPL-3.0-or-later
"""The operators on joints: why they cannot be pressed, and that each can be undone."""

from random import Random

import bpy
import pytest

from ik_triangulation.jobs import joint_tools as joints
from ik_triangulation.kinematics.rotation import about

from ...bodies import human_rig
from ...jobs.hinges import AXIS, keyed, settings
from ...rigs import (
    chain_rig,
    random_vector,
    select,
)

pytestmark = pytest.mark.usefixtures("empty_scene")


def test_the_operator_learns_what_the_call_does():
    learned = []
    for act in (
        lambda rig: bpy.ops.pose.ik_triangulation_joint_learn(off_axis=0.5, share=90.0, margin=0.25),
        lambda rig: joints.learn(rig, ["Bone 0"], off_axis=0.5, share=90.0, margin=0.25),
    ):
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        rig, random = chain_rig(1), Random(4)
        way = [about((AXIS + 0.2 * random_vector(random)).normalized(), frame / 20.0) for frame in range(60)]
        keyed(rig, "Bone 0", way.__getitem__, range(60))
        act(rig)
        learned.append(settings(rig))
    assert learned[0] == learned[1]
    assert learned[0]["Bone 0"]["kind"] == "HINGE"


OPERATORS = ["own", "copy", "mirror", "learn"]


def operator(name):
    return getattr(bpy.ops.pose, f"ik_triangulation_joint_{name}")


@pytest.mark.parametrize("name", OPERATORS)
def test_why_it_cannot_be_pressed(name):
    with pytest.raises(RuntimeError, match="Select an armature"):
        operator(name)()
    rig = chain_rig(2)
    bpy.ops.object.mode_set(mode="EDIT")
    with pytest.raises(RuntimeError, match="Leave Edit Mode first"):
        operator(name)()
    bpy.ops.object.mode_set(mode="POSE")
    rig.data.bones.active = None
    for bone in rig.pose.bones:
        (bone if hasattr(bone, "select") else bone.bone).select = False
    with pytest.raises(
        RuntimeError, match="Make the bone to copy from the active bone" if name == "copy" else "Select bones"
    ):
        operator(name)()


def test_the_active_bone_is_taken_if_none_is_selected():
    rig = chain_rig(2)
    select(rig, active="Bone 0")
    bpy.ops.pose.ik_triangulation_joint_own()
    assert [bone.ik_triangulation_joint.source for bone in rig.pose.bones] == ["OWN", "AUTO"]
    with pytest.raises(RuntimeError, match="Select the bones to copy to"):
        bpy.ops.pose.ik_triangulation_joint_copy()


def test_it_is_one_step_of_undo():
    rig = chain_rig(3)
    select(rig, "Bone 0", "Bone 1", "Bone 2")
    bpy.ops.ed.undo_push(message="before")
    bpy.ops.pose.ik_triangulation_joint_own()
    bpy.ops.ed.undo_push(message="after")
    bpy.ops.ed.undo()
    rig = bpy.data.objects["Rig"]
    assert {bone.ik_triangulation_joint.source for bone in rig.pose.bones} == {"AUTO"}


def test_every_operator_can_be_undone():
    for name in OPERATORS:
        cls = getattr(bpy.types, f"POSE_OT_ik_triangulation_joint_{name}")
        assert cls.bl_options == {"REGISTER", "UNDO"}


def test_what_is_changed_is_said_with_the_bones(capfd):
    rig = human_rig()
    for bone in rig.pose.bones:
        bone.use_ik_limit_x, bone.ik_max_x = True, 0.5

    def said(name, *bones, active):
        select(rig, *bones, active=active)
        capfd.readouterr()
        assert operator(name)() == {"FINISHED"}
        return [line for line in capfd.readouterr().out.splitlines() if line.startswith("Info: ")]

    assert said("own", "forearm.L", "shin.L", active="shin.L") == ["Info: Custom limits: forearm.L, shin.L"]
    assert said("mirror", "forearm.L", active="forearm.L") == ["Info: Mirrored to: forearm.R"]
    assert said("copy", "forearm.L", "forearm.R", "shin.L", active="shin.L") == [
        "Info: Joint of shin.L to: forearm.L, forearm.R"
    ]

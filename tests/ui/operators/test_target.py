# SPDX-License-Identifier: GPL-3.0-or-later
"""Select takes the target, an object or a bone, and leaves Pose Mode only where it has to."""

import bpy
import pytest

from ik_triangulation.ui.context import active_bone

from ...rigs import all_keys, chain_rig, configure, curves_of, empty, key_frames, nothing_lost
from .rebuilt import standard

pytestmark = pytest.mark.usefixtures("empty_scene")
SELECT = bpy.ops.pose.ik_triangulation_target_select


def is_selected(bone):
    return (bone if hasattr(bone, "select") else bone.bone).select


@pytest.mark.parametrize("locked", [True, False])
def test_the_target_is_selected_and_active(locked):
    rig, target = standard()
    bpy.context.scene.tool_settings.lock_object_mode = locked
    assert SELECT() == {"FINISHED"}
    assert (bpy.context.active_object, bpy.context.selected_objects) == (target, [target])
    assert (bpy.context.mode, rig.mode) == ("OBJECT", "OBJECT" if locked else "POSE")
    assert active_bone(bpy.context) == rig.pose.bones["Bone 3"]


def test_the_target_is_keyed_at_this_frame_and_the_bones_are_not():
    rig, target = standard()
    target.animation_data_clear()
    bpy.context.scene.frame_set(7)
    assert bpy.ops.pose.ik_triangulation_target_key() == {"FINISHED"}
    assert {curve.data_path for curve in curves_of(target)} == {"location", "rotation_euler"}
    assert {tuple(key_frames(curve)) for curve in curves_of(target)} == {(7,)}
    assert not all_keys(rig)


def test_a_control_bone_of_the_rig_is_selected_in_pose_mode():
    rig, _ = standard()
    rig.pose.bones["Bone 3"].ik_triangulation.chain_count = 1
    configure(rig, "Bone 3", target=rig, subtarget="Bone 0")
    assert SELECT() == {"FINISHED"}
    assert bpy.context.mode == "POSE"
    assert [bone.name for bone in rig.pose.bones if is_selected(bone)] == ["Bone 0"]
    assert rig.data.bones.active.name == "Bone 0"


def test_a_bone_of_another_rig_is_selected_in_its_pose_mode():
    door = chain_rig(2, name="Door")
    rig, _ = standard()
    configure(rig, "Bone 3", target=door, subtarget="Bone 0")
    assert SELECT() == {"FINISHED"}
    assert (bpy.context.active_object, bpy.context.mode, rig.mode) == (door, "POSE", "OBJECT")
    assert [bone.name for bone in door.pose.bones if is_selected(bone)] == ["Bone 0"]
    assert active_bone(bpy.context) == rig.pose.bones["Bone 3"]


def hidden(target):
    target.hide_set(True)


def elsewhere(target):
    bpy.context.scene.collection.objects.unlink(target)


def locked(target):
    target.hide_select = True


def without_a_bone(target):
    limb = bpy.data.objects["Rig"].pose.bones["Bone 3"].ik_triangulation
    limb.target, limb.subtarget = bpy.data.objects["Rig"], "Lost"


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (hidden, "'Target' is hidden"),
        (elsewhere, "'Target' is not in the view layer"),
        (locked, "'Target' cannot be selected"),
        (without_a_bone, "'Rig' has no bone 'Lost'"),
    ],
)
def test_what_cannot_be_selected_says_why(change, reason):
    _, target = standard()
    change(target)
    with nothing_lost(), pytest.raises(RuntimeError, match=reason):
        SELECT()


def test_one_of_the_limbs_that_share_a_target_is_chosen():
    rig, target = standard()
    configure(rig, "Bone 1", target=target, chain_count=2)
    choose = bpy.ops.pose.ik_triangulation_limb_choose
    with pytest.raises(RuntimeError, match="Select the target of a limb"):
        choose(armature="Rig", tip="Bone 1")
    SELECT()
    assert choose(armature="Rig", tip="Bone 1") == {"FINISHED"}
    assert active_bone(bpy.context).name == "Bone 1"
    with pytest.raises(RuntimeError, match="No limb of 'Rig' to 'Bone 0'"):
        choose(armature="Rig", tip="Bone 0")


def test_without_a_target_there_is_nothing_to_select():
    chain_rig(2)
    with pytest.raises(RuntimeError, match="Choose a target for 'Bone 1'"):
        SELECT()
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.context.view_layer.objects.active = empty("Elsewhere")

# SPDX-License-Identifier: GPL-3.0-or-later
"""IK controls are found through constraints, whatever their names are; what is missing is named."""

import bpy
import pytest

from ik_triangulation.errors import RigError
from ik_triangulation.rig.controls import ik_controls_of, limbs_with_ik
from ik_triangulation.rig.limb import Limb

from ..ik_rigs import ARM, arm_limb, ik_arm
from ..rigs import chain_rig, empty

pytestmark = pytest.mark.usefixtures("empty_scene")


def test_a_limb_with_an_ik_constraint_of_its_own_has_the_target_and_the_pole_as_controls():
    controls = ik_controls_of(arm_limb(ik_arm()))
    assert (controls.control, controls.pole, controls.base) == ("Grip", "Aim", "")
    assert (controls.upper, controls.lower, controls.tip) == ("Bicep", "Ulna", ("Palm", "Palm", "Grip", "Palm"))
    assert controls.keyed == ["Grip", "Aim"]


def test_a_rig_without_a_pole_has_the_control_alone():
    assert ik_controls_of(arm_limb(ik_arm(pole=False))).keyed == ["Grip"]


def test_a_bone_between_control_and_target_that_cannot_be_moved_is_passed():
    rig = ik_arm()
    rig.pose.bones["Ulna"].constraints["IK"].subtarget = "Between"
    bpy.ops.object.mode_set(mode="EDIT")
    between = rig.data.edit_bones.new("Between")
    grip = rig.data.edit_bones["Grip"]
    between.head, between.tail, between.parent = grip.head, grip.tail, grip
    bpy.ops.object.mode_set(mode="POSE")
    rig.pose.bones["Between"].lock_location = (True, True, True)
    assert ik_controls_of(arm_limb(rig)).control == "Grip"


def test_a_bone_that_moves_the_whole_arm_is_no_control_of_it():
    assert ik_controls_of(arm_limb(ik_arm())).control != "Base"


def test_whether_the_limb_follows_is_told_by_the_constraints():
    rig = ik_arm()
    controls = ik_controls_of(arm_limb(rig))

    def astray():
        bpy.context.view_layer.update()
        return controls.astray(rig.evaluated_get(bpy.context.evaluated_depsgraph_get()))

    assert astray() == ""
    rig.pose.bones["Palm"].constraints[0].influence = 0.5
    assert astray() == "Palm"
    rig.pose.bones["Palm"].constraints[0].influence = 1.0
    rig.pose.bones["Ulna"].constraints[0].mute = True
    assert astray() == "Ulna"


def test_the_limbs_of_a_rig_end_in_what_their_ik_control_turns_and_come_once():
    rig = ik_arm()
    ((limb, controls),) = limbs_with_ik(rig)
    assert (limb.bones, limb.target, controls.control) == (ARM, rig, "Grip")
    rig.pose.bones["Palm"].constraints.remove(rig.pose.bones["Palm"].constraints[0])
    ((limb, controls),) = limbs_with_ik(rig)
    assert (limb.bones, controls.control) == (ARM[:2], "Grip")
    with pytest.raises(RigError, match="'Rig' has no limb with IK controls"):
        limbs_with_ik(chain_rig(3))
    with pytest.raises(RigError, match="location of the pole 'Aim' is locked"):
        limbs_with_ik(with_a_locked_pole().armature)


def without_constraints():
    rig, target = chain_rig(3), empty()
    return Limb.from_tip(rig, "Bone 2", target)


def without_a_turn():
    rig = ik_arm()
    rig.pose.bones["Palm"].constraints.remove(rig.pose.bones["Palm"].constraints[0])
    return arm_limb(rig)


def with_an_object_as_target():
    rig = ik_arm()
    rig.pose.bones["Ulna"].constraints["IK"].target = empty("Nail")
    return arm_limb(rig)


def with_an_object_as_pole():
    rig = ik_arm()
    rig.pose.bones["Ulna"].constraints["IK"].pole_target = empty("Stick")
    return arm_limb(rig)


def with_a_locked_control():
    rig = ik_arm()
    rig.pose.bones["Grip"].lock_location = (True, True, True)
    return arm_limb(rig)


def with_a_locked_pole():
    rig = ik_arm()
    rig.pose.bones["Aim"].lock_location[1] = True
    return arm_limb(rig)


def too_long():
    rig = ik_arm()
    return Limb.from_bones(rig, ["Base", *ARM], empty())


@pytest.mark.parametrize(
    ("made", "text"),
    [
        (without_constraints, "'Bone 2' has no IK controls.*Choose FK controls"),
        (without_a_turn, "Nothing turns 'Palm' with its IK control 'Grip'.*Copy Rotation"),
        (with_an_object_as_target, "'Nail', which is no bone"),
        (with_an_object_as_pole, "'Stick', which is no bone"),
        (with_a_locked_control, "No bone that can be moved carries the IK target 'Grip'"),
        (with_a_locked_pole, "location of the pole 'Aim' is locked. Unlock it"),
        (too_long, "'Base' is above the bones that the IK of 'Ulna' turns. Shorten the limb"),
    ],
)
def test_why_there_are_no_ik_controls_is_said_with_a_remedy(made, text):
    limb = made()
    with pytest.raises(RigError, match=text):
        ik_controls_of(limb)

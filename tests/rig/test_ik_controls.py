# SPDX-License-Identifier: GPL-3.0-or-later
"""IK controls are found through constraints, whatever their names are; what is missing is named."""

import bpy
import pytest
from mathutils import Matrix, Quaternion, Vector

from ik_triangulation.errors import RigError
from ik_triangulation.rig.by_hand.shown_limb import stretches_of
from ik_triangulation.rig.controls import ik_controls_of, limbs_with_ik, moved_with
from ik_triangulation.rig.ik_controls import Showing, shown_offset
from ik_triangulation.rig.limb import Limb

from ..ik_rigs import ARM, arm_limb, ik_arm
from ..rigs import armature, chain_rig, empty, matrix_close

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


def beside_the_arm():
    return Limb.from_bones(ik_arm(), ["Base"], empty())


def with_a_finger():
    rig = ik_arm()
    return Limb.from_bones(with_bones(rig, ("Finger", "Palm", "Palm")), [*ARM, "Finger"], empty())


@pytest.mark.parametrize(
    ("made", "text"),
    [
        (beside_the_arm, "'Base' has no IK controls: no IK constraint turns the bones that show it"),
        (with_a_finger, "'Finger' is beyond the bone that the IK control of 'Palm' carries. End there"),
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


def shown():
    bpy.context.view_layer.update()


def test_a_limb_is_shown_by_its_controls_as_much_as_its_constraints_count():
    rig = ik_arm()
    controls = ik_controls_of(arm_limb(rig))
    turn, copy = rig.pose.bones["Ulna"].constraints["IK"], rig.pose.bones["Palm"].constraints["Copy Rotation"]
    assert controls.examined == ["Palm", "Ulna"]
    assert controls.shown_by("Palm") == "Palm"
    for by_ik, by_copy, astray, own, is_shown in (
        (1.0, 1.0, "", "Ulna", True),
        (0.9, 1.0, "Ulna", "Ulna", False),
        (0.0, 1.0, "Ulna", "Palm", False),
        (1.0, 0.5, "Palm", "Ulna", False),
        (0.0, 0.5, "Palm", "Palm", False),
        (0.0, 0.0, "Palm", "", False),
    ):
        turn.influence, copy.influence = by_ik, by_copy
        assert (controls.astray(rig), controls.own_side.astray(rig)) == (astray, own)
        assert controls.is_shown(rig) is is_shown
    turn.influence = copy.influence = 1.0
    turn.mute = True
    assert (controls.astray(rig), controls.is_shown(rig)) == ("Ulna", False)
    turn.mute = False
    other = rig.pose.bones["Ulna"].constraints.new("IK")
    other.influence = 0.5
    assert controls.astray(rig) == "Ulna"
    other.influence = 1.0
    assert controls.astray(rig) == "Ulna"  # by another constraint
    assert controls.is_shown(rig)


def test_a_tip_that_copies_the_rotation_about_its_own_axes_is_told_with_those_of_its_leader():
    rig = ik_arm()
    controls, copy = ik_controls_of(arm_limb(rig)), rig.pose.bones["Palm"].constraints["Copy Rotation"]
    assert controls.tip_axes(rig) is None
    copy.owner_space = copy.target_space = "LOCAL"
    assert controls.tip_axes(rig) == ("Palm", Quaternion())
    copy.target_space = "LOCAL_OWNER_ORIENT"
    name, turn = controls.tip_axes(rig)
    rests = [rig.data.bones[each].matrix_local.to_quaternion() for each in ("Palm", "Grip")]
    assert name == "Palm"
    assert (rests[0] @ turn).rotation_difference(rests[1]).angle < 1e-3
    copy.mute = True
    assert controls.tip_axes(rig) is None
    copy.mute, copy.target = False, None
    assert controls.tip_axes(rig) is None


def switched_arm():
    """Bones that copy an FK arm and an IK arm at one place, as generators make them."""
    places = [Vector((0.2, 0.0, 1.4)), Vector((0.5, 0.04, 1.4)), Vector((0.78, 0.0, 1.4)), Vector((0.88, 0.0, 1.4))]
    specs = [{"name": "Base", "head": (0.0, 0.0, 1.0), "tail": (0.0, 0.0, 1.3)}]
    for kind in ("", "FK ", "IK "):
        before = "Base"
        for name, head, tail in zip(ARM, places, places[1:], strict=False):
            specs.append({"name": f"{kind}{name}", "head": head, "tail": tail, "parent": before, "roll": 0.4})
            before = specs[-1]["name"]
        if kind == "IK ":
            specs.pop()
    specs.append({"name": "Grip", "head": places[2], "tail": places[3], "parent": "Base", "roll": 0.4})
    rig = armature("Switched", specs)
    turn = rig.pose.bones["IK Ulna"].constraints.new("IK")
    turn.target, turn.subtarget, turn.chain_count = rig, "Grip", 2
    for name in ARM:
        for leader in (f"FK {name}", f"IK {name}" if name != "Palm" else "Grip"):
            copy = rig.pose.bones[name].constraints.new("COPY_TRANSFORMS")
            copy.name, copy.target, copy.subtarget = leader, rig, leader
    shown()
    return rig


def test_bones_that_copy_one_arm_or_the_other_show_both():
    rig = switched_arm()
    limb = Limb.from_bones(rig, [f"FK {name}" for name in ARM], empty())
    controls = ik_controls_of(limb)
    assert list(controls.showing) == [
        Showing("FK Bicep", "Bicep", "IK Bicep", "FK Bicep"),
        Showing("FK Ulna", "Ulna", "IK Ulna", "FK Ulna"),
        Showing("FK Palm", "Palm", "Grip", "FK Palm"),
    ]
    assert (controls.control, controls.owner, controls.turned) == ("Grip", "IK Ulna", ("IK Ulna", "IK Bicep"))
    assert (controls.astray(rig), controls.own_side.astray(rig), controls.is_shown(rig)) == ("", "Bicep", True)
    for name in ARM:
        rig.pose.bones[name].constraints[1].influence = 0.0
    assert (controls.astray(rig), controls.own_side.astray(rig), controls.is_shown(rig)) == ("Bicep", "", False)
    rig.pose.bones["Ulna"].constraints[1].influence = 0.01
    assert controls.own_side.astray(rig) == "Ulna"
    assert matrix_close(shown_offset(rig, controls.tip), Matrix.Identity(4), 1e-6)
    ((found, its),) = limbs_with_ik(rig)
    assert found.bones == limb.bones
    assert its == controls


def test_the_first_bone_that_ik_may_stretch_is_a_control_if_its_scale_is_free():
    rig = switched_arm()
    limb, first = Limb.from_bones(rig, [f"FK {name}" for name in ARM], empty()), rig.pose.bones["IK Bicep"]
    turn = rig.pose.bones["IK Ulna"].constraints["IK"]
    assert (turn.use_stretch, ik_controls_of(limb).base) == (True, "")
    first.ik_stretch = 0.1
    assert ik_controls_of(limb).base == "IK Bicep"
    assert [each.path for each in stretches_of(rig, ik_controls_of(limb))] == ['pose.bones["IK Bicep"].ik_stretch']
    driven = rig.pose.bones["IK Ulna"]
    driven.ik_stretch = 0.2
    assert [each.now for each in stretches_of(rig, ik_controls_of(limb))] == pytest.approx([0.2, 0.1])
    driven.driver_add("ik_stretch")
    assert [each.holder for each in stretches_of(rig, ik_controls_of(limb))] == ["IK Bicep"]
    first.lock_scale[1] = True
    assert ik_controls_of(limb).base == ""
    first.lock_scale[1], turn.use_stretch = False, False
    assert ik_controls_of(limb).base == ""
    assert stretches_of(rig, ik_controls_of(limb)) == []
    own = ik_arm(stretch=True)
    own.pose.bones["Bicep"].ik_stretch = 0.1
    assert ik_controls_of(arm_limb(own)).base == ""  # it is of the limb itself


@pytest.mark.parametrize(("weights", "influence", "shown"), [((0, 1), 1, 1), ((1, 1), 1, 0.5), ((1, 3), 0.8, 0.6)])
def test_an_armature_constraint_shows_a_bone_by_the_share_of_its_weights(weights, influence, shown):
    rig = switched_arm()
    palm = rig.pose.bones["Palm"]
    for each in list(palm.constraints):
        palm.constraints.remove(each)
    both = palm.constraints.new("ARMATURE")
    for leader, weight in zip(("FK Palm", "Grip"), weights, strict=True):
        slot = both.targets.new()
        slot.target, slot.subtarget, slot.weight = rig, leader, weight
    both.influence = influence
    controls = ik_controls_of(Limb.from_bones(rig, [f"FK {name}" for name in ARM], empty()))
    assert controls.tip == ("FK Palm", "Palm", "Grip", "FK Palm")
    assert controls.follows("Palm", rig) == (shown == 1)
    both.targets[0].weight, both.targets[1].weight, both.influence = 1.0, 0.0, 1.0
    assert not controls.follows("Palm", rig)
    assert controls.own_side.follows("Palm", rig)
    both.targets[0].weight = 0.0
    assert not controls.follows("Palm", rig)


def with_bones(rig, *specs):
    """Give a rig more bones: the name, the parent, and a bone whose place it has."""
    bpy.ops.object.mode_set(mode="EDIT")
    bones = rig.data.edit_bones
    for name, parent, at in specs:
        bone = bones.new(name)
        bone.head, bone.tail, bone.roll = bones[at].head, bones[at].tail, bones[at].roll
        bone.parent = bones.get(parent)
    bpy.ops.object.mode_set(mode="POSE")
    return rig


def test_the_control_is_the_topmost_bone_at_its_place_below_what_moves_more_than_the_limb():
    rig = with_bones(switched_arm(), ("Handle", "Base", "Grip"), ("Space", "Base", "Grip"), ("World", "", "Grip"))
    bpy.ops.object.mode_set(mode="EDIT")
    rig.data.edit_bones["Grip"].parent = rig.data.edit_bones["Handle"]
    rig.data.edit_bones["Handle"].parent = rig.data.edit_bones["Space"]
    rig.data.edit_bones["Space"].parent = rig.data.edit_bones["World"]
    bpy.ops.object.mode_set(mode="POSE")
    limb = Limb.from_bones(rig, [f"FK {name}" for name in ARM], empty())
    assert ik_controls_of(limb).control == "World"
    carried = rig.pose.bones["Base"].constraints.new("CHILD_OF")  # what the arm hangs on, too
    carried.target, carried.subtarget = rig, "World"
    assert ik_controls_of(limb).control == "Space"
    space = rig.pose.bones["Handle"].constraints.new("ARMATURE")
    slot = space.targets.new()
    slot.target, slot.subtarget = rig, "Space"
    controls = ik_controls_of(limb)
    assert controls.control == "Handle"  # what switches its space is above
    assert moved_with(limb, controls) == ["Handle", "Grip"]
    rig.pose.bones["Handle"].constraints.remove(space)
    second = rig.pose.bones["Palm"].constraints.new("IK")
    second.target, second.subtarget, second.chain_count, second.use_tail = rig, "Space", 1, True
    assert ik_controls_of(limb).control == "Handle"  # the target of another IK is not only of this limb
    second.subtarget = ""
    assert ik_controls_of(limb).control == "Space"

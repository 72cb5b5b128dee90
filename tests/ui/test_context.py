# SPDX-License-Identifier: GPL-3.0-or-later
"""What the active bone and the selection make the limb; why there is none."""

import bpy
import pytest

from ik_triangulation.errors import ChainError, RigError
from ik_triangulation.jobs.live import following as live
from ik_triangulation.ui.context import (
    active_armature,
    active_bone,
    active_limb,
    cannot_edit,
    cannot_pose,
    cannot_solve,
    cannot_solve_alone,
    choose_limb,
    limbs_at_target,
    own_armature,
    picked_bone,
)

from ..rigs import (
    armature,
    chain_rig,
    configure,
    curves_of,
    empty,
    evaluated_tip,
    nothing_lost,
    place,
    select,
)
from .operators.rebuilt import standard

pytestmark = pytest.mark.usefixtures("empty_scene")


def test_the_subtarget_is_taken_from_the_settings():
    rig, _ = standard()
    other = chain_rig(2, name="Other")
    bpy.ops.object.mode_set(mode="OBJECT")
    other.location = (0.5, 0.5, 1.0)
    configure(rig, "Bone 3", target=other, subtarget="Bone 1")
    bpy.ops.pose.ik_triangulation_solve()
    goal = other.matrix_world @ other.pose.bones["Bone 1"].head
    assert (evaluated_tip(rig, "Bone 3") - goal).length < 1.1e-3


def test_selected_bones_are_turned_and_those_between_them_stay():
    rig, target = standard(use_selected=True)
    select(rig, "Bone 3", "Bone 1")
    rig.data.bones.active = rig.data.bones["Bone 3"]
    assert bpy.ops.pose.ik_triangulation_solve() == {"FINISHED"}
    turned = [bone.name for bone in rig.pose.bones if tuple(bone.rotation_quaternion) != (1.0, 0.0, 0.0, 0.0)]
    assert turned == ["Bone 1", "Bone 3"]
    bpy.ops.pose.ik_triangulation_bake(frame_start=1, frame_end=3)
    assert {curve.group.name for curve in curves_of(rig)} == {"Bone 1", "Bone 3"}
    assert target.animation_data.action is not rig.animation_data.action


@pytest.mark.parametrize("how", ["bone", "collection"])
def test_selected_bones_that_are_hidden_stay(how):
    rig, _ = standard(use_selected=True)
    select(rig, "Bone 1", "Bone 2", "Bone 3", active="Bone 3")
    if how == "bone":
        bone = rig.pose.bones["Bone 1"]
        (bone if hasattr(bone, "select") else bone.bone).hide = True
    else:
        hidden = rig.data.collections.new("Hidden")
        hidden.assign(rig.data.bones["Bone 1"])
        hidden.is_visible = False
    bpy.ops.pose.ik_triangulation_solve()
    turned = [bone.name for bone in rig.pose.bones if tuple(bone.rotation_quaternion) != (1.0, 0.0, 0.0, 0.0)]
    assert turned == ["Bone 2", "Bone 3"]


def test_the_settings_of_the_active_bone_count_whichever_end_of_the_selection_it_is():
    rig, _ = standard()
    configure(rig, "Bone 1", target=empty("Near", (0.3, 0.3, 1.5)), use_selected=True)
    select(rig, "Bone 0", "Bone 1")
    bpy.ops.pose.ik_triangulation_solve()
    assert (evaluated_tip(rig, "Bone 1") - bpy.data.objects["Near"].location).length < 1.1e-3


def no_object():
    standard()
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.context.view_layer.objects.active = None


def another_object():
    standard()
    activate(empty("Another"))


def edit_mode():
    standard()
    bpy.ops.object.mode_set(mode="EDIT")


def no_active_bone():
    rig, _ = standard()
    rig.data.bones.active = None


def no_bones():
    bpy.ops.object.mode_set(mode="OBJECT") if bpy.context.object else None
    rig = place(bpy.data.objects.new("Rig", bpy.data.armatures.new("Rig")))
    bpy.context.view_layer.objects.active = rig


def rest_position():
    standard()[0].data.pose_position = "REST"


def no_target():
    standard()[0].pose.bones["Bone 3"].ik_triangulation.target = None


@pytest.mark.parametrize("operator", ["ik_triangulation_solve", "ik_triangulation_bake", "ik_triangulation_reach"])
@pytest.mark.parametrize(
    ("build", "reason"),
    [
        (no_object, "Select an armature"),
        (another_object, "Select an armature"),
        (edit_mode, "Leave Edit Mode first"),
        (no_active_bone, "Make the bone at the end of the limb active"),
        (no_bones, "Make the bone at the end of the limb active"),
        (rest_position, "'Rig' is in Rest Position. Switch to Pose Position"),
        (no_target, "Choose a target for 'Bone 3'"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_what_cannot_be_pressed_says_why(operator, build, reason):
    build()
    press = getattr(bpy.ops.pose, operator)
    assert not press.poll()
    with nothing_lost(), pytest.raises(RuntimeError, match=reason):
        press()


def test_it_works_in_object_mode():
    rig, target = standard()
    bpy.context.scene.frame_set(2)
    bpy.ops.object.mode_set(mode="OBJECT")
    assert bpy.ops.pose.ik_triangulation_solve() == {"FINISHED"}
    assert bpy.ops.pose.ik_triangulation_bake(frame_start=1, frame_end=3) == {"FINISHED"}
    assert bpy.context.mode == "OBJECT"
    assert (evaluated_tip(rig, "Bone 3") - target.matrix_world.translation).length < 1.1e-3


# Whatever is active


def activate(ob, *others):
    """In Object Mode, with these objects selected."""
    if bpy.context.mode != "OBJECT":
        bpy.ops.object.mode_set(mode="OBJECT")
    for each in bpy.context.view_layer.objects:
        each.select_set(each in {ob, *others})
    bpy.context.view_layer.objects.active = ob


def two_limbs_at_one_target():
    """The limbs of two arms of a rig, and of another rig, reach for one object."""
    rig, target = standard()
    configure(rig, "Bone 1", target=target, chain_count=2)
    other = chain_rig(3, name="Other")
    configure(other, "Bone 2", target=target, chain_count=2)
    return rig, other, target


@pytest.mark.parametrize("operator", ["solve", "bake", "reach", "live", "offset_set", "show_reach"])
def test_with_the_target_active_the_limb_that_reaches_for_it_is_meant(operator):
    rig, target = standard()
    bpy.context.scene.frame_set(7)
    activate(target)
    assert (active_armature(bpy.context), active_bone(bpy.context)) == (rig, rig.pose.bones["Bone 3"])
    assert getattr(bpy.ops.pose, f"ik_triangulation_{operator}")() == {"FINISHED"}
    assert bpy.context.active_object == target or operator == "show_reach"
    if operator in {"solve", "bake", "live"}:
        assert (evaluated_tip(rig, "Bone 3") - target.matrix_world.translation).length < 1.1e-3
    live.stop_all()


def test_while_the_rig_stays_in_pose_mode_its_target_can_be_active():
    rig, target = standard()
    bpy.context.view_layer.objects.active = target
    assert (bpy.context.mode, rig.mode) == ("OBJECT", "POSE")
    assert bpy.ops.pose.ik_triangulation_solve() == {"FINISHED"}
    assert (evaluated_tip(rig, "Bone 3") - target.matrix_world.translation).length < 1.1e-3


def test_all_limbs_that_share_the_target_are_found_and_one_is_chosen():
    rig, other, target = two_limbs_at_one_target()
    activate(target)
    tips = limbs_at_target(bpy.context)
    assert {(tip.id_data, tip.name) for tip in tips} == {(rig, "Bone 1"), (rig, "Bone 3"), (other, "Bone 2")}
    for owner, tip in ((other, "Bone 2"), (rig, "Bone 1"), (rig, "Bone 3")):
        choose_limb(owner, tip)
        assert (active_armature(bpy.context), active_bone(bpy.context).name) == (owner, tip)
    activate(empty("Elsewhere"))
    activate(target)
    assert active_bone(bpy.context).name == "Bone 3", "the choice is not remembered"


def test_the_limb_that_was_active_in_its_rig_is_the_one_at_the_target():
    rig, other, target = two_limbs_at_one_target()
    other.data.bones.active = None
    rig.data.bones.active = rig.data.bones["Bone 1"]
    activate(target)
    assert active_bone(bpy.context) == rig.pose.bones["Bone 1"]


@pytest.mark.parametrize("use", ["pole", "stop"])
def test_a_pole_and_a_stop_stand_for_their_limb(use):
    rig, _ = standard()
    other, limb = empty("Other"), rig.pose.bones["Bone 3"].ik_triangulation
    if use == "pole":
        limb.pole_target = other
    else:
        limb.reach_stops.add().target = other
    activate(other)
    assert active_bone(bpy.context) == rig.pose.bones["Bone 3"]


def test_a_bone_of_a_limb_stands_for_it_and_the_tools_for_joints_still_mean_the_bone():
    rig, _ = standard()
    rig.data.bones.active = rig.data.bones["Bone 2"]
    assert active_bone(bpy.context).name == "Bone 3"
    assert picked_bone(bpy.context).name == "Bone 2"
    rig.data.bones.active = rig.data.bones["Bone 0"]  # above the chain of three
    assert active_bone(bpy.context).name == "Bone 0"


def test_a_bone_in_two_limbs_stands_for_neither():
    rig, target = standard()
    configure(rig, "Bone 2", target=target, chain_count=2)
    rig.data.bones.active = rig.data.bones["Bone 1"]
    assert active_bone(bpy.context).name == "Bone 1"


def test_a_control_bone_that_is_the_target_stands_for_the_limb():
    rig = armature(
        "Rig",
        [
            {"name": "Upper", "head": (0, 0, 0), "tail": (0, 0.2, 1)},
            {"name": "Lower", "head": (0, 0.2, 1), "tail": (0, 0, 2), "parent": "Upper"},
            {"name": "Control", "head": (0.5, 0.5, 1.2), "tail": (0.5, 0.5, 1.5)},
        ],
    )
    configure(rig, "Lower", target=rig, subtarget="Control", chain_count=2)
    rig.data.bones.active = rig.data.bones["Control"]
    assert active_bone(bpy.context).name == "Lower"
    assert bpy.ops.pose.ik_triangulation_solve() == {"FINISHED"}
    assert (evaluated_tip(rig, "Lower") - rig.pose.bones["Control"].head).length < 1.1e-3


def test_a_bone_of_another_armature_is_a_target_until_that_has_limbs_of_its_own():
    door = chain_rig(2, name="Door")
    rig, target = standard()
    configure(rig, "Bone 3", target=door, subtarget="Bone 1")
    activate(door)
    assert (active_armature(bpy.context), own_armature(bpy.context)) == (rig, door)
    door.data.bones.active = door.data.bones["Bone 0"]
    assert active_armature(bpy.context) == door
    configure(door, "Bone 1", target=target, chain_count=1)
    door.data.bones.active = door.data.bones["Bone 1"]
    assert active_armature(bpy.context) == door


@pytest.mark.parametrize("limbs", [True, False])
def test_a_mesh_that_is_skinned_to_a_rig_with_limbs_stands_for_the_rig(limbs):
    rig, _ = standard()
    body = place(bpy.data.objects.new("Body", bpy.data.meshes.new("Body")))
    body.modifiers.new("Rig", "ARMATURE").object = rig
    if not limbs:
        rig.pose.bones["Bone 3"].ik_triangulation.target = None
    activate(body)
    press = bpy.ops.pose.ik_triangulation_solve
    if limbs:
        assert press() == {"FINISHED"}
        return
    with pytest.raises(RuntimeError, match="Select an armature: 'Rig' moves 'Body'"):
        press()


def test_the_armature_may_be_selected_before_or_after_the_target():
    rig = chain_rig(3)
    cup = empty("Cup")
    activate(cup, rig)
    select(rig, "Bone 1", "Bone 2", active="Bone 2")
    assert bpy.ops.pose.ik_triangulation_limb_add() == {"FINISHED"}
    assert rig.pose.bones["Bone 2"].ik_triangulation.target == cup


def test_a_mesh_in_edit_mode_is_left_first():
    rig, _ = standard()
    cube = place(bpy.data.objects.new("Cube", bpy.data.meshes.new("Cube")))
    configure(rig, "Bone 3", target=cube)
    activate(cube)
    bpy.ops.object.mode_set(mode="EDIT")
    assert cannot_edit(bpy.context) == "Leave Edit Mode first"
    bpy.ops.object.mode_set(mode="SCULPT")
    assert cannot_edit(bpy.context) == "Leave Sculpt Mode first"
    bpy.ops.object.mode_set(mode="OBJECT")


def test_a_linked_rig_says_what_to_do(tmp_path):
    _, target = standard()
    bpy.ops.object.mode_set(mode="OBJECT")
    path = str(tmp_path / "rig.blend")
    bpy.data.libraries.write(path, {bpy.data.objects["Rig"], target})
    bpy.ops.wm.read_homefile(use_empty=True)
    with bpy.data.libraries.load(path, link=True) as (_, into):
        into.objects = ["Rig", "Target"]
    rig, target = (place(bpy.data.objects[name]) for name in ("Rig", "Target"))
    activate(target)
    assert cannot_edit(bpy.context) == "'Rig' is linked. Create a library override first"
    own = rig.override_create(remap_local_usages=True)
    activate(own)
    own.override_library.is_system_override = True
    assert cannot_edit(bpy.context).startswith("'Rig' is an override that is not editable")
    own.override_library.is_system_override = False
    assert cannot_edit(bpy.context) is None


def test_with_the_target_active_a_solve_is_one_step_of_undo():
    rig, target = standard()
    bpy.context.scene.frame_set(7)
    activate(target)
    bpy.ops.ed.undo_push(message="Before")
    before = [tuple(bone.rotation_quaternion) for bone in rig.pose.bones]
    bpy.ops.pose.ik_triangulation_solve()
    bpy.ops.ed.undo_push(message="Solve")
    solved = [tuple(bone.rotation_quaternion) for bone in bpy.data.objects["Rig"].pose.bones]
    assert solved != before
    bpy.ops.ed.undo()
    rig = bpy.data.objects["Rig"]
    assert [tuple(bone.rotation_quaternion) for bone in rig.pose.bones] == before
    assert active_bone(bpy.context) == rig.pose.bones["Bone 3"]
    bpy.ops.ed.redo()
    assert [tuple(bone.rotation_quaternion) for bone in bpy.data.objects["Rig"].pose.bones] == solved


def test_what_keeps_the_active_limb_from_being_solved_is_said():
    context = bpy.context
    assert active_armature(context) is None
    for ask in (cannot_edit, cannot_pose, cannot_solve, cannot_solve_alone):
        assert ask(context) == "Select an armature, or the target of a limb"
    with pytest.raises(RigError, match="No armature is active"):
        active_limb(context)
    rig, target = standard()
    assert cannot_solve_alone(context) is cannot_solve(context) is None
    assert active_limb(context).target == target
    stored = rig.pose.bones["Bone 3"].ik_triangulation
    stored.hold = True
    assert cannot_solve(context) is None
    assert cannot_solve_alone(context) == "'Bone 3' is held and has no target"
    stored.hold, stored.target = False, None
    context.view_layer.update()
    assert cannot_solve(context) == cannot_solve_alone(context) == "Choose a target for 'Bone 3'"
    assert active_limb(context, target).target == target
    rig.data.pose_position = "REST"
    assert cannot_edit(context) is None
    for ask in (cannot_pose, cannot_solve, cannot_solve_alone):
        assert ask(context) == "'Rig' is in Rest Position. Switch to Pose Position"
    rig.data.pose_position, rig.data.bones.active = "POSE", None
    assert cannot_pose(context) is None
    assert cannot_solve(context) == "Make the bone at the end of the limb active"
    with pytest.raises(ChainError, match="'Rig' has no active bone"):
        active_limb(context)
    for mode, reason in (("EDIT", "Leave Edit Mode first"), ("OBJECT", None)):
        bpy.ops.object.mode_set(mode=mode)
        assert cannot_edit(context) == reason

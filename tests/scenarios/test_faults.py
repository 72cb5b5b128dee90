# SPDX-License-Identifier: GPL-3.0-or-later
"""What can be wrong: it is said in one line that names the culprit and the remedy, and nothing is lost."""

import re
from math import nan
from typing import NamedTuple

import bpy
import pytest
from mathutils import Vector

from ik_triangulation.errors import ChainError, IKError, SettingError, TargetError
from ik_triangulation.jobs.bake import bake
from ik_triangulation.jobs.pose import solve_pose
from ik_triangulation.rig.limb import Limb

from ..rigs import (
    all_keys,
    armature,
    chain_rig,
    configure,
    curves_of,
    empty,
    evaluated_tip,
    key_location,
    nothing_lost,
    place,
    select,
)

pytestmark = pytest.mark.usefixtures("empty_scene")

LAST = 6  # frames are baked from 1 to here


class Fault(NamedTuple):
    """A state of the rig made by `build(rig, target, folder)`, and what is said of it: by the operator's poll, if that
    sees it, and by the call; or, where the work is done all the same, as a warning.
    """

    what: str
    build: object
    message: str
    poll: str = ""
    warns: bool = False


def standard():
    """Three bones whose tip follows a moving target; the tip bone is active and has its settings."""
    rig, target = chain_rig(3), key_location(empty(), range(1, LAST + 2, 2))
    configure(rig, "Bone 2", target=target, chain_count=3)
    return rig, target


def unset(rig, target, folder):
    rig.pose.bones["Bone 2"].ik_triangulation.target = None


def deleted(rig, target, folder):
    bpy.data.objects.remove(target)


def unlinked(rig, target, folder):
    """As the user interface deletes: the setting keeps the object alive."""
    bpy.context.scene.collection.objects.unlink(target)


def in_another_scene(rig, target, folder):
    unlinked(rig, target, folder)
    bpy.data.scenes.new("Elsewhere").collection.objects.link(target)


def in_a_collection(ob, name="Box"):
    """Move an object into a collection of its own and give the collection's entry in the view layer."""
    box = bpy.data.collections.new(name)
    bpy.context.scene.collection.children.link(box)
    box.objects.link(ob)
    bpy.context.scene.collection.objects.unlink(ob)
    return bpy.context.view_layer.layer_collection.children[name]


def armature_disabled(rig, target, folder):
    bpy.ops.object.mode_set(mode="OBJECT")
    rig.hide_viewport = True


def missing_target_bone(rig, target, folder):
    other = chain_rig(2, name="Other")
    bpy.ops.object.mode_set(mode="OBJECT")
    configure(rig, "Bone 2", target=other, subtarget="gone")


def itself(rig, target, folder):
    rig.pose.bones["Bone 2"].ik_triangulation.target = rig


def parent_to(ob, rig, bone):
    ob.parent, ob.parent_type, ob.parent_bone = rig, "BONE", bone


def parented_to_the_tip(rig, target, folder):
    parent_to(target, rig, "Bone 2")


def parented_to_a_chain_bone(rig, target, folder):
    parent_to(target, rig, "Bone 1")


def constrain(ob, kind, rig, bone):
    constraint = ob.constraints.new(kind)
    constraint.target, constraint.subtarget = rig, bone
    return constraint


def constrained_to_a_chain_bone(rig, target, folder):
    constrain(target, "COPY_LOCATION", rig, "Bone 0")


def child_of_a_chain_bone(rig, target, folder):
    constrain(target, "CHILD_OF", rig, "Bone 2")


def armature_constraint(rig, target, folder):
    slot = target.constraints.new("ARMATURE").targets.new()
    slot.target, slot.subtarget = rig, "Bone 1"


def drive(ob, rig, path="", bone=""):
    """Drive the X location of an object by a property or the transform of a bone."""
    curve = ob.driver_add("location", 0)
    variable = curve.driver.variables.new()
    variable.type = "TRANSFORMS" if bone else "SINGLE_PROP"
    variable.targets[0].id = rig
    if bone:
        variable.targets[0].bone_target = bone
    else:
        variable.targets[0].data_path = path
    curve.driver.expression = variable.name


def driven_by_a_rotation(rig, target, folder):
    drive(target, rig, 'pose.bones["Bone 1"].rotation_quaternion[1]')


def driven_by_a_transform(rig, target, folder):
    drive(target, rig, bone="Bone 1")


def over_two_steps(rig, target, folder):
    first, second = empty("First"), empty("Second")
    target.parent = first
    constrain(first, "COPY_TRANSFORMS", second, "")
    parent_to(second, rig, "Bone 2")


def over_a_bone_of_another_armature(rig, target, folder):
    other = chain_rig(2, name="Other")
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.context.view_layer.objects.active = rig
    constrain(other.pose.bones["Bone 0"], "COPY_ROTATION", rig, "Bone 1")
    parent_to(target, other, "Bone 1")


def over_the_ik_of_another_bone(rig, target, folder):
    """An IK constraint moves the bones above the one that has it."""
    other = chain_rig(2, name="Other")
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.context.view_layer.objects.active = rig
    constrain(other.pose.bones["Bone 1"], "IK", rig, "Bone 1")
    parent_to(target, other, "Bone 0")


def on_a_deformed_mesh(rig, target, folder):
    mesh = bpy.data.meshes.new("Skin")
    mesh.from_pydata([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [], [(0, 1, 2)])
    skin = place(bpy.data.objects.new("Skin", mesh))
    skin.modifiers.new("Armature", "ARMATURE").object = rig
    target.parent, target.parent_type, target.parent_vertices = skin, "VERTEX", (0, 0, 0)


def zero_scale(rig, target, folder):
    rig.scale.x = 0.0


def parent_of_zero_scale(rig, target, folder):
    rig.parent = empty("Carrier")
    rig.parent.scale = (1.0, 1.0, 0.0)


def scale_animated_to_zero(rig, target, folder):
    rig.keyframe_insert("scale", frame=1)
    rig.scale = (0.0, 1.0, 1.0)
    rig.keyframe_insert("scale", frame=4)
    bpy.context.scene.frame_set(1)


def invalid_rest(rig, target, folder):
    bpy.ops.object.mode_set(mode="EDIT")
    rig.data.edit_bones["Bone 2"].tail = (nan, 0.0, 0.0)
    bpy.ops.object.mode_set(mode="POSE")


def bone_of_zero_scale(rig, target, folder):
    rig.pose.bones["Bone 1"].scale = (0.0, 0.0, 0.0)


def ancestor_of_zero_scale(rig, target, folder):
    rig.pose.bones["Bone 0"].scale = (1.0, 0.0, 1.0)
    rig.pose.bones["Bone 2"].ik_triangulation.chain_count = 2


def bone_animated_to_zero_scale(rig, target, folder):
    bone = rig.pose.bones["Bone 1"]
    bone.keyframe_insert("scale", frame=1)
    bone.scale = (1.0, 0.0, 1.0)
    bone.keyframe_insert("scale", frame=4)
    bpy.context.scene.frame_set(1)


def rest_position(rig, target, folder):
    rig.data.pose_position = "REST"


def edit_mode(rig, target, folder):
    bpy.ops.object.mode_set(mode="EDIT")


def nothing_can_move(rig, target, folder):
    for bone in rig.pose.bones:
        bone.lock_rotation = (True, True, True)


def zero_ranges(rig, target, folder):
    for bone in rig.pose.bones:
        own = bone.ik_triangulation_joint
        own.source, own.kind, own.lower, own.upper = "OWN", "HINGE", 0.5, 0.5


def linked_action(rig, target, folder):
    action = bpy.data.actions.new("Walk")
    slot = action.slots.new("OBJECT", "Rig")
    path = folder / "library.blend"
    bpy.data.libraries.write(str(path), {action}, fake_user=True)
    bpy.data.actions.remove(action)
    with bpy.data.libraries.load(str(path), link=True) as (_, wanted):
        wanted.actions = ["Walk"]
    animation = rig.animation_data_create()
    animation.action = bpy.data.actions["Walk"]
    animation.action_slot = animation.action.slots[0]
    assert slot is not None


def shared_slot(rig, target, folder):
    rig.pose.bones["Bone 0"].keyframe_insert("location", frame=1)
    other = empty("Second Rig")
    other.animation_data_create().action = rig.animation_data.action
    other.animation_data.action_slot = rig.animation_data.action_slot


def no_slot(rig, target, folder):
    rig.pose.bones["Bone 0"].keyframe_insert("location", frame=1)
    rig.animation_data.action_slot = None


def tweak_mode(rig, target, folder):
    rig.pose.bones["Bone 0"].keyframe_insert("location", frame=1)
    animation = rig.animation_data
    animation.nla_tracks.new().strips.new("Strip", 1, animation.action)
    animation.action = None
    animation.nla_tracks[0].select = True
    animation.nla_tracks.active = animation.nla_tracks[0]
    animation.use_tweak_mode = True


def linked_armature(rig, target, folder):
    """The rig is taken from a library instead."""
    bpy.ops.object.mode_set(mode="OBJECT")
    path = folder / "library.blend"
    rig.pose.bones["Bone 2"].ik_triangulation.target = None
    bpy.data.libraries.write(str(path), {rig})
    bpy.data.objects.remove(rig)
    with bpy.data.libraries.load(str(path), link=True) as (_, wanted):
        wanted.objects = ["Rig"]
    linked = place(bpy.data.objects["Rig"])
    bpy.context.view_layer.objects.active = linked
    linked.data.bones.active = linked.data.bones["Bone 2"]


def keys_of_another_mode(rig, target, folder):
    rig.pose.bones["Bone 1"].keyframe_insert("rotation_euler", frame=1)


def a_constraint(rig, target, folder):
    constraint = rig.pose.bones["Bone 1"].constraints.new("LIMIT_ROTATION")
    constraint.use_limit_x = constraint.use_limit_y = constraint.use_limit_z = True
    constraint.owner_space = "WORLD"  # in Local Space its ranges are joint limits


def an_nla_track(rig, target, folder):
    bone = rig.pose.bones["Bone 0"]
    bone.rotation_quaternion = (0.8, 0.6, 0.0, 0.0)
    bone.keyframe_insert("rotation_quaternion", frame=1)
    animation = rig.animation_data
    track = animation.nla_tracks.new()
    track.strips.new("Strip", 1, animation.action)
    animation.action = None
    animation.action_blend_type = "ADD"


def a_driver(rig, target, folder):
    rig.pose.bones["Bone 0"].driver_add("rotation_quaternion", 2).driver.expression = "0.1"


def keyed(rig):
    rig.pose.bones["Bone 1"].keyframe_insert("rotation_quaternion", frame=1)
    rig.pose.bones["Bone 1"].keyframe_insert("rotation_quaternion", frame=5)
    return curves_of(rig)


def locked_curves(rig, target, folder):
    for curve in keyed(rig)[:3]:
        curve.lock = True


def muted_curve(rig, target, folder):
    keyed(rig)[0].mute = True


def sampled_curve(rig, target, folder):
    keyed(rig)[1].convert_to_samples(1, 5)


def locked_group(rig, target, folder):
    keyed(rig)[0].group.lock = True


def target_not_a_number(rig, target, folder):
    """From the fourth frame on: a value that is keyed, as a broken driver or import leaves it."""
    curve = curves_of(target)[0]
    for key in curve.keyframe_points[1:]:
        key.co.y = nan


def armature_not_a_number(rig, target, folder):
    key_location(rig, [1, 4])
    curves_of(rig)[0].keyframe_points[1].co.y = nan


def slanted_hinge(rig, target, folder):
    own = rig.pose.bones["Bone 1"].ik_triangulation_joint
    own.source, own.kind, own.lower, own.upper = "OWN", "HINGE", 1.0, -1.0


def chain_too_long(rig, target, folder):
    rig.pose.bones["Bone 2"].ik_triangulation.chain_count = 4


def no_bones_selected(rig, target, folder):
    rig.pose.bones["Bone 2"].ik_triangulation.use_selected = True
    bpy.ops.pose.select_all(action="DESELECT")


def two_branches_selected(rig, target, folder):
    bpy.ops.object.mode_set(mode="EDIT")
    branch = rig.data.edit_bones.new("branch")
    branch.head, branch.tail, branch.parent = (0, 0, 1), (1, 0, 1), rig.data.edit_bones["Bone 0"]
    bpy.ops.object.mode_set(mode="POSE")
    rig.pose.bones["Bone 2"].ik_triangulation.use_selected = True
    select(rig, "branch", "Bone 2")


def carried(target):
    """What carries the target now; its own place is keyed."""
    target.parent = empty("Carrier", (0.0, 0.0, 0.0))
    return target.parent


def refused_driver(rig, target, folder):
    """No file's scripts are run that Blender was not told to trust."""
    carried(target).driver_add("location", 1).driver.expression = "__import__('os').getpid()"


def broken_expression(rig, target, folder):
    carried(target).driver_add("rotation_euler", 2).driver.expression = "1 +"


def driver_of_what_is_gone(rig, target, folder):
    """It moves the rig's own object."""
    gone = empty("Gone")
    drive(rig, gone, "location[0]")
    bpy.data.objects.remove(gone)


def driver_of_a_missing_bone(rig, target, folder):
    other = chain_rig(2, name="Other")
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.context.view_layer.objects.active = rig
    drive(carried(target), other, bone="gone")


def driver_broken_at_one_frame(rig, target, folder):
    carried(target).driver_add("location", 0).driver.expression = "1 / (frame - 4)"


def next_to_zero_scale(rig, target, folder):
    rig.pose.bones["Bone 1"].scale = (1e-8, 1e-8, 1e-8)


def flattened_together(rig, target, folder):
    """Each scale alone would do."""
    for bone in rig.pose.bones:
        bone.scale = (1.0, 1e-5, 1.0)


def no_length(rig, target, folder):
    """A limb of one bone, each of those above it scaled down by as much."""
    for bone in rig.pose.bones:
        bone.scale = (1e-5, 1e-5, 1e-5)
    rig.pose.bones["Bone 2"].ik_triangulation.chain_count = 1


def beyond_all_numbers(rig, target, folder):
    rig.pose.bones["Bone 1"].scale = (1e30, 1e30, 1e30)


def a_weight_beyond_all_others(rig, target, folder):
    rig.pose.bones["Bone 2"].ik_triangulation.rest_weight = 1e30


FOLLOWS = r"Target '.*' follows chain bone 'Bone \d'; it would move while being reached. Unparent it or choose another"
FAULTS = [
    Fault("F3 no target", unset, "No target is set", poll="Choose a target for 'Bone 2'"),
    Fault("F3 target deleted", deleted, "No target is set", poll="Choose a target for 'Bone 2'"),
    Fault("F3 target unlinked", unlinked, "Target 'Target' is not in this scene. Choose another target"),
    Fault("F3 target in another scene", in_another_scene, "Target 'Target' is not in this scene"),
    Fault("F3 bone of the target missing", missing_target_bone, "Bone 'gone' is not in target 'Other'"),
    Fault("F4 the armature itself", itself, "Target 'Rig' is the armature itself. Choose one of its bones"),
    Fault("F4 parented to the tip", parented_to_the_tip, FOLLOWS),
    Fault("F4 parented to a chain bone", parented_to_a_chain_bone, FOLLOWS),
    Fault("F4 constrained to a chain bone", constrained_to_a_chain_bone, FOLLOWS),
    Fault("F4 child of a chain bone", child_of_a_chain_bone, FOLLOWS),
    Fault("F4 armature constraint", armature_constraint, FOLLOWS),
    Fault("F4 driven by a bone's rotation", driven_by_a_rotation, FOLLOWS),
    Fault("F4 driven by a bone's transform", driven_by_a_transform, FOLLOWS),
    Fault("F4 over two steps", over_two_steps, FOLLOWS),
    Fault("F4 over another armature", over_a_bone_of_another_armature, FOLLOWS),
    Fault("F4 over the IK of another bone", over_the_ik_of_another_bone, FOLLOWS),
    Fault("F4 on a mesh that the rig deforms", on_a_deformed_mesh, FOLLOWS),
    Fault("F5 armature disabled", armature_disabled, "'Rig' is disabled in this view layer", poll="."),
    Fault("F6 zero scale", zero_scale, r"'Rig' \(or a parent\) has zero scale on X. Give it a non-zero scale"),
    Fault("F6 parent of zero scale", parent_of_zero_scale, r"'Rig' \(or a parent\) has zero scale on Z"),
    Fault("F6 scale animated to zero", scale_animated_to_zero, "'Rig' .*has zero scale at frame 4"),
    Fault("F7 invalid rest pose", invalid_rest, "Bone 'Bone 2' has an invalid rest pose. Re-create it in Edit Mode"),
    Fault("F8 bone of zero scale", bone_of_zero_scale, "Bone 'Bone 1' is scaled to zero; its direction is undefined"),
    Fault("F8 ancestor of zero scale", ancestor_of_zero_scale, "A bone above 'Bone 1' is scaled to zero"),
    Fault("F8 bone animated to zero scale", bone_animated_to_zero_scale, "Frame 4: Bone 'Bone 1' is scaled to zero"),
    Fault("F9 rest position", rest_position, "'Rig' is in Rest Position. Switch to Pose", poll="Rest Position"),
    Fault("F10 Edit Mode", edit_mode, "Leave Edit Mode first", poll="Leave Edit Mode first"),
    Fault("F11 all channels locked", nothing_can_move, "Nothing can move: all chain axes are locked or limited to one"),
    Fault("F11 no range", zero_ranges, "Nothing can move: all chain axes are locked or limited to one value"),
    Fault("F12 linked action", linked_action, "Action 'Walk' is linked from .*library.blend"),
    Fault("F13 shared slot", shared_slot, "Slot 'Rig' also drives 'Second Rig'"),
    Fault("F14 no slot", no_slot, "Action 'RigAction' has no slot assigned to 'Rig'. Assign one"),
    Fault("F15 tweak mode", tweak_mode, "'Rig' is tweaked, shows its action from .*leave tweak mode first"),
    Fault("F16 another NLA track", an_nla_track, "moves the tip of 'Bone 2' .* away from the solution", warns=True),
    Fault("F17 linked armature", linked_armature, "'Rig' is linked. Create a library override", poll="'Rig' is linked"),
    Fault("F20 keys of another mode", keys_of_another_mode, "'Bone 1' has keys on rotation_euler but", warns=True),
    Fault("F21 constraint", a_constraint, "'Limit Rotation' on 'Bone 1' moves the tip .* away", warns=True),
    Fault("F22 driver", a_driver, r"rotation_quaternion\[2\] of 'Bone 0' is driven"),
    Fault("F23 locked curves", locked_curves, "3 F-Curves of 'Bone 1' are locked, muted or sampled. Unlock them"),
    Fault("F23 muted curve", muted_curve, "1 F-Curves? of 'Bone 1'"),
    Fault("F23 sampled curve", sampled_curve, "1 F-Curves? of 'Bone 1'"),
    Fault("F23 locked group", locked_group, "4 F-Curves of 'Bone 1'"),
    Fault("F25 target not a number", target_not_a_number, r"Target 'Target' has an invalid position at frame \d \(NaN"),
    Fault("F25 armature not a number", armature_not_a_number, r"'Rig' has an invalid position at frame \d \(NaN"),
    Fault("inverted hinge", slanted_hinge, "Hinge is inverted"),
    Fault("F30 chain too long", chain_too_long, "Chain length 4 is more than the 3 bones from 'Bone 2'"),
    Fault("F30 no bones selected", no_bones_selected, "No bones are selected"),
    Fault("F30 two branches", two_branches_selected, "is not a descendant of '"),
    Fault("F39 driver refused", refused_driver, r"location\[1\] of 'Carrier' was refused.*Auto Run", warns=True),
    Fault("F40 wrong expression", broken_expression, r"rotation_euler\[2\] of 'Carrier' is broken: '1 \+'", warns=True),
    Fault("F40 target gone", driver_of_what_is_gone, r"location\[0\] of 'Rig' is broken: its variable", warns=True),
    Fault("F40 bone gone", driver_of_a_missing_bone, r"location\[0\] of 'Carrier' is broken: its var", warns=True),
    Fault("F40 at one frame", driver_broken_at_one_frame, r"location\[0\] of 'Carrier' is broken: '1 /", warns=True),
    Fault("F42 scale next to zero", next_to_zero_scale, "Bone 'Bone 1' is scaled to zero; its direction is undefined"),
    Fault("F42 scales flat together", flattened_together, "Bone 'Bone 2' is scaled flat by those above it"),
    Fault("F42 beyond all numbers", beyond_all_numbers, "Bone 'Bone 1' is scaled or moved beyond 1e\\+12"),
    Fault("F43 no length", no_length, "The bones that end in 'Bone 2' are .* long in all"),
    Fault("F44 weight beyond all others", a_weight_beyond_all_others, "Near weight 1.* is not valid.*0 to 1e\\+06"),
]
every_fault = pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.what)


def selected(rig):
    return [b.name for b in rig.pose.bones if (b if hasattr(b, "select") else b.bone).select]


@every_fault
def test_a_fault_is_told_by_the_call_and_nothing_is_lost(fault, tmp_path):
    fault.build(*standard(), tmp_path)
    rig = bpy.context.view_layer.objects.active or bpy.data.objects["Rig"]
    tip = rig.pose.bones["Bone 2"]
    if fault.what.startswith("F17"):
        tip.ik_triangulation.target = bpy.data.objects["Target"]
    if fault.warns:
        report = bake(Limb.of(tip, selected(rig)), 1, LAST)
        assert any(re.search(fault.message, warning) for warning in report.warnings), report.warnings
        return
    with nothing_lost(), pytest.raises(IKError, match=fault.message) as raised:
        bake(Limb.of(tip, selected(rig)), 1, LAST)
    assert "\n" not in str(raised.value)
    assert str(raised.value).endswith(".")


@every_fault
def test_a_fault_is_told_by_the_operator_and_nothing_is_lost(fault, tmp_path, capfd):
    fault.build(*standard(), tmp_path)
    if fault.warns:
        assert bpy.ops.pose.ik_triangulation_bake(frame_start=1, frame_end=LAST) == {"FINISHED"}
        assert re.search(fault.message, capfd.readouterr().out)
        return
    expected = fault.poll or f"IK Triangulation: .*{fault.message}"
    with nothing_lost(), pytest.raises(RuntimeError, match=expected):
        bpy.ops.pose.ik_triangulation_bake(frame_start=1, frame_end=LAST)
    assert "Traceback" not in capfd.readouterr().err


AT_THE_PRESENT_FRAME = [f for f in FAULTS if not f.warns and not f.poll and not f.what.startswith(("F12", "F13"))]


@pytest.mark.parametrize("fault", AT_THE_PRESENT_FRAME, ids=lambda fault: fault.what)
def test_a_fault_is_told_by_a_solve_and_nothing_is_lost(fault, tmp_path):
    rig, target = standard()
    fault.build(rig, target, tmp_path)
    bpy.context.scene.frame_set(4)
    with nothing_lost(), pytest.raises(IKError, match=None if "frame" in fault.message.lower() else fault.message):
        solve_pose(Limb.of(rig.pose.bones["Bone 2"], selected(rig)), key=True)


# Ranges


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ((10, 9, 1), "The range ends at frame 9, before its start at 10. Swap them"),
        ((1, 9, 0), "A step of 0 frames is too small. Use 0.01 or more"),
        ((1, 9, -2), "A step of -2 frames is too small"),
        ((1, 200_000, 1), "200000 frames are too many. Bake 100000 at most"),
    ],
)
def test_a_range_that_cannot_be_baked_is_refused(given, message):
    rig, _ = standard()
    with nothing_lost(), pytest.raises(SettingError, match=message):
        bake(Limb.of(rig.pose.bones["Bone 2"]), *given)


def test_a_range_of_one_frame_and_frames_below_zero_work():
    rig, _ = standard()
    assert bake(Limb.of(rig.pose.bones["Bone 2"]), -3, -3).keys == 12
    assert {key.co.x for curve in curves_of(rig) for key in curve.keyframe_points} == {-3}


def test_an_unknown_solver_is_refused_with_those_there_are():
    rig, target = standard()
    with nothing_lost(), pytest.raises(SettingError, match="Solver 'MAGIC' is unknown"):
        bake(Limb.from_tip(rig, "Bone 2", target, solver="MAGIC"), 1, LAST)


# Names


def test_a_limb_whose_bone_was_renamed_is_refused_by_name():
    rig, target = standard()
    limb = Limb.from_tip(rig, "Bone 2", target)
    rig.data.bones["Bone 1"].name = "elbow"
    with nothing_lost(), pytest.raises(ChainError, match=r"Bone 'Bone 1' is not in 'Rig' \(renamed or deleted\?\)"):
        bake(limb, 1, LAST)
    with nothing_lost(), pytest.raises(ChainError, match="Bone 'Bone 1' is not in 'Rig'"):
        solve_pose(limb)


def test_a_renamed_bone_keeps_its_settings_and_keys():
    rig, _ = standard()
    bpy.ops.pose.ik_triangulation_bake(frame_start=1, frame_end=LAST)
    rig.data.bones["Bone 2"].name = "hand"
    bpy.ops.pose.ik_triangulation_bake(frame_start=1, frame_end=LAST)
    assert len(curves_of(rig)) == 12


NAMES = {
    "quotes": ['a "quoted" one', "it's", '"'],
    "backslashes": ["a\\b", "\\", 'c\\"d'],
    "brackets": ['x"]["y', "[0]", "pose.bones"],
    "unicode": ["Плечо", "前腕", "🦴"],
    "63 bytes": ["é" * 31 + "x", "b" * 63, "ç" * 31],
    "spaces": [" ", "  a  ", "tab\tbed"],
}


@pytest.mark.parametrize("kind", NAMES)
def test_bones_of_any_name_work(kind):
    names = NAMES[kind]
    rig, target = chain_rig(3, names=names), key_location(empty(), range(1, LAST + 2, 2))
    assert [bone.name for bone in rig.pose.bones] == names
    for _ in range(2):  # the second time into the curves that are there
        report = bake(Limb.from_tip(rig, names[-1], target), 1, LAST)
    assert report.all_reached
    assert not report.warnings
    assert len(curves_of(rig)) == 12
    assert [curve.group.name for curve in curves_of(rig)[::4]] == names
    for curve in curves_of(rig):
        assert len(rig.path_resolve(curve.data_path)) == 4


@pytest.mark.parametrize("kind", NAMES)
def test_a_target_that_follows_a_bone_of_any_name_is_refused(kind):
    rig, target = chain_rig(3, names=NAMES[kind]), empty()
    bone = rig.pose.bones[1]
    drive(target, rig, f"{bone.path_from_id()}.rotation_quaternion[0]")
    with pytest.raises(TargetError, match="follows chain bone"):
        bake(Limb.from_tip(rig, NAMES[kind][-1], target), 1, LAST)


# What looks like a fault and works


def eye_closed(rig, target):
    target.hide_set(True)


def armature_eye_closed(rig, target):
    bpy.ops.object.mode_set(mode="OBJECT")
    rig.hide_set(True)


def not_selectable(rig, target):
    rig.hide_select = target.hide_select = True


def collection_hidden(rig, target):
    in_a_collection(target).hide_viewport = True


def bones_hidden(rig, target):
    for bone in rig.pose.bones:
        (bone if hasattr(bone, "hide") else bone.bone).hide = True
        bone.bone.hide_select = True


def bone_collections_hidden(rig, target):
    collection = rig.data.collections.new("Hidden")
    for bone in rig.data.bones:
        collection.assign(bone)
    collection.is_visible = False


def parented_to_the_object(rig, target):
    target.parent = rig


def muted_constraint(rig, target):
    constrain(target, "COPY_LOCATION", rig, "Bone 1").mute = True


def driven_by_a_custom_property(rig, target):
    """A switch on a bone of the chain, which does not move with it."""
    rig.pose.bones["Bone 2"]["switch"] = 0.5
    drive(target, rig, 'pose.bones["Bone 2"]["switch"]')


def armature_without_a_chain_bone(rig, target):
    other = chain_rig(2, name="Other")
    bpy.ops.object.mode_set(mode="OBJECT")
    other.location = (0.5, 0.0, 0.0)
    other.keyframe_insert("location", frame=1)
    constrain(target, "COPY_LOCATION", other, "Bone 1")


def a_loop_of_empties(rig, target):
    """Blender allows it and breaks it somewhere; the walk over what follows what has to end."""
    first, second = empty("First"), empty("Second")
    first.constraints.new("COPY_ROTATION").target = second
    second.constraints.new("COPY_ROTATION").target = first
    target.constraints.new("COPY_ROTATION").target = first


HARMLESS = [
    eye_closed,
    armature_eye_closed,
    not_selectable,
    collection_hidden,
    bones_hidden,
    bone_collections_hidden,
    parented_to_the_object,
    muted_constraint,
    driven_by_a_custom_property,
    armature_without_a_chain_bone,
    a_loop_of_empties,
]


@pytest.mark.parametrize("stored", [True, False], ids=["in the settings", "given"])
@pytest.mark.parametrize("build", HARMLESS, ids=lambda build: build.__name__.replace("_", " "))
def test_what_looks_like_a_fault_is_baked_as_it_is_seen(build, stored):
    rig, target = standard()
    if not stored:
        rig.pose.bones["Bone 2"].ik_triangulation.target = None
    build(rig, target)
    report = bake(Limb.from_tip(rig, "Bone 2", target), 1, LAST)
    assert report.all_reached
    assert not report.warnings
    for ob in (rig, target):  # to see it
        ob.hide_set(False)
    for layer_collection in bpy.context.view_layer.layer_collection.children:
        layer_collection.hide_viewport = False
    for frame in range(1, LAST + 1):
        bpy.context.scene.frame_set(frame)
        assert (evaluated_tip(rig, "Bone 2") - target.matrix_world.translation).length < 1.1e-3


@pytest.mark.parametrize("stored", [True, False], ids=["in the settings", "given"])
@pytest.mark.parametrize("build", HARMLESS, ids=lambda build: build.__name__.replace("_", " "))
def test_what_looks_like_a_fault_is_solved_at_the_present_frame(build, stored):
    """A solve reads the user's own view layer: it must not take old places for the present ones."""
    rig, target = standard()
    if not stored:  # a setting makes its target known to the dependency graph
        rig.pose.bones["Bone 2"].ik_triangulation.target = None
    build(rig, target)
    bpy.context.scene.frame_set(5)
    solve_pose(Limb.from_tip(rig, "Bone 2", target))
    for ob in (rig, target):
        ob.hide_set(False)
    for layer_collection in bpy.context.view_layer.layer_collection.children:
        layer_collection.hide_viewport = False
    bpy.context.view_layer.update()
    assert (evaluated_tip(rig, "Bone 2") - target.matrix_world.translation).length < 1.1e-3


def target_excluded(rig, target):
    in_a_collection(target).exclude = True


def target_disabled(rig, target):
    target.hide_viewport = True


def target_in_a_disabled_collection(rig, target):
    in_a_collection(target).collection.hide_viewport = True


DISABLED = [target_excluded, target_disabled, target_in_a_disabled_collection]
every_way = pytest.mark.parametrize("build", DISABLED, ids=lambda build: build.__name__.replace("_", " "))


@every_way
@pytest.mark.parametrize("stored", [True, False], ids=["in the settings", "given"])
@pytest.mark.parametrize("act", [solve_pose, lambda limb: bake(limb, 1, LAST)], ids=["solve", "bake"])
def test_a_target_that_blender_does_not_evaluate_is_refused(build, stored, act):
    """F5: its place would be an old one, even where a setting makes it known to the dependency graph."""
    rig, target = standard()
    if not stored:
        rig.pose.bones["Bone 2"].ik_triangulation.target = None
    build(rig, target)
    bpy.context.scene.frame_set(5)
    with nothing_lost(), pytest.raises(TargetError, match="Target 'Target' is disabled in this view layer, its motion"):
        act(Limb.from_tip(rig, "Bone 2", target))


def test_a_target_that_is_enabled_in_one_of_its_collections_is_reached():
    rig, target = standard()
    in_a_collection(target).exclude = True
    box = bpy.data.collections.new("Second")
    bpy.context.view_layer.layer_collection.children["Box"].collection.children.link(box)
    box.objects.link(target)
    bpy.context.view_layer.layer_collection.children["Box"].children["Second"].exclude = False
    assert bake(Limb.from_tip(rig, "Bone 2", target), 1, LAST).all_reached


@pytest.mark.parametrize("count", [1, 64, 400])
def test_chains_of_any_length_are_baked(count):
    rig = chain_rig(count)
    target = empty(location=Vector((0.3, 0.4, 0.8)) if count == 1 else Vector((0.1 * count, 0.2 * count, 0.5 * count)))
    report = bake(Limb.from_tip(rig, f"Bone {count - 1}", target, tolerance=0.02), 1, 2)
    assert report.keys == 8 * count
    if count > 1:
        assert report.all_reached
        assert not report.warnings


@pytest.mark.parametrize("place_in_chain", ["root", "middle", "tip"])
def test_bones_without_length_are_carried_along(place_in_chain):
    """As long as Blender lets them be: 4.5 removes bones of no length, 5.2 makes them some millionths long."""
    joints = [Vector((0, 0, 0)), Vector((0, 0.1, 1)), Vector((0, 0, 2)), Vector((0, 0.1, 3))]
    joints.insert({"root": 0, "middle": 2, "tip": 3}[place_in_chain], Vector())
    i = {"root": 0, "middle": 2, "tip": 3}[place_in_chain]
    joints[i] = joints[i + 1] - Vector((0, 0, 1e-5))
    specs = [
        {"name": f"Bone {n}", "head": joints[n], "tail": joints[n + 1], "parent": f"Bone {n - 1}" if n else None}
        for n in range(len(joints) - 1)
    ]
    rig, target = armature("Rig", specs), empty(location=(1.0, 0.5, 1.2))
    assert min(bone.length for bone in rig.data.bones) < 1e-4
    report = bake(Limb.from_tip(rig, specs[-1]["name"], target), 1, 2)
    assert report.all_reached
    assert not report.warnings


def test_a_single_bone_points_at_a_target_out_of_reach():
    rig, target = chain_rig(1), empty(location=(0.0, 5.0, 0.0))
    report = solve_pose(Limb.from_tip(rig, "Bone 0", target))
    assert not report.all_reached
    tip = evaluated_tip(rig, "Bone 0")
    assert (tip.normalized() - Vector((0.0, 1.0, 0.0))).length < 1e-5


def test_without_a_window_or_an_active_object_the_call_works():
    rig, target = standard()
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.context.view_layer.objects.active = None
    assert bake(Limb.from_tip(rig, "Bone 2", target), 1, LAST).all_reached


def test_a_frame_handler_that_raises_is_no_hindrance(capfd):
    rig, target = standard()
    handlers = bpy.app.handlers.frame_change_post

    def broken(*_):
        raise ValueError("of another add-on")

    handlers.append(broken)
    try:
        assert bake(Limb.from_tip(rig, "Bone 2", target), 1, LAST).all_reached
    finally:
        handlers.remove(broken)


def test_two_objects_of_one_armature_keep_their_own_poses():
    rig, target = standard()
    twin = place(bpy.data.objects.new("Twin", rig.data))
    bpy.context.view_layer.update()
    before = [bone.matrix_basis.copy() for bone in twin.pose.bones]
    bake(Limb.from_tip(rig, "Bone 2", target), 1, LAST)
    assert [bone.matrix_basis for bone in twin.pose.bones] == before
    assert twin.animation_data is None


def test_an_armature_in_two_scenes_is_baked_in_either():
    rig, target = standard()
    second = bpy.data.scenes.new("Second")
    second.collection.objects.link(rig)
    second.collection.objects.link(target)
    first_keys = bake(Limb.from_tip(rig, "Bone 2", target), 1, LAST) and all_keys(rig)
    rig.animation_data_clear()
    for bone in rig.pose.bones:
        bone.rotation_quaternion = (1.0, 0.0, 0.0, 0.0)
    bake(Limb.from_tip(rig, "Bone 2", target), 1, LAST, scene=second, view_layer=second.view_layers[0])
    assert repr(all_keys(rig)) == repr(first_keys)


def test_undo_and_reload_between_two_runs_are_no_hindrance(tmp_path):
    """Bones are looked up by name each time."""
    standard()
    path = tmp_path / "rig.blend"
    bpy.ops.pose.ik_triangulation_solve()
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    for _ in range(3):
        bpy.ops.wm.open_mainfile(filepath=str(path))
        assert bpy.ops.pose.ik_triangulation_solve() == {"FINISHED"}
        assert bpy.ops.pose.ik_triangulation_bake(frame_start=1, frame_end=3) == {"FINISHED"}
    assert len(curves_of(bpy.data.objects["Rig"])) == 12

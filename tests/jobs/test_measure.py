# SPDX-License-Identifier: GPL-3.0-or-later
"""Where constraints, the NLA or F-Curve modifiers move a limb as well, each frame is told as Blender shows it."""

import bpy
import pytest
from mathutils import Vector

from ik_triangulation.jobs import live
from ik_triangulation.jobs.bake import bake, rebake, solve_pose
from ik_triangulation.jobs.reach import reach
from ik_triangulation.jobs.switching import let_follow
from ik_triangulation.rig.interference import may_interfere
from ik_triangulation.rig.limb import Limb
from ik_triangulation.ui.last_result import latest

from ..rigs import armature, chain_rig, configure, curves_of, empty, evaluated_tip, key_location, nothing_lost

pytestmark = pytest.mark.usefixtures("empty_scene")

LAST = 12
TIP = "Bone 2"


def point(frame):
    """Places that every chain reaches."""
    return Vector((0.9, 0.4 + 0.05 * frame, 1.4))


def moving():
    """A rig of three bones and a target that moves."""
    return chain_rig(3), key_location(empty(), range(1, LAST + 1), point)


def limb(rig, target, **settings):
    return Limb.from_tip(rig, TIP, target, **settings)


def copied(rig, bone="Bone 1", kind="COPY_ROTATION"):
    """A constraint to an object that is turned."""
    other = empty("Other", (0.3, -0.4, 0.8))
    other.rotation_euler = (0.4, 0.9, -0.3)
    constraint = rig.pose.bones[bone].constraints.new(kind)
    constraint.target = other
    return constraint


def check(rig, target, report, follower=TIP):
    """Every frame is told as it is shown."""
    for result in report.frames:
        bpy.context.scene.frame_set(int(result.frame))
        shown = max((evaluated_tip(rig, name) - target.matrix_world.translation).length for name in {TIP, follower})
        assert result.error == pytest.approx(shown, abs=2e-5), result.frame
        assert result.reached == (shown <= report.tolerance), result.frame


def whole(rig):
    copied(rig)


def half(rig):
    copied(rig).influence = 0.5


def faded_in(rig):
    constraint = copied(rig)
    for frame, influence in ((5, 0.0), (9, 1.0)):
        constraint.influence = influence
        constraint.keyframe_insert("influence", frame=frame)
    constraint.influence = 0.0


def muted_by_a_driver(rig):
    constraint = copied(rig)
    driver = constraint.driver_add("mute").driver
    driver.expression = "frame < 6"


def inverse_kinematics(rig):
    copied(rig, TIP, "IK").chain_count = 3


def below(rig):
    """An IK constraint further down turns the chain."""
    bpy.ops.object.mode_set(mode="EDIT")
    bone = rig.data.edit_bones.new("Finger")
    bone.head, bone.tail = rig.data.edit_bones[TIP].tail, rig.data.edit_bones[TIP].tail + Vector((0.0, 0.0, 0.3))
    bone.parent = rig.data.edit_bones[TIP]
    bpy.ops.object.mode_set(mode="POSE")
    copied(rig, "Finger", "IK").chain_count = 3


def held(rig):
    for bone in rig.pose.bones:
        limit = bone.constraints.new("LIMIT_ROTATION")
        limit.owner_space = "LOCAL"
        limit.use_limit_x = limit.use_limit_y = limit.use_limit_z = True


def strip_on_top(rig):
    bone = rig.pose.bones["Bone 1"]
    for frame in (6, LAST):
        bone.rotation_quaternion = (0.8, 0.6, 0.0, 0.0)
        bone.keyframe_insert("rotation_quaternion", frame=frame)
    animation = rig.animation_data
    strip = animation.nla_tracks.new().strips.new("Below", 6, animation.action)
    strip.extrapolation = "NOTHING"
    animation.action = None
    animation.action_influence = 0.5
    bone.rotation_quaternion = (1.0, 0.0, 0.0, 0.0)


def noise(rig):
    bone = rig.pose.bones["Bone 0"]
    for frame in (1, LAST):
        bone.keyframe_insert("rotation_quaternion", frame=frame)
    for curve in curves_of(rig):
        curve.modifiers.new("NOISE").strength = 0.3


def animated_object(rig):
    """The constraint's target comes near only at some frames."""
    constraint = copied(rig, "Bone 2", "DAMPED_TRACK")
    constraint.track_axis = "TRACK_Y"
    key_location(constraint.target, range(1, LAST + 1), lambda frame: Vector((frame, -1.0, 0.5 * frame)))


KINDS = (
    whole,
    half,
    faded_in,
    muted_by_a_driver,
    inverse_kinematics,
    below,
    held,
    strip_on_top,
    noise,
    animated_object,
)


@pytest.mark.parametrize("interfere", KINDS)
@pytest.mark.parametrize("act", [bake, reach])
def test_every_frame_is_told_as_it_is_shown(interfere, act):
    rig, target = moving()
    interfere(rig)
    arm = limb(rig, target)
    bpy.context.view_layer.update()
    if act is bake:
        report = bake(arm, 1, LAST)
        check(rig, target, report)
    else:
        report = reach(arm, 1, 5, hold=LAST - 5)
        for result in report.due:
            bpy.context.scene.frame_set(int(result.frame))
            shown = (evaluated_tip(rig, TIP) - target.matrix_world.translation).length
            assert result.error == pytest.approx(shown, abs=2e-5)
            assert result.reached == (shown <= report.tolerance)
    assert not report.all_reached
    assert any("away from the solution" in warning for warning in report.warnings)


def test_a_constraint_that_fades_in_is_told_from_the_frame_on_at_which_it_does():
    rig, target = moving()
    faded_in(rig)
    report = bake(limb(rig, target), 1, LAST)
    assert [result.reached for result in report.frames] == [True] * 5 + [False] * (LAST - 5)
    assert any("'Copy Rotation' on 'Bone 1' moves the tip" in warning for warning in report.warnings)


@pytest.mark.parametrize("interfere", [whole, half, inverse_kinematics, held])
def test_a_solved_pose_is_told_as_it_is_shown(interfere):
    rig, target = moving()
    interfere(rig)
    bpy.context.view_layer.update()
    report = solve_pose(limb(rig, target))
    shown = (evaluated_tip(rig, TIP) - target.matrix_world.translation).length
    assert report.worst.error == pytest.approx(shown, abs=2e-5)
    assert not report.all_reached


def test_a_live_pose_is_told_as_it_is_shown():
    rig, target = moving()
    target.animation_data_clear()
    whole(rig)
    configure(rig, TIP, target=target, chain_count=3)
    live.start(rig, TIP)
    for x in (0.7, 1.1):
        target.location.x = x
        bpy.context.view_layer.update()
        assert bpy.app.timers.is_registered(live._measure)
        live._measure()
        shown = (evaluated_tip(rig, TIP) - target.matrix_world.translation).length
        assert shown > 0.01
        assert latest(rig, TIP).report.worst.error == pytest.approx(shown, abs=2e-5)
    live.stop_all()


def muted(rig):
    copied(rig).mute = True


def without_influence(rig):
    copied(rig).influence = 0.0


@pytest.mark.parametrize("idle", [muted, without_influence, lambda rig: None])
def test_what_does_nothing_is_not_looked_at_frame_by_frame(idle):
    rig, target = moving()
    idle(rig)
    arm = limb(rig, target)
    assert not may_interfere(arm)
    report = bake(arm, 1, LAST)
    assert report.all_reached
    assert not report.warnings


def test_a_turned_hand_is_told_where_a_constraint_turns_it():
    rig, target = moving()
    copied(rig, TIP).mix_mode = "REPLACE"
    arm = limb(rig, target, orientation="FULL")
    report = bake(arm, 1, LAST)
    assert report.largest_angle > 0.1
    assert not report.reached


def test_keys_made_by_hand_that_a_re_bake_keeps_are_told_as_they_are_shown():
    rig, target = moving()
    bake(limb(rig, target), 1, LAST)
    rig.pose.bones["Bone 0"].rotation_quaternion = (0.5, 0.5, -0.5, 0.5)
    rig.pose.bones["Bone 0"].keyframe_insert("rotation_quaternion", frame=6)
    for curve in curves_of(rig):
        for key in curve.keyframe_points:
            if key.co.x == 6.0 and "Bone 0" in curve.data_path:
                key.type = "KEYFRAME"
    configure(rig, TIP, target=target, chain_count=3)
    report = rebake(rig, TIP)
    check(rig, target, report)
    assert report.missed == [6]
    assert not any("away from the solution" in warning for warning in report.warnings)


def doubled():
    """A chain and a second one at the same place, whose bones copy those of the first."""
    specs, joints = [], [Vector((0.0, 0.2 * (i % 2), 0.98 * i)) for i in range(4)]
    for prefix in ("Bone", "Skin"):
        for i in range(3):
            parent = {"parent": f"{prefix} {i - 1}", "connect": True} if i else {}
            specs.append({"name": f"{prefix} {i}", "head": joints[i], "tail": joints[i + 1], **parent})
    rig = armature("Rig", specs)
    for i in range(3):
        copy = rig.pose.bones[f"Skin {i}"].constraints.new("COPY_TRANSFORMS")
        copy.target, copy.subtarget = rig, f"Bone {i}"
        rig.pose.bones[f"Bone {i}"].bone.use_deform = False
    return rig, key_location(empty(), range(1, LAST + 1), point)


def by_object(rig):
    """All copies are driven by a whole number on the object, 0 to 4, of which 3 switches them on."""
    rig["limb"] = 0
    rig.id_properties_ui("limb").update(min=0, max=4)
    for i in range(3):
        driver = rig.pose.bones[f"Skin {i}"].constraints[0].driver_add("influence").driver
        driver.type = "SCRIPTED"
        variable = driver.variables.new()
        variable.targets[0].id, variable.targets[0].data_path = rig, '["limb"]'
        driver.expression = f"{variable.name} == 3"
    return rig.name, "limb", 0.0, 3.0


def by_way_of_another(rig):
    """The property that is read is driven by one of the armature."""
    rig.data["on"] = 0.0
    rig.pose.bones["Bone 0"]["between"] = 0.0
    driver = rig.pose.bones["Bone 0"].driver_add('["between"]').driver
    first = driver.variables.new()
    first.targets[0].id_type = "ARMATURE"
    first.targets[0].id, first.targets[0].data_path = rig.data, '["on"]'
    driver.type = "AVERAGE"
    for i in range(3):
        driver = rig.pose.bones[f"Skin {i}"].constraints[0].driver_add("influence").driver
        driver.type = "AVERAGE"
        variable = driver.variables.new()
        variable.targets[0].id, variable.targets[0].data_path = rig, 'pose.bones["Bone 0"]["between"]'
    return rig.data.name, "on", 0.0, 1.0


def by_mute(rig):
    """Only the last copy is off."""
    rig.pose.bones["Skin 2"].constraints[0].mute = True
    return "Skin 2: Copy Transforms", "mute", 1.0, 0.0


def by_influence(rig):
    rig.pose.bones["Skin 2"].constraints[0].influence = 0.25
    return "Skin 2: Copy Transforms", "influence", 0.25, 1.0


def by_another_constraint(rig):
    copied(rig, "Skin 2").name = "Other"
    return "Skin 2: Other", "influence", 1.0, 0.0


@pytest.mark.parametrize("switch_off", [by_object, by_way_of_another, by_mute, by_influence, by_another_constraint])
def test_bones_that_do_not_follow_are_told_with_what_makes_them(switch_off):
    rig, target = doubled()
    remedy = switch_off(rig)
    arm = limb(rig, target)
    bpy.context.view_layer.update()
    report = bake(arm, 1, LAST)
    check(rig, target, report, "Skin 2")
    assert report.reached < LAST
    [note] = report.not_following
    assert (note.bone, note.tip) == ("Skin 2", TIP)
    assert note.remedy == pytest.approx(remedy)
    with nothing_lost():
        solve_pose_and_take_it_back(arm)
    assert [each[:2] for each in let_follow(arm, 1, LAST)] == [remedy[:2]]
    report = bake(arm, 1, LAST)
    check(rig, target, report, "Skin 2")
    assert report.all_reached
    assert not report.not_following


def solve_pose_and_take_it_back(arm):
    """Nothing of what is tried stays."""
    rotations = {bone.name: bone.rotation_quaternion.copy() for bone in arm.pose_bones}
    solve_pose(arm)
    for name, rotation in rotations.items():
        arm.armature.pose.bones[name].rotation_quaternion = rotation
    bpy.context.view_layer.update()


def test_bones_that_several_things_keep_from_following_are_told_without_a_remedy():
    rig, target = doubled()
    by_object(rig)
    rig.pose.bones["Skin 2"].constraints[0].mute = True
    arm = limb(rig, target)
    report = bake(arm, 1, LAST)
    [note] = report.not_following
    assert note.remedy is None
    assert any("other constraints or bones move it" in warning for warning in report.warnings)


def test_what_copies_the_limb_from_another_place_is_not_meant_to_follow():
    rig, target = doubled()
    copy = rig.pose.bones["Skin 2"].constraints[0]
    copy.mute = True
    copy.subtarget = "Bone 0"
    report = bake(limb(rig, target), 1, LAST)
    assert report.all_reached
    assert not report.not_following

# SPDX-License-Identifier: GPL-3.0-or-later
"""Set Up Body on Rigify's human, as metarig and generated: one hand to the floor and back while the head looks."""

from math import degrees

import bpy
import pytest
from mathutils import Vector

from ik_triangulation.api import new_target
from ik_triangulation.jobs.bake import bake, bake_body, delete_generated
from ik_triangulation.jobs.setup import set_up_body
from ik_triangulation.jobs.shots.problem import body_of
from ik_triangulation.jobs.shots.tips import let_body_follow, measured_again, with_followers
from ik_triangulation.rig.keyframes import curves_of
from ik_triangulation.rig.limb import Limb
from ik_triangulation.rig.rotation import channel
from ik_triangulation.rig.stance import look_of

LAST = 24


def opened(file):
    """The rig with its body set up, one hand keyed to the floor and back, and the ball of the head keyed aside."""
    bpy.ops.wm.open_mainfile(filepath=str(file))
    rig = bpy.data.objects[file.stem if file.stem == "metarig" else "rig"]
    bpy.context.view_layer.objects.active = rig
    made = set_up_body(rig)
    hand, head = made.reach[0], made.looking[0]
    for tip, end in ((hand, Vector((0.2, -0.35, 0.05))), (head, Vector((0.7, -0.6, 0.4)))):
        target = rig.pose.bones[tip].ik_triangulation.target
        start = target.location.copy()
        for frame, share in ((1, 0.0), (LAST // 2, 1.0), (LAST, 0.0)):
            target.location = start.lerp(end, share)
            target.keyframe_insert("location", frame=frame)
    return rig, made


def where():
    return bpy.context.scene, bpy.context.view_layer


def roll(rig, head):
    """Angle [degrees] of the head's side to the ground, where it looks to the side."""
    look = look_of(rig, head)
    side = rig.pose.bones[head].matrix.to_3x3() @ look.axis.cross(look.up)
    return 90.0 - degrees(side.angle(Vector((0, 0, 1))))


def test_one_hand_goes_to_the_floor_and_the_other_along_with_the_body(rigify_file, addon):
    rig, made = opened(rigify_file("metarig"))
    report = bake_body(body_of(rig, made.reach[0]), 1, LAST)
    assert report.reached
    assert report.outside == 0.0
    assert max(report.tips[name].error for name in made.held) < 1e-3
    bpy.context.scene.frame_set(LAST // 2)
    assert rig.pose.bones["spine"].head.z < rig.data.bones["spine"].head_local.z - 0.05
    assert abs(roll(rig, made.looking[0])) < 10.0


def test_the_follow_properties_of_a_generated_rig_are_set_and_its_deform_bones_follow(rigify_file, addon):
    rig, made = opened(rigify_file("basic"))
    assert (made.looking, made.hips) == (("head",), "torso")
    body = body_of(rig, made.reach[0])
    report = with_followers(bake_body(body, 1, LAST), body, *where())
    assert {note.remedy.name for note in report.not_following} >= {"head_follow", "neck_follow", "IK_FK"}
    done = let_body_follow(body, 1, LAST)
    assert {remedy.name for remedy in done} >= {"head_follow", "neck_follow", "IK_FK"}
    report = measured_again(body, report, *where())
    assert report.reached
    bpy.context.scene.frame_set(LAST // 2)
    bones = rig.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones
    hand = rig.pose.bones[made.reach[0]].ik_triangulation.target.matrix_world.translation
    assert (bones["DEF-hand.L"].tail - hand).length < 1e-3


def test_a_generated_rig_that_its_root_scales_and_turns_reaches_as_one_of_that_size(rigify_file, addon):
    bpy.ops.wm.open_mainfile(filepath=str(rigify_file("basic")))
    rig = bpy.data.objects["rig"]
    root = rig.pose.bones["root"]
    root.scale, root.rotation_mode = (1.2,) * 3, "XYZ"
    for frame, angle in ((1, 0.0), (LAST, 0.4)):
        root.rotation_euler.y = angle
        root.keyframe_insert("rotation_euler", frame=frame)
    bpy.context.scene.frame_set(1)
    made = set_up_body(rig)
    target = rig.pose.bones[made.reach[0]].ik_triangulation.target
    start = target.location.copy()
    for frame, share in ((1, 0.0), (LAST // 2, 1.0), (LAST, 0.0)):
        target.location = start.lerp(Vector((0.24, -0.42, 0.06)), share)
        target.keyframe_insert("location", frame=frame)
    arm = Limb.from_tip(rig, made.reach[0], target, rig.pose.bones[made.reach[0]].ik_triangulation.chain_count)
    alone = bake(arm, LAST - 4, LAST)  # where it reaches without the body
    assert "frame by frame" not in alone.text
    bpy.context.scene.frame_set(LAST)
    assert (rig.matrix_world @ rig.pose.bones[arm.tip].tail - target.matrix_world.translation).length < 1e-4
    delete_generated(rig, arm.solved)
    body = body_of(rig, made.reach[0])
    bake_body(body, 1, LAST)
    let_body_follow(body, 1, LAST)
    bpy.context.scene.frame_set(LAST // 2)
    bones = rig.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones
    assert (bones["DEF-hand.L"].tail - target.matrix_world.translation).length < 1e-3
    assert bones["DEF-hand.L"].matrix.to_scale().x == pytest.approx(1.2, abs=1e-3)


def test_the_feet_of_a_generated_rig_stay_while_its_torso_is_keyed_down(rigify_file, addon):
    bpy.ops.wm.open_mainfile(filepath=str(rigify_file("basic")))
    rig = bpy.data.objects["rig"]
    made = set_up_body(rig)
    torso = rig.pose.bones["torso"]
    for frame, height in ((1, 0.0), (LAST // 2, -0.2), (LAST, 0.0)):
        torso.location.z = height
        torso.keyframe_insert("location", frame=frame)
    bpy.context.scene.frame_set(1)
    body = body_of(rig, made.reach[0])
    assert bake_body(body, 1, LAST).reached
    let_body_follow(body, 1, LAST)
    feet = []
    for frame in (1, LAST // 2):
        bpy.context.scene.frame_set(frame)
        bones = rig.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones
        feet.append(bones["DEF-foot.L"].tail.copy())
    assert bones["torso"].head.z < rig.data.bones["torso"].head_local.z - 0.15
    assert (feet[1] - feet[0]).length < 1e-3


def test_arms_and_head_of_a_generated_rig_are_free_until_they_or_a_control_they_copy_are_keyed(rigify_file, addon):
    bpy.ops.wm.open_mainfile(filepath=str(rigify_file("basic")))
    rig = bpy.data.objects["rig"]
    made = set_up_body(rig)
    body = body_of(rig, made.reach[0])
    assert set(made.reach) <= set(body.may_swing)
    assert body.free_heads == made.looking
    for tip, control in zip(made.reach, ("shoulder.L", "upper_arm_fk.R"), strict=True):
        rig.pose.bones[control].keyframe_insert(channel(rig.pose.bones[control])[0], frame=1)
        assert tip not in body_of(rig, made.reach[0]).may_swing, control
    assert body_of(rig, made.reach[0]).free_heads == made.looking


def test_a_foot_that_a_switch_keeps_from_following_in_between_is_told(rigify_file, addon):
    bpy.ops.wm.open_mainfile(filepath=str(rigify_file("basic")))
    rig = bpy.data.objects["rig"]
    made = set_up_body(rig)
    for parent in ("upper_arm_parent", "thigh_parent"):
        for side in "LR":
            switch = rig.pose.bones[f"{parent}.{side}"]
            for frame, value in ((1, 1.0), (2, 0.0), (6, 1.0)):
                switch["IK_FK"] = value
                switch.keyframe_insert('["IK_FK"]', frame=frame)
    for curve in curves_of(rig):
        for key in curve.keyframe_points:
            key.interpolation = "CONSTANT"
    foot = rig.pose.bones[made.held[0]].ik_triangulation
    foot.hold, foot.target = False, new_target(rig, made.held[0])
    start = foot.target.location.copy()
    for frame, height in ((1, 0.0), (4, 0.1), (6, 0.0)):
        foot.target.location.z = start.z + height
        foot.target.keyframe_insert("location", frame=frame)
    bpy.context.scene.frame_set(1)
    body = body_of(rig, made.reach[0])
    report = with_followers(bake_body(body, 1, 10), body, *where())
    assert (made.held[0], "IK_FK") in {(note.tip, note.remedy.name) for note in report.not_following}

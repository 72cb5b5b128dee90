# SPDX-License-Identifier: GPL-3.0-or-later
"""Set Up Body on Rigify's human, as metarig and generated: one hand to the floor and back while the head looks."""

from math import degrees

import bpy
from mathutils import Vector

from ik_triangulation.jobs.bake import bake_body
from ik_triangulation.jobs.problem import body_of
from ik_triangulation.jobs.setup import set_up_body
from ik_triangulation.jobs.tips import let_body_follow, measured_again, with_followers
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

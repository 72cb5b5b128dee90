# SPDX-License-Identifier: GPL-3.0-or-later
"""A head or an eye looks at its target: solved, baked, live and as a reach, upright and within limits."""

from math import degrees

import bpy
import pytest
from mathutils import Vector

from ik_triangulation.jobs.bake import bake
from ik_triangulation.jobs.live import following as live
from ik_triangulation.jobs.pose import solve_pose
from ik_triangulation.jobs.reach import reach
from ik_triangulation.jobs.setup import set_up_body
from ik_triangulation.presets import find_preset
from ik_triangulation.presets.file import read_preset
from ik_triangulation.presets.limb import apply_preset
from ik_triangulation.rig.limb import Limb
from ik_triangulation.rig.stance import look_of
from ik_triangulation.solvers import SOLVERS

from ..bodies import human_rig
from ..rigs import armature, empty

pytestmark = pytest.mark.usefixtures("empty_scene")

# Names of heads and necks, and of the bones of arms and legs, as common skeletons have them.
NAMES = {
    "Mixamo": ("mixamorig:Neck", "mixamorig:Head", "mixamorig:{side}{bone}", "Arm ForeArm Hand UpLeg Leg Foot"),
    "CMU": ("Neck1", "Head", "{side}{bone}", "Arm ForeArm Hand UpLeg Leg Foot"),
    "VRM": ("J_Bip_C_Neck", "J_Bip_C_Head", "J_Bip_{s}_{bone}", "UpperArm LowerArm Hand UpperLeg LowerLeg Foot"),
    "Unreal": ("neck_01", "head", "{bone}_{s}", "upperarm lowerarm hand thigh calf foot"),
}


@pytest.fixture
def rig():
    rig = human_rig(with_head=True)
    bpy.context.view_layer.update()
    return rig


def ball_at(*place):
    ball = empty("Ball")
    ball.location = place
    bpy.context.view_layer.update()
    return ball


def off(rig, ball, tip="head"):
    """Angle [degrees] from the look of a bone as shown to the ball."""
    bpy.context.view_layer.update()
    bone, look = rig.pose.bones[tip], look_of(rig, tip)
    return degrees((bone.matrix.to_3x3() @ look.axis).angle(ball.location - (bone.head + bone.tail) / 2.0))


def roll(rig):
    """Height of the left ear above the right one, as a sine."""
    bpy.context.view_layer.update()
    side = look_of(rig, "head").axis.cross(look_of(rig, "head").up)
    return (rig.pose.bones["head"].matrix.to_3x3() @ side).z


@pytest.mark.parametrize("count", [1, 2])
def test_a_head_of_one_bone_looks_at_the_ball_and_not_at_the_floor(rig, count):
    ball = ball_at(1.0, -1.0, 2.2)
    report = solve_pose(Limb.from_tip(rig, "head", ball, count, orientation="LOOK"))
    assert report.all_reached
    assert off(rig, ball) < 0.1
    assert abs(roll(rig)) < 0.01


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_bake_looks_at_a_moving_ball_with_every_solver(rig, solver):
    ball = ball_at(-1.0, -1.0, 1.5)
    for frame, x in ((1, -1.0), (30, 1.0)):
        ball.location.x = x
        ball.keyframe_insert("location", frame=frame)
    report = bake(Limb.from_tip(rig, "head", ball, 2, orientation="LOOK", solver=solver), 1, 30)
    assert report.all_reached
    assert not report.jumps
    for frame in (1, 9, 22, 30):
        bpy.context.scene.frame_set(frame)
        assert off(rig, ball) < 1.0


def test_a_live_head_follows_the_ball(rig):
    ball = ball_at(1.0, -1.0, 1.9)
    limb = rig.pose.bones["head"].ik_triangulation
    limb.target, limb.chain_count, limb.orientation = ball, 1, "LOOK"
    live.start(rig, "head")
    for _ in range(5):
        ball.location.x -= 0.4
        assert off(rig, ball) < 0.1
        assert abs(roll(rig)) < 0.01
    live.stop(rig, "head")


def test_a_reach_turns_the_head_to_the_ball(rig):
    ball = ball_at(-1.0, -1.0, 2.0)
    assert reach(Limb.from_tip(rig, "head", ball, 2, orientation="LOOK"), 1, 20).all_reached
    turned = []
    for frame in (1, 10, 20):
        bpy.context.scene.frame_set(frame)
        turned.append(off(rig, ball))
    assert turned[0] > turned[1] > turned[2]
    assert turned[2] < 1.0


def test_limits_of_the_neck_hold_and_a_ball_behind_the_back_is_told_as_missed(rig):
    apply_preset(rig, ["neck", "head"], read_preset(find_preset("Neck")))
    ball = ball_at(1.0, -0.5, 1.8)
    limb = Limb.from_tip(rig, "head", ball, 1, orientation="LOOK")
    assert solve_pose(Limb.from_tip(rig, "head", ball, 2, orientation="LOOK")).all_reached
    ball.location = (0.2, 3.0, 1.7)
    bpy.context.view_layer.update()
    report = solve_pose(limb)
    assert not report.all_reached
    assert report.frames[0].error == 0.0
    assert degrees(report.frames[0].angle) > 10.0
    assert all(abs(turn) < 61.0 for turn in map(degrees, rig.pose.bones["head"].matrix_basis.to_euler("YXZ")))


def test_an_eye_looks_along_its_bone():
    specs = [{"name": "eye", "head": Vector((0.03, 0, 1.7)), "tail": Vector((0.035, -0.02, 1.7))}]
    rig, ball = armature("Eyes", specs), ball_at(0.5, -1.0, 1.9)
    assert solve_pose(Limb.from_tip(rig, "eye", ball, 1, orientation="LOOK")).all_reached
    bone = rig.pose.bones["eye"]
    assert degrees((bone.tail - bone.head).angle(ball.location - bone.head)) < 0.5


def test_another_axis_looks_where_it_is_chosen(rig):
    ball = ball_at(1.0, -1.0, 1.9)
    assert solve_pose(Limb.from_tip(rig, "head", ball, 1, orientation="LOOK", look_axis="-X")).all_reached
    bone = rig.pose.bones["head"]
    way = ball.location - (bone.head + bone.tail) / 2.0
    assert degrees((-bone.matrix.to_3x3().col[0]).angle(way)) < 0.1


@pytest.mark.parametrize("names", NAMES)
def test_a_head_is_set_up_on_common_skeletons(rig, names):
    neck, head, pattern, parts = NAMES[names]
    rig.data.bones["neck"].name, rig.data.bones["head"].name = neck, head
    for own, part in zip(("upper_arm", "forearm", "hand", "thigh", "shin", "foot"), parts.split(), strict=True):
        for letter, side in (("L", "Left"), ("R", "Right")):
            short = letter.lower() if names == "Unreal" else letter
            rig.data.bones[f"{own}.{letter}"].name = pattern.format(side=side, s=short, bone=part)
    made = set_up_body(rig)
    assert made.looking == (head,)
    assert (len(made.reach), len(made.held)) == (2, 2)
    limb = rig.pose.bones[head].ik_triangulation
    assert (limb.chain_count, limb.orientation) == (2, "LOOK")

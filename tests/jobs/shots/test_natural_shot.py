# SPDX-License-Identifier: GPL-3.0-or-later
"""A natural bake: exact, near the pose made by hand, the same again, alike on both sides, closed where it is a lap."""

from math import cos, degrees, radians, sin

import bpy
import numpy as np
import pytest
from mathutils import Matrix, Quaternion, Vector

from ik_triangulation.jobs.bake import bake
from ik_triangulation.jobs.setup import add_limbs
from ik_triangulation.kinematics.rotation import rotation_angle
from ik_triangulation.rig.armature import Bones, base_of, channels_of
from ik_triangulation.rig.limb import Limb

from ...rigs import all_keys, armature, chain_rig, empty, evaluated_tip, key_location, rotate
from ..waving import body, wave

pytestmark = pytest.mark.usefixtures("addon", "empty_scene")


def shown(rig, names, frame):
    bpy.context.scene.frame_set(frame)
    return [rig.pose.bones[name].rotation_quaternion.copy() for name in names]


BONES = ["upper_arm.L", "forearm.L", "hand.L"]


def test_the_hand_goes_and_turns_as_its_empty_does():
    rig = body()
    tip, target = wave(rig)
    report = bake(Limb.of(tip), 1, 60)
    assert report.all_reached
    assert report.jumps == []
    for frame in (1, 17, 30, 52):
        bpy.context.scene.frame_set(frame)
        assert (evaluated_tip(rig, tip.name) - target.matrix_world.translation).length < 1e-4
        assert rotation_angle(tip.matrix.to_quaternion(), target.matrix_world.to_quaternion()) < 1e-3


def test_a_second_bake_with_nothing_changed_writes_the_same_keys():
    rig = body()
    tip, _ = wave(rig)
    bake(Limb.of(tip), 1, 60)
    first = repr(all_keys(rig))
    bake(Limb.of(tip), 1, 60)
    assert repr(all_keys(rig)) == first


def test_a_lap_closes():
    rig = body()
    tip, _ = wave(rig)
    bake(Limb.of(tip), 1, 60)
    gaps = map(rotation_angle, shown(rig, BONES, 1), shown(rig, BONES, 60))
    assert degrees(max(gaps)) < 0.1


def test_both_sides_move_alike():
    turned = {}
    for side in "LR":
        rig = body(side)
        tip, _ = wave(rig, side)
        bake(Limb.of(tip), 1, 60)
        turned[side] = [
            [rotation_angle(Quaternion(), each) for each in shown(rig, [b.replace("L", side) for b in BONES], frame)]
            for frame in (10, 25, 40)
        ]
    assert np.abs(np.array(turned["L"]) - np.array(turned["R"])).max() < radians(0.2)


def test_keys_made_by_hand_lead_the_elbow():
    elbows = {}
    for out in (0.0, 0.8):
        rig = body()
        tip, _ = wave(rig)
        upper = rig.pose.bones["upper_arm.L"]
        axis = (upper.bone.matrix_local.to_3x3().transposed() @ Vector((0.3, 0.0, -0.6))).normalized()
        for frame in (1, 60):
            rotate(upper, Quaternion(axis, out))
            upper.keyframe_insert("rotation_quaternion", frame=frame)
        bake(Limb.of(tip), 1, 60)
        bpy.context.scene.frame_set(30)
        elbows[out] = rig.pose.bones["forearm.L"].head.copy()
    assert (elbows[0.0] - elbows[0.8]).length > 0.03


def test_with_a_cup_the_hand_keeps_its_rotation_to_the_forearm():
    rig = body()
    cup = key_location(empty("Cup"), (1, 30), {1: Vector((0.42, -0.02, 0.8)), 30: Vector((0.3, -0.35, 1.0))}.get)
    (name,) = add_limbs(rig, ["hand.L"], cup)
    report = bake(Limb.of(rig.pose.bones[name]), 1, 30)
    assert report.all_reached
    for frame in (1, 15, 30):
        assert rotation_angle(shown(rig, ["hand.L"], frame)[0], Quaternion()) < radians(0.2)


def test_a_scaled_arm_is_solved_all_the_same():
    rig = body()
    tip, target = wave(rig)
    rig.pose.bones["forearm.L"].scale = (1.0, 1.2, 1.0)
    bpy.context.view_layer.update()
    bake(Limb.of(tip), 1, 8)
    bpy.context.scene.frame_set(5)
    assert (evaluated_tip(rig, tip.name) - target.matrix_world.translation).length < 1.1e-3


def test_a_rig_that_moves_is_followed():
    rig = body()
    tip, target = wave(rig)
    for frame in (1, 60):
        rig.location.y = -0.001 * frame
        rig.keyframe_insert("location", frame=frame)
    assert bake(Limb.of(tip), 1, 60).all_reached
    bpy.context.scene.frame_set(33)
    assert (evaluated_tip(rig, tip.name) - target.matrix_world.translation).length < 1e-4


def test_a_single_frame_can_be_baked():
    rig = body()
    tip, _ = wave(rig)
    assert bake(Limb.of(tip), 20, 20).all_reached


def test_a_limb_of_many_bones_reaches_from_rest_without_jumps():
    rig = chain_rig(5)
    places = {1: Vector((0.3, 0.5, 4.3)), 25: Vector((1.5, 1.0, 3.0)), 50: Vector((-0.5, 1.8, 3.2))}
    target = key_location(empty(), places, places.__getitem__)
    report = bake(Limb.from_tip(rig, "Bone 4", target, 5), 1, 50)
    assert report.all_reached
    assert report.jumps == []


def test_a_target_out_of_reach_is_pointed_at_without_jumps():
    rig = body()
    far = {1: Vector((0.42, -0.02, 0.8)), 40: Vector((0.3, -1.4, 1.4))}
    cup = key_location(empty("Cup"), far, far.__getitem__)
    (name,) = add_limbs(rig, ["hand.L"], cup)
    report = bake(Limb.of(rig.pose.bones[name]), 1, 40)
    assert report.frames[-1].reached is False
    bpy.context.scene.frame_set(40)
    upper, hand = rig.pose.bones["upper_arm.L"], rig.pose.bones["hand.L"]
    towards, arm = far[40] - upper.head, hand.tail - upper.head
    assert arm.angle(towards) < radians(6.0)
    assert Matrix(rig.matrix_world) == Matrix.Identity(4)


def test_smoothing_calms_the_elbow_and_leaves_the_hand_on_its_target():
    restless = []
    for smoothing in (0.0, 1.0):
        rig = body()
        tip, target = wave(rig)
        for frame in range(1, 61):
            bpy.context.scene.frame_set(frame)
            target.rotation_quaternion = target.rotation_quaternion @ Quaternion((0.0, 1.0, 0.0), 0.2 * (-1) ** frame)
            target.keyframe_insert("rotation_quaternion", frame=frame)
        tip.ik_triangulation.smoothing = smoothing
        assert bake(Limb.of(tip), 1, 60).all_reached
        ways = [shown(rig, BONES, frame)[0] @ Vector((0.0, 1.0, 0.0)) for frame in range(1, 61)]
        restless.append((np.diff(np.array(ways), 2, axis=0) ** 2).sum())
    assert restless[1] < 0.6 * restless[0]


def test_comfort_leaves_the_hand_turned_as_its_target():
    rig = body()
    tip, target = wave(rig)
    tip.ik_triangulation.rest_weight = 1.0
    report = bake(Limb.of(tip), 1, 60)
    assert report.all_reached
    for frame in (1, 17, 30, 52):
        bpy.context.scene.frame_set(frame)
        assert degrees(rotation_angle(tip.matrix.to_quaternion(), target.matrix_world.to_quaternion())) < 0.1


def leaning_rig(scale=(1.0, 1.0, 1.0)):
    """Three bones on a bone whose rest matrix is square to 4e-5 only, as Blender makes it 6 degrees off -Y."""
    along = 0.1077
    way = Vector((0.6 * sin(along), -cos(along), 0.8 * sin(along)))
    specs = [{"name": "Hip", "head": (0, 0, 0), "tail": way, "parent": None}]
    for number, head in enumerate((way, way + Vector((0, 0.1, 1)), way + Vector((0, 0, 2)))):
        specs.append({"name": f"Bone {number}", "head": head, "parent": specs[-1]["name"]})
        specs[-1]["tail"] = head + Vector((0, 0.1 if number == 0 else -0.1, 1))
    rig = armature("Rig", specs)
    rig.pose.bones["Hip"].scale = scale
    bpy.context.view_layer.update()
    return rig


def test_rounding_of_rest_matrices_is_no_shear():
    rig = leaning_rig()
    axes = np.array(rig.data.bones["Hip"].matrix_local.to_3x3())
    assert np.abs(axes.T @ axes - np.eye(3)).max() > 1e-5
    limb = Limb.from_tip(rig, "Bone 2", key_location(empty(), range(1, 42, 10)), 3)
    bones = Bones(rig, limb.bones, limb.solved)
    assert bones.pose(base_of(rig, limb.bones[0]), channels_of(rig, limb.bones)).chain.plain
    assert not bake(limb, 1, 41).warnings


def test_a_bake_that_had_to_go_frame_by_frame_says_why():
    target = key_location(empty(), range(1, 42, 10))
    report = bake(Limb.from_tip(leaning_rig((1.0, 1.5, 1.0)), "Bone 2", target, 3), 1, 41)
    assert "frame by frame" in report.warnings[0]
    assert "scaled unevenly" in report.warnings[0]

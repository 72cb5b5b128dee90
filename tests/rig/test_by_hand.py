# SPDX-License-Identifier: GPL-3.0-or-later
"""What is by hand is told from what was baked or written, key by key and pose by pose."""

from math import atan2, cos, sin

import bpy
import pytest

from ik_triangulation.jobs.bake import bake
from ik_triangulation.jobs.pose import solve_pose
from ik_triangulation.rig.by_hand.keys import made_by_hand_of, remember_before, remember_written
from ik_triangulation.rig.by_hand.reference import is_as_by_hand, shown_by_hand
from ik_triangulation.rig.keyframes import generated
from ik_triangulation.rig.limb import Limb

from ..bodies import human_rig, reaching_body
from ..modes import every_mode
from ..rigs import (
    chain_rig,
    contents,
    curve_of,
    curves_of,
    empty,
    key_location,
    push_down,
    rotate,
    rotation_from,
    rotation_property,
)

pytestmark = pytest.mark.usefixtures("empty_scene")

TURNED = rotation_from("XYZ", (0.4, -0.2, 0.3))


def limb_of(mode="QUATERNION"):
    rig, target = chain_rig(2, mode=mode), key_location(empty(), (1, 20))
    for bone in rig.pose.bones:
        rotate(bone, TURNED)
    return Limb.from_tip(rig, "Bone 1", target)


def made(limb):
    return made_by_hand_of(limb.pose_bones, bpy.context.scene)


def values_of(bone):
    return tuple(getattr(bone, rotation_property(bone)))


@every_mode
def test_without_keys_there_are_only_values(mode):
    limb = limb_of(mode)
    assert [(each.values, each.layers) for each in made(limb)] == [(values_of(bone), []) for bone in limb.pose_bones]


def test_a_curve_of_which_no_key_is_generated_is_by_hand_as_a_whole():
    limb = limb_of()
    limb.pose_bones[0].keyframe_insert("rotation_quaternion", frame=3)
    (layer,) = made(limb)[0].layers
    assert (layer.strip, sorted(layer.curves), layer.keys) == (None, [0, 1, 2, 3], {})
    assert made(limb)[1].layers == []


def test_between_generated_keys_single_ones_are_by_hand():
    limb = limb_of()
    bake(limb, 1, 10)
    assert [each.layers for each in made(limb)] == [[], []]
    curve = curve_of(limb.armature, "Bone 0", 2)
    assert generated(curve).all()
    curve.keyframe_points[4].type = "EXTREME"
    assert generated(curve).tolist() == [number != 4 for number in range(10)]
    (layer,) = made(limb)[0].layers
    assert {index: keys["co"][:, 0].tolist() for index, (_, keys) in layer.keys.items()} == {2: [5.0]}


def test_a_channel_without_keys_has_its_value_beside_keyed_ones():
    limb = limb_of("XYZ")
    before = values_of(limb.pose_bones[0])
    limb.pose_bones[0].keyframe_insert("rotation_euler", index=1, frame=1)
    solve_pose(limb)
    assert values_of(limb.pose_bones[0]) != before
    found = made(limb)[0]
    assert sorted(found.layers[0].curves) == [1]
    assert found.values == pytest.approx(before, abs=1e-6)


def test_a_bone_that_is_posed_makes_the_pose_of_all_one_by_hand():
    limb = limb_of()
    solve_pose(limb)
    rotate(limb.pose_bones[1], TURNED)
    assert [each.values for each in made(limb)] == [values_of(bone) for bone in limb.pose_bones]


def test_bones_that_were_never_written_do_not_count_as_posed():
    limb = limb_of()
    upper = Limb.from_tip(limb.armature, "Bone 0", limb.target)
    before = values_of(limb.pose_bones[0])
    solve_pose(upper)
    rotate(limb.pose_bones[1], rotation_from("XYZ", (0.1, 0.0, 0.0)))
    assert made(limb)[0].values == pytest.approx(before, abs=1e-6)


def test_in_a_scene_that_is_not_shown_a_baked_pose_is_never_taken_for_one_by_hand():
    limb = limb_of()
    before = [values_of(bone) for bone in limb.pose_bones]
    bake(limb, 1, 10)
    rotate(limb.pose_bones[1], rotation_from("XYZ", (0.1, 0.0, 0.0)))
    other = bpy.data.scenes.new("Other")
    found = made_by_hand_of(limb.pose_bones, other)
    assert [each.values for each in found] == [pytest.approx(values, abs=1e-6) for values in before]


def turn(rig, name, frames, angles, kind="KEYFRAME"):
    """Key rotations about the bone's own X axis."""
    bone = rig.pose.bones[name]
    for frame, angle in zip(frames, angles, strict=True):
        bone.rotation_quaternion = (cos(angle / 2.0), sin(angle / 2.0), 0.0, 0.0)
        bone.keyframe_insert("rotation_quaternion", frame=frame, keytype=kind)


def shown_angles(rig, name, frames):
    """The angles that Blender shows, evaluated in a dependency graph."""
    found = []
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        shown = rig.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones[name]
        w, x, *_ = shown.rotation_quaternion
        found.append(2.0 * atan2(x, w))
    return found


def test_a_body_is_shown_by_hand_without_its_baked_keys_and_all_comes_back():
    rig, scene, layer = human_rig(), bpy.context.scene, bpy.context.view_layer
    body = reaching_body(rig, 6)
    assert is_as_by_hand(body, scene)
    turn(rig, "shin.L", (1, 3, 5), (0.1, 0.3, 0.5))
    assert is_as_by_hand(body, scene)
    turn(rig, "shin.R", (1, 3, 5), (0.2, 0.4, 0.6), "GENERATED")
    turn(rig, "thigh.R", (1, 3, 5), (0.2, 0.4, 0.6), "GENERATED")
    for curve in curves_of(rig):
        if "thigh.R" in curve.data_path:
            curve.keyframe_points[1].type = "EXTREME"
            for point in curve.keyframe_points:
                point.interpolation = "LINEAR"
    turn(rig, "foot.R", (1, 3, 5), (0.2, 0.4, 0.6), "GENERATED")
    muted = curve_of(rig, "foot.R", 1)
    muted.mute = True
    hips = rig.pose.bones[body.hips]
    hips.location = (0.1, 0.2, 0.3)
    hips.keyframe_insert("location", frame=1, keytype="GENERATED")
    assert not is_as_by_hand(body, scene)
    arm = rig.pose.bones["forearm.L"]
    remember_before(arm, (1.0, 0.0, 0.0, 0.0))
    arm.rotation_quaternion = (0.8, 0.6, 0.0, 0.0)
    remember_written([arm])
    scene.frame_set(2)
    before = contents()
    with shown_by_hand(body, scene, layer):
        assert shown_angles(rig, "shin.L", (1, 3, 5)) == pytest.approx([0.1, 0.3, 0.5], abs=1e-6)
        assert shown_angles(rig, "shin.R", (1, 3, 5)) == pytest.approx([0.0] * 3, abs=1e-6)
        assert shown_angles(rig, "thigh.R", (1, 3, 5)) == pytest.approx([0.4] * 3, abs=1e-6)
        assert tuple(hips.location) == (0.0, 0.0, 0.0)
        assert shown_angles(rig, "forearm.L", (2,)) == pytest.approx([0.0], abs=1e-6), "posed, and not by hand"
        assert (muted.mute, len(muted.keyframe_points)) == (True, 3), "what is not played stays"
        scene.frame_set(2)
    assert contents() == before
    with shown_by_hand(body, scene, layer, (1.0, 5.0)):  # a key amid baked ones corrects these
        assert shown_angles(rig, "thigh.R", (1, 3, 5)) == pytest.approx([0.0] * 3, abs=1e-6)
        scene.frame_set(2)
    assert contents() == before


def test_over_a_strip_with_keys_by_hand_a_baked_action_is_shown_as_that_strip():
    rig, scene, layer = human_rig(), bpy.context.scene, bpy.context.view_layer
    body = reaching_body(rig, 6)
    turn(rig, "shin.L", (1, 3, 5), (0.1, 0.3, 0.5))
    push_down(rig)
    turn(rig, "shin.L", (1, 3, 5), (0.7, 0.7, 0.7), "GENERATED")
    assert shown_angles(rig, "shin.L", (1, 3, 5)) == pytest.approx([0.7] * 3, abs=1e-6)
    before = contents()
    with shown_by_hand(body, scene, layer):
        assert shown_angles(rig, "shin.L", (1, 3, 5)) == pytest.approx([0.1, 0.3, 0.5], abs=1e-6)
    assert contents() == before
    assert not any(curve.mute for curve in curves_of(rig))

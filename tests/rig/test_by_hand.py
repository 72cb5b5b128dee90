# SPDX-License-Identifier: GPL-3.0-or-later
"""What is by hand is told from what was baked or written, key by key and pose by pose."""

import bpy
import pytest

from ik_triangulation.jobs.bake import bake
from ik_triangulation.jobs.pose import solve_pose
from ik_triangulation.rig.by_hand.keys import made_by_hand_of
from ik_triangulation.rig.keyframes import generated
from ik_triangulation.rig.limb import Limb

from ..modes import every_mode
from ..rigs import chain_rig, curve_of, empty, key_location, rotate, rotation_from, rotation_property

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

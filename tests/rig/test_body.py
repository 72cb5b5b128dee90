# SPDX-License-Identifier: GPL-3.0-or-later
"""The bones between hips and tips become the joints of a body, posed as Blender poses them."""

from itertools import pairwise

import bpy
import numpy as np
import pytest
from mathutils import Matrix, Vector

from ik_triangulation.errors import ChainError
from ik_triangulation.kinematics import Body, BodyPose, Locked
from ik_triangulation.kinematics.body_anatomy import ARM_PARTS, LEG_PARTS, Part
from ik_triangulation.rig.armature import channels_of
from ik_triangulation.rig.body import BodyRest, RigBody, moving_bones
from ik_triangulation.rig.limb import Limb
from ik_triangulation.rig.rotation import rotation_of
from ik_triangulation.rig.stance import stance_of

from ..bodies import FEET, HANDS, human_rig, keyed_target, reaching_body
from ..characters import KINDS, character, part_of
from ..rigs import armature, empty

pytestmark = pytest.mark.usefixtures("empty_scene")
UP = Vector((0, 0, 1))


def rest_body(rig_body):
    return BodyRest(rig_body).body(channels_of(rig_body.armature, rig_body.bones), UP)


def test_the_hips_are_the_lowest_bone_above_all_tips_that_can_move():
    rig = human_rig()
    assert reaching_body(rig).hips == "spine"
    hand = Limb.from_tip(rig, "hand.L", keyed_target(rig, "hand.L", {1: (0, 0, 0)}))
    assert RigBody(rig, (hand,), ("hand.R",)).hips == "spine.002"
    rig.pose.bones["spine.002"].lock_location[1] = True
    assert RigBody(rig, (hand,), ("hand.R",)).hips == "spine.001"


def test_the_bones_are_those_of_the_lines_to_the_tips_parents_first():
    body = reaching_body(human_rig())
    assert body.bones[0] == "spine"
    assert len(set(body.bones)) == len(body.bones) == 15
    assert "toe.L" not in body.bones
    places = {name: place for place, name in enumerate(body.bones)}
    bones = body.armature.data.bones
    assert all(places[bones[name].parent.name] < places[name] for name in body.bones[1:])


def test_joints_are_posed_as_blender_poses_the_bones():
    rig = human_rig()
    body, random = reaching_body(rig), np.random.default_rng(1)
    for bone in rig.pose.bones:
        bone.rotation_mode = "XYZ" if "arm" in bone.name else "QUATERNION"
        bone.matrix_basis = Matrix.Rotation(random.uniform(-1, 1), 4, Vector(random.normal(size=3)))
    rig.pose.bones["thigh.L"].location = 0.1, 0.2, 0.3
    rig.pose.bones["spine"].location = 0.5, 0.2, 0.3
    bpy.context.view_layer.update()
    figure = rest_body(body)
    bones = [rig.pose.bones[name] for name in body.bones]
    located = BodyRest(body).locating[0] @ bones[0].location
    pose = BodyPose(figure, Matrix.Translation(located), [rotation_of(bone) for bone in bones])
    for number, bone in enumerate(bones):
        assert (pose.head(number) - bone.head).length < 2e-6
    for name in body.tips:
        assert (pose.tip(name) - rig.pose.bones[name].tail).length < 2e-6


def test_joints_are_built_once_while_they_stay_the_same():
    body = reaching_body(human_rig())
    channels = channels_of(body.armature, body.bones)
    built = body.rest.body(channels, UP)
    assert body.rest.body([*channels], 2.0 * UP) is built
    body.armature.pose.bones["hand.L"].lock_rotation[0] = True
    assert body.rest.body([*channels], UP) is not built
    assert body.rest.body(channels, Vector((0, 1, 0))).up.y == 1.0


def test_masses_come_from_the_names_and_else_from_the_lengths():
    rig = human_rig()
    figure = rest_body(reaching_body(rig))
    masses = {joint.name: segment.mass for joint, segment in zip(figure.joints, figure.segments, strict=True)}
    assert masses["thigh.L"] > 5.0 * masses["upper_arm.L"]
    for number, bone in enumerate(rig.data.bones):
        bone.name = f"b{number}"
    names = {bone.name: bone for bone in rig.data.bones}
    hand = Limb.from_tip(rig, "b7", keyed_target(rig, "b7", {1: (0, 0, 0)}))
    assert hand.tip in names
    lengths = rest_body(RigBody(rig, (hand,), ("b13",)))
    assert isinstance(lengths, Body)
    assert all(segment.mass > 0.0 for segment in lengths.segments[1:])


def test_held_feet_stand_on_their_heels_and_toes():
    contacts = rest_body(reaching_body(human_rig())).rest_pose().contacts(FEET)
    assert np.ptp(contacts[:, 1]) > 0.15


def test_hips_that_do_not_turn_keep_their_animation():
    for motion in ("UP_DOWN", "FIXED"):
        body = reaching_body(human_rig(), hips_motion=motion)
        figure = rest_body(body)
        assert isinstance(figure.joints[0].freedom, Locked)
        assert "spine" not in [bone.name for bone in moving_bones(body, figure)]


def test_connected_and_locked_hips_are_named_with_the_remedy():
    rig = human_rig()
    rig.pose.bones["spine"].lock_location[2] = True
    with pytest.raises(ChainError, match=r"'spine' cannot move: its location is locked\. Unlock it"):
        reaching_body(rig)
    assert reaching_body(rig, hips_motion="FIXED").hips == "spine"
    rig = human_rig()
    with pytest.raises(ChainError, match=r"'spine\.001' is not above all tips"):
        reaching_body(rig, hips="spine.001")


def test_what_does_not_hang_together_or_reaches_for_nothing_is_refused():
    rig = human_rig()
    with pytest.raises(ChainError, match="The body has no limbs"):
        RigBody(rig, ())
    target = keyed_target(rig, HANDS[0], {1: (0, 0, 0)})
    with pytest.raises(ChainError, match="Bone 'tail' is not in 'Rig'"):
        RigBody(rig, (Limb.from_tip(rig, HANDS[0], target),), ("tail",))


def test_bones_that_are_scaled_unevenly_are_named():
    body = reaching_body(human_rig())
    body.armature.pose.bones["forearm.L"].scale = 1.0, 1.1, 1.0
    with pytest.raises(ChainError, match=r"'forearm\.L' is scaled"):
        rest_body(body)
    body.armature.pose.bones["forearm.L"].scale = (1.1,) * 3
    body.armature.data.bones["forearm.R"].use_inherit_rotation = False
    with pytest.raises(ChainError, match=r"'forearm\.R' does not inherit"):
        rest_body(body)


ARM, LEG = ("upper_arm", "forearm", "hand"), ("thigh", "shin", "foot")


@pytest.mark.parametrize("kind", KINDS)
def test_arms_and_legs_of_every_kind_of_character_are_known_with_the_way_in_which_they_bend(kind):
    rig = character(kind)
    bpy.context.view_layer.update()
    names = {(part, side): part_of(rig, kind, part, side).name for part in (*ARM, *LEG) for side in "LR"}
    hands = tuple(Limb.from_tip(rig, names["hand", side], empty()) for side in "LR")
    figure = rest_body(RigBody(rig, hands, tuple(names["foot", side] for side in "LR")))
    anatomy, joints = figure.anatomy, [joint.name for joint in figure.joints]
    wanted = [tuple(names[part, side] for part in parts) for parts in (LEG, ARM) for side in "LR"]
    assert [tuple(joints[joint] for joint in limb) for limb in anatomy.limbs] == wanted
    for parts, own in ((ARM, ARM_PARTS), (LEG, LEG_PARTS)):
        for part, known in zip(parts, own, strict=True):
            assert {anatomy.parts[joints.index(names[part, side])] for side in "LR"} == {known}
    front, bones = stance_of(rig).front, rig.data.bones
    for limb, axis, outwards in zip(anatomy.limbs, anatomy.flexion, anatomy.outwards, strict=True):
        upper, middle, end = (bones[joints[joint]] for joint in limb)
        ahead = 1.0 if upper.name in wanted[0] + wanted[1] else -1.0  # a knee goes ahead, and an elbow back
        turned = (middle.matrix_local.to_3x3().normalized() @ axis).cross(end.head_local - middle.head_local)
        assert axis.length == pytest.approx(1.0, abs=1e-5)
        assert turned.normalized().dot(front) * ahead < -0.6
        assert (upper.parent.matrix_local.to_3x3().normalized() @ outwards).normalized().dot(front) * ahead > 0.5


def between(rig, name, below):
    """A bone at the place of another, and between that and its parent."""
    bpy.ops.object.mode_set(mode="EDIT")
    bones = rig.data.edit_bones
    made = bones.new(name)
    made.head, made.tail, made.parent = bones[below].head, bones[below].tail, bones[below].parent
    bones[below].use_connect, bones[below].parent = False, made
    bpy.ops.object.mode_set(mode="POSE")
    return rig


def test_helpers_of_a_limb_are_none_of_its_parts_and_twist_bones_go_with_the_part_they_are_on():
    rig = between(between(human_rig(), "MCH-forearm.L", "upper_arm.L"), "upper_arm.L.001", "forearm.L")
    figure = rest_body(reaching_body(rig))
    joints = [joint.name for joint in figure.joints]
    found = [tuple(joints[joint] for joint in limb) for limb in figure.anatomy.limbs]
    assert ("upper_arm.L", "forearm.L", "hand.L") in found
    assert len(found) == 4
    assert figure.anatomy.parts[joints.index("upper_arm.L.001")] == Part.UPPER_ARM


def test_what_limbs_were_set_up_as_counts_where_names_and_shape_tell_nothing():
    specs = [{"name": "b0", "head": (0.0, 0.0, 0.0), "tail": (0.0, 0.0, 0.2)}]
    for start, way in ((1, Vector((0.5, 0.0, 0.0))), (4, Vector((0.1, 0.1, -0.3)))):
        places = [n * way + Vector((0.0, 0.05 * (n % 2), 0.0)) for n in range(4)]
        for number, (head, tail) in enumerate(pairwise(places)):
            above = f"b{start + number - 1}" if number else "b0"
            specs.append({"name": f"b{start + number}", "head": head, "tail": tail, "parent": above})
    rig = armature("Crane", specs)
    limbs = tuple(Limb.from_tip(rig, name, empty()) for name in ("b3", "b6"))

    def known():
        anatomy = rest_body(RigBody(rig, limbs)).anatomy
        return [anatomy.parts[limb.end] for limb in anatomy.limbs], [each is not None for each in anatomy.outwards]

    assert known() == ([Part.FOOT, Part.FOOT], [False, False])  # by their lengths
    rig.pose.bones["b3"].ik_triangulation.body_part = "ARM"
    assert known() == ([Part.HAND, Part.FOOT], [True, False])
    rig.pose.bones["b3"].ik_triangulation.body_part = "LEG"
    rig.pose.bones["b6"].ik_triangulation.body_part = "ARM"
    assert known() == ([Part.FOOT, Part.HAND], [True, True])


def test_tips_that_hang_on_no_common_bone_and_scales_that_change_are_refused():
    rig = human_rig()
    bpy.ops.object.mode_set(mode="EDIT")
    alone = rig.data.edit_bones.new("prop")
    alone.head, alone.tail = (2.0, 0.0, 0.0), (2.0, 0.0, 1.0)
    bpy.ops.object.mode_set(mode="POSE")
    hand = Limb.from_tip(rig, "hand.L", keyed_target(rig, "hand.L", {1: (0, 0, 0)}))
    with pytest.raises(ChainError, match=r"'prop' and 'hand\.L' hang on no common bone\. Bake them as limbs"):
        RigBody(rig, (hand,), ("prop",))
    body = RigBody(rig, (hand,), ("hand.R",))
    rest, channels = BodyRest(body), channels_of(rig, body.bones)
    channels[2] = channels[2]._replace(scale=Vector((1.2, 1.2, 1.2)))
    with pytest.raises(ChainError, match=rf"'{body.bones[2]}' changes its scale"):
        rest.body(channels, UP)

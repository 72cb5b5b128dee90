# SPDX-License-Identifier: GPL-3.0-or-later
"""The bones between hips and tips become the joints of a body, posed as Blender poses them."""

import bpy
import numpy as np
import pytest
from mathutils import Matrix, Vector

from ik_triangulation.errors import ChainError
from ik_triangulation.kinematics import Body, BodyPose, Locked
from ik_triangulation.rig.armature import channels_of
from ik_triangulation.rig.body import BodyRest, RigBody, moving_bones
from ik_triangulation.rig.limb import Limb
from ik_triangulation.rig.rotation import rotation_of

from ..bodies import FEET, HANDS, human_rig, keyed_target, reaching_body

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

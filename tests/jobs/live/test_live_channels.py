# SPDX-License-Identifier: GPL-3.0-or-later
"""A live limb's rotations are written for the whole armature at once; other bones keep theirs, limits are kept."""

import bpy
import pytest
from mathutils import Quaternion

from ik_triangulation.jobs.live.state import LiveChannels
from ik_triangulation.kinematics.rotation import rotation_angle
from ik_triangulation.rig.armature import Bones, base_of, channels_of
from ik_triangulation.rig.limb import Limb
from ik_triangulation.rig.rotation import rotation_of

from ...rigs import chain_rig, empty

pytestmark = pytest.mark.usefixtures("addon", "empty_scene")

TURNED = Quaternion((0.8, 0.6, 0.0, 0.0))


def made(modes=("QUATERNION",) * 5, chosen=("Bone 1", "Bone 2", "Bone 3")):
    rig = chain_rig(5)
    for bone, mode in zip(rig.pose.bones, modes, strict=True):
        bone.rotation_mode = mode
    limb = Limb.from_bones(rig, chosen, empty())
    bpy.context.view_layer.update()
    pose = Bones(rig, limb.bones, limb.solved).pose(base_of(rig, limb.bones[0]), channels_of(rig, limb.bones))
    return rig, limb, pose


def with_turned(pose, *which):
    start = list(pose.rotations)
    turned = pose.copy()
    for i in which:
        turned.rotations[i] = TURNED.copy()
    return start, turned


MODES = [
    ("QUATERNION",) * 5,
    ("XYZ",) * 5,
    ("QUATERNION", "ZYX", "AXIS_ANGLE", "QUATERNION", "XYZ"),
]


@pytest.mark.parametrize("modes", MODES)
@pytest.mark.parametrize("chosen", [("Bone 1", "Bone 2", "Bone 3"), ("Bone 1", "Bone 3")])
def test_only_the_bones_that_turned_are_turned_in_any_mode(modes, chosen):
    rig, limb, pose = made(modes, chosen)
    rig.pose.bones["Bone 4"].rotation_quaternion = (0.6, 0.0, 0.8, 0.0)
    channels = LiveChannels(limb.pose_bones)
    before = channels.read(rig)
    values = channels.pose(rig, *with_turned(pose, 1))
    assert values != before
    assert values == LiveChannels(limb.pose_bones).read(rig)
    name = pose.chain.joints[1].name
    for bone in list(rig.pose.bones)[:4]:
        assert rotation_angle(rotation_of(bone), TURNED if bone.name == name else Quaternion()) < 1e-6
    assert tuple(rig.pose.bones["Bone 4"].rotation_quaternion) == pytest.approx((0.6, 0.0, 0.8, 0.0))


@pytest.mark.parametrize("modes", MODES)
def test_what_was_read_can_be_restored(modes):
    rig, limb, pose = made(modes)
    channels = LiveChannels(limb.pose_bones)
    before = channels.read(rig)
    channels.pose(rig, *with_turned(pose, 0, 1, 2))
    assert channels.read(rig) != before
    channels.restore(rig, before)
    assert channels.read(rig) == LiveChannels(limb.pose_bones).read(rig) == before


def test_a_quaternion_keeps_its_sign():
    rig, limb, pose = made()
    rig.pose.bones["Bone 2"].rotation_quaternion = (-1.0, 0.0, 0.0, 0.0)
    channels = LiveChannels(limb.pose_bones)
    channels.read(rig)
    channels.pose(rig, *with_turned(pose, 1))
    assert tuple(rig.pose.bones["Bone 2"].rotation_quaternion) == pytest.approx(tuple(-TURNED))


def test_blender_evaluates_the_pose_and_reports_no_change_of_the_data():
    rig, limb, pose = made()
    channels = LiveChannels(limb.pose_bones)
    channels.read(rig)
    tip = rig.pose.bones["Bone 4"].tail.copy()
    seen = []

    def listen(scene, depsgraph):
        seen.append({update.id.original for update in depsgraph.updates})

    channels.pose(rig, *with_turned(pose, 1))
    bpy.app.handlers.depsgraph_update_post.append(listen)
    try:
        bpy.context.view_layer.update()
        assert seen == [{rig}]
        assert (rig.pose.bones["Bone 4"].tail - tip).length > 0.1
        rig.pose.bones["Bone 1"].rotation_quaternion = TURNED
        bpy.context.view_layer.update()
        assert rig.data in seen[-1]
    finally:
        bpy.app.handlers.depsgraph_update_post.remove(listen)

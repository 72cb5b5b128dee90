# SPDX-License-Identifier: GPL-3.0-or-later
"""Solved frames as arrays are those of each frame, whether they share a chain or not."""

import bpy
import numpy as np
import pytest

from ik_triangulation.jobs.shots.frame_solver import follow
from ik_triangulation.jobs.shots.shot import SolvedArrays
from ik_triangulation.kinematics import Freedom
from ik_triangulation.rig.armature import Bones
from ik_triangulation.rig.frames.samples import sample
from ik_triangulation.rig.limb import Limb

from ...rigs import chain_rig, empty, key_location

pytestmark = pytest.mark.usefixtures("empty_scene")


def solved_frames(scaled):
    """Twelve frames of a limb of three bones, of which the middle one is scaled at some."""
    rig = chain_rig(4)
    rig.pose.bones["Bone 1"].lock_rotation = (True, True, True)
    rig.pose.bones["Bone 1"].lock_rotation_w = True
    target = key_location(empty(), range(1, 13))
    if scaled:
        for frame, width in ((1, 1.0), (4, 1.0), (5, 2.0)):
            rig.pose.bones["Bone 2"].scale = (width, 1.0, 1.0)
            rig.pose.bones["Bone 2"].keyframe_insert("scale", frame=frame)
    limb = Limb.from_tip(rig, "Bone 3", target, chain_count=3)
    samples = []
    for frame in range(1, 13):
        bpy.context.scene.frame_set(frame)
        samples.append(sample(limb, bpy.context.view_layer.depsgraph, frame))
    return list(follow(limb, Bones(rig, limb.bones, limb.solved), samples))


@pytest.mark.parametrize("scaled", [False, True])
def test_rotations_and_freedoms_are_those_of_the_joint_at_each_frame(scaled):
    solved = solved_frames(scaled)
    arrays = SolvedArrays(solved)
    assert arrays.frames == list(range(1, 13))
    assert arrays.joints
    for name in arrays.joints:
        rows, freedoms = arrays.rotations(name), arrays.freedoms(name)
        assert rows.dtype == np.float64
        for frame, each in enumerate(solved):
            names = [joint.name for joint in each.pose.chain.joints]
            at = names.index(name)
            assert rows[frame].tolist() == list(each.pose.rotations[at])
            freedom = freedoms if isinstance(freedoms, Freedom) else freedoms[frame]
            assert freedom == each.pose.chain.joints[at].freedom


def test_frames_that_share_a_chain_have_one_freedom_and_the_tips_of_their_poses():
    solved = solved_frames(scaled=False)
    arrays = SolvedArrays(solved)
    assert arrays.alike
    assert all(isinstance(arrays.freedoms(name), Freedom) for name in arrays.joints)
    batch = arrays.kinematics()
    tips = batch.tips(np.moveaxis(batch.rotations, 0, 2), np.arange(12))
    assert tips == pytest.approx(np.array([each.pose.tip for each in solved]), abs=1e-5)
    assert arrays.worlds.shape == (12, 4, 4)

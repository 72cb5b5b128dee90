# SPDX-License-Identifier: GPL-3.0-or-later
"""A body between its frames is read as animated there: its bones, what they hang in, and the influence of held tips."""

import bpy
import numpy as np
import pytest
from mathutils import Quaternion

from ik_triangulation.cooperative import finished
from ik_triangulation.errors import RigError
from ik_triangulation.rig.frames.body_samples import read_between, read_body

from ...bodies import FEET, human_rig, reaching_body
from ...rigs import nothing_lost

pytestmark = pytest.mark.usefixtures("empty_scene")
FRAMES, HALVES = [1, 2, 3, 4], [1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0]


def between(rig, without=None):
    """A body at half frames, and as it is read there in full."""
    body, scene = reaching_body(rig, 4), bpy.context.scene
    samples = finished(read_body(body, scene, FRAMES))
    with nothing_lost():
        found = finished(read_between(body, samples, HALVES, scene, without))
    return found, finished(read_body(body, scene, HALVES))


def same(one, other):
    pairs = ((getattr(each, name) for each in (one, other)) for name in ("worlds", "bases", "rotations", "locations"))
    return all(np.abs(a - b).max() < 1e-6 for a, b in pairs) and all(
        (one.influence[name] == other.influence[name]).all() for name in FEET
    )


def test_a_rig_that_stands_is_the_same_at_all_frames():
    found, read = between(human_rig())
    assert same(found, read)
    assert found.goals == {}
    assert found.frames == HALVES


def test_bones_and_hips_are_read_by_their_curves():
    rig = human_rig()
    for frame, x in ((1, 0.0), (3, 0.4), (4, 0.1)):
        rig.pose.bones["spine"].location.x = x
        rig.pose.bones["spine"].keyframe_insert("location", frame=frame)
        rig.pose.bones["thigh.L"].rotation_quaternion = Quaternion((1, 0, 0), x)
        rig.pose.bones["thigh.L"].keyframe_insert("rotation_quaternion", frame=frame)
    found, read = between(rig)
    assert same(found, read)
    assert len(np.unique(found.locations[0])) == len(HALVES) or found.locations[0].max() > 0.39


def test_a_rig_that_moves_and_an_influence_that_fades_are_evaluated():
    rig = human_rig()
    for frame, x in ((1, 0.0), (3, 1.0), (4, 0.5)):
        rig.location.x = x
        rig.keyframe_insert("location", frame=frame)
        rig.pose.bones["foot.L"].ik_triangulation.influence = 1.0 - x
        rig.keyframe_insert('pose.bones["foot.L"].ik_triangulation.influence', frame=frame)
    found, read = between(rig)
    assert same(found, read)
    assert 0.0 < found.influence["foot.L"][3] < 1.0
    assert (found.influence["foot.R"] == 1.0).all()


def test_a_bone_above_the_hips_that_is_scaled_between_frames_is_told():
    rig = human_rig()
    bpy.ops.object.mode_set(mode="EDIT")
    root = rig.data.edit_bones.new("root")
    root.head, root.tail = (0, 0, 0), (0, 0.3, 0)
    rig.data.edit_bones["spine"].parent = root
    bpy.ops.object.mode_set(mode="POSE")
    bone, body = rig.pose.bones["root"], reaching_body(rig, 4)
    for frame, turn in ((1, 0.0), (4, 0.5)):
        bone.rotation_quaternion = Quaternion((0, 0, 1), turn)
        bone.keyframe_insert("rotation_quaternion", frame=frame)
    samples = finished(read_body(body, bpy.context.scene, FRAMES))
    bone.scale = 2.0, 1.0, 1.0
    with pytest.raises(RigError, match="has another scale at frame"):
        finished(read_between(body, samples, HALVES, bpy.context.scene))

# SPDX-License-Identifier: GPL-3.0-or-later
"""Figures have the bones where Blender shows them, whatever moves these, and no frame is stepped."""

import bpy
import numpy as np
import pytest

from ik_triangulation.cooperative import finished
from ik_triangulation.jobs.edits import trail

from ...rigs import chain_rig, nothing_lost

pytestmark = pytest.mark.usefixtures("empty_scene")

LAST = 12


def shown(rig, frame):
    """Heads and tails of the bones as Blender shows them at a frame."""
    bpy.context.scene.frame_set(frame)
    ends = [[rig.matrix_world @ getattr(bone, end) for bone in rig.pose.bones] for end in ("head", "tail")]
    bpy.context.scene.frame_set(1)
    return np.array(ends)


@pytest.mark.parametrize("moved_by", ["keys", "constraint"])
def test_figures_are_where_the_bones_are_shown(moved_by):
    rig = chain_rig(4)
    rig.location.x = 0.3
    bone = rig.pose.bones["Bone 2"]
    for frame, turn in ((1, 0.0), (6, 0.4), (LAST, 1.0)):
        bone.rotation_quaternion = (1.0, turn, 0.0, 0.0)
        bone.keyframe_insert("rotation_quaternion", frame=frame)
    bpy.context.view_layer.update()
    if moved_by == "constraint":
        follow = rig.pose.bones["Bone 3"].constraints.new("COPY_ROTATION")
        follow.target, follow.subtarget = rig, "Bone 2"
        follow.owner_space = follow.target_space = "LOCAL"
    where = bpy.context.scene, bpy.context.view_layer
    with nothing_lost():
        names = trail.figure_bones(rig)
        found = finished(trail.read_figures(rig, names, range(1, LAST + 1), *where, 0.0))
    assert max(np.abs(found[frame] - shown(rig, frame)).max() for frame in (1, 6, 9, LAST)) < 1e-5


def test_an_armature_without_bones_has_no_figures():
    scene = bpy.context.scene
    rig = bpy.data.objects.new("Rig", bpy.data.armatures.new("Rig"))
    scene.collection.objects.link(rig)
    bpy.context.view_layer.update()
    reading = trail.read_figures(rig, trail.figure_bones(rig), [1, 2], scene, bpy.context.view_layer, 1.0)
    assert not finished(reading)

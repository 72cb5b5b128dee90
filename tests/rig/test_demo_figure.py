# SPDX-License-Identifier: GPL-3.0-or-later
"""The demo's figure: its bones and its skin."""

import bpy
import numpy as np
import pytest

from ik_triangulation.rig.scene_objects import human_figure

pytestmark = pytest.mark.usefixtures("empty_scene")


def test_both_sides_of_the_figure_mirror_each_other():
    rig = human_figure("Figure", bpy.context.scene.collection)
    lefts = [bone for bone in rig.data.bones if bone.name.endswith(".L")]
    assert len(lefts) == 8
    for left in lefts:
        right = rig.data.bones[f"{left.name[:-1]}R"]
        for mine, other in ((left.head_local, right.head_local), (left.tail_local, right.tail_local)):
            assert np.allclose((-mine.x, mine.y, mine.z), other, atol=1e-6)


def test_each_bone_has_a_capsule_around_it():
    rig = human_figure("Figure", bpy.context.scene.collection)
    (skin,) = rig.children
    for bone in rig.data.bones:
        group = skin.vertex_groups[bone.name].index
        corners = np.array([v.co for v in skin.data.vertices if v.groups[0].group == group])
        middle = (np.array(bone.head_local) + np.array(bone.tail_local)) / 2.0
        assert np.abs(corners.mean(0) - middle).max() < 0.03
        assert ((corners - middle) @ (np.array(bone.tail_local) - middle)).max() > 0.0

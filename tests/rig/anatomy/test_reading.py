# SPDX-License-Identifier: GPL-3.0-or-later
"""A skeleton is recognised once, and anew as soon as its rest pose, its names or its object's axes change."""

from math import radians

import bpy
import pytest
from mathutils import Matrix

from ik_triangulation.rig.anatomy.limbs import LEG, rest_body

from ...bodies import human_rig

pytestmark = pytest.mark.usefixtures("empty_scene")


def lengthened(rig):
    bpy.ops.object.mode_set(mode="EDIT")
    rig.data.edit_bones["shin.L"].tail.z -= 0.01
    bpy.ops.object.mode_set(mode="OBJECT")


def renamed(rig):
    rig.data.bones["shin.L"].name = "calf.L"


def turned(rig):
    rig.matrix_world = Matrix.Rotation(radians(90.0), 4, "X")


@pytest.mark.parametrize("change", [lengthened, renamed, turned])
def test_a_reading_serves_until_the_skeleton_changes(change):
    rig = human_rig()
    bpy.context.view_layer.objects.active = rig
    before = rest_body(rig)
    rig.pose.bones["shin.L"].rotation_quaternion = (0.9, 0.4, 0.0, 0.0)
    bpy.context.view_layer.update()
    assert rest_body(rig) is before
    change(rig)
    assert rest_body(rig) is not before
    assert rest_body(rig).limbs(LEG)[0].bones[1] == ("calf.L" if change is renamed else "shin.L")

# SPDX-License-Identifier: GPL-3.0-or-later
"""What bones take over from their parents: equal to Blender's own rule in every combination."""

from random import Random

import bpy
import numpy as np
import pytest
from mathutils import Matrix, Vector

from ik_triangulation.kinematics import Inheritance
from tests.chains import random_direction, random_rotation

SCALES = [(1.0, 1.0, 1.0), (2.0, 2.0, 2.0), (0.5, 1.0, 3.0), (-1.0, 1.0, 1.0), (1.0, -1.0, 1.0), (-1.0, -1.0, -1.0)]


@pytest.fixture
def bones():
    """Parent and child with rolls and a gap; the rest pose is all that matters."""
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    armature = bpy.data.armatures.new("Rig")
    ob = bpy.data.objects.new("Rig", armature)
    bpy.context.scene.collection.objects.link(ob)
    bpy.context.view_layer.objects.active = ob
    bpy.ops.object.mode_set(mode="EDIT")
    parent, child = armature.edit_bones.new("parent"), armature.edit_bones.new("child")
    parent.head, parent.tail, parent.roll = (0.2, -0.1, 0.5), (0.6, 0.7, 0.4), 1.1
    child.head, child.tail, child.roll = (0.9, 0.4, 0.6), (1.2, 1.4, -0.1), 0.4
    child.parent = parent
    bpy.ops.object.mode_set(mode="OBJECT")
    return armature.bones["parent"], armature.bones["child"]


@pytest.mark.parametrize("rotation", [True, False])
@pytest.mark.parametrize("scale", ["FULL", "FIX_SHEAR", "ALIGNED", "AVERAGE", "NONE", "NONE_LEGACY"])
def test_the_socket_is_that_of_blender(bones, scale, rotation):
    parent, child = bones
    child.inherit_scale, child.use_inherit_rotation = scale, rotation
    rest = (parent.matrix_local.inverted() @ child.matrix_local).to_3x3()
    inheritance = Inheritance(scale, rotation, parent.matrix_local.to_3x3())
    random = Random(3)
    for number in range(300):
        frame = random_rotation(random).to_matrix() @ Matrix.Diagonal(SCALES[number % len(SCALES)])
        if number % 3 == 0:  # sheared
            frame = frame @ random_rotation(random).to_matrix() @ Matrix.Diagonal((1.0, 2.0, 0.7))
        basis = random_rotation(random).to_matrix() @ Matrix.Diagonal((1.2, 0.7, 2.0))
        expected = child.convert_local_to_pose(
            basis.to_4x4(),
            child.matrix_local,
            parent_matrix=Matrix.Translation(random_direction(random)) @ frame.to_4x4(),
            parent_matrix_local=parent.matrix_local,
        )
        socket, after = inheritance.socket(frame, rest)
        found = socket @ basis @ Matrix.Diagonal(after or Vector((1.0, 1.0, 1.0)))
        assert np.allclose(np.array(found), np.array(expected.to_3x3()), atol=5e-6)

# SPDX-License-Identifier: GPL-3.0-or-later
"""What a bone takes over from its parent is what Blender says, in every combination of its settings."""

from itertools import product
from random import Random

import bpy
import numpy as np
import pytest
from mathutils import Matrix, Vector

from ik_triangulation.kinematics import Inheritance

from ..chains import random_rotation

SETTINGS = list(product(("FULL", "FIX_SHEAR", "ALIGNED", "AVERAGE", "NONE", "NONE_LEGACY"), (True, False)))
PARENTS = {
    "rigid": lambda random: random_rotation(random).to_matrix(),
    "uniform": lambda random: random_rotation(random).to_matrix() * random.uniform(0.2, 5.0),
    "scaled": lambda random: random_rotation(random).to_matrix() @ scaling(random),
    "scaled before": lambda random: scaling(random) @ random_rotation(random).to_matrix(),
    "sheared": lambda random: sheared(random),
    "mirrored": lambda random: random_rotation(random).to_matrix() @ Matrix.Diagonal((-1.0, 1.0, 1.0)),
    "mirrored and sheared": lambda random: sheared(random) @ Matrix.Diagonal((1.0, 1.0, -1.0)),
    "mirrored and scaled": lambda random: random_rotation(random).to_matrix() @ scaling(random) * -1.0,
}


def scaling(random):
    return Matrix.Diagonal([random.uniform(0.3, 3.0) for _ in range(3)])


def sheared(random):
    """A frame as it comes about under several rotated and scaled parents."""
    frame = Matrix.Identity(3)
    for _ in range(2):
        frame = frame @ random_rotation(random).to_matrix() @ scaling(random)
    return frame


@pytest.fixture(scope="module")
def bone():
    """A child bone of an armature that is gone afterwards."""
    data = bpy.data.armatures.new("Inheritance")
    rig = bpy.data.objects.new("Inheritance", data)
    bpy.context.scene.collection.objects.link(rig)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    parent, child = data.edit_bones.new("Parent"), data.edit_bones.new("Child")
    parent.tail = child.head = 0.0, 1.0, 0.0
    child.tail, child.parent = (0.0, 2.0, 0.0), parent
    bpy.ops.object.mode_set(mode="OBJECT")
    yield data.bones["Child"]
    bpy.data.objects.remove(rig)
    bpy.data.armatures.remove(data)


@pytest.mark.parametrize("parent", PARENTS)
@pytest.mark.parametrize(("scale", "rotation"), SETTINGS)
@pytest.mark.whole
def test_a_bone_inherits_as_blender_says(bone, scale, rotation, parent):
    random = Random(1)
    bone.inherit_scale, bone.use_inherit_rotation = scale, rotation
    for _ in range(60):
        parent_pose, parent_rest = PARENTS[parent](random), random_rotation(random).to_matrix()
        rest = random_rotation(random).to_matrix()
        own = random_rotation(random).to_matrix() @ scaling(random)
        blenders = bone.convert_local_to_pose(
            own.to_4x4(),
            (parent_rest @ rest).to_4x4(),
            parent_matrix=parent_pose.to_4x4(),
            parent_matrix_local=parent_rest.to_4x4(),
        ).to_3x3()
        socket, after = Inheritance(scale, rotation, parent_rest).socket(parent_pose, rest)
        ours = socket @ own @ Matrix.Diagonal(after or Vector((1.0, 1.0, 1.0)))
        size = np.abs(np.array(blenders)).max()
        assert np.abs(np.array(ours) - np.array(blenders)).max() < 2e-5 * size


@pytest.mark.parametrize(("scale", "rotation"), SETTINGS)
def test_taking_over_leaves_the_parents_frame_as_it_is(scale, rotation):
    random = Random(2)
    parent, parent_rest = sheared(random), random_rotation(random).to_matrix()
    before = parent.copy(), parent_rest.copy()
    Inheritance(scale, rotation, parent_rest).socket(parent, random_rotation(random).to_matrix())
    assert (parent, parent_rest) == before

# SPDX-License-Identifier: GPL-3.0-or-later
"""Motion that exists only as part of the user's scene is refused, not read wrongly."""

import bpy
import pytest

from ik_triangulation.bake import bake
from ik_triangulation.blender.limb import Limb
from ik_triangulation.errors import TargetError
from tests.rigs import nothing_lost

pytestmark = pytest.mark.usefixtures("empty_scene")


def rig_and_target():
    armature = bpy.data.armatures.new("Rig")
    rig = bpy.data.objects.new("Rig", armature)
    target = bpy.data.objects.new("Target", None)
    for ob in (rig, target):
        bpy.context.scene.collection.objects.link(ob)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    bone = armature.edit_bones.new("bone")
    bone.tail = (0.0, 1.0, 0.0)
    bpy.ops.object.mode_set(mode="OBJECT")
    return rig, target


def drive(ob, kind):
    """Drive the object's X location by a property of the scene."""
    variable = ob.driver_add("location", 0).driver.variables.new()
    variable.type = kind
    if kind == "SINGLE_PROP":
        variable.targets[0].id_type = "SCENE"
        variable.targets[0].id = bpy.context.scene
    else:
        variable.targets[0].context_property = "ACTIVE_SCENE"
    variable.targets[0].data_path = "frame_current"


@pytest.mark.parametrize("kind", ["SINGLE_PROP", "CONTEXT_PROP"])
@pytest.mark.parametrize("moved", ["the target", "its parent", "the rig"])
def test_a_driver_that_reads_the_scene_is_refused_by_a_bake(kind, moved):
    rig, target = rig_and_target()
    driven = {"the target": target, "its parent": bpy.data.objects.new("Parent", None), "the rig": rig}[moved]
    if moved == "its parent":
        bpy.context.scene.collection.objects.link(driven)
        target.parent = driven
    drive(driven, kind)
    with nothing_lost(), pytest.raises(TargetError, match=f"a driver on '{driven.name}' reads the scene"):
        bake(Limb.from_tip(rig, "bone", target), 1, 5)


def test_a_target_under_rigid_body_physics_is_refused_by_a_bake():
    rig, target = rig_and_target()
    bpy.ops.mesh.primitive_cube_add()
    cube = bpy.context.object
    bpy.ops.rigidbody.object_add()
    target.parent = cube
    with nothing_lost(), pytest.raises(TargetError, match="'Cube' is moved by rigid body physics"):
        bake(Limb.from_tip(rig, "bone", target), 1, 5)

# SPDX-License-Identifier: GPL-3.0-or-later
"""Channels of a target by which it goes where the tip is."""

import bpy
import numpy as np
import pytest
from mathutils import Euler, Matrix, Quaternion, Vector

from ik_triangulation.errors import ChainError, TargetError
from ik_triangulation.rig.limb import Limb
from ik_triangulation.rig.stance import look_of
from ik_triangulation.rig.targets.motion import TargetMotion

from ..ik_rigs import ARM, ik_arm
from ..modes import every_mode
from ..rigs import chain_rig, configure, empty, rotate

pytestmark = pytest.mark.usefixtures("empty_scene", "addon")


def limb_to(target, subtarget=""):
    rig = chain_rig(3)
    configure(rig, "Bone 2", target=target, subtarget=subtarget, chain_count=0)
    rig.location = (0.5, -1.0, 2.0)
    return Limb.of(rig.pose.bones["Bone 2"])


@every_mode
def test_set_as_they_are_seen_the_channels_bring_the_target_to_the_tip(mode):
    target = empty()
    target.rotation_mode, target.scale = mode, (2.0, 2.0, 2.0)
    target.delta_location, target.delta_rotation_euler = (0.3, -0.2, 0.1), (0.5, 0.2, -0.4)
    target.delta_rotation_quaternion = Quaternion((0.9, 0.1, -0.3, 0.2)).normalized()
    target.parent = empty("Parent")
    target.parent.matrix_world = Matrix.LocRotScale((1.0, 2.0, 3.0), Euler((0.4, 0.5, 0.6)), (0.5, 0.5, 0.5))
    motion = TargetMotion(limb_to(target))
    graph = bpy.context.evaluated_depsgraph_get()
    motion.see(graph, 1.0)
    assert motion.apart(0, graph) > 0.1
    location, rotation = motion.channels()
    assert (location.path, rotation.path) == motion.paths
    target.location = location.values[0]
    setattr(target, rotation.path, rotation.values[0])
    assert motion.apart(0, bpy.context.evaluated_depsgraph_get()) < 1e-4


def test_a_target_that_follows_another_by_child_of_goes_there_as_well():
    target, other = empty(), empty("Other", (0.0, 1.0, 0.0))
    other.rotation_euler = (0.3, 0.9, -0.4)
    target.constraints.new("CHILD_OF").target = other
    motion = TargetMotion(limb_to(target))
    motion.see(bpy.context.evaluated_depsgraph_get(), 1.0)
    location, rotation = motion.channels()
    target.location, target.rotation_euler = location.values[0], rotation.values[0]
    assert motion.apart(0, bpy.context.evaluated_depsgraph_get()) < 1e-4


def test_a_target_that_is_looked_at_stays_as_far_in_front_and_turned_as_it_is():
    target = empty("Target", (0.0, -5.0, 1.0))
    target.rotation_euler = (0.2, 0.3, 0.4)
    limb = limb_to(target)
    limb.armature.pose.bones["Bone 2"].ik_triangulation.orientation = "LOOK"
    limb = Limb.of(limb.armature.pose.bones["Bone 2"])
    look = look_of(limb.armature, limb.tip)
    motion, spans = TargetMotion(limb), []
    for frame, angle in ((1.0, 0.0), (2.0, 1.1)):
        limb.armature.pose.bones["Bone 2"].rotation_quaternion = Quaternion((1.0, 0.0, 0.0), angle)
        graph = bpy.context.evaluated_depsgraph_get()
        motion.see(graph, frame)
        bone = limb.armature.evaluated_get(graph).pose.bones["Bone 2"]
        turned = bone.matrix.to_quaternion()
        eye = limb.armature.matrix_world @ (bone.tail + turned @ look.origin)
        spans.append(motion.channels()[0].values[-1] - np.array(eye))
        assert Vector(spans[-1]).angle(turned @ look.axis) < 1e-4
    assert np.linalg.norm(spans, axis=1) == pytest.approx([(Vector((0, -5, 1)) - eye_at_first(limb, look)).length] * 2)
    assert motion.channels()[1].values == pytest.approx(np.array([target.rotation_euler] * 2), abs=1e-5)


def eye_at_first(limb, look):
    """Where the eye is while the limb is at rest, world space."""
    bone = limb.armature.data.bones[limb.tip]
    turned = bone.matrix_local.to_quaternion()
    return limb.armature.matrix_world @ (bone.tail_local + turned @ look.origin)


def test_targets_that_cannot_be_keyed_are_named():
    target = empty()
    target.lock_rotation[1] = True
    limb = limb_to(target)
    with pytest.raises(TargetError, match="'Target' has locked channels"):
        TargetMotion(limb)
    other = chain_rig(2, name="Other")
    with pytest.raises(TargetError, match="'Other: Bone 1' is connected"):
        TargetMotion(limb_to(other, "Bone 1"))
    with pytest.raises(ChainError, match="Nowhere"):
        TargetMotion(limb_to(other, "Nowhere"))
    limb.armature.pose.bones["Bone 2"].ik_triangulation.shape = "SURFACE"
    with pytest.raises(TargetError, match="'Target' is a surface, which follows no tip"):
        TargetMotion(Limb.of(limb.armature.pose.bones["Bone 2"]))
    flat = empty("Flat")
    flat.scale = (0.0, 1.0, 1.0)
    with pytest.raises(TargetError, match=r"'Flat'.*scaled to zero"):
        TargetMotion(limb_to(flat)).see(bpy.context.evaluated_depsgraph_get(), 1.0)
    limb.armature.pose.bones["Bone 2"].ik_triangulation.shape = "FLOW"
    with pytest.raises(TargetError, match="'Target' is a field to follow, and follows no tip"):
        TargetMotion(Limb.of(limb.armature.pose.bones["Bone 2"]))


@pytest.mark.parametrize("constraint", ["", "muted", "CHILD_OF"])
def test_a_bone_goes_to_the_tip_as_an_object_does(constraint):
    other = chain_rig(2, name="Other", gaps=(1,))
    other.rotation_euler, other.scale = (0.3, -0.2, 0.9), (1.5, 1.5, 1.5)
    rotate(other.pose.bones["Bone 0"], Quaternion((0.8, 0.1, 0.5, -0.2)).normalized())
    bone = other.pose.bones["Bone 1"]
    if constraint:
        child = bone.constraints.new("CHILD_OF")
        child.target, child.mute = empty("Holder", (0.3, 0.1, 0.2)), constraint == "muted"
        child.target.rotation_euler = (0.2, 0.9, -0.4)
    bone.location = (0.1, 0.2, -0.3)
    motion = TargetMotion(limb_to(other, "Bone 1"))
    graph = bpy.context.evaluated_depsgraph_get()
    motion.see(graph, 1.0)
    assert motion.apart(0, graph) > 0.1
    location, rotation = motion.channels()
    assert {location.bone, rotation.bone} == {"Bone 1"}
    bone.location, bone.rotation_quaternion = location.values[0], rotation.values[0]
    assert motion.apart(0, bpy.context.evaluated_depsgraph_get()) < 1e-4


def test_a_target_at_an_offset_goes_where_the_offset_takes_the_tip_back_to_it():
    target = empty()
    target.rotation_euler, target.scale = (0.4, 0.1, -0.7), (2.0, 2.0, 2.0)
    limb = limb_to(target)
    turn = Quaternion((0.9, 0.1, -0.3, 0.2)).normalized()
    place = Vector((0.1, -0.2, 0.3))
    how = {"orientation": "FULL", "use_offset": True, "offset_location": tuple(place), "offset_rotation": tuple(turn)}
    motion = TargetMotion(Limb.from_tip(limb.armature, "Bone 2", target, **how))
    graph = bpy.context.evaluated_depsgraph_get()
    motion.see(graph, 1.0)
    target.location, target.rotation_euler = (each.values[0] for each in motion.channels())
    bpy.context.view_layer.update()
    armature = limb.armature.evaluated_get(bpy.context.evaluated_depsgraph_get())
    tip = armature.pose.bones["Bone 2"]
    assert (target.matrix_world @ place - armature.matrix_world @ tip.tail).length < 1e-5
    turned = target.matrix_world.to_quaternion() @ turn
    assert turned.rotation_difference((armature.matrix_world @ tip.matrix).to_quaternion()).angle < 1e-3


def test_a_target_whose_orientation_is_not_read_is_turned_only_if_it_may_be():
    target = empty()
    target.rotation_euler = (0.4, 0.1, -0.7)
    limb = limb_to(target)
    limb.armature.pose.bones["Bone 2"].ik_triangulation.orientation = "NONE"
    limb = Limb.of(limb.armature.pose.bones["Bone 2"])
    for turns in (True, False):
        motion = TargetMotion(limb, turns)
        motion.see(bpy.context.evaluated_depsgraph_get(), 1.0)
        rotation = motion.channels()[1].values[0]
        stays = rotation == pytest.approx(tuple(target.rotation_euler), abs=1e-5)
        assert stays is not turns


def test_a_bone_that_is_matched_goes_head_to_head_and_turned_alike():
    rig = ik_arm()
    for bone in rig.pose.bones:
        for each in list(bone.constraints):
            bone.constraints.remove(each)
    limb = Limb.from_bones(rig, ARM, rig, subtarget="Grip")
    assert limb.offset.matched
    for name, turn in (("Bicep", (0.9, 0.1, 0.3, -0.2)), ("Palm", (0.8, 0.3, 0.1, 0.4))):
        rotate(rig.pose.bones[name], Quaternion(turn).normalized())
    bpy.context.view_layer.update()
    motion, (palm, grip) = TargetMotion(limb), (rig.pose.bones[name] for name in ("Palm", "Grip"))
    motion.see(bpy.context.evaluated_depsgraph_get(), 1.0)
    grip.location, grip.rotation_quaternion = (each.values[0] for each in motion.channels())
    bpy.context.view_layer.update()
    assert (grip.head - palm.head).length < 1e-5
    rests = [rig.data.bones[name].matrix_local.to_quaternion() for name in ("Grip", "Palm")]
    alike = grip.matrix.to_quaternion() @ rests[0].conjugated() @ rests[1]
    assert alike.rotation_difference(palm.matrix.to_quaternion()).angle < 1e-3

# SPDX-License-Identifier: GPL-3.0-or-later
"""The pose that the kinematic core makes of a rig is the pose that Blender shows."""

from math import pi
from random import Random

import bpy
import pytest
from mathutils import Matrix, Vector

from ik_triangulation.errors import RigError
from ik_triangulation.rig.armature import Bones, base_of, channels_of

from ..rigs import INHERIT_SCALE, MODES, SCALES, armature, chain_rig, pose_randomly, random_specs, random_vector

pytestmark = pytest.mark.usefixtures("empty_scene")

AGREE = 1e-5  # of the reach
CHAINS = 10  # in each armature
BONES = 5  # in each chain


def disagreement(rig: bpy.types.Object, names: list[str]) -> float:
    """Largest distance between where Blender and where the core puts a joint or the tip, as a share of the reach."""
    bpy.context.view_layer.update()
    evaluated = rig.evaluated_get(bpy.context.evaluated_depsgraph_get())
    pose = Bones(rig, names, names).pose(base_of(evaluated, names[0]), channels_of(evaluated, names))
    shown = [evaluated.pose.bones[name] for name in names]
    apart = [(pose.head(i) - bone.head).length for i, bone in enumerate(shown)]
    apart.append((pose.tip - shown[-1].tail).length)
    return max(apart) / sum(pose.lengths)


def random_armature(random: Random) -> tuple[bpy.types.Object, list[list[str]]]:
    """Ten random chains in one armature, and the names of their bones."""
    chains = [random_specs(random, f"Chain {n}", BONES) for n in range(CHAINS)]
    rig = armature("Rig", [spec for chain in chains for spec in chain])
    return rig, [[spec["name"] for spec in chain] for chain in chains]


def disagreements(rig: bpy.types.Object, chains: list[list[str]]) -> dict[str, float]:
    """Chains that are not where Blender puts them: whole ones, and those that begin under two more bones."""
    found = {}
    for names in chains:
        for part in (names, names[2:]):
            apart = disagreement(rig, part)
            if not apart < AGREE:
                found[part[0]] = apart
    return found


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("rotation", [True, False], ids=["inherits rotation", "keeps rotation"])
@pytest.mark.parametrize("inherit", INHERIT_SCALE)
def test_joints_stand_where_blender_puts_them(inherit, rotation, scale):
    """Ten chains each, of any rolls, gaps and places, in every rotation mode."""
    random = Random(f"{inherit} {rotation} {scale}")
    rig, chains = random_armature(random)
    for n, names in enumerate(chains):
        for name in names:
            bone = rig.pose.bones[name]
            bone.bone.inherit_scale, bone.bone.use_inherit_rotation = inherit, rotation
            bone.bone.use_local_location = random.random() < 0.5
            pose_randomly(random, bone, scale, MODES[n % len(MODES)])
    assert disagreements(rig, chains) == {}


@pytest.mark.parametrize("seed", range(12))
def test_joints_of_mixed_rigs_stand_where_blender_puts_them(seed):
    """Every bone with its own kind of inheritance and scale, in scaled, turned and mirrored objects."""
    random = Random(seed)
    rig, chains = random_armature(random)
    parent = bpy.data.objects.new("Parent", None)
    bpy.context.scene.collection.objects.link(parent)
    parent.scale, parent.rotation_euler = SCALES["mirrored"](random), random_vector(random, -pi, pi)
    rig.parent = parent
    rig.location, rig.rotation_euler = random_vector(random, -9.0, 9.0), random_vector(random, -pi, pi)
    rig.scale = SCALES["non-uniform" if seed % 2 else "mirrored"](random)
    for names in chains:
        for name in names:
            bone = rig.pose.bones[name]
            bone.bone.inherit_scale = random.choice(INHERIT_SCALE)
            bone.bone.use_inherit_rotation = random.random() < 0.7
            bone.bone.use_local_location = random.random() < 0.5
            pose_randomly(random, bone, random.choice(list(SCALES)), random.choice(MODES))
    assert disagreements(rig, chains) == {}


@pytest.mark.parametrize("inherit", INHERIT_SCALE)
def test_a_chain_under_scaled_and_mirrored_bones_stands_where_blender_puts_it(inherit):
    random = Random(inherit)
    rig, chains = random_armature(random)
    for n, names in enumerate(chains):
        for i, name in enumerate(names):
            bone = rig.pose.bones[name]
            bone.bone.inherit_scale = inherit
            pose_randomly(random, bone, "mirrored" if i < 2 else "unscaled", MODES[n % len(MODES)])
    assert disagreements(rig, chains) == {}


def test_a_chain_under_a_constrained_bone_stands_where_blender_puts_it():
    rig = chain_rig(5)
    target = bpy.data.objects.new("Goal", None)
    bpy.context.scene.collection.objects.link(target)
    target.location, target.scale = (1.0, 2.0, 0.5), (1.0, 2.0, 0.5)
    for kind in ("COPY_LOCATION", "COPY_SCALE", "DAMPED_TRACK"):
        rig.pose.bones["Bone 1"].constraints.new(kind).target = target
    assert disagreement(rig, ["Bone 2", "Bone 3", "Bone 4"]) < AGREE


@pytest.mark.parametrize("value", [(0.0, 0.0, 0.0, 0.0), (3.0, 1.0, 0.0, 2.0), (0.1, 0.0, 0.02, 0.0)])
@pytest.mark.parametrize("mode", ["QUATERNION", "AXIS_ANGLE"])
def test_rotation_values_that_are_not_of_unit_length_mean_what_blender_takes_them_for(mode, value):
    rig = chain_rig(3, mode=mode)
    prop = "rotation_quaternion" if mode == "QUATERNION" else "rotation_axis_angle"
    setattr(rig.pose.bones["Bone 1"], prop, value)
    assert disagreement(rig, ["Bone 0", "Bone 1", "Bone 2"]) < AGREE


@pytest.mark.parametrize("angle", [4.0 * pi, -7.5, 100.0])
def test_angles_of_several_turns_mean_what_blender_takes_them_for(angle):
    rig = chain_rig(3, mode="XYZ")
    rig.pose.bones["Bone 0"].rotation_euler = (angle, 0.5 * angle, 0.3)
    rig.pose.bones["Bone 1"].rotation_mode = "AXIS_ANGLE"
    rig.pose.bones["Bone 1"].rotation_axis_angle = (angle, 1.0, 0.0, 1.0)
    assert disagreement(rig, ["Bone 0", "Bone 1", "Bone 2"]) < AGREE


def test_uniform_scales_leave_a_chain_of_plain_joints():
    """What lets the solvers use the fast rules for the most common rigs, whatever the size of the character."""
    rig = chain_rig(3)
    for bone, size in zip(rig.pose.bones, (2.0, 0.5, 3.0), strict=True):
        bone.scale = (size,) * 3
    names = ["Bone 1", "Bone 2"]
    bpy.context.view_layer.update()
    pose = Bones(rig, names, names).pose(base_of(rig, "Bone 1"), channels_of(rig, names))
    assert pose.chain.plain
    assert disagreement(rig, names) < AGREE


def test_the_tolerance_of_uniformity_does_not_hide_a_real_difference():
    rig = chain_rig(3)
    rig.pose.bones["Bone 0"].scale = (1.0, 1.0, 1.001)
    names = ["Bone 1", "Bone 2"]
    bpy.context.view_layer.update()
    pose = Bones(rig, names, names).pose(base_of(rig, "Bone 1"), channels_of(rig, names))
    assert not pose.chain.plain
    assert disagreement(rig, names) < AGREE


@pytest.mark.parametrize("axis", range(3))
def test_a_bone_scaled_to_zero_is_refused_by_name(axis):
    rig = chain_rig(3)
    rig.pose.bones["Bone 1"].scale[axis] = 0.0
    bpy.context.view_layer.update()
    names = ["Bone 0", "Bone 1", "Bone 2"]
    bones = Bones(rig, names, names)
    with pytest.raises(RigError, match="Bone 'Bone 1' is scaled to zero"):
        bones.pose(Matrix.Identity(4), channels_of(rig, names))


def test_an_ancestor_scaled_to_zero_is_refused():
    rig = chain_rig(3)
    rig.pose.bones["Bone 0"].scale = Vector((1.0, 0.0, 1.0))
    bpy.context.view_layer.update()
    names = ["Bone 1", "Bone 2"]
    with pytest.raises(RigError, match="scaled to zero"):
        Bones(rig, names, names).pose(base_of(rig, "Bone 1"), channels_of(rig, names))

# SPDX-License-Identifier: GPL-3.0-or-later
"""The pose that the kinematic core makes of a rig is the pose that Blender shows."""

from math import nan, pi
from random import Random

import bpy
import pytest
from mathutils import Matrix, Quaternion, Vector

from ik_triangulation.errors import ChainError, RigError
from ik_triangulation.jobs.bake import bake
from ik_triangulation.kinematics import Inheritance
from ik_triangulation.rig.armature import (
    Bones,
    Channels,
    base_of,
    bones_from_tip,
    bones_in_line,
    channels_of,
    is_even,
    is_flat,
    next_scale,
    other_side,
    uniform_scale,
)
from ik_triangulation.rig.frames.keyed_motion import stands_still
from ik_triangulation.rig.limb import Limb

from ..rigs import (
    INHERIT_SCALE,
    MODES,
    SCALES,
    armature,
    chain_rig,
    curves_of,
    empty,
    evaluated_tip,
    key_location,
    pose_randomly,
    random_specs,
    random_vector,
)
from .reading import turn_bone

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


@pytest.mark.parametrize(
    ("count", "names"),
    [
        (1, ["Bone 3"]),
        (2, ["Bone 2", "Bone 3"]),
        (4, ["Bone 0", "Bone 1", "Bone 2", "Bone 3"]),
        (0, ["Bone 0", "Bone 1", "Bone 2", "Bone 3"]),
    ],
)
def test_a_chain_is_counted_up_from_its_tip(count, names):
    assert bones_from_tip(chain_rig(4), "Bone 3", count) == tuple(names)


def test_bones_below_the_tip_are_not_part_of_the_chain():
    assert bones_from_tip(chain_rig(4), "Bone 1", 0) == ("Bone 0", "Bone 1")


@pytest.mark.parametrize("count", [5, 1000, -1])
def test_a_chain_longer_than_the_rig_is_refused_with_what_would_do(count):
    with pytest.raises(ChainError, match=r"more than the 4 bones from 'Bone 3'.*Use 0 to 4"):
        bones_from_tip(chain_rig(4), "Bone 3", count)


def test_a_bone_that_is_not_there_is_named():
    with pytest.raises(ChainError, match=r"Bone 'hand' is not in 'Rig' \(renamed or deleted\?\)"):
        bones_from_tip(chain_rig(4), "hand", 0)


@pytest.mark.parametrize("order", [["Bone 1", "Bone 3"], ["Bone 3", "Bone 1"]])
def test_chosen_bones_make_a_chain_with_those_between_them(order):
    rig, target = chain_rig(5), empty()
    limb = Limb.from_bones(rig, order, target)
    assert limb.bones == ("Bone 1", "Bone 2", "Bone 3")
    assert limb.in_order == ("Bone 1", "Bone 3")
    assert limb.tip == "Bone 3"


def test_bones_between_the_chosen_ones_keep_their_pose():
    rig, target = chain_rig(4), key_location(empty(), range(1, 41, 3))
    held = rig.pose.bones["Bone 2"]
    for frame, angle in ((1, 0.2), (20, -0.4)):
        held.rotation_quaternion = Quaternion((1.0, 0.0, 0.0), angle)
        held.keyframe_insert("rotation_quaternion", frame=frame)
    report = bake(Limb.from_bones(rig, ["Bone 0", "Bone 1", "Bone 3"], target), 1, 20)
    assert report.all_reached
    (warning,) = report.warnings
    assert "Solved frame by frame" in warning
    for curve in curves_of(rig):
        assert len(curve.keyframe_points) == (2 if curve.data_path.startswith('pose.bones["Bone 2"]') else 20)
    for frame in (1, 10, 20):
        bpy.context.scene.frame_set(frame)
        assert (evaluated_tip(rig, "Bone 3") - target.matrix_world.translation).length < 1.1e-3


def forked():
    """A trunk with two branches."""
    return armature(
        "Rig",
        [
            {"name": "trunk", "head": (0, 0, 0), "tail": (0, 0, 1)},
            {"name": "left", "head": (0, 0, 1), "tail": (1, 0, 2), "parent": "trunk"},
            {"name": "right", "head": (0, 0, 1), "tail": (-1, 0, 2), "parent": "trunk"},
            {"name": "other", "head": (3, 0, 0), "tail": (3, 0, 1)},
        ],
    )


@pytest.mark.parametrize("names", [["left", "right"], ["trunk", "left", "right"], ["left", "other"]])
def test_bones_of_several_branches_are_refused(names):
    with pytest.raises(ChainError, match=r"'\w+' is not a descendant of '\w+'"):
        bones_in_line(forked(), names)


def test_no_bones_are_refused():
    with pytest.raises(ChainError, match="No bones are selected"):
        bones_in_line(forked(), [])


def test_branches_follow_without_being_turned():
    rig, target = forked(), empty(location=(0.5, 0.6, 1.5))
    report = bake(Limb.from_tip(rig, "left", target), 1, 2)
    assert {curve.group.name for curve in curves_of(rig)} == {"trunk", "left"}
    assert report.all_reached


def test_bones_whose_names_begin_alike_are_told_apart():
    rig = chain_rig(3, names=["arm", "arm.001", "arm.0010"])
    turn_bone(rig, "arm.0010")
    assert stands_still(Limb.from_tip(rig, "arm.001", empty()), bpy.context.scene, (1, 20))
    turn_bone(rig, "arm")
    assert not stands_still(Limb.from_tip(rig, "arm.001", empty(), chain_count=1), bpy.context.scene, (1, 20))


@pytest.mark.parametrize(
    ("name", "others", "found"),
    [
        ("hand.L", ["hand.R"], "hand.R"),
        ("hand.L", [], "hand.R"),
        ("mixamorig:LeftHand", ["mixamorig:RightHand"], "mixamorig:RightHand"),
        ("mixamorig:RightHand", ["mixamorig:LeftHand"], "mixamorig:LeftHand"),
        ("a:leftHand", [], "a:rightHand"),
        ("J_Bip_R_Hand", ["J_Bip_L_Hand"], "J_Bip_L_Hand"),
        ("Bip01 L Hand", [], "Bip01 R Hand"),
        ("a:LeftLeft", ["a:RightRight", "a:RightLeft"], "a:RightLeft"),
        ("a:Left_L_hand", ["a:Left_R_hand"], "a:Left_R_hand"),
        ("a:Left_L_hand", [], "a:Right_L_hand"),
        ("a_L_hand.L", ["a_R_hand.L"], "a_R_hand.L"),
        ("spine", [], "spine"),
    ],
)
def test_the_bone_on_the_other_side_is_found_wherever_the_side_is_in_the_name(name, others, found):
    assert other_side(name, {name, *others}) == found


def test_a_bone_without_a_rest_pose_is_refused_by_name():
    rig = chain_rig(2)
    bpy.ops.object.mode_set(mode="EDIT")
    rig.data.edit_bones["Bone 1"].tail.x = nan
    bpy.ops.object.mode_set(mode="POSE")
    with pytest.raises(RigError, match="Bone 'Bone 1' has an invalid rest pose"):
        Bones(rig, ["Bone 0", "Bone 1"], ["Bone 1"])


def test_bones_none_of_which_is_solved_are_refused():
    with pytest.raises(ChainError, match="Nothing can move"):
        Bones(chain_rig(2), ["Bone 0", "Bone 1"], [])


@pytest.mark.parametrize(
    ("prop", "value", "message"),
    [
        ("scale", (1e13, 1.0, 1.0), "'Bone 1' is scaled or moved beyond 1e"),
        ("location", (0.0, 1e13, 0.0), "'Bone 1' is scaled or moved beyond 1e"),
        ("scale", (1e-5, 1e-3, 1e-5), "'Bone [12]' is scaled flat by those above it"),
        ("scale", (1e5, 1e5, 1e5), r"that end in 'Bone 2' are 1e\+15 long in all"),
    ],
)
def test_bones_that_are_far_too_large_or_flat_are_refused_by_name(prop, value, message):
    rig, names = chain_rig(3), ["Bone 0", "Bone 1", "Bone 2"]
    bones, channels = Bones(rig, names, names), channels_of(rig, names)
    assert sum(bones.pose(Matrix(), channels).lengths) == pytest.approx(3.0, abs=0.01)
    for number in range(1 if message.startswith("'Bone 1'") else 0, 3):
        channels[number] = channels[number]._replace(**{prop: Vector(value)})
    with pytest.raises(RigError, match=message):
        bones.pose(Matrix(), channels)


def test_a_scale_that_constraints_make_is_that_on_the_parent_where_it_is_uniform():
    rig, target = chain_rig(3), empty()
    target.scale = (3.0, 3.0, 3.0)
    bone, parent = rig.pose.bones["Bone 1"], rig.pose.bones["Bone 0"]
    limit = bone.constraints.new("COPY_SCALE")
    limit.target = target
    parent.scale, bone.scale = (2.0, 2.0, 2.0), (0.5, 0.5, 0.5)

    def seen():
        bpy.context.view_layer.update()
        evaluated = rig.evaluated_get(bpy.context.evaluated_depsgraph_get())
        (channels,) = channels_of(evaluated, ["Bone 1"])
        assert isinstance(channels, Channels)
        return tuple(channels.scale)

    assert seen() == pytest.approx((1.5, 1.5, 1.5))
    bone.bone.inherit_scale = "NONE"
    assert seen() == pytest.approx((3.0, 3.0, 3.0))
    target.scale = (3.0, 3.0, 1.0)  # there is no one scale then
    assert seen() == pytest.approx((0.5, 0.5, 0.5))
    target.scale, limit.mute = (3.0, 3.0, 3.0), True
    assert seen() == pytest.approx((0.5, 0.5, 0.5))
    limit.mute, parent.scale = False, (2.0, 1.0, 2.0)
    assert seen() == pytest.approx((0.5, 0.5, 0.5))


def test_the_scale_of_a_frame_is_that_of_its_axes_if_it_is_uniform():
    turn = Quaternion((0.3, 0.5, -0.2, 0.7)).normalized().to_matrix()
    for size in (0.001, 0.5, 3.0, 2000.0):
        assert uniform_scale((turn @ Matrix.Scale(size, 3)).to_4x4()) == pytest.approx(size, rel=1e-5)
    assert uniform_scale(turn @ Matrix.Scale(1.00005, 3)) == 1.0
    assert uniform_scale(turn @ Matrix.Scale(1.0003, 3)) == pytest.approx(1.0003, abs=1e-6)
    for other in ((2.001, 2.0, 2.0), (2.0, 2.0, 2.001), (2.0, 2.001, 2.0), (-2.0, 2.0, 2.0), (1e-13,) * 3):
        assert uniform_scale(turn @ Matrix.Diagonal(other)) is None
    for row, column in ((0, 1), (1, 2), (2, 0)):
        sheared = Matrix.Scale(2.0, 3)
        sheared[row][column] = 0.004
        assert uniform_scale(turn @ sheared) is None


def test_a_frame_is_flat_where_an_axis_has_no_length_or_lies_among_the_others():
    turn = Quaternion((0.3, 0.5, -0.2, 0.7)).normalized().to_matrix()
    for sizes in ((1.0, 1.0, 1.0), (1e-10, 1.0, 1e10), (-1.0, 2.0, 1e-5)):
        assert not is_flat(turn @ Matrix.Diagonal(sizes))
    for sizes in ((1.0, 1e-13, 1.0), (1.0, 1.0, 1e13), (nan, 1.0, 1.0)):
        assert is_flat(turn @ Matrix.Diagonal(sizes))
    assert is_flat(Matrix(((1.0, 0.0, 1.0), (0.0, 1.0, 1.0), (0.0, 0.0, 0.0))))
    assert not is_flat(Matrix(((1.0, 0.0, 1.0), (0.0, 1.0, 1.0), (0.0, 0.0, 1e-4))))


def test_a_scale_is_even_if_it_is_alike_along_all_axes_and_positive():
    assert is_even(Vector((2.0, 2.0, 2.0)))
    assert is_even(Vector((2.0, 2.000015, 2.0)))
    assert not is_even(Vector((2.0, 2.00003, 2.0)))
    assert not is_even(Vector((-1.0, -1.0, -1.0)))
    assert not is_even(Vector())


@pytest.mark.parametrize("inherit", INHERIT_SCALE)
def test_the_scale_below_a_bone_is_its_own_times_what_it_inherits(inherit):
    def below(before, own, rotation=True):
        return next_scale(before, Inheritance(inherit, rotation, Matrix.Identity(3)), Vector(own))

    inherited = 1.0 if inherit.startswith("NONE") else 2.0
    assert below(2.0, (3.0, 3.0, 3.0)) == pytest.approx(3.0 * inherited)
    assert below(2.0, (1.000005,) * 3) == inherited
    assert below(2.0, (1.0, 1.1, 1.0)) is None
    assert below(None, (1.0, 1.0, 1.0)) is None
    assert below(2.0, (1.0, 1.0, 1.0), rotation=False) is None

# SPDX-License-Identifier: GPL-3.0-or-later
"""A limb whose target is a bone has its last bone there: head to head and turned alike, on any character."""

import bpy
import numpy as np
import pytest
from mathutils import Quaternion, Vector

from ik_triangulation.jobs.bake import bake_body, bake_limbs
from ik_triangulation.rig.anatomy.limbs import RestBody
from ik_triangulation.rig.anatomy.skeleton import RestBone
from ik_triangulation.rig.body import RigBody
from ik_triangulation.rig.limb import Limb
from ik_triangulation.rig.stance import Stance, end_frames, matches
from ik_triangulation.settings.edition import keep_previous_defaults

from ..characters import KINDS, character, part_of, pose_part
from ..ik_rigs import ik_arm
from ..rigs import chain_rig, configure, empty

pytestmark = pytest.mark.usefixtures("addon", "empty_scene")
FRAMES = 1, 5, 9
ARM = "upper_arm", "forearm", "hand"


def moved(rig, kind, part="hand", upper="upper_arm", lower="forearm"):
    """Key one limb of a character at a few frames, by rotations about the axes of the world."""
    random = np.random.default_rng(3)
    for frame in FRAMES:
        for name, size in ((upper, 0.5), (lower, 0.4), (part, 0.3)):
            bone = part_of(rig, kind, name)
            pose_part(bone, Quaternion(random.normal(size=3), random.uniform(0.2, size)))
            bone.keyframe_insert("rotation_quaternion", frame=frame)


def shown(bone):
    armature = bone.id_data.evaluated_get(bpy.context.evaluated_depsgraph_get())
    return armature.matrix_world @ armature.pose.bones[bone.name].matrix


@pytest.mark.parametrize("kind", KINDS)
def test_a_hand_and_a_foot_match_those_of_another_kind_of_character(kind):
    others = list(KINDS)
    other = others[(others.index(kind) + 3) % len(others)]
    source, rig = character(other, "Source"), character(kind, "Follower")
    rest = {}
    for part in ("hand", "foot"):
        rest[part] = [shown(part_of(each, name, part)).to_3x3() for each, name in ((source, other), (rig, kind))]
    limbs = []
    for upper, lower, part in (ARM, ("thigh", "shin", "foot")):
        moved(source, other, part, upper, lower)
        bones = [part_of(rig, kind, name).name for name in (upper, lower, part)]
        limbs.append(Limb.from_bones(rig, bones, source, subtarget=part_of(source, other, part).name))
    for report in bake_limbs(limbs, *FRAMES[::2]):
        assert not report.missed
    down = KINDS[kind].down - KINDS[other].down
    for frame in FRAMES:
        bpy.context.scene.frame_set(frame)
        for part, (theirs, own) in rest.items():
            there, here = shown(part_of(source, other, part)), shown(part_of(rig, kind, part))
            reach = 0.54 if part == "hand" else 0.86
            assert (there.translation - here.translation).length < 1e-4 * reach, (frame, part)
            turned = there.to_3x3() @ theirs.inverted(), here.to_3x3() @ own.inverted()
            # Arms that hang lower at rest have turned by less to be where they are.
            lowered = Quaternion((0.0, 1.0, 0.0), np.radians(down)) if part == "hand" else Quaternion()
            left = (turned[1].to_quaternion() @ lowered).rotation_difference(turned[0].to_quaternion())
            assert left.angle < np.radians(0.5), (frame, part, np.degrees(left.angle))


def test_a_body_follows_the_hands_and_feet_of_another_kind_of_character():
    source, rig, random = character("Mixamo", "Source"), character("Unreal", "Follower"), np.random.default_rng(5)
    for frame in FRAMES:
        for part, most in (("upper_arm", 0.5), ("forearm", 0.4), ("thigh", 0.25), ("shin", 0.2), ("hand", 0.2)):
            for side in "LR":
                bone = part_of(source, "Mixamo", part, side)
                pose_part(bone, Quaternion(random.normal(size=3), random.uniform(-most, most)))
                bone.keyframe_insert("rotation_quaternion", frame=frame)
    ends = [(part, side) for part in ("hand", "foot") for side in "LR"]
    pairs = [[part_of(who, kind, *end) for who, kind in ((source, "Mixamo"), (rig, "Unreal"))] for end in ends]
    limbs = [Limb.from_tip(rig, own.name, source, subtarget=theirs.name) for theirs, own in pairs]
    assert not bake_body(RigBody(rig, tuple(limbs), ()), *FRAMES[::2]).missed
    for frame in FRAMES:
        bpy.context.scene.frame_set(frame)
        apart = [(shown(theirs).translation - shown(own).translation).length for theirs, own in pairs]
        assert max(apart) < 1e-4 * 0.54, frame


def test_an_fk_hand_follows_the_control_of_its_own_rig():
    rig = ik_arm()
    for bone in rig.pose.bones:
        for constraint in bone.constraints:
            constraint.mute = True
    grip = rig.pose.bones["Grip"]
    before = shown(grip).to_quaternion().rotation_difference(shown(rig.pose.bones["Palm"]).to_quaternion())
    grip.location, grip.rotation_mode = (-0.2, -0.2, 0.1), "QUATERNION"
    grip.rotation_quaternion = Quaternion((0.3, 1.0, 0.2), 0.5)
    bpy.context.view_layer.update()
    limb = Limb.from_bones(rig, ("Bicep", "Ulna", "Palm"), rig, subtarget="Grip")
    (report,) = bake_limbs([limb], 1, 1)
    assert not report.missed
    assert (shown(grip).translation - shown(rig.pose.bones["Palm"]).translation).length < 1e-4 * 0.6
    after = shown(grip).to_quaternion().rotation_difference(shown(rig.pose.bones["Palm"]).to_quaternion())
    assert before.rotation_difference(after).angle < 1e-3


def test_a_bone_that_does_not_correspond_is_for_the_end_of_the_limb():
    rig = ik_arm()
    assert Limb.from_bones(rig, ("Bicep", "Ulna"), rig, subtarget="Grip").offset is None, "it begins at the wrist"
    assert Limb.from_bones(rig, ("Bicep", "Ulna"), rig, subtarget="Grip", match="BONE").offset is not None
    source, person = character("Mixamo"), character("Unreal")
    legs = [part_of(person, "Unreal", part).name for part in ("thigh", "shin")]
    assert Limb.from_bones(person, legs, source, subtarget=part_of(source, "Mixamo", "foot").name).offset is None
    assert Limb.from_bones(person, legs, source, subtarget=part_of(source, "Mixamo", "shin").name).offset is not None
    chain, other = chain_rig(3), chain_rig(3, name="Other")
    assert Limb.from_tip(chain, "Bone 2", other, subtarget="Bone 1").offset is None
    assert Limb.from_tip(chain, "Bone 2", other, subtarget="Bone 2").offset is not None, "it has the same name"


def test_nothing_is_matched_where_the_tip_is_free_or_the_target_has_no_bone():
    rig = ik_arm()
    arm = "Bicep", "Ulna", "Palm"
    assert Limb.from_bones(rig, arm, rig, subtarget="Grip", orientation="NONE").offset is None
    assert Limb.from_bones(rig, arm, rig, subtarget="Grip", match="TIP").offset is None
    assert Limb.from_bones(rig, arm, rig, subtarget="Grip", shape="LINE").offset is None
    assert Limb.from_bones(rig, arm, empty(), match="BONE").offset is None


def test_a_character_scaled_by_a_bone_matches_as_well():
    source, rig = character("Mixamo", "Source"), character("Rigify metarig", "Follower")
    moved(source, "Mixamo")
    rig.pose.bones["spine.003"].scale = (1.2, 1.2, 1.2)
    bpy.context.scene.frame_set(FRAMES[1])
    limb = Limb.from_bones(rig, [f"{name}.L" for name in ARM], source, subtarget="mixamorig:LeftHand")
    (report,) = bake_limbs([limb], FRAMES[1], FRAMES[1])
    assert not report.missed
    there, here = shown(source.pose.bones["mixamorig:LeftHand"]), shown(rig.pose.bones["hand.L"])
    assert (there.translation - here.translation).length < 1e-4 * 0.54


def test_limbs_of_older_files_keep_the_tip_at_the_head_of_their_bone():
    rig = ik_arm()
    following = configure(rig, "Palm", chain_count=3, target=rig, subtarget="Grip").ik_triangulation
    plain = configure(rig, "Ulna", chain_count=2, target=empty()).ik_triangulation
    rig.ik_triangulation.edition = 1
    keep_previous_defaults([rig])
    assert (following.match, plain.is_property_set("match")) == ("TIP", False)
    assert Limb.of(rig.pose.bones["Palm"]).offset is None


def test_fingers_match_by_their_name_and_number_and_other_bones_by_their_part():
    kinds = list(KINDS)[:2]
    rigs = [character(kind) for kind in kinds]

    def names(part, side="L"):
        return [part_of(rig, kind, part, side).name for rig, kind in zip(rigs, kinds, strict=True)]

    def match(tip, other, side="L"):
        return matches(rigs[0], names(tip)[0], rigs[1], names(other, side)[1])

    assert match("index2", "index2")
    assert not match("index2", "index1")
    assert not match("index2", "middle2")
    assert match("hand", "hand", "R")
    assert not match("hand", "foot")
    assert not match("hand", "index1")
    assert not matches(rigs[0], names("hand")[0], rigs[1], "nowhere")
    plain = [chain_rig(2, name=name, names=("prop", "other")) for name in ("One", "Two")]
    assert matches(plain[0], "prop", plain[1], "prop")
    assert not matches(plain[0], "prop", plain[1], "other")
    assert matches(plain[0], "prop", plain[0], "prop")
    assert not matches(plain[0], "prop", plain[0], "other")


def foot(toe, tail=(0.1, -0.02, 0.0)):
    """A body of two legs whose left foot has its toe, if any, at a place."""
    bones = {"hips": RestBone(None, (0.0, 0.0, 1.0), (0.0, 0.0, 1.2))}
    for side, sign in (("L", 1.0), ("R", -1.0)):
        above = "hips"
        for name, head, end in (
            ("thigh", (0.1, 0.0, 1.0), (0.1, 0.0, 0.5)),
            ("shin", (0.1, 0.0, 0.5), (0.1, 0.0, 0.1)),
            ("foot", (0.1, 0.0, 0.1), tail),
        ):
            ends = [(sign * x, y, z) for x, y, z in (head, end)]
            bones[f"{name}.{side}"] = RestBone(above, *ends)
            above = f"{name}.{side}"
    if toe:
        bones["toe.L"] = RestBone("foot.L", toe, (toe[0], toe[1] - 0.05, toe[2]))
    return RestBody(bones)


@pytest.mark.parametrize(
    ("toe", "tail", "along"),
    [
        (None, (0.1, -0.15, 0.02), (0.0, -1.0, 0.0)),
        (None, (0.2, -0.1, 0.02), (0.7071068, -0.7071068, 0.0)),
        ((0.2, -0.1, 0.02), (0.1, 0.0, 0.0), (0.7071068, -0.7071068, 0.0)),
        (None, (0.1, -0.015, 0.0), None),
        (None, (0.1, -0.025, 0.0), (0.0, -1.0, 0.0)),
    ],
)
def test_a_foot_points_to_its_toe_or_as_its_bone_does_unless_it_stands(toe, tail, along):
    stance = Stance(Vector((0.0, -1.0, 0.0)), Vector((0.0, 0.0, 1.0)))
    found = end_frames(foot(toe, tail), stance, "foot.L")
    assert list(found) == (["foot", "stance"] if along else ["stance"])
    assert tuple(found["stance"] @ Vector((0.0, 1.0, 0.0))) == pytest.approx((0.0, -1.0, 0.0), abs=1e-6)
    for frame in found.values():
        assert tuple(frame @ Vector((0.0, 0.0, 1.0))) == pytest.approx((0.0, 0.0, 1.0), abs=1e-6)
    if along:
        assert tuple(found["foot"] @ Vector((0.0, 1.0, 0.0))) == pytest.approx(along, abs=1e-5)
    assert list(end_frames(foot(toe, tail), stance, "shin.L")) == ["stance"]

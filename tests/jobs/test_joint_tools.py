# SPDX-License-Identifier: GPL-3.0-or-later
"""Joint settings of many bones at once: from other sources, copied, mirrored, learned; all bones are set or none."""

from math import degrees, inf, nan, pi, radians, sin
from random import Random

import bpy
import pytest
from mathutils import Matrix, Quaternion, Vector

from ik_triangulation.errors import AnimationError, ChainError
from ik_triangulation.jobs import joint_tools as joints
from ik_triangulation.kinematics import Cone, EulerLimits, Free, Hinge, Locked, framed
from ik_triangulation.kinematics.rotation import about, angle_between, rotation_angle
from ik_triangulation.rig.freedom import freedom_of, limits_of, stiffness_of

from ..modes import every_mode
from ..rigs import armature, chain_rig, curves_of, nothing_lost, random_rotation, random_vector, select
from .hinges import AXIS, keyed, limit_rotation, own, settings

pytestmark = pytest.mark.usefixtures("empty_scene")

MIRROR = Matrix.Diagonal((-1.0, 1.0, 1.0))


def ik_panel(bone, x=None, y=None, z=None):
    """Limits of Blender's Inverse Kinematics panel: a range about each axis, None where it is locked."""
    for axis, ends in zip("xyz", (x, y, z), strict=True):
        setattr(bone, f"lock_ik_{axis}", ends is None)
        if ends:
            setattr(bone, f"use_ik_limit_{axis}", True)
            setattr(bone, f"ik_min_{axis}", ends[0])
            setattr(bone, f"ik_max_{axis}", ends[1])


def allows_the_same(before, after, random, count=60):
    for _ in range(count):
        rotation = random_rotation(random)
        a, b = before.nearest(rotation), after.nearest(rotation)
        off = [rotation_angle(each, rotation) for each in (a, b)]
        assert rotation_angle(a, b) < 1e-5 or off == [pytest.approx(off[0], abs=1e-5)] * 2
        inside = before.random(random)
        assert rotation_angle(after.nearest(inside), inside) < 2e-6
        inside = after.random(random)
        assert rotation_angle(before.nearest(inside), inside) < 2e-6


def unchanged(rig, act, message):
    """Refused with this message, and no setting is another one."""
    before = settings(rig)
    with nothing_lost(), pytest.raises(RuntimeError, match=message):
        act()
    assert settings(rig) == before


# Own


SOURCES = {
    "nothing": lambda bone: None,
    "a hinge": lambda bone: ik_panel(bone, x=(-0.25, 2.5)),
    "a hinge without limits": lambda bone: [setattr(bone, f"lock_ik_{axis}", True) for axis in "xz"],
    "two axes": lambda bone: ik_panel(bone, x=(-0.5, 0.25), z=(-1.5, pi)),
    "some limits": lambda bone: setattr(bone, "use_ik_limit_y", True),
    "three axes": lambda bone: ik_panel(bone, (-0.5, 0.25), (-pi, pi), (-1.5, 0.75)),
    "all locked": lambda bone: ik_panel(bone),
    "a constraint": lambda bone: limit_rotation(bone, use_limit_x=True, min_x=-0.5, max_x=1.0, euler_order="ZXY"),
    "a constraint across half a turn": lambda bone: limit_rotation(bone, use_limit_z=True, min_z=2.5, max_z=4.0),
    "an idle constraint": limit_rotation,
}


@pytest.mark.parametrize("mode", ["QUATERNION", "XZY"])
@pytest.mark.parametrize("source", SOURCES)
def test_own_limits_are_what_the_source_said(source, mode):
    rig = chain_rig(3, mode=mode)
    bone = rig.pose.bones["Bone 1"]
    SOURCES[source](bone)
    bone.ik_stiffness_z = 0.5
    before, random = freedom_of(bone), Random(source)
    select(rig, "Bone 1")
    assert bpy.ops.pose.ik_triangulation_joint_own() == {"FINISHED"}
    assert (bone.ik_triangulation_joint.source, stiffness_of(bone)) == ("OWN", 0.5)
    after = freedom_of(bone)
    assert type(after) is type(before)
    allows_the_same(before, after, random)
    bone.rotation_mode = "ZYX"
    allows_the_same(before, freedom_of(bone), random, 20)
    assert rig.pose.bones["Bone 2"].ik_triangulation_joint.source == "AUTO"


def test_locked_channels_are_not_made_limits():
    rig = chain_rig(1, mode="XYZ")
    bone = rig.pose.bones["Bone 0"]
    ik_panel(bone, (-0.5, 0.25), (-1.0, 1.0), (-1.5, 0.75))
    bone.rotation_euler, bone.lock_rotation[1] = (0.1, 0.5, 0.2), True
    before = freedom_of(bone)
    joints.copy_to_own(rig, ["Bone 0"])
    allows_the_same(before, freedom_of(bone), Random(1))
    bone.lock_rotation[1] = False
    assert freedom_of(bone) == EulerLimits("XYZ", (-0.5, -1.0, -1.5), (0.25, 1.0, 0.75))


def test_own_values_are_left_alone():
    rig = chain_rig(2)
    own(rig.pose.bones["Bone 0"], kind="HINGE", axis=(0.0, 2.0, 0.0), lower=2.0, upper=1.0)
    before = settings(rig)["Bone 0"]
    assert joints.copy_to_own(rig, ["Bone 0", "Bone 1"]) == ["Bone 1"]
    assert settings(rig)["Bone 0"] == before
    assert joints.copy_to_own(rig, ["Bone 0", "Bone 1"]) == []


def test_no_own_limits_are_set_if_one_bone_is_refused():
    rig = chain_rig(3)
    ik_panel(rig.pose.bones["Bone 0"], x=(-0.25, 2.5))
    limit_rotation(rig.pose.bones["Bone 2"], influence=0.5)
    select(rig, "Bone 0", "Bone 1", "Bone 2")
    unchanged(rig, bpy.ops.pose.ik_triangulation_joint_own, "'Limit Rotation' on 'Bone 2' has an influence below 1")


# Copy


JOINTS = {
    "hinge": (Hinge(Vector((0.0, 0.0, 1.0)), 0.5, 2.0), {"kind": "HINGE", "axis": (0.0, 0.0, 3.0)}),
    "cone": (Cone(0.75, 0.5, 1.0), {"kind": "CONE", "swing": 0.75, "twist_lower": 0.5, "twist_upper": 1.0}),
    "euler": (EulerLimits("ZXY", (-1.0,) * 3, (0.5,) * 3), {"kind": "EULER", "order": "ZXY"}),
    "free": (Free(), {"kind": "FREE"}),
    "locked": (Locked(), {"kind": "LOCKED"}),
}


@pytest.mark.parametrize("kind", JOINTS)
def test_the_joint_of_the_active_bone_is_copied_to_the_selected_ones(kind):
    rig = chain_rig(4)
    freedom, values = JOINTS[kind]
    own(rig.pose.bones["Bone 2"], lower=0.5, upper=2.0, minimum=(-1.0,) * 3, maximum=(0.5,) * 3, stiffness=0.25)
    own(rig.pose.bones["Bone 2"], **values)
    untouched = settings(rig)
    select(rig, "Bone 0", "Bone 1", "Bone 2")
    assert bpy.ops.pose.ik_triangulation_joint_copy() == {"FINISHED"}
    for name in ("Bone 0", "Bone 1", "Bone 2"):
        bone = rig.pose.bones[name]
        assert (freedom_of(bone), stiffness_of(bone)) == (freedom, 0.25)
    assert {name: settings(rig)[name] for name in ("Bone 2", "Bone 3")} == {
        name: untouched[name] for name in ("Bone 2", "Bone 3")
    }


@pytest.mark.parametrize("source", SOURCES)
def test_a_copy_means_the_same_on_bones_of_other_modes(source):
    rig = chain_rig(2, mode="XZY")
    rig.pose.bones["Bone 1"].rotation_mode = "ZYX"
    SOURCES[source](rig.pose.bones["Bone 0"])
    assert joints.copy_to_others(rig, "Bone 0", ["Bone 0", "Bone 1"]) == ["Bone 1"]
    bones = rig.pose.bones
    assert bones["Bone 1"].ik_triangulation_joint.source == "OWN"
    allows_the_same(freedom_of(bones["Bone 0"]), freedom_of(bones["Bone 1"]), Random(source))


def test_a_copy_of_own_limits_in_the_default_order_keeps_the_order_they_had():
    rig = chain_rig(2, mode="XZY")
    rig.pose.bones["Bone 1"].rotation_mode = "ZYX"
    own(rig.pose.bones["Bone 0"], kind="EULER")
    joints.copy_to_others(rig, "Bone 0", ["Bone 1"])
    assert freedom_of(rig.pose.bones["Bone 1"]).order == "XZY"


def test_what_cannot_be_read_is_not_copied():
    rig = chain_rig(2)
    own(rig.pose.bones["Bone 1"], kind="HINGE", lower=2.0, upper=1.0)
    select(rig, "Bone 0", "Bone 1")
    unchanged(rig, bpy.ops.pose.ik_triangulation_joint_copy, "Hinge is inverted")
    with pytest.raises(ChainError, match="No bones but 'Bone 1' are selected"):
        joints.copy_to_others(rig, "Bone 1", ["Bone 1"])


# Mirror


def pair(random, kind="symmetric"):
    """An armature with bones arm.L and arm.R; `kind` says how the right one's roll relates to the mirrored one."""
    head, along = random_vector(random), random_vector(random)
    along.length = random.uniform(0.3, 2.0)
    roll = random.uniform(-pi, pi)
    other = {"symmetric": -roll, "half a turn": pi - roll, "any": random.uniform(-pi, pi)}[kind]
    left = {"name": "arm.L", "head": head, "tail": head + along, "roll": roll}
    right = {"name": "arm.R", "head": MIRROR @ head, "tail": MIRROR @ (head + along), "roll": other}
    rig = armature("Pair", [left, right])
    select(rig, "arm.L")
    return rig


def image(rig, rotation, bone, other):
    """The mirrored rotation of a bone in the other's rest frame, by matrices alone."""
    rest, other_rest = (rig.data.bones[name].matrix_local.to_3x3() for name in (bone, other))
    posed = MIRROR @ rest @ rotation.to_matrix() @ rest.inverted() @ MIRROR
    return (other_rest.inverted() @ posed @ other_rest).to_quaternion()


def mirrors(rig, random, left="arm.L", right="arm.R", within=1e-5):
    """Whether each side allows the mirror images of what the other one allows."""
    for bone, other in ((left, right), (right, left)):
        for _ in range(20):
            reflected = image(rig, limits_of(rig.pose.bones[bone]).random(random), bone, other)
            assert rotation_angle(limits_of(rig.pose.bones[other]).nearest(reflected), reflected) < within


LIMITS = {
    "hinge": lambda random, bone: own(bone, kind="HINGE", axis=random_vector(random), lower=-0.5, upper=1.75),
    "hinge of the ik panel": lambda random, bone: ik_panel(bone, z=(-0.25, 2.0)),
    "euler": lambda random, bone: own(bone, kind="EULER", minimum=random_vector(random, -1.5, 0.0), order="YZX"),
    "ik panel": lambda random, bone: ik_panel(bone, (-0.25, 2.0), (-1.0, 0.5), (-0.1, 0.75)),
    "constraint": lambda random, bone: limit_rotation(bone, use_limit_z=True, min_z=0.25, max_z=1.0),
    "cone": lambda random, bone: own(bone, kind="CONE", twist_lower=-0.25, twist_upper=1.0),
    "free": lambda random, bone: None,
}


ABOUT_AXES = ("euler", "ik panel", "constraint")
MIRRORED = [(limits, rolls) for limits in LIMITS for rolls in ("symmetric", "half a turn")]
MIRRORED += [(limits, "any") for limits in LIMITS if limits not in ABOUT_AXES]
# In short each kind of limits on one rig, and on one of any rolls where those may be.
LONG = {(limits, ("symmetric", "half a turn")[n % 2]) for n, limits in enumerate(LIMITS)}


@pytest.mark.parametrize(
    ("limits", "rolls"), [pytest.param(*each, marks=pytest.mark.long) if each in LONG else each for each in MIRRORED]
)
def test_the_other_side_is_allowed_the_mirror_image(limits, rolls):
    random = Random(f"{limits} {rolls}")
    for _ in range(5):
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        rig = pair(random, rolls)
        LIMITS[limits](random, rig.pose.bones["arm.L"])
        rig.pose.bones["arm.L"].ik_stiffness_x = 0.5
        assert bpy.ops.pose.ik_triangulation_joint_mirror() == {"FINISHED"}
        assert rig.pose.bones["arm.R"].ik_triangulation_joint.source == "OWN"
        assert stiffness_of(rig.pose.bones["arm.R"]) == stiffness_of(rig.pose.bones["arm.L"])
        mirrors(rig, random)


def test_mirrored_rotations_are_mirrored_poses():
    random = Random(9)
    rig = pair(random, "any")
    left, right = rig.pose.bones["arm.L"], rig.pose.bones["arm.R"]
    own(left, kind="HINGE", axis=(0.5, 0.25, 1.0), lower=0.5, upper=0.5)
    joints.mirror(rig, ["arm.L"])
    left.rotation_quaternion, right.rotation_quaternion = (freedom_of(bone).random(random) for bone in (left, right))
    bpy.context.view_layer.update()
    assert (MIRROR @ left.tail - right.tail).length < 1e-5


@pytest.mark.parametrize("limits", ABOUT_AXES)
def test_limits_about_axes_that_are_no_mirror_images_are_refused_with_both_names(limits):
    random = Random(limits)
    rig = pair(random, "any")
    LIMITS[limits](random, rig.pose.bones["arm.L"])
    message = "'arm.L' to 'arm.R': Their X axes are no mirror images.*Symmetrize"
    unchanged(rig, bpy.ops.pose.ik_triangulation_joint_mirror, message)


def test_no_bone_is_mirrored_if_one_has_no_partner():
    rig = pair(Random(3))
    bpy.ops.object.mode_set(mode="EDIT")
    for name in ("leg.L", "spine"):
        bone = rig.data.edit_bones.new(name)
        bone.tail = (0.0, 0.0, 1.0)
    bpy.ops.object.mode_set(mode="POSE")
    own(rig.pose.bones["arm.L"], kind="LOCKED")
    for other, message in (
        ("leg.L", "'leg.L' has no partner: 'Pair' has no bone 'leg.R'"),
        ("spine", "'spine' has no side in its name"),
        ("arm.R", "'arm.L' and 'arm.R' are both selected"),
    ):
        select(rig, "arm.L", other)
        unchanged(rig, bpy.ops.pose.ik_triangulation_joint_mirror, message)


# Learn


@every_mode
def test_a_hinge_is_learned_in_every_mode(mode):
    rig = chain_rig(2, mode=mode)
    keyed(rig, "Bone 1", lambda frame: about(AXIS, 1.0 + sin(frame / 9.0)), range(1, 101))
    rig.pose.bones["Bone 1"].ik_stiffness_x = 0.5
    scene = bpy.context.scene
    scene.frame_set(50)
    select(rig, "Bone 1")
    keys = len(curves_of(rig))
    with nothing_lost():
        assert bpy.ops.pose.ik_triangulation_joint_learn(share=100.0) == {"FINISHED"}
    hinge = freedom_of(rig.pose.bones["Bone 1"])
    assert degrees(angle_between(hinge.axis, AXIS)) < 0.1
    assert (hinge.lower, hinge.upper) == (pytest.approx(0.0, abs=0.01), pytest.approx(2.0, abs=0.01))
    assert (stiffness_of(rig.pose.bones["Bone 1"]), len(curves_of(rig))) == (0.5, keys)


@every_mode
def test_ranges_are_learned_in_every_mode_and_hold_every_frame(mode):
    rig, random = chain_rig(1, mode=mode), Random(mode)
    ends = [random_rotation(random) for _ in range(6)]
    way = [Quaternion().slerp(end, 0.35) for end in ends]
    keyed(rig, "Bone 0", lambda frame: way[frame // 10], range(0, 60, 10))
    found = joints.learn(rig, ["Bone 0"], share=100.0)["Bone 0"]
    limits = freedom_of(rig.pose.bones["Bone 0"])
    assert limits.order == (mode if len(mode) == 3 else "YXZ") == found.freedom.order
    assert found.frames == 51
    for frame in range(51):
        bpy.context.scene.frame_set(frame)
        shown = rig.pose.bones["Bone 0"].matrix_basis.to_quaternion()
        assert rotation_angle(limits.nearest(shown), shown) < 1e-5


def test_what_was_learned_is_reported_and_returned(capfd):
    rig = chain_rig(3)
    keyed(rig, "Bone 0", lambda frame: about(Vector((1.0, 0.0, 0.0)), radians(frame)), range(3, 129, 25))
    keyed(rig, "Bone 2", lambda frame: Quaternion(), (1, 10))
    select(rig, "Bone 0", "Bone 2")
    bpy.ops.pose.ik_triangulation_joint_learn(share=100.0)
    said = capfd.readouterr().out
    assert "Bone 0: hinge about (1.00, 0.00, 0.00), 3° to 128°, from 126 frames, strays 0.0°" in said
    assert "Bone 2: does not turn, from 10 frames" in said
    found = joints.learn(rig, ["Bone 0", "Bone 2"], share=100.0)
    assert found["Bone 2"].freedom == freedom_of(rig.pose.bones["Bone 2"]) == Locked()
    assert degrees(found["Bone 0"].freedom.upper) == pytest.approx(128.0, abs=0.01)


def test_channels_without_keys_have_their_present_value_and_muted_ones_are_not_heard():
    rig = chain_rig(1, mode="XYZ")
    bone = rig.pose.bones["Bone 0"]
    bone.rotation_euler = (0.0, 0.5, 0.0)
    for frame, angle in ((1, -0.5), (20, 1.5)):
        bone.rotation_euler[0] = angle
        bone.keyframe_insert("rotation_euler", index=0, frame=frame)
        bone.rotation_euler[2] = angle
        bone.keyframe_insert("rotation_euler", index=2, frame=frame)
    bone.rotation_euler[2] = 0.0
    next(curve for curve in curves_of(rig) if curve.array_index == 2).mute = True
    joints.learn(rig, ["Bone 0"], share=100.0)
    assert freedom_of(bone).lower == pytest.approx((-0.5, 0.5, 0.0), abs=1e-5)
    assert freedom_of(bone).upper == pytest.approx((1.5, 0.5, 0.0), abs=1e-5)


def test_no_more_frames_are_learned_from_than_can_be_baked():
    """F46: one key far away took minutes and all memory."""
    rig = chain_rig(3)
    for frame in (1, 20_000_000):
        rig.pose.bones["Bone 1"].keyframe_insert("rotation_quaternion", frame=1)
        curves_of(rig)[0].keyframe_points.insert(frame, 0.5)
    message = "The rotation keys of 'Bone 1' span 20000000 frames, which is too many. Learn from 100000 at most: delete"
    with nothing_lost(), pytest.raises(AnimationError, match=message):
        joints.learn(rig, ["Bone 1"])
    select(rig, "Bone 1")
    with nothing_lost(), pytest.raises(RuntimeError, match=f"IK Triangulation: {message}"):
        bpy.ops.pose.ik_triangulation_joint_learn()


@pytest.mark.parametrize("value", [nan, inf, 1e30])
def test_keys_that_are_no_rotations_are_not_learned_from(value):
    rig = chain_rig(3, mode="XYZ")
    rig.pose.bones["Bone 1"].keyframe_insert("rotation_euler", frame=1)
    curves_of(rig)[1].keyframe_points[0].co.y = value
    with nothing_lost(), pytest.raises(AnimationError, match="Keys of 'Bone 1' are no numbers, or far too large"):
        joints.learn(rig, ["Bone 1"])


def test_keys_at_no_frame_are_not_learned_from():
    rig = chain_rig(3, mode="XYZ")
    rig.pose.bones["Bone 1"].keyframe_insert("rotation_euler", frame=1)
    for curve in curves_of(rig):
        curve.keyframe_points[0].co.x = nan
    with nothing_lost(), pytest.raises(AnimationError, match="Keys of 'Bone 1' are at frames that are no numbers"):
        joints.learn(rig, ["Bone 1"])


def test_keys_between_whole_frames_are_learned_from():
    rig = chain_rig(1, mode="XYZ")
    bone = rig.pose.bones["Bone 0"]
    bone.keyframe_insert("rotation_euler", frame=3.5)
    assert joints.learn(rig, ["Bone 0"])["Bone 0"].frames == 1
    bone.keyframe_insert("rotation_euler", frame=6.5)
    assert joints.learn(rig, ["Bone 0"])["Bone 0"].frames == 3


def test_bones_without_keys_are_refused_by_name():
    rig = chain_rig(3)
    keyed(rig, "Bone 0", lambda frame: about(AXIS, frame / 9.0), range(10))
    select(rig, "Bone 0", "Bone 2")
    unchanged(rig, bpy.ops.pose.ik_triangulation_joint_learn, "'Bone 2' has no keys on its QUATERNION rotation")
    rig.pose.bones["Bone 0"].rotation_mode = "XYZ"
    select(rig, "Bone 0")
    unchanged(rig, bpy.ops.pose.ik_triangulation_joint_learn, "'Bone 0' has no keys on its XYZ rotation")


# Any of them


# The panel


@pytest.mark.parametrize(
    ("freedom", "kind", "limits"),
    [
        (Free(), "Free", ""),
        (Locked(), "Locked", ""),
        (Hinge(Vector((0.0, 0.0, 1.0)), -inf, inf), "Hinge Z", ""),
        (Hinge(Vector((0.0, -1.0, 0.0)), -inf, 0.0), "Hinge -Y", "any to 0°"),
        (Hinge(Vector((1.0, 1.0, 0.0)), 0.0, inf), "Hinge", "0° to any"),
        (Hinge(Vector((1.0, 0.0, 0.0)), 0.5, 0.5), "Locked", "29° to 29°"),
        (Cone(pi / 4.0), "Cone", "to 45°"),
        (framed(Cone(pi / 4.0, 0.0, 0.0), Quaternion((0.6, 0.8, 0.0, 0.0))), "Cone", "to 45°, twist 0° to 0°"),
        (EulerLimits("XYZ", (0.1, 0.1, 0.1), (0.1, 0.1, 0.1)), "Locked", "X 6° to 6°, Y 6° to 6°, Z 6° to 6°"),
        (Cone(pi / 4.0, -0.1, 0.1), "Cone", "to 45°, twist -6° to 6°"),
        (EulerLimits("XYZ", (-pi, -inf, 0.0), (pi, inf, 1.0)), "Euler", "X -180° to 180°, Z 0° to 57°"),
    ],
)
def test_what_a_joint_may_do_is_said_in_few_words(freedom, kind, limits):
    assert (joints.kind_text(freedom), joints.range_text(freedom)) == (kind, limits)


def test_a_joint_as_posed_is_told_with_its_angle_its_ends_and_whether_it_is_outside():
    rig = chain_rig(2)
    bone = rig.pose.bones["Bone 1"]
    bone.rotation_quaternion = about(Vector((0.6, 0.0, 0.8)), 0.7)
    free = joints.joint_now(bone)
    assert (type(free.freedom), free.ends, free.outside) == (Free, [], False)
    assert free.angle == pytest.approx(0.7, abs=1e-5)
    ik_panel(bone, x=(-0.5, 1.0))
    bone.ik_stiffness_x = 0.4
    for angle, ends, outside in ((0.3, 0, False), (-0.5, 1, False), (-0.8, 1, True)):
        bone.rotation_quaternion = about(Vector((1.0, 0.0, 0.0)), angle)
        now = joints.joint_now(bone)
        assert isinstance(now.freedom, Hinge)
        assert now.angle == pytest.approx(max(angle, -0.5), abs=1e-5)
        assert (len(now.ends), now.outside, now.stiff) == (ends, outside, stiffness_of(bone))

# SPDX-License-Identifier: GPL-3.0-or-later
"""Presets of limbs: given to rigs of any roll, kept and read again, refused whole if a file is bad."""

from math import atan, pi, radians
from random import Random

import pytest
from mathutils import Quaternion, Vector

from ik_triangulation.cli import main
from ik_triangulation.errors import ChainError
from ik_triangulation.kinematics import Cone, EulerLimits, Framed, Hinge, unframed
from ik_triangulation.kinematics.rotation import about, rotation_angle
from ik_triangulation.presets import find_preset
from ik_triangulation.presets.file import read_preset
from ik_triangulation.presets.limb import apply_preset, preset_of
from ik_triangulation.rig.freedom import freedom_of, limits_of, store

from ..chains import random_direction
from ..rewritten import off_their_limbs
from ..rigs import chain_rig, configure, empty
from .arms import arm, values

pytestmark = pytest.mark.usefixtures("empty_scene", "presets_removed")


def in_space(rig, bone):
    """A hinge's axis in armature space, and its range."""
    hinge = freedom_of(rig.pose.bones[bone])
    return rig.data.bones[bone].matrix_local.to_3x3() @ hinge.axis, hinge.lower, hinge.upper


def same_limits(rig, other, bone, most):
    """Whether a bone of two rigs may make the same turns of armature space, among many of up to `most` [rad]."""
    random, rests = Random(1), [each.data.bones[bone].matrix_local.to_quaternion() for each in (rig, other)]
    allowed = []
    for _ in range(200):
        turn = about(random_direction(random), random.uniform(0.0, most))
        found = []
        for each, rest in zip((rig, other), rests, strict=True):
            own = rest.conjugated() @ turn @ rest
            found.append(rotation_angle(freedom_of(each.pose.bones[bone]).nearest(own), own))
        assert found[0] == pytest.approx(found[1], abs=1e-3)
        allowed.append(found[0] < 1e-6)
    return any(allowed) and not all(allowed)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("side", [1.0, -1.0])
def test_an_elbow_bends_forwards_whatever_the_rolls(seed, side):
    random = Random(seed)
    rolls = [random.uniform(-pi, pi) for _ in range(3)] if seed else (0.0,) * 3
    rig, bones = arm(rolls, side=side)
    apply_preset(rig, bones, read_preset(find_preset("Human Arm (Hinge)")))
    axis, lower, upper = in_space(rig, "fore")
    assert axis.angle(Vector((0.0, 0.0, -side))) < radians(20.1)
    assert (lower, upper) == pytest.approx((-0.1974, radians(150) - 0.1974), abs=0.02)
    for name in bones:
        assert freedom_of(rig.pose.bones[name]).nearest(Quaternion()) == Quaternion()


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_an_elbow_that_is_straight_at_rest_bends_forwards_as_well(side):
    rig, bones = arm((1.0, 2.0, 3.0), bend=0.0, side=side)
    apply_preset(rig, bones, read_preset(find_preset("Human Arm (Hinge)")))
    axis, lower, upper = in_space(rig, "fore")
    assert axis.angle(Vector((0.0, 0.0, -side))) < radians(20.1)
    assert (lower, upper) == pytest.approx((0.0, radians(150)), abs=1e-6)


def test_a_hinge_is_about_the_axis_of_the_elbow_however_near_to_it_the_bones_own_axis_is():
    axes = []
    for roll in (0.0, 0.3):
        rig, bones = arm((0.0, roll, 0.0))
        apply_preset(rig, bones, read_preset(find_preset("Human Arm (Hinge)")))
        axes.append(in_space(rig, "fore")[0])
    assert (axes[0] - axes[1]).length < 1e-5


@pytest.mark.parametrize("roll", [0.75, 2.0])
def test_euler_limits_are_in_the_axes_of_the_limb_whatever_the_roll(roll):
    rig, bones = arm((0.0, 0.0, 0.0))
    other, _ = arm((0.0, 0.0, roll))
    preset = read_preset(find_preset("Human_Arm"))
    for each in (rig, other):
        assert apply_preset(each, bones, preset, keep_limits=True).notes == ["Left out: clavicle"]
    assert same_limits(rig, other, "hand", 2.5)


def test_limits_follow_the_limb_where_a_bone_does_not():
    rig, bones = arm()
    other, _ = arm()
    off_their_limbs(other, ("upper", "fore"))
    for each in (rig, other):
        apply_preset(each, bones, read_preset(find_preset("Human_Arm")))
    assert isinstance(freedom_of(other.pose.bones["upper"]), Framed)
    for bone in ("upper", "fore"):
        assert same_limits(rig, other, bone, 3.0)


def test_a_locked_bone_has_its_ranges_about_its_own_axes_and_that_is_said():
    rig, bones = arm((0.0, 0.0, 0.75))
    rig.pose.bones["hand"].rotation_mode, rig.pose.bones["hand"].lock_rotation[1] = "XYZ", True
    applied = apply_preset(rig, bones, read_preset(find_preset("Human_Arm")))
    assert applied.notes[0].startswith("hand: a locked bone's ranges are about its own axes, 4")
    assert isinstance(limits_of(rig.pose.bones["hand"]), EulerLimits)


@pytest.mark.parametrize("off", [False, True])
def test_limits_in_the_axes_of_a_limb_are_kept_as_a_preset_and_mirrored(off):
    left, bones = arm((0.3, 1.0, 0.4))
    right, _ = arm((1.0, -0.4, 2.0), side=-1.0)
    preset = read_preset(find_preset("Human_Arm"))
    if off:
        off_their_limbs(left, ("upper", "fore"))
    apply_preset(left, bones, preset)
    kept = preset_of(left, bones, "Mine")
    for mine, theirs in zip(kept.joints, preset.joints[1:], strict=True):
        assert type(mine.freedom) is type(theirs.freedom)
    apply_preset(right, bones, kept)
    straight, _ = arm(side=-1.0)
    apply_preset(straight, bones, preset)
    for bone in bones:
        assert same_limits(right, straight, bone, 2.0)


@pytest.mark.parametrize("quarter", range(4))
@pytest.mark.parametrize("side", [1.0, -1.0])
def test_euler_limits_mean_the_same_after_quarter_turns_of_the_roll(quarter, side):
    rig, bones = arm(side=side)
    other, _ = arm((0.0, 0.0, quarter * pi / 2.0), side=side)
    preset = read_preset(find_preset("Human_Arm"))
    apply_preset(rig, bones, preset)
    apply_preset(other, bones, preset)
    here, there = (each.data.bones["hand"].matrix_local.to_3x3() for each in (rig, other))
    random = Random(quarter)
    for _ in range(30):
        rotation = freedom_of(rig.pose.bones["hand"]).random(random)
        posed = there.inverted() @ here @ rotation.to_matrix() @ here.inverted() @ there
        turned = posed.to_quaternion()
        assert rotation_angle(freedom_of(other.pose.bones["hand"]).nearest(turned), turned) < 1e-3


def test_a_longer_limb_repeats_a_joint_or_leaves_the_rest_alone():
    rig = chain_rig(8)
    bones = [bone.name for bone in rig.pose.bones]
    spine = apply_preset(rig, bones, read_preset(find_preset("Spine (Shared)")))
    assert set(spine.joints.values()) == {"vertebrae"}
    assert all(
        freedom_of(rig.pose.bones[name]).upper[1] == pytest.approx(radians(45.0 / 8.0), abs=1e-6) for name in bones
    )
    before = values(rig)
    leg = apply_preset(rig, bones, read_preset(find_preset("Human_Leg")))
    assert leg.joints == dict(zip(bones, ["hip", "knee", "ankle", "toes"], strict=False))
    assert leg.notes[-1] == f"Left as they are: {', '.join(bones[4:])}"
    assert {name: values(rig)[name] for name in bones[4:]} == {name: before[name] for name in bones[4:]}


def test_a_shorter_limb_leaves_out_what_it_can_do_without():
    rig, bones = arm(extra=1)
    preset = read_preset(find_preset("Human_Arm"))
    assert list(apply_preset(rig, bones, preset).joints.values()) == ["clavicle", "shoulder", "elbow", "wrist"]
    applied = apply_preset(rig, bones[:3], preset)
    assert list(applied.joints.values()) == ["shoulder", "elbow", "wrist"]
    assert applied.notes == ["Left out: clavicle"]
    assert apply_preset(rig, {"fore", "upper"}, preset).joints == {"upper": "shoulder", "fore": "elbow"}
    with pytest.raises(ChainError, match="No bones are selected"):
        apply_preset(rig, [], preset)
    with pytest.raises(ChainError, match="'gone' is not in"):
        apply_preset(rig, ["upper", "gone"], preset)


def test_an_elbow_kept_on_the_left_is_its_mirror_image_on_the_right(tmp_path):
    left, bones = arm((0.3, 1.0, 0.0))
    fore = left.data.bones["fore"].matrix_local.to_3x3()
    store(Hinge(fore.transposed() @ Vector((0, 0, -1)), 0.1, 2.0), 0.0, left.pose.bones["fore"].ik_triangulation_joint)
    preset = preset_of(left, bones, "Mine")
    assert [joint.from_straight for joint in preset.joints] == [False, True, False]
    right, _ = arm((0.0, 2.0, 1.0), bend=0.4, side=-1.0)
    apply_preset(right, bones, preset)
    axis, lower, upper = in_space(right, "fore")
    assert axis.angle(Vector((0.0, 0.0, 1.0))) < radians(20.1)
    assert upper - lower == pytest.approx(1.9, abs=1e-5)
    posed = (
        right.data.bones["fore"].matrix_local.to_3x3()
        @ about(freedom_of(right.pose.bones["fore"]).axis, 1.0).to_matrix()
    )
    assert posed.col[1].y < -0.5, "forwards"


@pytest.mark.parametrize("locked", ["fore", "hand"])
def test_a_preset_of_a_limb_with_a_locked_bone_fits_that_limb(locked):
    rig, bones = arm()
    apply_preset(rig, bones, read_preset(find_preset("Human_Arm")))
    rig.pose.bones[locked].lock_rotation = (True, True, True)
    rig.pose.bones[locked].lock_rotation_w = rig.pose.bones[locked].lock_rotations_4d = True
    rig.pose.bones["hand"].ik_triangulation.solver = "CCD"
    before, preset = values(rig), preset_of(rig, bones, "Mine")
    rig.pose.bones["hand"].ik_triangulation.solver = "FABRIK"
    applied = apply_preset(rig, bones, preset)
    assert applied.joints == {name: name for name in bones if name != locked}
    assert rig.pose.bones["hand"].ik_triangulation.solver == "CCD"
    for name, (freedom, stiffness) in values(rig).items():
        assert (type(freedom), stiffness) == (type(before[name][0]), pytest.approx(before[name][1]))


@pytest.mark.parametrize("bend", [0.0, 0.4])
@pytest.mark.parametrize("side", [1.0, -1.0])
def test_an_elbow_bends_forwards_and_a_little_to_the_side_and_hardly_backwards(side, bend):
    rig, bones = arm((0.3, 1.2, 2.0), bend=bend, side=side)
    apply_preset(rig, bones, read_preset(find_preset("Human Arm")))
    elbow, rest = rig.pose.bones["fore"], rig.data.bones["fore"].matrix_local.to_quaternion()
    flexion = Vector((0.0, 0.0, -side))

    def allows(turn):
        return freedom_of(elbow).allows(rest.conjugated() @ turn @ rest)

    at_rest = atan(bend)
    for angle, is_allowed in ((-14.0, False), (-5.0, True), (90.0, True), (150.0, True), (160.0, False)):
        assert allows(about(flexion, radians(angle) - at_rest)) is is_allowed, angle
    for angle, is_allowed in ((45.0, True), (60.0, False)):
        aside = about(flexion, radians(60.0) - at_rest) @ about(Vector((0.0, 1.0, 0.0)), radians(angle))
        assert allows(aside) is is_allowed, angle
    assert allows(Quaternion())


def test_a_vertebra_bends_to_all_sides():
    rig, bones = arm()
    apply_preset(rig, bones, read_preset(find_preset("Spine")))
    for name in bones:
        freedom = unframed(freedom_of(rig.pose.bones[name]))
        assert isinstance(freedom, EulerLimits)
        assert freedom.upper[1] == pytest.approx(radians(40.0)), "each has its own range"


@pytest.mark.parametrize("limit", ["own", "panel", "lock"])
def test_limits_and_settings_that_are_there_are_kept_if_wanted(limit):
    rig, bones = arm()
    fore, joint = rig.pose.bones["fore"], rig.pose.bones["fore"].ik_triangulation_joint
    if limit == "own":
        joint.source, joint.kind = "OWN", "FREE"
    elif limit == "panel":
        fore.use_ik_limit_x = True
    else:
        fore.lock_rotation[1] = True
    rig.pose.bones["hand"].ik_triangulation.solver = "CCD"
    apply_preset(rig, bones, read_preset(find_preset("Human Arm")), keep_limits=True)
    assert not (joint.source == "OWN" and joint.kind == "CONE")
    assert isinstance(unframed(freedom_of(rig.pose.bones["upper"])), Cone)
    assert rig.pose.bones["hand"].ik_triangulation.solver == "CCD"


def test_the_command_line_sets_a_limb_up_first(capsys):
    rig, _ = arm()
    configure(rig, "hand", chain_count=3, target=empty(location=(0.8, -0.8, 1.6)))
    assert main(["solve", "--tip", "hand", "--preset", "Human Arm", "--discard"]) == 0
    assert "Left out: clavicle" in capsys.readouterr().err
    assert isinstance(unframed(freedom_of(rig.pose.bones["fore"])), EulerLimits)
    assert main(["solve", "--tip", "hand", "--preset", "Human Arm (Hinge)", "--discard"]) == 0
    assert isinstance(freedom_of(rig.pose.bones["fore"]), Hinge)
    assert main(["solve", "--tip", "hand", "--preset", "Claw", "--discard"]) == 1
    assert "Preset 'Claw' is not there" in capsys.readouterr().err

# SPDX-License-Identifier: GPL-3.0-or-later
"""Presets of limbs: given to rigs of any roll, kept and read again, refused whole if a file is bad."""

from math import pi, radians
from random import Random

import pytest
from mathutils import Quaternion, Vector

from ik_triangulation.cli import main
from ik_triangulation.errors import ChainError
from ik_triangulation.kinematics import Cone, EulerLimits, Hinge
from ik_triangulation.kinematics.rotation import about, rotation_angle
from ik_triangulation.presets import (
    apply_preset,
    find_preset,
    preset_of,
    read_preset,
)
from ik_triangulation.rig.freedom import freedom_of, store

from ..rigs import chain_rig, configure, empty
from .arms import arm, values

pytestmark = pytest.mark.usefixtures("empty_scene", "presets_removed")


def in_space(rig, bone):
    """A hinge's axis in armature space, and its range."""
    hinge = freedom_of(rig.pose.bones[bone])
    return rig.data.bones[bone].matrix_local.to_3x3() @ hinge.axis, hinge.lower, hinge.upper


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


def test_an_own_axis_near_that_of_the_elbow_is_taken_as_it_is():
    rig, bones = arm((0.0, 0.3, 0.0))
    apply_preset(rig, bones, read_preset(find_preset("Human Arm (Hinge)")))
    hinge = freedom_of(rig.pose.bones["fore"])
    assert sorted(abs(x) for x in hinge.axis) == pytest.approx([0.0, 0.0, 1.0], abs=1e-6)


def test_ranges_about_axes_far_off_the_limbs_are_told():
    rig, bones = arm((0.0, 0.0, 0.75))
    (note,) = (n for n in apply_preset(rig, bones, read_preset(find_preset("Human_Arm"))).notes if "axes" in n)
    assert note.startswith("hand: its axes lie 4")


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


def test_an_elbow_and_a_vertebra_bend_to_all_sides_as_recorded_ones_do():
    rig, bones = arm()
    apply_preset(rig, bones, read_preset(find_preset("Human Arm")))
    elbow = freedom_of(rig.pose.bones["fore"])
    assert isinstance(elbow, Cone)
    assert (elbow.swing, elbow.twist_lower, elbow.twist_upper) == pytest.approx([radians(x) for x in (155, -35, 35)])
    apply_preset(rig, bones, read_preset(find_preset("Spine")))
    for name in bones:
        freedom = freedom_of(rig.pose.bones[name])
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
    assert isinstance(freedom_of(rig.pose.bones["upper"]), Cone)
    assert rig.pose.bones["hand"].ik_triangulation.solver == "CCD"


def test_the_command_line_sets_a_limb_up_first(capsys):
    rig, _ = arm()
    configure(rig, "hand", chain_count=3, target=empty(location=(0.8, -0.8, 1.6)))
    assert main(["solve", "--tip", "hand", "--preset", "Human Arm", "--discard"]) == 0
    assert "Left out: clavicle" in capsys.readouterr().err
    assert isinstance(freedom_of(rig.pose.bones["fore"]), Cone)
    assert main(["solve", "--tip", "hand", "--preset", "Human Arm (Hinge)", "--discard"]) == 0
    assert isinstance(freedom_of(rig.pose.bones["fore"]), Hinge)
    assert main(["solve", "--tip", "hand", "--preset", "Claw", "--discard"]) == 1
    assert "Preset 'Claw' is not there" in capsys.readouterr().err

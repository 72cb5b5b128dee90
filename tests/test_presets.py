# SPDX-License-Identifier: GPL-3.0-or-later
"""Presets of limbs: given to rigs of any roll, kept and read again, refused whole if a file is bad."""

import json
import subprocess
import sys
from math import pi, radians
from pathlib import Path
from random import Random

import bpy
import pytest
from mathutils import Matrix, Quaternion, Vector

from ik_triangulation.cli import main
from ik_triangulation.errors import ChainError, SettingError
from ik_triangulation.kinematics import Cone, EulerLimits, Free, Hinge, Locked
from ik_triangulation.kinematics.rotation import about, rotation_angle
from ik_triangulation.presets import (
    SUBDIR,
    apply_preset,
    built_in,
    find_preset,
    names,
    preset_of,
    read_preset,
    write_preset,
)
from ik_triangulation.rig.freedom import freedom_of, stiffness_of, store

from .rigs import armature, chain_rig, configure, empty, nothing_lost, random_rotation, random_vector

pytestmark = pytest.mark.usefixtures("empty_scene")

BUILT_IN = ["Finger", "Human_Arm", "Human_Leg", "Robot_Arm", "Spine", "Tail", "Tentacle"]
OUT = Vector((1.0, 0.0, 0.0))


@pytest.fixture(autouse=True)
def _no_presets_of_the_user():
    yield
    for name in names():
        if not built_in(find_preset(name)):
            find_preset(name).unlink()


def arm(rolls=(0.0, 0.0, 0.0), bend=0.2, side=1.0, extra=0):
    """An arm in T pose on either side, its elbow bent forwards by so much, with any roll; more bones at its tip."""
    ways = [OUT, OUT, Vector((1.0, -bend, 0.0)).normalized() * 0.9, *[OUT * 0.3] * (1 + extra)]
    specs, head = [], Vector((0.1, 0.0, 1.5))
    named = ["spine", "upper", "fore", "hand", *(f"more {n}" for n in range(extra))]
    for name, way, roll in zip(named, ways, (0.0, *rolls, *[0.0] * extra), strict=True):
        tail = head + way
        mirror = Vector((side, 1.0, 1.0))
        parent = specs[-1]["name"] if specs else None
        specs.append(
            {"name": name, "head": head * mirror, "tail": tail * mirror, "roll": roll * side, "parent": parent}
        )
        head = tail
    rig = armature("Arm", specs)
    return rig, named[1:]


def in_space(rig, bone):
    """A hinge's axis in armature space, and its range."""
    hinge = freedom_of(rig.pose.bones[bone])
    return rig.data.bones[bone].matrix_local.to_3x3() @ hinge.axis, hinge.lower, hinge.upper


def values(rig):
    return {bone.name: (freedom_of(bone), stiffness_of(bone)) for bone in rig.pose.bones}


def test_on_rigifys_human_all_bends_the_right_way_within_reach():
    script = Path(__file__).with_name("use_presets.py")
    run = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=120, check=False)
    assert run.returncode == 0, run.stdout + run.stderr


def test_blender_finds_those_that_come_with_the_extension():
    assert names() == BUILT_IN
    assert all(read_preset(find_preset(name)).name == name for name in BUILT_IN)
    assert find_preset("Human Arm") == find_preset("Human_Arm")
    with pytest.raises(SettingError, match=r"'Wing' is not there. Choose one of Finger, Human_Arm"):
        find_preset("Wing")


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("side", [1.0, -1.0])
def test_an_elbow_bends_forwards_whatever_the_rolls(seed, side):
    random = Random(seed)
    rolls = [random.uniform(-pi, pi) for _ in range(3)] if seed else (0.0,) * 3
    rig, bones = arm(rolls, side=side)
    apply_preset(rig, bones, read_preset(find_preset("Human_Arm")))
    axis, lower, upper = in_space(rig, "fore")
    assert axis.angle(Vector((0.0, 0.0, -side))) < radians(20.1)
    assert (lower, upper) == pytest.approx((-0.1974, radians(150) - 0.1974), abs=0.02)
    for name in bones:
        assert freedom_of(rig.pose.bones[name]).nearest(Quaternion()) == Quaternion()


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_an_elbow_that_is_straight_at_rest_bends_forwards_as_well(side):
    rig, bones = arm((1.0, 2.0, 3.0), bend=0.0, side=side)
    apply_preset(rig, bones, read_preset(find_preset("Human_Arm")))
    axis, lower, upper = in_space(rig, "fore")
    assert axis.angle(Vector((0.0, 0.0, -side))) < radians(20.1)
    assert (lower, upper) == pytest.approx((0.0, radians(150)), abs=1e-6)


def test_an_own_axis_near_that_of_the_elbow_is_taken_as_it_is():
    rig, bones = arm((0.0, 0.3, 0.0))
    apply_preset(rig, bones, read_preset(find_preset("Human_Arm")))
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
    spine = apply_preset(rig, bones, read_preset(find_preset("Spine")))
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


def random_freedom(random):
    low = -random.uniform(0.1, 3.0)
    return random.choice(
        [
            Free(),
            Locked(),
            Hinge(random_vector(random), low, low + random.uniform(0.0, 4.0)),
            Hinge(random_vector(random)),
            Cone(random.uniform(0.0, pi), low, 0.5),
            Cone(random.uniform(0.0, pi)),
            EulerLimits(random.choice(["XYZ", "YXZ", "ZXY"]), (low, -0.5, -1.0), (0.5, 0.0, 2.0)),
        ]
    )


@pytest.mark.parametrize("seed", range(20))
def test_what_is_kept_comes_back_the_same(seed, tmp_path):
    random = Random(seed)
    rig, bones = arm([random.uniform(-pi, pi) for _ in range(3)], side=random.choice((1.0, -1.0)))
    for name in bones:
        store(random_freedom(random), random.uniform(0.0, 0.9), rig.pose.bones[name].ik_triangulation_joint)
    configure(rig, "hand", solver="CCD", rest_weight=0.25, smooth=False)
    before = values(rig)
    write_preset(preset_of(rig, bones, "Mine"), tmp_path / "Mine.json")
    for name in bones:
        rig.pose.bones[name].property_unset("ik_triangulation_joint")
    configure(rig, "hand", solver="FABRIK", rest_weight=0.0, smooth=True)
    apply_preset(rig, bones, read_preset(tmp_path / "Mine.json"))
    stored = rig.pose.bones["hand"].ik_triangulation
    assert (stored.solver, stored.rest_weight, stored.smooth) == ("CCD", 0.25, False)
    for name in bones:
        (freedom, stiffness), (after, stiff) = before[name], values(rig)[name]
        assert type(after) is type(freedom)
        assert stiff == pytest.approx(stiffness, abs=1e-6)
        for _ in range(20):
            rotation = random_rotation(random)
            one, two = freedom.nearest(rotation), after.nearest(rotation)
            off = [rotation_angle(each, rotation) for each in (one, two)]
            assert rotation_angle(one, two) < 1e-4 or off == [pytest.approx(off[0], abs=1e-5)] * 2


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


ELBOW = {"name": "elbow", "kind": "HINGE", "axis": [1, 0, 0]}
BAD = {
    "no json": ("{", "it is no JSON: .* in line 1"),
    "binary": (b"\xff\xfe\x00", "it is no JSON text"),
    "a list": ([], "it is no JSON object"),
    "nothing": ({}, "it lacks 'joints'"),
    "no joints": ({"joints": []}, "'joints' is no list of joints"),
    "an unknown key": ({"joints": [ELBOW], "bones": 3}, "it says 'bones', which is unknown"),
    "a joint that is none": ({"joints": [3]}, "joint 1 is of no known kind"),
    "an unknown kind": ({"joints": [ELBOW, {"name": "a", "kind": "SADDLE"}]}, "joint 2 is of no known kind"),
    "a kind of another type": ({"joints": [{"name": "a", "kind": []}]}, "joint 1 is of no known kind"),
    "a key of another kind": ({"joints": [ELBOW | {"swing": 3}]}, "joint 1 says 'swing', which is unknown"),
    "a name that is none": ({"joints": [ELBOW | {"name": 3}]}, "the name of joint 1 is no text"),
    "an axis of two": ({"joints": [ELBOW | {"axis": [1, 0]}]}, "the axis of 'elbow' is no list of three numbers"),
    "an axis of none": ({"joints": [ELBOW | {"axis": [0, 0, 0]}]}, "the axis of 'elbow' has no length"),
    "an inverted range": ({"joints": [ELBOW | {"range": [2, 1]}]}, "'elbow': Hinge is inverted"),
    "a range of text": ({"joints": [ELBOW | {"range": ["a", "b"]}]}, "the range of 'elbow' is no number"),
    "a range of one": ({"joints": [ELBOW | {"range": [2]}]}, "the range of 'elbow' is no list of two angles"),
    "a range of three": ({"joints": [ELBOW | {"range": [0, 1, 2]}]}, "the range of 'elbow' is no list of two angles"),
    "a range that is a number": ({"joints": [ELBOW | {"range": 2}]}, "the range of 'elbow' is no list of two angles"),
    "a range that is an object": (
        {"joints": [ELBOW | {"range": {"lower": 0, "upper": 1}}]},
        "the range of 'elbow' is no list of two angles",
    ),
    "not a number": ('{"joints": [{"name": "a", "kind": "CONE", "swing": NaN}]}', "NaN is no number"),
    "a huge number": ('{"joints": [{"name": "a", "kind": "CONE", "swing": 1e400}]}', "the swing of 'a' is no number"),
    "too wide a cone": (
        {"joints": [{"name": "a", "kind": "CONE", "swing": 200}]},
        "the swing of 'a' is not from 0 to 180",
    ),
    "an unknown order": (
        {"joints": [{"name": "a", "kind": "EULER", "order": "XXX", "x": None, "y": None, "z": None}]},
        "'a': Euler order 'XXX' is unknown",
    ),
    "too stiff": ({"joints": [ELBOW | {"stiffness": 1.5}]}, "the stiffness of 'elbow' is not from 0"),
    "a flag of text": (
        {"joints": [ELBOW | {"from_straight": "yes"}]},
        "'from_straight' of 'elbow' is no true",
    ),
    "two that repeat": ({"joints": [ELBOW | {"repeats": True}] * 2}, "more than one joint repeats"),
    "an unknown solver": ({"joints": [ELBOW], "settings": {"solver": "MAGIC"}}, "'solver' is none of TRIANGULATION"),
    "an unknown setting": ({"joints": [ELBOW], "settings": {"target": "Cup"}}, "'settings' says 'target'"),
    "a setting of text": ({"joints": [ELBOW], "settings": {"iterations": "9"}}, "'iterations' is no whole number"),
    "a setting too small": ({"joints": [ELBOW], "settings": {"iterations": 0}}, "'iterations' is not from 1 to"),
}


@pytest.mark.parametrize("what", BAD)
def test_a_bad_file_is_refused_with_its_name_and_the_reason_and_changes_nothing(what, tmp_path):
    content, reason = BAD[what]
    path = tmp_path / "Bad.json"
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    rig, _ = arm()
    configure(rig, "hand", chain_count=3)
    before = values(rig)
    with nothing_lost(), pytest.raises(RuntimeError, match=f"Bad.json' cannot be used: {reason}"):
        bpy.ops.pose.ik_triangulation_preset_load(filepath=str(path))
    assert values(rig) == before


def test_a_file_that_is_gone_or_too_deep_is_refused(tmp_path):
    with pytest.raises(SettingError, match=r"None.json' cannot be used: No such file"):
        read_preset(tmp_path / "None.json")
    (tmp_path / "Deep.json").write_text("[" * 200_000)
    with pytest.raises(SettingError, match=r"Deep.json' cannot be used"):
        read_preset(tmp_path / "Deep.json")


def test_the_operators_load_keep_and_remove():
    rig, bones = arm()
    configure(rig, "hand", chain_count=3, target=empty())
    assert bpy.ops.pose.ik_triangulation_preset_load(filepath=str(find_preset("Human_Arm"))) == {"FINISHED"}
    loaded = values(rig)
    apply_preset(rig, bones, read_preset(find_preset("Human_Arm")))
    assert values(rig) == loaded
    assert bpy.ops.pose.ik_triangulation_preset_add(name="My Arm") == {"FINISHED"}
    folder = Path(bpy.utils.user_resource("SCRIPTS", path=f"presets/{SUBDIR}"))
    assert [path.name for path in folder.iterdir()] == ["My_Arm.json"]
    for name in bones:
        rig.pose.bones[name].property_unset("ik_triangulation_joint")
    bpy.ops.pose.ik_triangulation_preset_load(filepath=str(find_preset("My Arm")))
    for name in bones:
        (one, _), (two, _) = loaded[name], values(rig)[name]
        assert rotation_angle(one.nearest(Quaternion((0, 1, 0, 0))), two.nearest(Quaternion((0, 1, 0, 0)))) < 1e-5
    with pytest.raises(RuntimeError, match="'My_Arm' exists already"):
        bpy.ops.pose.ik_triangulation_preset_add(name="My Arm")
    with pytest.raises(RuntimeError, match="has no name"):
        bpy.ops.pose.ik_triangulation_preset_add(name=" ")
    with pytest.raises(RuntimeError, match="comes with the extension"):
        bpy.ops.pose.ik_triangulation_preset_add(name="Human Arm", remove_name=True)
    assert bpy.ops.pose.ik_triangulation_preset_add(name="My Arm", remove_name=True) == {"FINISHED"}
    assert names() == BUILT_IN


@pytest.mark.parametrize("name", ["IK/FK", "Left: arm?", "Ärmel 2"])
def test_a_preset_may_be_called_what_no_file_may(name):
    rig, _ = arm()
    configure(rig, "hand", chain_count=3, target=empty())
    bpy.ops.pose.ik_triangulation_preset_add(name=name)
    (new,) = set(names()) - set(BUILT_IN)
    assert bpy.ops.pose.ik_triangulation_preset_load(filepath=str(find_preset(new))) == {"FINISHED"}
    bpy.ops.pose.ik_triangulation_preset_add(name=name, remove_name=True)
    assert names() == BUILT_IN


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


def test_the_command_line_sets_a_limb_up_first(capsys):
    rig, _ = arm()
    configure(rig, "hand", chain_count=3, target=empty(location=(0.8, -0.8, 1.6)))
    assert main(["solve", "--tip", "hand", "--preset", "Human Arm", "--discard"]) == 0
    assert "Left out: clavicle" in capsys.readouterr().err
    assert isinstance(freedom_of(rig.pose.bones["fore"]), Hinge)
    assert main(["solve", "--tip", "hand", "--preset", "Wing", "--discard"]) == 1
    assert "Preset 'Wing' is not there" in capsys.readouterr().err


def test_what_comes_with_the_extension_is_wide_enough_for_every_rest_pose():
    random = Random(3)
    for _ in range(10):
        rig, bones = arm([random.uniform(-pi, pi) for _ in range(3)], random.uniform(-0.3, 0.3), random.choice((1, -1)))
        rig.matrix_world = Matrix.Rotation(1.0, 4, "X")
        for name in BUILT_IN:
            apply_preset(rig, bones, read_preset(find_preset(name)))
            for bone in bones:
                freedom = freedom_of(rig.pose.bones[bone])
                assert rotation_angle(freedom.nearest(Quaternion()), Quaternion()) < 1e-5, (name, bone, freedom)

# SPDX-License-Identifier: GPL-3.0-or-later
"""A limb that is recognised is set up as an animator would: length, ranges, and a target that turns its end."""

from pathlib import Path

import bpy
import pytest
from mathutils import Quaternion

from ik_triangulation.errors import ChainError, SettingError
from ik_triangulation.jobs.pose import solve_pose
from ik_triangulation.jobs.removal import remove_limb
from ik_triangulation.jobs.setup import add_limbs, new_target
from ik_triangulation.kinematics import Cone, EulerLimits, Free, Locked, unframed
from ik_triangulation.presets import SUBDIR
from ik_triangulation.rig.freedom import freedom_of
from ik_triangulation.rig.limb import Limb
from ik_triangulation.rig.targets.goal import orientation_of

from ..rig.standing import looks_now
from ..rigs import armature, empty, nothing_lost, rotate
from .arms import body, choose, limbs

pytestmark = pytest.mark.usefixtures("empty_scene", "presets_removed")


@pytest.mark.parametrize(
    ("chosen", "tip", "part"),
    [
        ("hand L", "hand L", "ARM"),
        ("forearm R", "hand R", "ARM"),
        ("index 0 L", "hand L", "ARM"),
        ("clavicle L", "hand L", "ARM"),
        ("toe R", "foot R", "LEG"),
        ("head", "head", "NECK"),
        ("spine 1", "spine 3", "SPINE"),
    ],
)
def test_whichever_bone_is_chosen_the_limb_and_its_own_tip_are_taken(chosen, tip, part, capfd):
    rig = body()
    choose(rig, chosen)
    bpy.ops.pose.ik_triangulation_limb_add()
    count = 2 if part == "NECK" else 3
    assert limbs(rig) == {tip: (count, f"{tip} Target")}
    stored = rig.pose.bones[tip].ik_triangulation
    assert stored.body_part == part
    assert rig.data.bones.active.name == tip
    label = {"ARM": f"Hand {tip[-1]}", "LEG": f"Foot {tip[-1]}", "NECK": "Head", "SPINE": "Spine"}[part]
    said = capfd.readouterr().out
    assert f"Limbs: {label} ({tip})" in said
    assert (f"'{tip}' used instead of '{chosen}'" in said) == (chosen != tip)
    assert stored.target.empty_display_type == "ARROWS"
    limb = Limb.of(rig.pose.bones[tip])
    assert orientation_of(limb, looks_now(limb)) == ("NONE" if part == "ARM" else "FULL")  # a hand, once it is turned


@pytest.mark.parametrize("scale", [(1.0, 1.0, 1.0), (-1.0, 1.0, 1.0), (1.0, 2.0, 0.5)])
@pytest.mark.parametrize("tip", ["hand L", "foot R", "spine 3", "head"])
def test_nothing_moves_at_first_whatever_the_pose_and_the_scale(tip, scale):
    rig = body()
    rig.location, rig.rotation_euler, rig.scale = (1.0, 2.0, 3.0), (0.3, 0.4, 0.5), scale
    for number, bone in enumerate(rig.pose.bones):
        rotate(bone, Quaternion((1.0, 0.1, 0.05 * (number % 3), -0.1)).normalized())
    bpy.context.view_layer.update()
    before = {bone.name: bone.matrix.copy() for bone in rig.pose.bones}
    add_limbs(rig, [tip])
    bpy.context.view_layer.update()
    assert solve_pose(Limb.of(rig.pose.bones[tip])).all_reached
    bpy.context.view_layer.update()
    for name, matrix in before.items():
        moved = rig.pose.bones[name].matrix
        assert max(abs(a - b) for x, y in zip(matrix, moved, strict=True) for a, b in zip(x, y, strict=True)) < 1e-4


def test_a_hand_turns_as_its_empty():
    rig = body()
    add_limbs(rig, ["hand L"])
    target = rig.pose.bones["hand L"].ik_triangulation.target
    target.rotation_mode = "QUATERNION"
    target.rotation_quaternion = target.rotation_quaternion @ Quaternion((0.0, 0.0, 1.0), 0.4)
    target.location += 0.2 * (rig.pose.bones["upper arm L"].head - target.location)
    bpy.context.view_layer.update()
    assert solve_pose(Limb.of(rig.pose.bones["hand L"])).all_reached
    bpy.context.view_layer.update()
    shown = rig.pose.bones["hand L"].matrix.to_quaternion()
    assert shown.rotation_difference(target.matrix_world.to_quaternion()).angle < 0.02


def test_a_cup_as_the_target_does_not_turn_the_hand():
    rig, cup = body(), empty("Cup")
    add_limbs(rig, ["hand L"], cup)
    limb = Limb.of(rig.pose.bones["hand L"])
    assert orientation_of(limb, looks_now(limb)) == "NONE"


def test_two_long_bones_alone_are_solved_for_place():
    rig = body()
    choose(rig, "upper arm L", "forearm L")
    bpy.ops.pose.ik_triangulation_limb_add()
    assert limbs(rig) == {"forearm L": (2, "forearm L Target")}
    stored = rig.pose.bones["forearm L"].ik_triangulation
    assert (stored.body_part, stored.target.empty_display_type) == ("ARM", "PLAIN_AXES")
    elbow = freedom_of(rig.pose.bones["forearm L"])
    assert isinstance(unframed(elbow), EulerLimits), "the elbow's, not the shoulder's"


def test_a_clavicle_and_toes_may_be_chosen_along():
    rig = body()
    assert add_limbs(rig, ["clavicle L", "upper arm L", "forearm L", "hand L"]) == ["hand L"]
    assert isinstance(freedom_of(rig.pose.bones["clavicle L"]), Cone)
    assert add_limbs(rig, ["thigh R", "shin R", "foot R", "toe R"]) == ["toe R"]
    stored = rig.pose.bones["toe R"].ik_triangulation
    assert (stored.chain_count, stored.body_part, stored.target.empty_display_type) == (4, "LEG", "PLAIN_AXES")


def test_bones_that_begin_in_the_middle_of_a_limb_get_no_ranges():
    rig = body()
    assert add_limbs(rig, ["forearm L", "hand L"]) == ["hand L"]
    assert rig.pose.bones["hand L"].ik_triangulation.body_part == "NONE"
    assert isinstance(freedom_of(rig.pose.bones["forearm L"]), Free)


def test_the_ranges_of_the_recognised_limb_are_stored_on_both_sides():
    rig = body()
    add_limbs(rig, ["hand L", "hand R", "foot L"])
    for side in "LR":
        assert isinstance(freedom_of(rig.pose.bones[f"upper arm {side}"]), Cone)
        assert isinstance(unframed(freedom_of(rig.pose.bones[f"hand {side}"])), EulerLimits)
    assert isinstance(freedom_of(rig.pose.bones["thigh L"]), Cone)
    assert isinstance(freedom_of(rig.pose.bones["thigh R"]), Free)


def test_limits_that_somebody_has_set_are_kept():
    rig = body()
    fore = rig.pose.bones["forearm L"]
    fore.use_ik_limit_x, fore.ik_min_x, fore.ik_max_x = True, 0.0, 2.0
    add_limbs(rig, ["hand L"])
    assert fore.ik_triangulation_joint.source == "AUTO"
    assert isinstance(freedom_of(fore), EulerLimits)
    assert isinstance(freedom_of(rig.pose.bones["upper arm L"]), Cone)


def test_twist_bones_between_are_in_the_limb_and_keep_their_pose():
    names = ["spine", "UpperArm.L", "UpperArmTwist.L", "ForeArm.L", "ForeArmTwist.L", "Hand.L"]
    places = [(0.0, 0.0, 0.0), (0.1, 0.0, 1.0), (0.25, 0.02, 1.0), (0.4, 0.03, 1.0), (0.55, 0.02, 1.0), (0.7, 0.0, 1.0)]
    ends = [*places[1:], (0.8, 0.0, 1.0)]
    above = [None, *names[:-1]]
    specs = [
        {"name": n, "head": h, "tail": t, "parent": p} for n, h, t, p in zip(names, places, ends, above, strict=True)
    ]
    rig = armature("Rig", specs)
    assert add_limbs(rig, ["ForeArmTwist.L"]) == ["Hand.L"]
    limb = Limb.of(rig.pose.bones["Hand.L"])
    assert limb.bones == tuple(names[1:])
    assert all(isinstance(freedom_of(rig.pose.bones[name]), Locked) for name in names if "Twist" in name)
    limb.target.location += 0.2 * (rig.pose.bones["UpperArm.L"].head - limb.target.location)
    bpy.context.view_layer.update()
    assert solve_pose(limb).worst.error < 0.01
    assert rig.pose.bones["ForeArmTwist.L"].rotation_quaternion == Quaternion()


def test_a_length_that_is_set_already_is_kept():
    rig = body()
    rig.pose.bones["hand L"].ik_triangulation.chain_count = 2
    add_limbs(rig, ["hand L"])
    assert limbs(rig) == {"hand L": (2, "hand L Target")}


def test_bones_of_one_limb_make_one_limb_and_a_second_time_none():
    rig = body()
    assert add_limbs(rig, ["index 0 L", "middle 0 L"]) == ["hand L"]
    with nothing_lost(), pytest.raises(ChainError, match="'hand L' ends a limb already"):
        add_limbs(rig, ["index 0 L"])


def test_a_preset_of_ones_own_that_cannot_be_read_changes_nothing():
    rig = body()
    folder = bpy.utils.user_resource("SCRIPTS", path=f"presets/{SUBDIR}", create=True)
    Path(folder, "Human_Arm.json").write_text("[]", encoding="utf-8")
    with nothing_lost(), pytest.raises(SettingError, match="cannot be used"):
        add_limbs(rig, ["hand L"])
    assert limbs(rig) == {}


def test_a_new_target_turns_the_end_of_a_limb_that_ends_in_one():
    rig = body()
    add_limbs(rig, ["hand L"], empty("Cup"))
    bpy.context.view_layer.objects.active = rig
    choose(rig, "hand L")
    bpy.ops.pose.ik_triangulation_target_add()
    assert rig.pose.bones["hand L"].ik_triangulation.target.empty_display_type == "ARROWS"
    assert new_target(rig, "toe L").empty_display_type == "PLAIN_AXES"


def test_a_removed_limb_is_no_longer_a_part_of_the_body():
    rig = body()
    add_limbs(rig, ["hand L"])
    remove_limb(rig, "hand L")
    assert rig.pose.bones["hand L"].ik_triangulation.body_part == "NONE"

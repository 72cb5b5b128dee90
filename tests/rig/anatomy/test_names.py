# SPDX-License-Identifier: GPL-3.0-or-later
"""A bone's name tells its part of the body, its side and its role, or nothing."""

import pytest

from ik_triangulation.rig.anatomy import names
from ik_triangulation.rig.anatomy.names import (
    BESIDE,
    DEFORM,
    FK,
    ORIGINAL,
    UNMARKED,
    BodyPart,
    is_eye,
    part_by_name,
    turned_eye,
)

LEFT = (
    "hand.L, hand_l, l_hand, LeftHand, leftHand, Left Hand, lHand, L_Hand, Hand.Left, 左手首, 手首.L, "
    "mixamorig:LeftHand, mixamorig1:LeftHand, Character1_LeftHand, rig|hand_L, Bip001 L Hand, b_LeftHand"
)
NOTHING = (
    "Bone, Bone.001, 123, _, root, eye.L, ear.L, jaw, breast.L, pelvis.L, hand, armor.L, charm.L, handle.L, spineless, "
    "legend, headphones, thumbnail.L, lip.T.L, Wing.L, J_Sec_Hair1_01"
)


@pytest.mark.parametrize("name", LEFT.split(", "))
def test_a_side_is_told_in_many_ways(name):
    assert part_by_name(name) == BodyPart("hand", "L")
    right = name.replace("Left", "Right").replace("left", "right").replace("左", "右")
    if right == name:
        right = "rHand" if name == "lHand" else name.replace("L", "R").replace("_l", "_r").replace("l_", "r_")
    assert part_by_name(right) == BodyPart("hand", "R"), right


@pytest.mark.parametrize(
    ("name", "role"),
    [
        ("forearm.L", UNMARKED),
        ("forearm_fk.L", FK),
        ("DEF-forearm.L", DEFORM),
        ("ORG-forearm.L", ORIGINAL),
        ("MCH-forearm_ik.L", BESIDE),
        ("forearm_ik.L", BESIDE),
        ("forearm_twist_01.L", BESIDE),
        ("c_forearm_fk.l", FK),
        ("forearm_stretch.l", DEFORM),
    ],
)
def test_the_role_of_a_bone_is_told_by_its_name(name, role):
    assert (part_by_name(name).part, part_by_name(name).role) == ("forearm", role)


@pytest.mark.parametrize("name", ["", *NOTHING.split(", ")])
def test_other_names_tell_nothing(name):
    assert part_by_name(name) is None


def test_a_finger_is_told_with_the_number_of_its_bone():
    assert part_by_name("f_ring.02.R") == BodyPart("finger", "R", 2, finger="ring")
    assert part_by_name("leftLittleDistal") == BodyPart("finger", "L", 3, finger="little")
    assert part_by_name("Bip01 L Finger01") == BodyPart("finger", "L", 1, finger="finger 0")
    assert part_by_name("index_metacarpal_l").part == "palm"
    assert part_by_name("f_index.01.L.001").copy


@pytest.mark.parametrize("table", ["PARTS", "FINGERS", "SIDES", "ROLES"])
def test_a_word_of_a_table_has_one_meaning(table):
    words = [word for listed in getattr(names, table).values() for word in listed.split()]
    assert sorted(set(words)) == sorted(words)


@pytest.mark.parametrize(
    ("name", "is_one"),
    [
        ("eye.L", True),
        ("mixamorig:LeftEye", True),
        ("J_Adj_L_FaceEye", True),
        ("eyelid.L", False),
        ("eye_target.L", False),
        ("lid.T.L", False),
        ("", False),
    ],
)
def test_an_eye_is_told_by_its_name(name, is_one):
    assert is_eye(name) is is_one


def test_an_eye_is_turned_by_its_master_where_a_rig_has_one():
    assert turned_eye("eye.L", {"eye.L", "master_eye.L"}) == "master_eye.L"
    assert turned_eye("DEF-eye.L", {"master_eye.L"}) == "master_eye.L"
    assert turned_eye("ORG-eye.L", {"master_eye.L"}) == "master_eye.L"
    assert turned_eye("eye.L", {"eye.L"}) == "eye.L"

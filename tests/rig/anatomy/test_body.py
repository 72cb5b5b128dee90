# SPDX-License-Identifier: GPL-3.0-or-later
"""What a name leaves open, the bones above and below tell."""

import pytest

from ik_triangulation.rig.anatomy.skeleton import RestBone, parts_by_name

ORIGIN = (0.0, 0.0, 0.0)


def line(*names, parent=None):
    """Bones below one another."""
    return {n: RestBone(above, ORIGIN, ORIGIN) for n, above in zip(names, (parent, *names), strict=False)}


@pytest.mark.parametrize(
    ("names", "parts"),
    [
        (["LeftShoulder", "LeftArm", "LeftForeArm"], ["clavicle", "upper_arm", "forearm"]),
        (["LeftCollar", "LeftShoulder", "LeftElbow"], ["clavicle", "upper_arm", "forearm"]),
        (["LeftShoulder", "LeftElbow", "LeftWrist"], ["upper_arm", "forearm", "hand"]),
        (["LeftUpLeg", "LeftLeg", "LeftFoot"], ["thigh", "shin", "foot"]),
        (["leg_L", "knee_L", "ankle_L"], ["thigh", "shin", "foot"]),
        (["LeftHip", "LeftKnee", "LeftAnkle"], ["thigh", "shin", "foot"]),
        (["LHipJoint", "LeftUpLeg", "LeftLeg"], ["hip", "thigh", "shin"]),
        (["LeftHip", "LeftLeg", "LeftFoot"], ["thigh", "shin", "foot"]),
    ],
)
def test_shoulders_hips_and_legs_are_what_hangs_on_them_makes_them(names, parts):
    found = parts_by_name(line(*names))
    assert [found[name].part for name in names] == parts


def test_a_spine_of_one_name_is_divided_where_arms_and_legs_are():
    spine = line("spine", "spine.001", "spine.002", "spine.003", "spine.004")
    limbs = line("thigh.L", "shin.L", parent="spine") | line("upper_arm.L", "forearm.L", parent="spine.002")
    found = parts_by_name(spine | limbs | line("spine.005", "spine.006", parent="spine"))
    assert [found[name].part for name in spine] == ["hips", "spine", "spine", "neck", "head"]
    assert [found[name].part for name in ("spine.005", "spine.006")] == ["tail", "tail"]


def test_a_torso_between_hips_and_arms_is_of_the_trunk():
    trunk = line("Hips", "Abdomen", "Torso", "Neck")
    limbs = line("thigh.L", "shin.L", parent="Hips") | line("upper_arm.L", "forearm.L", parent="Torso")
    found = parts_by_name(trunk | limbs)
    assert [found[name].part for name in trunk] == ["hips", "trunk", "trunk", "neck"]
    alone = parts_by_name(line("Torso", "thigh.L") | line("upper_arm.L", "forearm.L", parent="Torso"))
    assert alone["Torso"].part == "hips"

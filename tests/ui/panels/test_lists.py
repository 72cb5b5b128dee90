# SPDX-License-Identifier: GPL-3.0-or-later
"""Lists of limbs and joints in the sidebar."""

from math import pi

import bpy
import pytest
from mathutils import Quaternion

from ...layouts import drawn
from ...rigs import configure
from .states import MAIN, panel, standard

pytestmark = pytest.mark.usefixtures("empty_scene")


@pytest.mark.parametrize("width", [200, 250, 500])
def test_the_list_of_limbs_shows_those_that_have_a_target_and_what_came_of_them(width):
    rig, target, limb = standard()
    configure(rig, "Bone 1", target=target, chain_count=2)
    bpy.ops.pose.ik_triangulation_solve()
    said = drawn(MAIN, width)
    target_of = ["Target"][: width == 500]
    row, other = (["enabled", tip, *target_of, "live"] for tip in ("Bone 1", "Bone 3"))
    assert said[: len(row + other)] == row + other
    limb.target = None
    bpy.context.view_layer.update()  # as Blender does before it draws
    assert "Bone 3" not in drawn(MAIN, width)


@pytest.mark.parametrize("width", [200, 250, 500])
def test_the_list_of_limbs_calls_a_limb_what_it_was_recognised_as(width):
    _, _, limb = standard()
    limb.body_part = "LEG"
    assert "Foot (Bone 3)" in drawn(MAIN, width)
    limb.body_part = "NONE"
    assert "Bone 3" in drawn(MAIN, width)


@pytest.mark.parametrize("width", [200, 250, 500])
def test_the_list_of_joints_shows_what_each_bone_of_the_limb_may_do_and_how_it_stands(width):
    rig, _, _ = standard()
    hinge, beyond = (rig.pose.bones[name] for name in ("Bone 2", "Bone 1"))
    joint = hinge.ik_triangulation_joint
    joint.source, joint.kind, joint.axis, joint.lower, joint.upper = "OWN", "HINGE", (-1.0, 0.0, 0.0), 0.0, pi / 2.0
    joint.stiffness = 0.25
    beyond.use_ik_limit_x, beyond.ik_min_x, beyond.ik_max_x = True, -0.1, 0.1
    for bone, angle in ((hinge, -pi / 2.0), (beyond, 0.5)):
        bone.rotation_quaternion = Quaternion((1.0, 0.0, 0.0), angle)
    said = drawn(panel("_joint"), width)
    wide = width == 500
    kinds = [["Euler"], ["Hinge -X"], ["Free"]] if width > 200 else [[], [], []]
    assert said[1 : said.index("Bone 3")] == [
        "Bone 1", *kinds[0], *(["X -6° to 6°"] if wide else []), "29°",
        "Bone 2", *kinds[1], *(["0° to 90°", "0.25"] if wide else []), "90°",
    ]  # fmt: skip
    free = ["Bone 3", *kinds[2], "0°"]
    assert said[said.index("Bone 3") :][: len(free)] == free


def test_the_joint_chosen_in_the_list_is_the_one_whose_limits_are_shown():
    rig, _, _ = standard()
    lists, joints = bpy.context.window_manager.ik_triangulation_lists, panel("_joint")
    assert lists.joint == rig.pose.bones.find("Bone 3")
    lists.joint = rig.pose.bones.find("Bone 2")
    assert drawn(joints).count("Bone 2") == 2
    assert rig.data.bones.active.name == "Bone 3"
    lists.joint = rig.pose.bones.find("Bone 0")  # which the limb does not turn
    assert drawn(joints).count("Bone 3") == 2
    lists.joint_name = ""
    rig.data.bones.active = rig.data.bones["Bone 1"]  # of the same limb
    assert drawn(joints).count("Bone 1") == 2
    lists.limb = rig.pose.bones.find("Bone 1")
    assert rig.data.bones.active.name == "Bone 1"

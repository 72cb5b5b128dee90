# SPDX-License-Identifier: GPL-3.0-or-later
"""The form of a limb: whether it ends in a hand or foot, and where its elbow or knee goes, on either side."""

from itertools import pairwise

import bpy
import pytest
from mathutils import Vector

from ik_triangulation.jobs.shots.frame_solver import limb_form
from ik_triangulation.kinematics import Locked
from ik_triangulation.rig.freedom import store
from ik_triangulation.rig.limb import Limb
from ik_triangulation.solvers.natural import PLAIN_LIMB

from ...rigs import armature, chain_rig, empty

pytestmark = pytest.mark.usefixtures("addon", "empty_scene")


def body():
    """A chest with arms and hips with legs, along the axes of a character that looks along -Y."""
    specs = [{"name": "hips", "head": (0, 0, 1), "tail": (0, 0, 1.2), "parent": None}]
    specs.append({"name": "chest", "head": (0, 0, 1.2), "tail": (0, 0, 1.5), "parent": "hips"})
    for side, x in (("L", 1.0), ("R", -1.0)):
        arm = [
            ("upper_arm", (0.2, 0, 1.5)),
            ("forearm", (0.5, 0.02, 1.5)),
            ("hand", (0.8, 0, 1.5)),
            (None, (0.9, 0, 1.5)),
        ]
        leg = [("thigh", (0.1, 0, 1)), ("shin", (0.1, -0.02, 0.5)), ("foot", (0.1, 0, 0.1)), (None, (0.1, -0.2, 0))]
        for bones, above in ((arm, "chest"), (leg, "hips")):
            for (name, head), (_, tail) in pairwise(bones):
                ends = {"head": (x * head[0], *head[1:]), "tail": (x * tail[0], *tail[1:])}
                specs.append({"name": f"{name}.{side}", "parent": above, **ends})
                above = f"{name}.{side}"
    return armature("Body", specs)


def outwards(rig, tip, count=3):
    limb = Limb.from_tip(rig, tip, empty(), count)
    form = limb_form(limb)
    parent = rig.data.bones[limb.bones[0]].parent
    return form, parent.matrix_local.to_3x3() @ form.flexion


@pytest.mark.parametrize(("side", "sign"), [("L", 1.0), ("R", -1.0)])
def test_elbows_go_out_back_and_down_and_knees_ahead(side, sign):
    rig = body()
    form, elbow = outwards(rig, f"hand.{side}")
    assert form.has_end
    assert (elbow - Vector((sign * 0.6, 0.6, -0.5))).length < 1e-5
    form, knee = outwards(rig, f"foot.{side}")
    assert form.has_end
    assert (knee - Vector((0.0, -1.0, 0.0))).length < 1e-5


def test_the_long_bones_alone_have_the_same_elbow():
    rig = body()
    assert (outwards(rig, "forearm.L", 2)[1] - outwards(rig, "hand.L")[1]).length < 1e-6


def test_a_part_that_was_stored_counts_whatever_the_names_are():
    rig = chain_rig(3)
    limb = Limb.from_tip(rig, "Bone 2", empty(), 3)
    assert limb_form(limb) == PLAIN_LIMB
    rig.pose.bones["Bone 2"].ik_triangulation.body_part = "ARM"
    assert limb_form(limb).has_end


def test_a_locked_helper_before_the_hand_is_no_joint():
    """As in the arms that Rigify generates."""
    rig = chain_rig(4)
    limb = Limb.from_tip(rig, "Bone 3", empty(), 4)
    rig.pose.bones["Bone 3"].ik_triangulation.body_part = "ARM"
    assert limb_form(limb) == PLAIN_LIMB
    rig.pose.bones["Bone 2"].lock_rotation = (True, True, True)
    rig.pose.bones["Bone 2"].lock_rotation_w = True
    assert limb_form(limb).has_end


def test_other_chains_have_no_form():
    rig = body()
    assert limb_form(Limb.from_tip(rig, "chest", empty(), 2)) == PLAIN_LIMB


def test_a_locked_bone_for_a_twist_does_not_make_a_limb_another_one():
    plain = outwards(body(), "hand.L")
    rig = body()
    bpy.ops.object.mode_set(mode="EDIT")
    bones = rig.data.edit_bones
    twist, forearm = bones.new("upper_arm_twist.L"), bones["forearm.L"]
    twist.head, twist.tail, twist.parent = (0.35, 0.01, 1.5), (0.5, 0.02, 1.5), bones["upper_arm.L"]
    forearm.parent = twist
    bpy.ops.object.mode_set(mode="POSE")
    store(Locked(), 0.0, rig.pose.bones["upper_arm_twist.L"].ik_triangulation_joint)
    form, elbow = outwards(rig, "hand.L", 4)
    assert form.has_end == plain[0].has_end
    assert (elbow - plain[1]).length < 1e-6

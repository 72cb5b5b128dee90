# SPDX-License-Identifier: GPL-3.0-or-later
"""A script sets a body up by properties alone, and a lone limb stays one."""

import bpy
import pytest

from ik_triangulation.errors import ChainError
from ik_triangulation.jobs.bake import bake_body
from ik_triangulation.rig.stored_body import stored_body

from ..bodies import FEET, HANDS, human_rig, keyed_target
from ..rigs import curves_of

pytestmark = pytest.mark.usefixtures("empty_scene")


def set_up(rig, hand="hand.L", chain_count=0, held=FEET):
    target = keyed_target(rig, hand, {1: (0, 0, 0), 12: (-0.2, -0.3, -0.3)})
    stored = rig.pose.bones[hand].ik_triangulation
    stored.target, stored.chain_count = target, chain_count
    for name in held:
        rig.pose.bones[name].ik_triangulation.hold = True
    return rig


def test_an_arm_to_the_root_and_held_feet_are_one_body():
    rig = set_up(human_rig())
    for tip in ("hand.L", *FEET):
        body = stored_body(rig, tip)
        assert [limb.tip for limb in body.limbs] == ["hand.L"]
        assert body.held == FEET
        assert (body.hips, body.hips_motion, body.balance) == ("spine", "FREE", True)
    assert {"thigh.L", "spine.001", "upper_arm.L"} <= body.solved
    assert "upper_arm.R" not in body.solved


def test_the_settings_of_the_armature_are_those_of_the_body():
    rig = set_up(human_rig())
    rig.ik_triangulation.hips, rig.ik_triangulation.hips_motion = "spine", "UP_DOWN"
    rig.ik_triangulation.balance = False
    body = stored_body(rig, "hand.L")
    assert (body.hips, body.hips_motion, body.balance) == ("spine", "UP_DOWN", False)
    rig.ik_triangulation.hips = "spine.001"
    with pytest.raises(ChainError, match="is not above all tips"):
        stored_body(rig, "hand.L")


def test_an_arm_alone_is_no_body_whatever_is_held():
    rig = set_up(human_rig(), chain_count=3)
    assert stored_body(rig, "hand.L") is None  # it turns nothing that a foot hangs on
    assert stored_body(rig, "toe.L") is None


def test_a_limb_that_hangs_on_what_another_turns_belongs_to_it():
    rig = set_up(human_rig(), chain_count=0, held=())
    set_up(rig, "hand.R", chain_count=3, held=())
    body = stored_body(rig, "hand.R")
    assert {limb.tip for limb in body.limbs} == set(HANDS)
    assert body.solved >= {"spine.002", "forearm.R"}
    rig.pose.bones["hand.R"].ik_triangulation.enabled = False
    assert stored_body(rig, "hand.L") is None


def test_a_body_of_properties_bakes_and_only_its_bones_are_keyed():
    rig = set_up(human_rig())
    rig.pose.bones["hand.L"].ik_triangulation.chain_count = 6
    report = bake_body(stored_body(rig, "foot.R"), 1, 12)
    assert report.reached, report.text
    bones = {curve.data_path.split('"')[1] for curve in curves_of(rig)}
    assert bones == {"spine", "spine.001", "spine.002", "upper_arm.L", "forearm.L", "hand.L"} | {
        f"{part}.{side}" for part in ("thigh", "shin", "foot") for side in "LR"
    }


def test_the_settings_are_saved_with_the_file(tmp_path):
    rig = set_up(human_rig())
    rig.ik_triangulation.hips_motion = "FIXED"
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "body.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "body.blend"))
    rig = bpy.data.objects["Rig"]
    assert rig.ik_triangulation.hips_motion == "FIXED"
    assert rig.pose.bones["foot.L"].ik_triangulation.hold

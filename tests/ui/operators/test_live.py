# SPDX-License-Identifier: GPL-3.0-or-later
"""Live is switched on and off for a limb by itself, or for the whole body that it belongs to."""

import bpy
import pytest

from ik_triangulation.jobs import live
from ik_triangulation.ui.last_result import latest

from ...bodies import FEET, HANDS, set_up_rig
from ...rigs import chain_rig, configure, empty

pytestmark = pytest.mark.usefixtures("empty_scene")


@pytest.fixture(autouse=True)
def ends(addon):
    yield
    live.stop_all()


@pytest.mark.parametrize("tip", ["hand.L", "foot.R"])
def test_all_limbs_of_a_body_are_live_at_once_and_stop_at_once(tip):
    rig = set_up_rig()
    bpy.ops.pose.ik_triangulation_live(tip=tip)
    assert all(live.is_live(rig, name) for name in (*HANDS, *FEET))
    assert latest(rig, "hand.R").reached
    bpy.ops.pose.ik_triangulation_live(tip="hand.R")
    assert not any(live.is_live(rig, name) for name in (*HANDS, *FEET))
    assert not live.under_way()


def test_a_lone_limb_is_live_until_it_is_switched_off():
    rig = chain_rig(3)
    configure(rig, "Bone 2", target=empty())
    bpy.ops.pose.ik_triangulation_live()
    assert live.is_live(rig, "Bone 2")
    bpy.ops.pose.ik_triangulation_live()
    assert not live.is_live(rig, "Bone 2")

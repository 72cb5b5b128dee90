# SPDX-License-Identifier: GPL-3.0-or-later
"""Live is refused for a limb of a body, which it would tear off the others, and works for a lone one."""

import bpy
import pytest

from ik_triangulation.jobs import live

from ...bodies import set_up_rig
from ...rigs import chain_rig, configure, empty, nothing_lost

pytestmark = pytest.mark.usefixtures("empty_scene")


def test_a_limb_of_a_body_is_refused():
    set_up_rig()
    with nothing_lost(), pytest.raises(RuntimeError, match="part of a body, and Live works on single limbs"):
        bpy.ops.pose.ik_triangulation_live(tip="hand.L")


def test_a_lone_limb_is_live_until_it_is_switched_off():
    rig = chain_rig(3)
    configure(rig, "Bone 2", target=empty())
    bpy.ops.pose.ik_triangulation_live()
    assert live.is_live(rig, "Bone 2")
    bpy.ops.pose.ik_triangulation_live()
    assert not live.is_live(rig, "Bone 2")

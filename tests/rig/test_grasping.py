# SPDX-License-Identifier: GPL-3.0-or-later
"""Hands of any character are known by their fingers, and settle where they hold an object best."""

from math import degrees

import bpy
import pytest

from ik_triangulation.rig.grasping.hand import GraspingHand
from ik_triangulation.rig.grasping.surface import HeldSurface

from ..characters import KINDS, character, part_of
from ..jobs.test_grasp import rod

pytestmark = pytest.mark.usefixtures("empty_scene")


@pytest.mark.parametrize("kind", KINDS)
def test_a_hand_holds_a_rod_in_its_palm(kind):
    rig = character(kind)
    bpy.context.view_layer.update()
    hand = GraspingHand(rig, part_of(rig, kind, "hand").name)
    assert [row.joints[0].name for row in hand.rows] == [
        part_of(rig, kind, f"{finger}1").name for finger in ("index", "middle", "ring", "little")
    ]
    surface = HeldSurface(rod(hand, 0.022), bpy.context.evaluated_depsgraph_get())
    way, closed = hand.settle(surface)
    assert (way @ hand.wrist - hand.wrist).length <= 0.035
    assert degrees(way.to_quaternion().angle) <= 15.1
    assert sum(finger.touches > 0 for finger in closed.fingers) >= 3
    assert degrees(closed.opposition) >= 100.0
    assert closed.penetration <= 0.001

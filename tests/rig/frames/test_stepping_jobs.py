# SPDX-License-Identifier: GPL-3.0-or-later
"""A limb is read in a temporary scene, or by stepping the user's: decided once for each."""

import bpy
import pytest
from mathutils import Vector

from ik_triangulation.jobs.bake import bake, bake_spans
from ik_triangulation.jobs.compare import compare
from ik_triangulation.jobs.reach import reach
from ik_triangulation.rig.limb import Limb

from ...rigs import all_keys, chain_rig, empty, key_location, nothing_lost
from .scenes import LAST, scene_bound, stepped

pytestmark = pytest.mark.usefixtures("empty_scene")


def test_of_several_limbs_only_those_are_stepped_that_need_it():
    rig, target = scene_bound()
    other = chain_rig(3, name="Other")
    other.location.x = 1.0
    limbs = [Limb.from_tip(rig, "Bone 2", target), Limb.from_tip(other, "Bone 2", key_location(empty("Plain"), (1, 9)))]
    first, second = bake_spans(limbs, [(1, LAST, 1)] * 2)
    assert len(stepped(first)) == 1
    assert stepped(second) == []
    assert first.all_reached


def test_a_reach_and_a_comparison_step_the_scene_as_well():
    rig, target = scene_bound()
    limb = Limb.from_tip(rig, "Bone 2", target)
    bpy.context.scene.frame_set(5)
    with nothing_lost():
        assert compare(limb, range(1, 4), ["TRIANGULATION"])[0].reached
    report = reach(limb, 1, LAST)
    assert len(stepped(report)) == 1
    tip = rig.matrix_world @ report.frames[-1].pose.tip
    assert (tip - Vector((LAST / 100 + 0.5, *target.location.yz))).length < 1e-3
    assert bpy.context.scene.frame_current == 5


def test_reading_it_a_frame_at_a_time_changes_no_key():
    rig, target = scene_bound()
    limb = Limb.from_tip(rig, "Bone 2", target)
    bake(limb, 1, LAST)
    keys = repr(all_keys(rig))
    rig.animation_data_clear()
    for bone in rig.pose.bones:
        bone.rotation_quaternion = (1.0, 0.0, 0.0, 0.0)
    bake_spans([limb], [(1, LAST, 1)], seconds=0.0)
    assert repr(all_keys(rig)) == keys

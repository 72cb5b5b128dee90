# SPDX-License-Identifier: GPL-3.0-or-later
"""The limbs that are shown: that of the active bone, that it is part of, or those that follow the active object."""

import bpy
import pytest

from ik_triangulation.ui.overlay.limb import shown_limbs

from ...rigs import chain_rig, configure, empty
from .seen import drawn, standard

pytestmark = pytest.mark.usefixtures("empty_scene")


def names():
    return [(armature.name, tip.name, active) for armature, tip, active in shown_limbs(bpy.context)]


def test_the_active_bone_s_limb_is_shown_with_its_joint():
    standard()
    assert names() == [("Rig", "Bone 3", "Bone 3")]


def test_a_bone_within_a_limb_shows_the_limb_with_that_joint():
    rig, _ = standard()
    rig.data.bones.active = rig.data.bones["Bone 2"]
    assert names() == [("Rig", "Bone 3", "Bone 2")]


def test_a_bone_without_a_limb_shows_nothing():
    chain_rig(3)
    assert names() == []
    assert drawn() == 0


def test_a_limb_without_a_target_is_shown_once_a_joint_is_set_up():
    rig = chain_rig(3)
    rig.pose.bones["Bone 1"].ik_triangulation_joint.source = "OWN"
    assert names() == [("Rig", "Bone 2", "Bone 2")]


def test_an_active_target_shows_the_limbs_that_follow_it():
    rig, target = standard()
    other = chain_rig(2, "Other")
    configure(other, "Bone 1", target=target, chain_count=0)
    configure(rig, "Bone 1", target=empty("Another"))
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.context.view_layer.objects.active = target
    assert names() == [("Rig", "Bone 3", ""), ("Other", "Bone 1", "")]
    shown = drawn()
    other.hide_set(True)
    assert 0 < drawn() < shown


def test_an_active_bone_that_is_a_target_shows_the_limb_that_follows_it():
    rig, _ = standard()
    other = chain_rig(2, "Other")
    rig.pose.bones["Bone 3"].ik_triangulation.target = other
    rig.pose.bones["Bone 3"].ik_triangulation.subtarget = "Bone 1"
    assert names() == [("Rig", "Bone 3", "")]
    other.data.bones.active = other.data.bones["Bone 0"]
    assert names() == []


def test_nothing_active_shows_nothing():
    standard()
    bpy.context.view_layer.objects.active = None
    assert names() == []

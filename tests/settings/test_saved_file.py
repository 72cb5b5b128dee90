# SPDX-License-Identifier: GPL-3.0-or-later
"""A file that an earlier version saved opens with all that was set in it."""

import bpy
import pytest

from ik_triangulation.rig.limb import Limb

from .saved_file import FILE, JOINTS, LIMB, MAP, OTHER_TIP, OVERLAY, STOPS, TIP, values_of

pytestmark = pytest.mark.usefixtures("empty_scene")


@pytest.fixture
def rig(empty_scene):
    bpy.ops.wm.open_mainfile(filepath=str(FILE))
    return bpy.data.objects["Rig"]


def same(values):
    return {name: value if isinstance(value, str) else pytest.approx(value, abs=1e-6) for name, value in values.items()}


def test_a_limb_has_what_was_set(rig):
    assert values_of(rig.pose.bones[TIP].ik_triangulation, LIMB) == same(LIMB)


def test_a_limb_that_is_read_is_the_one_that_was_set(rig):
    limb = Limb.of(rig.pose.bones[TIP], ["Bone 2", "Bone 3"])
    assert (limb.target_name, limb.tip, limb.in_order) == ("Table: Bone 1", TIP, ("Bone 2", "Bone 3"))
    assert (limb.solver, limb.iterations, limb.pole_target.name) == ("FABRIK", 77, "Pole")


def test_stops_have_what_was_set(rig):
    stops = rig.pose.bones[TIP].ik_triangulation.reach_stops
    assert [values_of(stop, like) for stop, like in zip(stops, STOPS, strict=True)] == list(STOPS)


@pytest.mark.parametrize("bone", JOINTS)
def test_joints_have_what_was_set(bone, rig):
    assert values_of(rig.pose.bones[bone].ik_triangulation_joint, JOINTS[bone]) == same(JOINTS[bone])


def test_the_scene_has_what_was_set(rig):
    scene = bpy.context.scene
    assert values_of(scene.ik_triangulation_map, MAP) == same(MAP)
    assert values_of(scene.ik_triangulation_overlay, OVERLAY) == OVERLAY


def test_what_was_not_set_has_its_default(rig):
    stored = rig.pose.bones[OTHER_TIP].ik_triangulation
    assert stored.target.name == "Pole"
    kept = [name for name in LIMB if stored.is_property_set(name)]
    assert sorted(kept) == ["reach_path", "target"], "the path of a reach has another default since"


def test_no_setting_in_the_file_has_its_default(rig):
    properties = rig.pose.bones[TIP].ik_triangulation.bl_rna.properties
    assert [name for name, value in LIMB.items() if value == getattr(properties[name], "default", None)] == []

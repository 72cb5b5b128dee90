# SPDX-License-Identifier: GPL-3.0-or-later
"""Every bone has settings of a limb and of a joint, which are saved with the rig and can be overridden."""

import bpy
import pytest

from ik_triangulation.settings import TABLE, IKT_PG_joint, IKT_PG_limb, choices
from ik_triangulation.settings.property_groups import LIMB_GROUPS
from ik_triangulation.settings.table import settings_of
from ik_triangulation.solvers import SOLVERS

from ..rigs import chain_rig, empty

pytestmark = pytest.mark.usefixtures("empty_scene")


def test_a_bone_has_the_settings_of_the_table():
    bone = chain_rig(1).pose.bones[0]
    for cls, stored in ((IKT_PG_limb, bone.ik_triangulation), (IKT_PG_joint, bone.ik_triangulation_joint)):
        assert isinstance(stored, cls)
        assert set(TABLE[cls]) == set(stored.bl_rna.properties.keys()) - {"rna_type", "name"}


def test_no_name_is_in_two_groups():
    names = [row.name for group in LIMB_GROUPS for row in settings_of(group).values()]
    assert len(set(names)) == len(names)


def test_what_can_be_chosen_is_what_blender_takes():
    stored = chain_rig(1).pose.bones[0].ik_triangulation
    assert choices("solver") == list(SOLVERS)
    for solver in choices("solver"):
        stored.solver = solver
        assert stored.solver == solver
    with pytest.raises(TypeError):
        stored.solver = "MAGIC"


def test_everything_on_a_bone_can_be_overridden_and_animated():
    stored = chain_rig(1).pose.bones[0].ik_triangulation
    for name, row in TABLE[IKT_PG_limb].items():
        prop = stored.bl_rna.properties[name]
        assert prop.is_overridable, f"{name} is declared without override=: see saved() in settings/property_groups.py"
        if row.per_frame:
            assert prop.is_animatable, f"{name} is read at every frame, but cannot be animated"


def test_settings_are_those_of_one_bone(tmp_path):
    first, second = chain_rig(2).pose.bones
    first.ik_triangulation.target, first.ik_triangulation.chain_count = empty(), 1
    assert second.ik_triangulation.target is None
    path = str(tmp_path / "rig.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    stored = bpy.data.objects["Rig"].pose.bones["Bone 0"].ik_triangulation
    assert (stored.target.name, stored.chain_count) == ("Target", 1)

# SPDX-License-Identifier: GPL-3.0-or-later
"""The list of solvers: three for animators, then the published methods under a heading; Natural always refines."""

import bpy
import pytest

from ik_triangulation.jobs.pose import solve_pose
from ik_triangulation.rig.limb import Limb
from ik_triangulation.settings import SOLVER_ITEMS, IKT_PG_limb, MethodSettings, choices
from ik_triangulation.solvers import SOLVERS

from ..rigs import chain_rig, empty


def test_the_list_begins_with_those_for_animators_and_has_every_solver_once():
    names = [item[0] for item in SOLVER_ITEMS]
    assert names[:4] == ["NATURAL", "CIRCULAR", "TWO_BONE", ""]
    assert SOLVER_ITEMS[3][1] == "Published Methods"
    assert sorted(filter(None, names)) == sorted(SOLVERS)


def test_a_heading_is_no_choice(addon):
    assert choices("solver") == list(IKT_PG_limb.bl_rna.properties["solver"].enum_items.keys()) == list(SOLVERS)


@pytest.mark.parametrize("name", SOLVERS)
def test_the_number_that_files_hold_is_that_of_the_solver(name, addon):
    assert IKT_PG_limb.bl_rna.properties["solver"].enum_items[name].value == SOLVERS[name].number


def test_only_a_published_method_can_be_left_as_it_is():
    assert MethodSettings(solver="NATURAL", finish=False).refines
    assert MethodSettings(solver="CCD").refines
    assert not MethodSettings(solver="CCD", finish=False).refines


def test_natural_solves_alike_with_and_without_refining(addon):
    poses = []
    for finish in (True, False):
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        rig, target = chain_rig(4), empty("Target", (0.7, 0.9, 1.4))
        report = solve_pose(Limb.from_tip(rig, "Bone 3", target, 0, orientation="FULL", finish=finish))
        assert report.all_reached or report.worst.error < 1e-3
        poses.append([tuple(bone.rotation_quaternion) for bone in rig.pose.bones])
    assert poses[0] == poses[1]

# SPDX-License-Identifier: GPL-3.0-or-later
"""Solvers compared by pressing; the chosen one is put to use."""

import bpy
import pytest
from mathutils import Vector

from ik_triangulation.jobs.compare import preview
from ik_triangulation.rig.limb import Limb
from ik_triangulation.ui.overlay import ghost

from ...rigs import evaluated_tip, nothing_lost
from ..fights import TIP, fight, standard

pytestmark = pytest.mark.usefixtures("empty_scene", "no_fight_left")


def test_the_chosen_solver_is_shown_as_a_ghost_and_applied_it_stands_there():
    rig, target = standard()
    duel = fight()
    assert len(ghost._ghosts) == 1
    duel.chosen = duel.rows.find("CCD")
    expected = preview(Limb.of(rig.pose.bones[TIP]), "CCD")
    assert len(expected) == 4
    (shown,) = ghost._ghosts.values()
    assert all(min((Vector(edge) - point).length for edge in shown.edges) < 1e-5 for point in expected)
    assert bpy.ops.pose.ik_triangulation_duel_apply() == {"FINISHED"}
    assert rig.pose.bones[TIP].ik_triangulation.solver == "CCD"
    heads = [rig.matrix_world @ rig.pose.bones[f"Bone {i}"].head for i in (1, 2, 3)]
    assert all((head - point).length < 1e-4 for head, point in zip(heads, expected, strict=False))
    assert (evaluated_tip(rig, TIP) - target.location).length < 2e-4
    assert not ghost._ghosts


def test_a_solver_that_refuses_the_limb_has_no_ghost_and_cannot_be_applied():
    rig, _ = standard()
    duel = fight()
    duel.chosen = duel.rows.find("TWO_BONE")
    assert not ghost._ghosts
    with nothing_lost(), pytest.raises(RuntimeError, match=r"[Tt]wo"):
        bpy.ops.pose.ik_triangulation_duel_apply()
    assert rig.pose.bones[TIP].ik_triangulation.solver == "NATURAL"


def test_without_a_target_there_is_no_duel():
    rig, _ = standard()
    rig.pose.bones[TIP].ik_triangulation.target = None
    with pytest.raises(RuntimeError, match="Choose a target"):
        bpy.ops.pose.ik_triangulation_duel()


def test_a_limb_that_is_at_its_target_already_is_said_to_be(capfd):
    standard()
    bpy.ops.pose.ik_triangulation_solve()
    fight()
    assert "The limb is already at its target" in capfd.readouterr().out

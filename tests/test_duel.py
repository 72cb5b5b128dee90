# SPDX-License-Identifier: GPL-3.0-or-later
"""The duel lists what every solver makes of a limb, shows the chosen one as a ghost, and puts it to use."""

import bpy
import pytest
from mathutils import Vector

from ik_triangulation.jobs.compare import compare, preview
from ik_triangulation.rig.limb import Limb
from ik_triangulation.solvers import SOLVERS
from ik_triangulation.ui.overlay import ghost
from ik_triangulation.ui.panels.comparison import VIEW3D_PT_ik_triangulation_duel as PANEL

from .layouts import drawn
from .rigs import chain_rig, configure, empty, evaluated_tip, key_location, nothing_lost, rotate

pytestmark = pytest.mark.usefixtures("empty_scene")

TIP = "Bone 3"


def standard(**settings):
    rig, target = chain_rig(4), empty()
    rig.location = (1.0, 0.0, 0.5)
    target.location = rig.location + target.location
    rotate(rig.pose.bones["Bone 2"], (0.9, 0.3, 0.0, 0.1))
    configure(rig, TIP, target=target, chain_count=3, tolerance=1e-4, **settings)
    bpy.context.view_layer.update()
    return rig, target


def fought():
    return bpy.context.window_manager.ik_triangulation_duel


def fight(**settings):
    duel = fought()
    for name, value in settings.items():
        setattr(duel, name, value)
    assert bpy.ops.pose.ik_triangulation_duel() == {"FINISHED"}
    return duel


@pytest.fixture(autouse=True)
def ends(addon):
    yield
    duel = fought()
    duel.rows.clear()
    duel.use_range, duel.by = False, "total_angle"
    ghost.clear_ghosts()


@pytest.mark.parametrize("by", ["total_angle", "travel", "error"])
def test_every_solver_has_a_row_as_compare_says_and_nothing_is_changed(by):
    rig, _ = standard()
    with nothing_lost():
        duel = fight(by=by)
    rows = compare(Limb.of(rig.pose.bones[TIP]), by=by)
    assert [row.name for row in duel.rows] == [row.solver for row in rows]
    assert {row.name for row in duel.rows} == set(SOLVERS)
    for entry, row in zip(duel.rows, rows, strict=True):
        assert (entry.reached, entry.tasks, entry.turns, entry.refusal) == (row.reached, 1, row.turns, row.refusal)
        assert entry.total_angle == pytest.approx(row.total_angle, rel=1e-5)
    assert duel.rows["TWO_BONE"].refusal


def test_a_range_is_compared_over_all_its_frames():
    _, target = standard(use_scene_range=False, frame_start=1, frame_end=21, step=10)
    place = target.location.copy()
    key_location(target, (1, 21), lambda frame: place + Vector((0.0, 0.0, 0.01 * frame)))
    with nothing_lost():
        duel = fight(use_range=True)
    assert {row.tasks for row in duel.rows} == {3}
    assert duel.rows["TRIANGULATION"].reached == 3


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
    assert rig.pose.bones[TIP].ik_triangulation.solver == "TRIANGULATION"


def test_what_is_gone_since_makes_no_trouble():
    rig, target = standard()
    duel = fight()
    bpy.data.objects.remove(target)
    duel.chosen = 1
    assert not ghost._ghosts
    rig.pose.bones[TIP].name = "Other"
    duel.chosen = 2
    bpy.data.objects.remove(rig)
    duel.chosen = 3


def test_a_duel_is_that_of_one_limb_and_can_be_cleared():
    rig, target = standard()
    with pytest.raises(RuntimeError, match="Run Solver Duel on this limb first"):
        bpy.ops.pose.ik_triangulation_duel_apply()
    duel = fight()
    assert len(drawn(PANEL)) > 16
    configure(rig, "Bone 2", target=target)
    assert drawn(PANEL) == ["by", "use_range", "duel"]
    configure(rig, TIP)
    assert bpy.ops.pose.ik_triangulation_duel_forget() == {"FINISHED"}
    assert not duel.rows
    assert not ghost._ghosts


def test_in_a_narrow_sidebar_the_names_of_the_solvers_have_all_the_room():
    standard()
    fight(by="seconds")
    said = drawn(PANEL, 200)
    assert sum(text.endswith(" ms") for text in said) == 1  # of the chosen one, below the list


@pytest.mark.parametrize("width", [260, 600])
def test_the_list_shows_the_measure_that_counts_and_in_a_wide_sidebar_all(width):
    standard()
    fight(by="seconds")
    said = drawn(PANEL, width)
    rows = said[3 : said.index("duel_apply")]
    assert sum(text.strip("()") in {solver.label for solver in SOLVERS.values()} for text in rows) == len(SOLVERS)
    times = sum(text.endswith(" ms") for text in rows)
    assert times == len(SOLVERS) - 1 + 1  # one refuses, and the chosen one is there in full as well
    assert sum(text.endswith("°") for text in rows) == (1 if width == 260 else times)


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

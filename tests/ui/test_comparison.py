# SPDX-License-Identifier: GPL-3.0-or-later
"""What every solver makes of a limb: kept for it, shown as a ghost, cleared."""

import bpy
import pytest
from mathutils import Vector

from ik_triangulation.jobs.compare import compare
from ik_triangulation.rig.limb import Limb
from ik_triangulation.solvers import SOLVERS
from ik_triangulation.ui.overlay import ghost
from ik_triangulation.ui.panels.advanced import VIEW3D_PT_ik_triangulation_duel as PANEL

from ..layouts import drawn
from ..rigs import configure, key_location, nothing_lost
from .fights import TIP, fight, standard

pytestmark = pytest.mark.usefixtures("empty_scene", "no_fight_left", "research_tools")


@pytest.mark.parametrize("by", ["naturalness", "total_angle", "travel", "error"])
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
    with pytest.raises(RuntimeError, match="Use Compare Solvers on this limb first"):
        bpy.ops.pose.ik_triangulation_duel_apply()
    duel = fight()
    assert len(drawn(PANEL)) > 16
    configure(rig, "Bone 2", target=target)
    assert drawn(PANEL) == ["by", "use_range", "duel"]
    configure(rig, TIP)
    assert bpy.ops.pose.ik_triangulation_duel_forget() == {"FINISHED"}
    assert not duel.rows
    assert not ghost._ghosts

# SPDX-License-Identifier: GPL-3.0-or-later
"""What is pressed makes no row for a frame: counts, status line, panel and popover come from arrays."""

import bpy
import pytest

from ik_triangulation.jobs.bake import bake
from ik_triangulation.jobs.shots import measure
from ik_triangulation.rig.limb import Limb
from ik_triangulation.ui.last_result import latest

from ...bodies import human_rig
from ...layouts import drawn
from ...rigs import key_location, select
from ..panels.states import MAIN, ONLY_RESULT

pytestmark = pytest.mark.usefixtures("empty_scene")

FRAMES = 120


def arm():
    """An arm by Add Limb, whose new empty has keys."""
    rig = human_rig()
    bpy.context.view_layer.objects.active = rig
    select(rig, "hand.L")
    bpy.ops.pose.ik_triangulation_limb_add()
    bone = rig.pose.bones["hand.L"]
    target = bone.ik_triangulation.target
    begin = target.location.copy()
    key_location(target, range(1, FRAMES + 1, 10), lambda f: begin.lerp(bone.parent.head, 0.5 * f / FRAMES))
    bpy.context.scene.frame_end = FRAMES
    return rig


@pytest.fixture
def made(monkeypatch):
    """The frames for which rows were made."""
    frames, result = [], measure._result

    def counted(each, shown):
        frames.append(each.now.frame)
        return result(each, shown)

    monkeypatch.setattr(measure, "_result", counted)
    return frames


@pytest.mark.parametrize("reduce", [False, True])
def test_bake_and_the_panel_after_it_make_no_rows(made, reduce):
    rig = arm()
    rig.pose.bones["hand.L"].ik_triangulation.reduce = reduce
    assert bpy.ops.pose.ik_triangulation_bake() == {"FINISHED"}
    assert any(f"of {FRAMES} frames" in line for line in drawn(MAIN))
    assert any("turns" in line for line in drawn(ONLY_RESULT))
    assert latest(rig, "hand.L").report.due_count == FRAMES
    assert made == []


@pytest.mark.parametrize("solver", ["NATURAL", "TRIANGULATION"])
def test_the_counts_are_those_of_the_rows(solver):
    rig = arm()
    bone = rig.pose.bones["hand.L"]
    bone.ik_triangulation.solver = solver
    report = bake(Limb.of(bone), 1, FRAMES)
    rows = list(report.frames)
    assert report.due_count == len(rows) == FRAMES
    assert report.reached == sum(row.reached for row in rows)
    assert report.worst_error == pytest.approx(max(row.error for row in rows), abs=1e-6)
    assert report.worst_frame == report.worst.frame
    cost = report.cost
    assert cost.turns == sum(row.cost.turns for row in rows)
    assert cost.total_angle == pytest.approx(sum(row.cost.total_angle for row in rows), rel=1e-3)
    assert cost.travel == pytest.approx(sum(row.cost.travel for row in rows), rel=1e-3)
    at_limits = {(name, end) for row in rows for name, ends in row.on_limits.items() for end in ends}
    assert {(name, end) for name, ends in report.on_limits.items() for end in ends} == at_limits

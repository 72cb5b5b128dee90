# SPDX-License-Identifier: GPL-3.0-or-later
"""What is set for a limb of a body either counts or is named with the reason."""

from dataclasses import replace

import bpy
import pytest

from ik_triangulation.items import SOLVER_ROWS, WHOLE_SOLVERS
from ik_triangulation.jobs.bake import bake_body
from ik_triangulation.jobs.calls import call
from ik_triangulation.jobs.live import following as live
from ik_triangulation.jobs.pose import solve_body_pose
from ik_triangulation.jobs.reach import body_stop, reach_with_body
from ik_triangulation.jobs.shots.keys import body_settings, unheeded_keys
from ik_triangulation.jobs.shots.problem import body_of, unheeded
from ik_triangulation.settings import (
    BendSettings,
    GoalSettings,
    KeySettings,
    MethodSettings,
    PostureSettings,
    settings_of,
)

from ...bodies import SMALL, set_up_rig
from ...rigs import empty

pytestmark = pytest.mark.usefixtures("empty_scene")

# What bodies heed, which other tests show; all else of a limb has to be named by unheeded() or unheeded_keys().
HEEDED = {
    *settings_of(GoalSettings, BendSettings),
    "tolerance",
    "angle_tolerance",
    "seed",
    "soft_edge",
    "effort_weight",
    "rest_weight",
    "rest_pose",
    "obstacles",
    "obstacle_margin",
    "obstacle_weight",
    "reduce_tolerance",
}


def changed(row):
    """Another value of a setting than its default."""
    if isinstance(row.default, bool):
        return not row.default
    if isinstance(row.default, str):
        return next(each for each in row.choices if each != row.default)
    return row.default + 1


def test_every_setting_of_a_limb_counts_in_its_body_or_is_named():
    rig = set_up_rig(12, down=SMALL)
    stored, silent = rig.pose.bones["hand.R"].ik_triangulation, []
    rows = settings_of(GoalSettings, BendSettings, MethodSettings, PostureSettings, KeySettings)
    assert set(rows) > HEEDED
    for name in set(rows) - HEEDED:
        stored.solver = "NATURAL" if name in settings_of(KeySettings) or name == "smoothing" else "CCD"
        setattr(stored, name, changed(rows[name]))
        body = body_of(rig, "hand.L")
        said = " ".join([*unheeded(body), *unheeded_keys(body, body_settings(body, "hand.L"))])
        if "'hand.R'" not in said or (rows[name].label not in said and name != "solver"):
            silent.append(name)
        setattr(stored, name, rows[name].default)
    assert not silent, f"Bodies neither heed these nor say so: {silent}. See jobs/shots/problem.py and keys.py."


def test_every_method_is_named_by_which_a_body_is_not_solved():
    rig = set_up_rig(12, down=SMALL)
    for solver, row in SOLVER_ROWS.items():
        rig.pose.bones["hand.L"].ik_triangulation.solver = rig.pose.bones["foot.R"].ik_triangulation.solver = solver
        told = [each for each in unheeded(body_of(rig, "hand.L")) if f"Natural and not by {row.label}, as" in each]
        assert len(told) == (solver not in WHOLE_SOLVERS)
        assert all(each.startswith("'foot.R', 'hand.L': ") for each in told)


def test_each_job_says_that_a_body_is_solved_by_natural(addon, monkeypatch):
    rig = set_up_rig(9, down=SMALL)
    stored = rig.pose.bones["hand.L"].ik_triangulation
    stored.solver, stored.finish = "TRIANGULATION", False
    said = (
        "'hand.L': solved by Natural and not by Triangulation, as the published methods work on single limbs. "
        "These do not count either: Refine Result."
    )
    body, reports = body_of(rig, "hand.L"), []
    reports += bake_body(body, 1, 5), solve_body_pose(body), reach_with_body(body, [body_stop(body, "hand.L", 5)], 1)
    monkeypatch.setattr(live, "listeners", [lambda report, *_: reports.append(report)])
    live.start(rig, "hand.L")
    live.stop_all()
    assert len(reports) == 4
    for report in reports:
        assert [*report.warnings].count(said) == 1
        assert said in report.to_dict()["warnings"]
        assert said in report.text
    assert said in call({"call": "bake", "armature": rig.name, "frame_start": 1, "frame_end": 3})["warnings"]


def test_the_pole_of_a_held_foot_and_the_keys_of_another_limb_are_named():
    rig = set_up_rig(9, down=SMALL)
    rig.pose.bones["foot.L"].ik_triangulation.pole_target = empty("Pole")
    rig.pose.bones["hand.R"].ik_triangulation.reduce = True
    body = body_of(rig, "hand.L")
    assert [each.partition(" of")[0] for each in unheeded(body)] == ["'foot.L': Pole Target"]
    settings = body_settings(body, "hand.L")
    assert ["Reduce Keys" in each for each in unheeded_keys(body, settings)] == [True]
    assert not unheeded_keys(body, body_settings(body, "hand.R"))
    given = replace(settings, interpolation="CONSTANT")
    assert len(unheeded_keys(body, given)) == 1, "what is given for one bake alone is no surprise"
    bpy.context.view_layer.update()

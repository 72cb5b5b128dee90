# SPDX-License-Identifier: GPL-3.0-or-later
"""Comparing solvers and mapping a chain: from Python, as an operator and on the command line; nothing is changed."""

from math import degrees

import bpy
import pytest
from mathutils import Quaternion, Vector

from ik_triangulation.errors import RigError, SettingError, TargetError
from ik_triangulation.goals import Goal, Point
from ik_triangulation.jobs import compare as analyse
from ik_triangulation.jobs.bake import bake
from ik_triangulation.jobs.pose import solve_pose
from ik_triangulation.maps import metric_map
from ik_triangulation.rig.limb import Limb
from ik_triangulation.solvers import SOLVERS, SolverSettings, solve, solve_goal
from ik_triangulation.solvers import compare as compare_module
from ik_triangulation.solvers.compare import COSTS, compare_all

from ..chains import GENERAL
from ..mapped import QUICK, standard, without_time
from ..rigs import (
    evaluated_tip,
    nothing_lost,
    rotate,
)
from .moving import moving

pytestmark = pytest.mark.usefixtures("empty_scene")


def limb_of(rig, target, **settings):
    return Limb.from_tip(rig, rig.pose.bones[-1].name, target, 3, **settings)


# Compare


def test_the_present_frame_is_compared_and_nothing_changed():
    rig, target = standard()
    bpy.context.scene.frame_set(9, subframe=0.5)
    bpy.context.view_layer.update()
    limb = limb_of(rig, target)
    with nothing_lost():
        rows = analyse.compare(limb)
    assert {row.solver for row in rows} == set(SOLVERS)
    assert rows[-1].solver == "TWO_BONE"
    assert "two" in rows[-1].refusal.lower()
    assert {(row.tasks, row.reached) for row in rows[:-1]} == {(1, 1)}
    assert [row.naturalness for row in rows[:-1]] == sorted(row.naturalness for row in rows[:-1])
    start = metric_map.pose_of(rig, limb.bones, bpy.context.view_layer)
    there = Point(target.matrix_world.translation)
    again = compare_all(
        [(start, Goal(there, tolerance=limb.tolerance))], settings=SolverSettings(iterations=limb.iterations)
    )
    assert without_time(rows) == without_time(again)


@pytest.mark.parametrize("display", ["PLAIN_AXES", "ARROWS"])
def test_what_is_compared_is_what_a_solve_does(display):
    """Also where the target tells an orientation."""
    rig, target = standard()
    target.empty_display_type, target.rotation_euler = display, (0.4, 0.2, -0.3)
    row = analyse.compare(limb_of(rig, target, solver="CCD"), solvers=["CCD"])[0]
    report = solve_pose(limb_of(rig, target, solver="CCD"))
    assert (row.error, row.total_angle) == pytest.approx((report.worst.error, report.cost.total_angle), abs=1e-6)


def test_each_frame_is_judged_by_the_reference_given_for_it():
    rig, target = standard()
    limb = limb_of(rig, target)
    by_start = analyse.compare(limb, [5, 9], ["CCD"])[0].naturalness
    turned = [Quaternion((1.0, 0.0, 0.0), 0.5)] * 3
    rest = [Quaternion()] * 3
    found = [analyse.compare(limb, [5, 9], ["CCD"], references=[each] * 2)[0].naturalness for each in (rest, turned)]
    assert found[0] == pytest.approx(by_start, abs=1e-4)  # the rig is at rest
    assert found[1] != pytest.approx(by_start, abs=1.0)
    with nothing_lost(), pytest.raises(SettingError, match="1 references for 2 tasks"):
        analyse.compare(limb, [5, 9], ["CCD"], references=[rest])


def test_bends_of_an_arm_count_in_a_limb_that_may_be_one():
    rig, target = standard()
    rotate(rig.pose.bones["Bone 3"], Quaternion((0.0, 0.0, 1.0), 2.0))  # a wrist that is folded
    bpy.context.view_layer.update()
    target.animation_data_clear()
    target.location = evaluated_tip(rig, "Bone 3")
    bpy.context.view_layer.update()
    stored, found = rig.pose.bones["Bone 3"].ik_triangulation, {}
    for stored.body_part in ("NONE", "ARM", "TAIL"):
        (row,) = analyse.compare(limb_of(rig, target), solvers=["CCD"])
        found[stored.body_part] = row.naturalness
    assert found["TAIL"] == pytest.approx(0.0, abs=0.1)
    assert found["ARM"] == found["NONE"] == pytest.approx(degrees(2.0) - 60.0, abs=0.1)


def test_several_frames_are_summed_up_and_nothing_changed():
    rig, target = standard()
    bone = rig.pose.bones["Bone 1"]
    bone.rotation_quaternion = (0.9, 0.3, 0.1, 0.0)
    bone.keyframe_insert("rotation_quaternion", frame=1)
    bone.rotation_quaternion = (0.7, -0.3, 0.1, 0.4)
    bone.keyframe_insert("rotation_quaternion", frame=15)
    bpy.context.scene.frame_set(7)
    limb, frames = limb_of(rig, target), range(3, 16, 4)
    with nothing_lost():
        rows = analyse.compare(limb, frames, QUICK)
    summed = dict.fromkeys(QUICK, 0.0)
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        start = metric_map.pose_of(rig, limb.bones, bpy.context.view_layer)
        for solver in QUICK:
            summed[solver] += solve(start, Point(path_at(target)), solver=solver).cost.total_angle
    assert {row.solver: row.total_angle for row in rows} == pytest.approx(summed, rel=1e-3)
    assert {(row.tasks, row.reached) for row in rows} == {(4, 4)}


def path_at(target):
    return target.evaluated_get(bpy.context.evaluated_depsgraph_get()).matrix_world.translation.copy()


def test_a_frame_of_a_range_is_the_same_as_that_frame_alone():
    rig, target = standard()
    limb = limb_of(rig, target)
    bpy.context.scene.frame_set(5)
    alone = analyse.compare(limb, solvers=QUICK)
    bpy.context.scene.frame_set(30)
    assert without_time(analyse.compare(limb, [5], QUICK)) == without_time(alone)


def test_reading_for_a_moment_at_a_time_changes_nothing():
    rig, target = standard()
    limb, frames = limb_of(rig, target), range(1, 12)
    at_once = analyse.compare(limb, frames, QUICK)
    with nothing_lost():
        in_parts = analyse.compare(limb, frames, QUICK, seconds=0.0)
    assert without_time(in_parts) == without_time(at_once)


@pytest.mark.parametrize("solver", ["CCD", "TRIANGULATION_CHEAPEST", "CIRCULAR"])
def test_a_ghost_within_the_range_is_the_pose_that_a_bake_makes(solver):
    rig, target = moving(5)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, 40
    the_limb = Limb.from_tip(rig, rig.pose.bones[-1].name, target, 5, solver=solver)
    scene.frame_set(23)
    ghost = analyse.preview(the_limb, solver)
    bake(the_limb, 1, 40)
    scene.frame_set(23)
    shown = [rig.matrix_world @ bone.head for bone in rig.pose.bones]
    assert max((a - b).length for a, b in zip(ghost, shown, strict=False)) < 1e-3


@pytest.mark.parametrize("by", COSTS)
def test_the_cheapest_by_any_cost_comes_first(by):
    rig, target = standard()
    values = [getattr(row, by) for row in analyse.compare(limb_of(rig, target), solvers=GENERAL[:6], by=by)]
    assert values == sorted(values)


def test_the_seed_of_the_limb_is_taken(monkeypatch):
    rig, target = standard()
    seeds = []
    monkeypatch.setattr(compare_module, "solve_goal", lambda *words: seeds.append(words[-1].seed) or solve_goal(*words))
    analyse.compare(limb_of(rig, target, seed=7), [1, 2], QUICK)
    assert seeds == [7] * 6


def test_rigs_elsewhere_are_compared_where_they_are():
    rig, target = standard()
    rig.location, rig.rotation_euler, rig.scale = (1.0, 2.0, 3.0), (0.4, 0.5, 0.6), (2.0, 2.0, 2.0)
    target.animation_data_clear()
    bpy.context.view_layer.update()
    target.location = rig.matrix_world @ Vector((0.5, 0.3, 2.5))
    row = analyse.compare(limb_of(rig, target), solvers=["CCD"])[0]
    assert row.reached == 1


@pytest.mark.parametrize(
    ("how", "error", "message"),
    [
        ("no frames", SettingError, "There is no frame to compare at. Give one"),
        ("unknown cost", SettingError, "Cost 'beauty' is unknown. Choose one of naturalness, error"),
        ("unknown solver", SettingError, "Solver 'MAGIC' is unknown. Choose one of"),
        ("rest position", RigError, "'Rig' is in Rest Position"),
        ("no such shape", TargetError, "'Target' has no force field"),
        ("flat rig", RigError, "'Rig' .* has zero scale on X"),
        ("target elsewhere", TargetError, "Target 'Target' is not in this scene"),
    ],
)
def test_what_cannot_be_compared_is_refused_and_leaves_everything(how, error, message):
    rig, target = standard()
    limb, words = limb_of(rig, target, shape="FIELD" if how == "no such shape" else "AUTO"), {}
    if how == "no frames":
        words["frames"] = []
    elif how == "unknown cost":
        words["by"] = "beauty"
    elif how == "unknown solver":
        words["solvers"] = ["MAGIC"]
    elif how == "rest position":
        rig.data.pose_position = "REST"
    elif how == "flat rig":
        rig.scale.x = 0.0
    elif how == "target elsewhere":
        bpy.context.scene.collection.objects.unlink(target)
    with nothing_lost(), pytest.raises(error, match=message):
        analyse.compare(limb, **words)
    if how != "no frames":
        with nothing_lost(), pytest.raises(error, match=message):
            analyse.compare(limb, **{"frames": [1, 2], **words})


# Map


# Images


# The operator


# The command line, in this process

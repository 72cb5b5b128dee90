# SPDX-License-Identifier: GPL-3.0-or-later
"""Whole bakes without jumps: where frames start from, what is mended, what is smoothed, and what the report says."""

import json
from dataclasses import replace
from math import cos, radians, sin

import bpy
import pytest
from mathutils import Vector

from ik_triangulation.cli import main
from ik_triangulation.cli.arguments import DONE
from ik_triangulation.jobs.bake import bake, bake_spans
from ik_triangulation.jobs.pose import solve_pose
from ik_triangulation.jobs.shots.report import lines, summary
from ik_triangulation.kinematics.rotation import rotation_angle
from ik_triangulation.motion.jumps import LEFT, TARGET
from ik_triangulation.rig.limb import Limb

from ..rigs import (
    chain_rig,
    configure,
    curves_of,
    empty,
    evaluated_tip,
    key_location,
    nothing_lost,
    rows,
)

pytestmark = pytest.mark.usefixtures("empty_scene")

REACH = 5.0
FRAMES = 100


def winding(frame):
    """A smooth way round the base at 0.4 to 0.84 of the reach, on which triangulation alone jumps."""
    t = frame / 24.0
    r, a, b = REACH * (0.62 + 0.22 * sin(0.83 * t)), 0.91 * t, 0.55 * sin(0.47 * t)
    return Vector((r * cos(a) * cos(b), r * sin(a) * cos(b), r * sin(b)))


def moving(point=winding, **settings):
    """A limb of five bones and a target on its way."""
    rig = chain_rig(5)
    target = key_location(empty(), range(1, FRAMES + 11, 10), point)
    return rig, Limb.from_tip(rig, "Bone 4", target, tolerance=1e-4 * REACH, **{"solver": "TRIANGULATION", **settings})


def largest_distance(rig, limb):
    """By stepping the scene through the baked frames."""
    distances = []
    for frame in range(1, FRAMES + 1):
        bpy.context.scene.frame_set(frame)
        distances.append((evaluated_tip(rig, limb.tip) - limb.target.matrix_world.translation).length)
    return max(distances)


# Jumps


@pytest.mark.parametrize("solver", ["TRIANGULATION", "CCD"])
def test_a_bake_has_no_jumps_that_need_not_be(solver):
    rig, limb = moving(solver=solver)
    jumping = bake(replace(limb, smooth=False), 1, FRAMES)
    report = bake(limb, 1, FRAMES)
    assert {jump.reason for jump in jumping.jumps} == {LEFT}
    assert report.jumps == []
    assert report.largest_turn.angle <= 1.05 * jumping.largest_turn.angle + radians(0.5)
    assert 0 < report.mended < FRAMES / 2
    assert report.all_reached
    assert largest_distance(rig, limb) <= limb.tolerance * 1.05


def test_the_report_is_of_the_keys():
    rig, limb = moving()
    report = bake(limb, 1, FRAMES)
    at, name, angle = report.largest_turn
    for joint, i in (("Bone 0", 0), (name, int(name[-1]))):
        values = rows(rig, joint)
        assert len(values) == FRAMES
        for row, result in zip(values, report.frames, strict=True):
            assert rotation_angle(result.pose.rotations[i], type(result.pose.rotations[i])(row)) < 1e-5
    told = report.to_dict()
    assert told["largest_turn"] == {"frame": report.frames[at].frame, "bone": name, "angle": angle}
    assert told["largest_turn"]["frame"] == at + 1
    assert told["jumps"] == []
    assert "jump" not in summary(report, bpy.context.scene)


def test_a_jump_of_the_target_is_named():
    _, limb = moving(lambda frame: winding(frame) if frame <= 51 else -winding(frame))
    for curve in curves_of(limb.target):
        curve.keyframe_points[5].interpolation = "CONSTANT"
    report = bake(limb, 1, FRAMES)
    frames = [report.frames[jump.turned.at].frame for jump in report.jumps]
    assert frames == [61]
    assert [jump.reason for jump in report.jumps] == [TARGET]
    assert report.to_dict()["jumps"][0]["reason"] == TARGET
    assert report.to_dict()["jumps"][0]["frame"] == 61
    assert f"at frame 61: {TARGET}" in summary(report, bpy.context.scene)
    assert any(f"at frame 61: {TARGET}" in line for line in lines(report, bpy.context.scene))


def test_the_bare_method_is_left_as_it_is():
    _, limb = moving(finish=False, smoothing=1.0)
    bare = bake(limb, 1, FRAMES)
    assert {jump.reason for jump in bare.jumps} == {LEFT}
    again = bake(replace(limb, smooth=False), 1, FRAMES)
    assert bare.largest_turn == again.largest_turn


def test_a_bake_that_is_closed_while_it_mends_leaves_everything_as_it_was():
    _, limb = moving(effort_weight=0.1)  # solved frame by frame, then mended
    with nothing_lost():
        job = bake_spans.steps([limb], [(1, FRAMES, 1)])
        told = [next(job) for _ in range(FRAMES + 5)]
        job.close()
    assert told[FRAMES - 1 :] == [(FRAMES, FRAMES)] * 6  # five more steps after the last frame


def test_a_bake_of_a_shot_that_is_closed_leaves_everything_as_it_was():
    _, limb = moving()
    for parts in (1, 2, 4, 8):  # while it solves, and while it writes
        with nothing_lost():
            job = bake_spans.steps([limb], [(1, FRAMES, 1)])
            told = [next(job) for _ in range(parts)]
            job.close()
        assert told[0] == (0, FRAMES)
        assert told == sorted(told)


def test_progress_is_told_once_a_frame_or_once_a_shot():
    for settings, expected in (({}, [0, FRAMES]), ({"effort_weight": 0.1}, range(1, FRAMES + 1))):
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        _, limb = moving(**settings)
        told = []
        bake(limb, 1, FRAMES, progress=lambda done, of, told=told: told.append((done, of)))
        assert told == [(n, FRAMES) for n in expected]


def test_with_an_influence_the_pose_that_is_keyed_is_between_the_animated_and_the_smooth_one():
    rig, limb = moving(influence=0.5)
    report = bake(limb, 1, FRAMES)
    assert report.jumps == []
    for name, i in (("Bone 0", 0), ("Bone 4", 4)):
        for row, result in zip(rows(rig, name), report.frames, strict=True):
            solution = result.solution.rotations[i]
            half = type(solution)().slerp(solution, 0.5)
            assert rotation_angle(half, type(solution)(row).normalized()) < 1e-4


# Smoothing


def roughness(report):
    """Sum of the squared changes of the joints' turns from frame to frame."""
    path = [result.pose.rotations for result in report.frames]
    triples = zip(path, path[1:], path[2:], strict=False)
    return sum(rotation_angle(p.slerp(r, 0.5), q) ** 2 for triple in triples for p, q, r in zip(*triple, strict=True))


def test_smoothing_stays_within_tolerance():
    levels = []
    for smoothing in (0.0, 0.3, 1.0):
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        rig, limb = moving(smoothing=smoothing)
        report = bake(limb, 1, FRAMES)
        assert report.all_reached
        assert largest_distance(rig, limb) <= limb.tolerance * 1.05
        levels.append(roughness(report))
    assert levels[0] > levels[1] > levels[2]


# Where a frame starts from


def animated(rig, frames):
    """Key the bones of a rig along a smooth motion."""
    for frame in frames:
        for number, bone in enumerate(rig.pose.bones):
            angle = 0.5 * sin(0.1 * frame + number)
            bone.rotation_quaternion = (cos(angle / 2.0), sin(angle / 2.0), 0.0, 0.0)
            bone.keyframe_insert("rotation_quaternion", frame=frame)


def on_the_tip(rig, frames):
    """An empty keyed where the tip is at each frame."""
    target = empty()
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        target.location = evaluated_tip(rig, "Bone 4")
        target.keyframe_insert("location", frame=frame)
    return target


def test_from_the_animated_pose_a_path_that_was_sampled_from_it_gives_it_back():
    rig = chain_rig(5)
    frames = range(1, 31)
    animated(rig, frames)
    target = on_the_tip(rig, frames)
    before = {bone.name: rows(rig, bone.name) for bone in rig.pose.bones}
    bake(Limb.from_tip(rig, "Bone 4", target, tolerance=1e-3, solver="TRIANGULATION", start_from="ANIMATED"), 1, 30)
    assert max(abs(rows(rig, name) - values).max() for name, values in before.items()) < 1e-4
    bake(Limb.from_tip(rig, "Bone 4", target, tolerance=1e-3, solver="TRIANGULATION", start_from="REST"), 1, 30)
    assert max(abs(rows(rig, name) - values).max() for name, values in before.items()) > 0.05


@pytest.mark.parametrize("start_from", ["REST", "ANIMATED"])
def test_a_frame_that_starts_from_there_does_not_depend_on_those_before(start_from):
    rig = chain_rig(5)
    animated(rig, range(1, 31))
    target = key_location(empty(), range(1, 41, 10), winding)
    limb = Limb.from_tip(rig, "Bone 4", target, solver="TRIANGULATION", start_from=start_from, smooth=False)
    late = bake(limb, 21, 30)
    early = bake(limb, 1, 30)
    if start_from == "ANIMATED":  # the second bake starts from what the first has keyed from frame 21 on
        for a, b in zip(late.frames, early.frames[20:], strict=True):
            assert max(map(rotation_angle, a.pose.rotations, b.pose.rotations)) < 1e-3
    else:
        for a, b in zip(late.frames, early.frames[20:], strict=True):
            assert a.pose.rotations == b.pose.rotations
    other = bake(replace(limb, start_from="PREVIOUS"), 1, 30)
    assert other.frames[25].pose.rotations != early.frames[25].pose.rotations


def test_at_a_single_frame_rest_is_where_it_starts():
    poses = []
    for angle in (0.0, 1.0):
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        rig = chain_rig(5)
        rig.pose.bones[2].rotation_quaternion = (cos(angle), 0.0, 0.0, sin(angle))
        limb = Limb.from_tip(rig, "Bone 4", empty(), solver="TRIANGULATION", start_from="REST")
        poses.append(solve_pose(limb).frames[0].pose.rotations)
    assert poses[0] == poses[1]


def test_the_command_line_has_words_for_it(tmp_path):
    def told(*words):
        file = tmp_path / "report.json"
        assert main(["bake", "--tip", "Bone 4", *words, "--discard", "--json", str(file)]) == DONE
        return json.loads(file.read_text(encoding="utf-8"))["limbs"][0]

    rig, limb = moving()
    configure(
        rig,
        "Bone 4",
        target=limb.target,
        chain_count=5,
        use_scene_range=False,
        frame_end=FRAMES,
        solver="TRIANGULATION",
    )
    smooth, rough, relaxed = told(), told("--no-smooth"), told("--smoothing", "1")
    assert smooth["jumps"] == []
    assert {jump["reason"] for jump in rough["jumps"]} == {LEFT}
    turns = [each["largest_turn"]["angle"] for each in (relaxed, smooth, rough)]
    assert turns[0] < turns[1] <= 1.05 * turns[2] + radians(0.5)
    assert told("--start-from", "rest", "--no-smooth")["largest_turn"] != rough["largest_turn"]


def test_the_settings_on_the_bone_count():
    rig, limb = moving()
    bone = configure(rig, "Bone 4", target=limb.target, chain_count=5, tolerance=limb.tolerance, solver=limb.solver)
    assert replace(Limb.of(bone), tolerance=limb.tolerance, angle_tolerance=limb.angle_tolerance) == limb
    for name, value in (("smooth", False), ("smoothing", 0.25), ("start_from", "REST")):
        setattr(bone.ik_triangulation, name, value)
        assert getattr(Limb.of(bone), name) == value

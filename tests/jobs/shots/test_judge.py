# SPDX-License-Identifier: GPL-3.0-or-later
"""Solved frames are judged by what Blender shows of them, and what is missed is named."""

from dataclasses import replace
from math import radians

import bpy
import pytest
from mathutils import Matrix, Quaternion, Vector

from ik_triangulation.errors import RigError
from ik_triangulation.jobs.pose import solve_pose
from ik_triangulation.jobs.shots.frame_solver import FrameResult, JudgedFrames, Shown, _begin, at_frame, follow
from ik_triangulation.jobs.shots.keys import WrittenKeys
from ik_triangulation.jobs.shots.measure import NOT_MEASURED, missed_frames, moved_inside, none_due, report_of
from ik_triangulation.rig.armature import Bones
from ik_triangulation.rig.frames.samples import sample
from ik_triangulation.rig.limb import Limb

from ...rigs import chain_rig, empty
from ..turned import TIP

pytestmark = pytest.mark.usefixtures("empty_scene")

WRITTEN = WrittenKeys(0, 0, [0])


def solved(**settings):
    limb = Limb.from_tip(chain_rig(3), "Bone 2", empty(), **settings)
    now = sample(limb, bpy.context.evaluated_depsgraph_get(), 1.0)
    return limb, list(follow(limb, Bones(limb.armature, limb.bones, limb.solved), [now]))


def judged(*due_and_reached):
    return JudgedFrames.of(results(*due_and_reached))


def results(*due_and_reached):
    return [
        FrameResult(float(frame), 0.0, reached, 0, None, None, None, due)
        for frame, (due, reached) in enumerate(due_and_reached, 1)
    ]


def test_a_frame_that_is_not_measured_is_judged_by_its_pose():
    limb, frames = solved()
    report = report_of(limb, frames, 0.1, WRITTEN, [])
    assert report.all_reached
    assert report.worst.error <= limb.tolerance


def test_a_frame_that_is_measured_elsewhere_is_missed_by_that_distance():
    limb, frames = solved()
    there = Shown(frames[0].goal.target.closest(Vector()) + Vector((0.0, 0.0, 0.25)), Quaternion())
    report = report_of(limb, frames, 0.1, WRITTEN, [], measured=NOT_MEASURED._replace(shown={1.0: there}))
    assert report.reached == 0
    assert report.worst.error == pytest.approx(0.25, abs=1e-6)


def test_with_an_influence_below_one_no_frame_is_due_and_that_is_told_once():
    limb, frames = solved(influence=0.5)
    report = report_of(limb, frames * 2, 0.1, WRITTEN, ["Something.", "Something."])
    assert report.due == []
    assert report.warnings == ["Something.", *none_due(JudgedFrames.of([]))]


def test_missed_frames_in_a_row_are_named_as_a_range():
    hit, miss, on_its_way = (True, True), (True, False), (False, False)
    (text,) = missed_frames(judged(hit, miss, miss, on_its_way, miss, hit))
    assert text == "The target is missed at frames 2 to 3, 5."
    assert missed_frames(judged(miss)) == []
    (text,) = missed_frames(judged(*[miss, hit] * 7))
    assert text == "The target is missed at frames 1, 3, 5, 7, 9 and others."


def test_bones_that_were_outside_their_limits_are_named():
    assert moved_inside([], 3.0) == []
    assert moved_inside(["Arm", "Hand"], 3.0) == [
        "'Arm', 'Hand' stood outside the limits at frame 3 and had to be moved inside."
    ]


def test_the_angle_is_that_of_the_pose_that_is_shown():
    rig, target = chain_rig(3), empty()
    target.rotation_euler = (0.3, 0.4, 0.5)
    assert solve_pose(Limb.from_tip(rig, TIP, target, orientation="FULL")).all_reached
    for bone in rig.pose.bones:
        bone.rotation_quaternion = (1.0, 0.0, 0.0, 0.0)
    half = solve_pose(Limb.from_tip(rig, TIP, target, orientation="FULL", influence=0.5))
    wanted = target.matrix_world.to_quaternion()
    half = solve_pose(Limb.from_tip(rig, TIP, target, orientation="FULL", influence=0.5))
    shown = rig.pose.bones[TIP].matrix.to_quaternion()
    assert half.frames[0].angle == pytest.approx(shown.rotation_difference(wanted).angle, abs=1e-4)
    assert half.frames[0].angle > radians(1.0)


def test_what_is_handed_in_as_shown_is_what_a_frame_is_judged_by():
    rig, target = chain_rig(3), empty()
    limb = Limb.from_tip(rig, TIP, target, orientation="FULL")
    now = sample(limb, bpy.context.evaluated_depsgraph_get(), 1.0)
    (solved,) = follow(limb, Bones(rig, limb.bones, limb.solved), [now])
    tip, rotation = solved.pose.tip, solved.pose.tip_rotation
    for shown, reached in (
        (Shown(tip, rotation), True),
        (Shown(tip + Vector((0.1, 0.0, 0.0)), rotation), False),
        (Shown(tip, Quaternion((0.0, 0.0, 1.0), 0.5) @ rotation), False),
    ):
        measured = NOT_MEASURED._replace(shown={1.0: shown})
        [result] = report_of(limb, [solved], 0.0, WRITTEN, [], measured=measured).frames
        assert result.reached == reached
        assert result.error == pytest.approx((shown.tip - tip).length, abs=2e-3)
        assert result.angle == pytest.approx(rotation.rotation_difference(shown.rotation).angle, abs=2e-3)


def test_a_frame_is_solved_from_the_pose_that_is_chosen():
    rig = chain_rig(3)
    rig.pose.bones["Bone 1"].rotation_quaternion = Quaternion((1.0, 0.0, 0.0), 0.4)
    bpy.context.view_layer.update()
    limb = Limb.from_tip(rig, "Bone 2", empty(), solver="TRIANGULATION")
    bones = Bones(rig, limb.bones, limb.solved)
    now = sample(limb, bpy.context.evaluated_depsgraph_get(), 1.0)
    start = at_frame(now, bones)
    before = start.copy()
    before.put(0, Quaternion((0.0, 0.0, 1.0), 0.7))

    def begun(before, **settings):
        return [each.angle for each in _begin(replace(limb, **settings), start, before).rotations]

    assert begun(before, start_from="REST") == pytest.approx([0.0, 0.0, 0.0])
    assert begun(before, start_from="PREVIOUS") == pytest.approx([0.7, 0.4, 0.0], abs=1e-6)
    assert begun(None, start_from="PREVIOUS") == pytest.approx([0.0, 0.4, 0.0], abs=1e-6)
    for settings in ({"start_from": "ANIMATED"}, {"solver": "NATURAL"}):
        assert begun(before, **settings) == pytest.approx([0.0, 0.4, 0.0], abs=1e-6)
    flat = now.rig._replace(base=now.rig.base @ Matrix.Diagonal((1.0, 0.0, 1.0, 1.0)))
    with pytest.raises(RigError, match=r"^Frame 1: "):
        at_frame(now._replace(rig=flat), bones)

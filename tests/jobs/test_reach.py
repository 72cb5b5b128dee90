# SPDX-License-Identifier: GPL-3.0-or-later
"""Reach: from the pose there is to targets, in time, along the way asked for, and back."""

from math import radians

import bpy
import numpy as np
import pytest
from mathutils import Quaternion

from ik_triangulation.errors import AnimationError, SettingError, TargetError
from ik_triangulation.jobs.reach import Stop, reach, reach_through
from ik_triangulation.kinematics.rotation import rotation_angle
from ik_triangulation.motion.timing import profile

from ..interrupted import writes_that_undo_all
from ..rigs import (
    EULER_MODES,
    all_keys,
    chain_rig,
    curves_of,
    empty,
    evaluated_tip,
    key_frames,
    key_location,
    keys_of,
    nothing_lost,
    rotate,
    rows,
)
from .reaching import MIDDLE, TOLERANCE, limb, moving_target, posed, rotations, tips, turned

pytestmark = pytest.mark.usefixtures("empty_scene")

ROTATION = 3e-6  # [rad] what single precision leaves of a rotation that is read and written


def shown(rig):
    return {bone.name: bone.matrix_basis.to_quaternion() for bone in rig.pose.bones}


# Start and end


@pytest.mark.parametrize("path", ["BOW", "LINE"])
@pytest.mark.parametrize("mode", ["QUATERNION", "AXIS_ANGLE", *EULER_MODES[:2]])
def test_it_leads_from_the_pose_there_is_to_the_target(mode, path):
    rig, target = posed(mode=mode)
    before = shown(rig)
    report = reach(limb(rig, target), 3, 20, path=path)
    assert {tuple(key_frames(curve)) for curve in curves_of(rig)} == {tuple(range(3, 21))}
    for bone in rig.pose.bones:
        assert rotation_angle(rotations(rig, bone.name)[0], before[bone.name]) < ROTATION
    assert report.all_reached
    assert [result.frame for result in report.due] == [20]
    assert len(report.frames) == 18
    assert report.keys == 18 * len(curves_of(rig))
    assert np.linalg.norm(tips(rig, [20])[0] - target.location) < 1.1 * TOLERANCE
    assert report.warnings == []


def test_the_start_pose_is_that_of_the_start_frame_wherever_the_user_is():
    rig, target = posed()
    for frame, angle in ((1, 0.2), (10, 0.9)):
        rig.pose.bones[MIDDLE].rotation_quaternion = Quaternion((1.0, 0.0, 0.0), angle)
        rig.pose.bones[MIDDLE].keyframe_insert("rotation_quaternion", frame=frame)
    bpy.context.scene.frame_set(40)
    wanted = tips(rig, [10])
    bpy.context.scene.frame_set(40)
    reach(limb(rig, target), 10, 20)
    assert bpy.context.scene.frame_current == 40
    assert np.abs(tips(rig, [10]) - wanted).max() < 1e-5


def test_a_target_out_of_reach_is_approached_and_reported():
    rig, target = posed()
    target.location = (30.0, 0.0, 0.0)
    report = reach(limb(rig, target), 1, 20, hold=2, path="ARC")
    assert (report.reached, len(report.due)) == (0, 3)
    assert report.worst.error == pytest.approx(30.0 - 4.0, abs=0.1)
    assert report.warnings == []  # the way is that to where the tip ends
    steps = np.linalg.norm(np.diff(tips(rig, range(1, 23)), axis=0), axis=1)
    assert steps[:19].max() == pytest.approx(steps[:19].sum() / 19.0 * 15.0 / 8.0, rel=0.02)
    assert steps[19:].max() < 1e-4


# The way


# What moves


@pytest.mark.parametrize("path", ["BOW", "LINE"])
def test_the_hold_follows_a_moving_target(path):
    rig, target = posed()
    key_location(target, range(1, 41), moving_target)
    report = reach(limb(rig, target), 1, 20, hold=15, path=path)
    assert (report.reached, len(report.due)) == (16, 16)
    frames = range(20, 36)
    assert np.linalg.norm(tips(rig, frames) - [moving_target(f)[:] for f in frames], axis=1).max() < 1.1 * TOLERANCE
    assert {tuple(key_frames(curve)) for curve in curves_of(rig)} == {tuple(range(1, 36))}


def test_a_rig_and_target_that_are_carried_along_see_a_straight_line():
    rig, target = posed()
    carrier = empty("Carrier", (0.0, 0.0, 0.0))
    rig.parent = target.parent = carrier
    for frame, x, angle in ((1, 0.0, 0.0), (30, 9.0, 1.5)):
        carrier.location.x, carrier.rotation_euler.z = x, angle
        carrier.keyframe_insert("location", frame=frame)
        carrier.keyframe_insert("rotation_euler", frame=frame)
    assert reach(limb(rig, target), 1, 25, path="LINE").all_reached
    places = []
    for frame in range(1, 26):
        bpy.context.scene.frame_set(frame)
        places.append((carrier.matrix_world.inverted() @ evaluated_tip(rig, "Bone 3"))[:])
    places = np.array(places)
    wanted = [places[0] + profile()(frame / 24.0) * (places[-1] - places[0]) for frame in range(25)]
    assert np.linalg.norm(places - wanted, axis=1).max() < 0.1 * TOLERANCE


# Back, and on


@pytest.mark.parametrize("path", ["BOW", "LINE"])
def test_it_comes_back_to_the_start_pose(path):
    rig, target = posed()
    report = reach(limb(rig, target), 1, 15, hold=4, return_frames=10, path=path)
    assert [result.frame for result in report.due] == [15, 16, 17, 18, 19]
    assert report.all_reached
    for bone in rig.pose.bones:
        keyed = rotations(rig, bone.name)
        assert len(keyed) == 29
        assert rotation_angle(keyed[0], keyed[-1]) < ROTATION
    places = tips(rig, range(1, 30))
    assert np.linalg.norm(places[14:19] - np.array(target.location), axis=1).max() < 1.1 * TOLERANCE
    assert np.linalg.norm(places[-1] - places[0]) < 1e-5


@pytest.mark.parametrize("path", ["BOW", "LINE"])
def test_several_targets_are_reached_one_after_the_other(path):
    rig, first = posed()
    second, third = empty("Second", (-1.0, 1.2, 2.0)), empty("Third", (0.2, -1.6, 1.0))
    stops = [Stop(first, 15), Stop(second, 30, 5), Stop(third, 50, 2)]
    report = reach_through(limb(rig, third), stops, 1, return_frames=8, path=path)
    assert report.all_reached
    assert [result.frame for result in report.due] == [15, *range(30, 36), 50, 51, 52]
    assert report.target == "Target, Second, Third"
    places = dict(zip(range(1, 61), tips(rig, range(1, 61)), strict=True))
    for stop in stops:
        for frame in range(stop.frame, stop.frame + stop.hold + 1):
            assert np.linalg.norm(places[frame] - stop.target.location) < 1.1 * TOLERANCE
    assert np.linalg.norm(places[60] - places[1]) < 1e-5
    if path == "LINE":
        for begin, end in ((15, 30), (35, 50)):
            middle = (begin + end + 1) // 2
            share = profile()((middle - begin) / (end - begin))
            wanted = places[begin] + share * (places[end] - places[begin])
            assert np.linalg.norm(places[middle] - wanted) < 2.0 * TOLERANCE


def test_a_stop_can_be_a_bone():
    rig, target = posed()
    other = chain_rig(2, name="Other")
    other.location = (1.0, 0.5, 0.5)
    report = reach_through(limb(rig, target), [Stop(other, 12, subtarget="Bone 1"), Stop(target, 24)], 1)
    assert report.all_reached
    head = other.matrix_world @ other.pose.bones["Bone 1"].head
    assert np.linalg.norm(tips(rig, [12])[0] - head) < 1.1 * TOLERANCE


def test_a_shape_is_reached_where_the_solver_reaches_it():
    rig, target = posed()
    target.location, target.empty_display_type, target.empty_display_size = (1.5, 0.0, 1.5), "SPHERE", 0.5
    report = reach(limb(rig, target), 1, 20, hold=3)
    assert (report.reached, report.warnings) == (4, [])
    distances = np.linalg.norm(tips(rig, range(20, 24)) - np.array(target.location), axis=1)
    assert distances == pytest.approx(0.5, abs=1.1 * TOLERANCE)


def test_the_wishes_of_the_limb_count_at_the_target_and_fade_in_on_the_way():
    rig, target = posed()
    target.location, target.empty_display_type = (1.2, 1.0, 1.8), "SINGLE_ARROW"
    target.rotation_euler = (1.2, 0.3, 0.0)
    report = reach(limb(rig, target), 1, 25, hold=3)
    assert report.all_reached
    assert report.largest_angle < radians(2.0)
    assert report.frames[12].angle is None
    turns = np.abs([np.diff(turned(rig, bone.name)) for bone in rig.pose.bones])
    assert turns.max() < 0.4


# Limits and the seam


@pytest.mark.parametrize("path", ["BOW", "LINE"])
def test_limits_are_kept_at_every_frame(path):
    rig, target = posed(mode="XYZ")
    for bone in rig.pose.bones:
        bone.use_ik_limit_x = bone.use_ik_limit_y = bone.use_ik_limit_z = True
        bone.ik_min_x, bone.ik_max_x = -0.9, 0.9
        bone.ik_min_y, bone.ik_max_y = -0.2, 0.35
        bone.ik_min_z, bone.ik_max_z = -0.8, 0.8
    target.location = (1.0, 1.2, 2.6)
    report = reach(limb(rig, target), 1, 25, hold=3, return_frames=10, path=path, onset=0.5)
    assert report.all_reached
    for bone in rig.pose.bones:
        values = rows(rig, bone.name)
        assert (np.float32(values) >= np.float32([-0.9, -0.2, -0.8])).all()
        assert (np.float32(values) <= np.float32([0.9, 0.35, 0.8])).all()


def test_a_start_pose_outside_the_limits_is_moved_inside_and_told():
    rig, target = posed()
    rig.pose.bones[MIDDLE].lock_ik_y = rig.pose.bones[MIDDLE].lock_ik_z = True
    rig.pose.bones[MIDDLE].use_ik_limit_x = True
    rig.pose.bones[MIDDLE].ik_min_x = 0.0
    report = reach(limb(rig, target), 1, 20)
    assert report.warnings == ["'Bone 1' stood outside the limits at frame 1 and had to be moved inside."]
    assert rotations(rig, MIDDLE)[0].angle < ROTATION


def test_keys_outside_the_range_stay_as_they_are_and_the_seam_runs_on():
    rig, target = posed()
    for frame in (-5, 1, 10, 14, 20, 26, 40):
        for bone in rig.pose.bones:
            bone.rotation_quaternion = -Quaternion((1.0, 0.2, 0.1), 0.1 + 0.01 * frame)
            bone.keyframe_insert("rotation_quaternion", frame=frame)
    before = {where: [repr(key) for key in keys if not 10 <= key[0][0] <= 20] for where, keys in all_keys(rig).items()}
    reach(limb(rig, target), 10, 20)
    for curve in curves_of(rig):
        kept = [repr(key) for key in keys_of(curve) if not 10 <= key[0][0] <= 20]
        assert kept == before[curve.data_path, curve.array_index]
        assert key_frames(curve) == [-5, 1, *range(10, 21), 26, 40]
    for bone in rig.pose.bones:
        values = rows(rig, bone.name)
        assert (np.sum(values[1:] * values[:-1], axis=1) > 0.0).all()


def test_a_share_of_the_way_leaves_the_rest_to_the_animation():
    rig, target = posed()
    reach(limb(rig, target), 1, 20)
    whole = [rotation for bone in rig.pose.bones for rotation in rotations(rig, bone.name)[-1:]]
    rig.animation_data_clear()
    rotate(rig.pose.bones["Bone 0"], Quaternion((0.0, 1.0, 0.0), 0.3))
    rotate(rig.pose.bones[MIDDLE], Quaternion((1.0, 0.0, 0.0), -0.6))
    for name in ("Bone 2", "Bone 3"):
        rotate(rig.pose.bones[name], Quaternion())
    before = shown(rig)
    reach(limb(rig, target, influence=0.5), 1, 20)
    for bone, end in zip(rig.pose.bones, whole, strict=True):
        assert rotation_angle(rotations(rig, bone.name)[-1], before[bone.name].slerp(end, 0.5)) < 1e-3


# What is refused, and nothing lost


REFUSED = {
    "an end before the start": (
        lambda rig, target: reach(limb(rig, target), 20, 10),
        SettingError,
        r"The reach to 'Target' at frame 10 does not come after its start at frame 20\. Give it a later frame\.",
    ),
    "an end at the start": (lambda rig, target: reach(limb(rig, target), 5, 5), SettingError, "does not come after"),
    "stops out of order": (
        lambda rig, target: reach_through(limb(rig, target), [Stop(target, 20, 5), Stop(target, 25)], 1),
        SettingError,
        r"'Target' at frame 25 does not come after 'Target' at frame 20, held up to frame 25\. Give it a later frame",
    ),
    "no stops": (lambda rig, target: reach_through(limb(rig, target), [], 1), SettingError, "There is no stop"),
    "a stop without a target": (
        lambda rig, target: reach_through(limb(rig, target), [Stop(target, 5), Stop(None, 9)], 1),
        TargetError,
        r"Stop 2 has no target\. Choose an object",
    ),
    "a target that is not in the scene": (
        lambda rig, target: reach_through(limb(rig, target), [Stop(bpy.data.objects["Away"], 9)], 1),
        TargetError,
        "'Away' is not in this scene",
    ),
    "an unknown bone": (
        lambda rig, target: reach_through(limb(rig, target), [Stop(rig, 9, subtarget="Ear")], 1),
        TargetError,
        "Bone 'Ear' is not in target 'Rig'",
    ),
    "a negative hold": (
        lambda rig, target: reach(limb(rig, target), 1, 9, hold=-1),
        SettingError,
        "'Target' at frame 9 cannot be held for -1 frames",
    ),
    "a negative return": (
        lambda rig, target: reach(limb(rig, target), 1, 9, return_frames=-2),
        SettingError,
        "-2 frames do not lead back",
    ),
    "an unknown path": (lambda rig, target: reach(limb(rig, target), 1, 9, path="UP"), SettingError, "Path 'UP'"),
    "an unknown timing": (lambda rig, target: reach(limb(rig, target), 1, 9, timing="X"), SettingError, "Timing 'X'"),
    "an onset that is no share": (
        lambda rig, target: reach(limb(rig, target), 1, 9, onset=1.5),
        SettingError,
        "Onset 1.5 is no share",
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_cannot_be_done_is_refused_and_nothing_changes(what):
    press, kind, said = REFUSED[what]
    rig, target = posed()
    bpy.data.objects.new("Away", None)
    with nothing_lost(), pytest.raises(kind, match=said):
        press(rig, target)


def test_locked_curves_are_refused():
    rig, target = posed()
    rig.pose.bones[MIDDLE].keyframe_insert("rotation_quaternion", frame=1)
    curves_of(rig)[0].lock = True
    with nothing_lost(), pytest.raises(AnimationError, match="locked"):
        reach(limb(rig, target), 1, 9)


class InjectedError(Exception):
    """Something nobody has thought of."""


@pytest.mark.parametrize("frame", [1, 7, 20])
def test_an_exception_while_solving_loses_nothing(frame):
    rig, target = posed()

    def fail(done, of):
        if done == frame:
            raise InjectedError

    with nothing_lost(), pytest.raises(InjectedError):
        reach(limb(rig, target), 1, 15, hold=5, progress=fail)


def test_a_write_that_fails_undoes_all():
    rig, target = posed()
    rig.pose.bones[MIDDLE].keyframe_insert("rotation_quaternion", frame=1)
    assert writes_that_undo_all(lambda: reach(limb(rig, target), 1, 15), stride=5) > 10


def test_progress_is_told_for_every_frame():
    rig, target = posed()
    told = []
    reach(limb(rig, target), 1, 10, hold=2, return_frames=3, progress=lambda done, of: told.append((done, of)))
    assert told == [(number, 15) for number in range(16)]


def test_the_report_says_which_frames_are_due():
    rig, target = posed()
    report = reach(limb(rig, target), 1, 10, hold=2).to_dict()
    assert (report["frames"], report["due"], report["reached"]) == (12, 3, 3)
    assert [frame["frame"] for frame in report["per_frame"] if frame["due"]] == [10, 11, 12]
    assert report["cost"]["travel"] > 1.0


# The operator


# The list of stops

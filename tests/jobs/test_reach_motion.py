# SPDX-License-Identifier: GPL-3.0-or-later
"""The motion of a reach: timing, path and joints on the way."""

from math import pi
from random import Random

import bpy
import numpy as np
import pytest
from mathutils import Euler, Quaternion, Vector

from ik_triangulation.jobs.pose import solve_pose
from ik_triangulation.jobs.reach import reach
from ik_triangulation.kinematics.rotation import rotation_angle
from ik_triangulation.motion.timing import profile

from ..rigs import (
    chain_rig,
    empty,
    evaluated_tip,
    key_location,
    rotate,
)
from .reaching import MIDDLE, TOLERANCE, limb, moving_target, posed, rotations, tips, turned

pytestmark = pytest.mark.usefixtures("empty_scene")


SOLVERS = ("TRIANGULATION", "SINGLE_PASS", "CIRCULAR", "CCD", "GAUSS_NEWTON")


@pytest.mark.parametrize("path", ["LINE", "ARC"])
def test_with_minimum_jerk_all_joints_start_and_end_at_rest(path):
    rig, target = posed()
    reach(limb(rig, target), 1, 31, path=path)
    steps = np.abs([np.diff(turned(rig, bone.name)) for bone in rig.pose.bones]).max(axis=0)
    assert steps.max() > 0.05
    assert steps[0] < 0.05 * steps.max()
    assert steps[-1] < 0.05 * steps.max()


@pytest.mark.parametrize("solver", SOLVERS)
def test_the_tip_goes_straight_with_minimum_jerk_whatever_the_solver(solver):
    rig, target = posed()
    reach(limb(rig, target, solver=solver), 1, 25, path="LINE")
    places = tips(rig, range(1, 26))
    way = places[-1] - places[0]
    shares = (places - places[0]) @ way / (way @ way)
    off = np.linalg.norm(places - places[0] - shares[:, None] * way, axis=1)
    assert off.max() < 0.1 * TOLERANCE
    wanted = [profile()(frame / 24.0) for frame in range(25)]
    assert np.abs(shares - wanted).max() < 0.1 * TOLERANCE
    turns = np.abs([np.diff(turned(rig, bone.name)) for bone in rig.pose.bones])
    assert np.abs(np.diff(turns, axis=1)).max() < 0.06  # no frame looks unlike its neighbours


def test_no_joint_jumps_on_a_long_straight_way():
    """From any pose to any place: the pose that the line leads to is taken, not one that is folded otherwise."""
    random = Random(3)
    rig, target = chain_rig(5), empty()
    for _ in range(8):
        rig.animation_data_clear()
        for _ in range(2):
            target.location = evaluated_tip(rig, "Bone 4")
            for bone in rig.pose.bones:
                rotate(bone, Euler([random.uniform(-1.2, 1.2) for _ in range(3)]).to_quaternion())
            bpy.context.view_layer.update()
        report = reach(limb(rig, target), 1, 25, path="LINE")
        assert (report.all_reached, report.warnings, report.solver) == (True, [], "GAUSS_NEWTON")
        turns = np.abs([np.diff(turned(rig, bone.name)) for bone in rig.pose.bones])
        assert turns.max() < 0.3
        assert np.abs(np.diff(turns, axis=1)).max() < 0.1


@pytest.mark.parametrize(("timing", "easing"), [("LINEAR", "EASE_IN_OUT"), ("CUBIC", "EASE_IN"), ("SINE", "EASE_OUT")])
def test_the_tip_goes_with_the_timing_asked_for(timing, easing):
    rig, target = posed()
    reach(limb(rig, target), 1, 13, timing=timing, easing=easing, path="LINE")
    places = tips(rig, range(1, 14))
    shares = np.linalg.norm(places - places[0], axis=1) / np.linalg.norm(places[-1] - places[0])
    wanted = [profile(timing, easing)(frame / 12.0) for frame in range(13)]
    assert np.abs(shares - wanted).max() < 0.1 * TOLERANCE


def test_on_an_arc_every_joint_turns_on_and_never_back():
    rig, target = posed()
    reach(limb(rig, target, solver="GAUSS_NEWTON"), 1, 25, path="ARC")
    wanted = np.array([profile()(frame / 24.0) for frame in range(25)])
    for bone in rig.pose.bones:
        angles = turned(rig, bone.name)
        assert angles[-1] > 0.02
        assert (np.diff(angles) > -1e-6).all()
        assert angles / angles[-1] == pytest.approx(wanted, abs=2e-3)
    first, middle, last = tips(rig, [1, 13, 25])
    assert np.linalg.norm(middle - (first + last) / 2.0) > 0.05, "the tip goes straight"


@pytest.mark.parametrize("onset", [0.3, 1.0])
def test_with_an_onset_the_joints_begin_and_end_from_the_root_on(onset):
    rig, target = posed()
    report = reach(limb(rig, target, solver="GAUSS_NEWTON"), 1, 61, path="ARC", onset=onset)
    assert report.all_reached
    moving = []
    for bone in rig.pose.bones:
        angles = turned(rig, bone.name)
        assert angles[-1] > 0.02
        moving.append((np.argmax(angles > 0.01 * angles[-1]), np.argmax(angles > 0.99 * angles[-1])))
    begins, ends = zip(*moving, strict=True)
    assert list(begins) == sorted(set(begins))
    assert list(ends) == sorted(set(ends))
    assert (begins[-1] > ends[0]) == (onset == 1.0)


def test_a_straight_way_out_of_reach_is_told():
    """Straight through the place where the root is: one long and one short bone do not reach there."""
    rig = chain_rig(2)
    rig.pose.bones["Bone 1"].scale.y = 0.3
    rotate(rig.pose.bones["Bone 0"], Quaternion((1.0, 0.0, 0.0), pi / 2.0))
    bpy.context.view_layer.update()
    opposite = -evaluated_tip(rig, "Bone 1")
    report = reach(limb(rig, empty(location=opposite)), 1, 21, path="LINE")
    assert report.all_reached
    assert len(report.warnings) == 1
    assert "cannot follow the straight line at" in report.warnings[0]
    assert report.warnings[0].endswith("Choose the path Arc.")
    assert reach(limb(rig, bpy.data.objects["Target"]), 1, 21).warnings == []


def test_on_the_way_the_tip_is_on_the_line_to_where_the_target_is_then():
    rig, target = posed()
    key_location(target, range(1, 41), moving_target)
    reach(limb(rig, target), 1, 21, path="LINE")
    places = tips(rig, range(1, 22))
    for number, spot in enumerate(places):
        wanted = Vector(places[0]).lerp(moving_target(number + 1), profile()(number / 20.0))
        assert (Vector(spot) - wanted).length < 0.1 * TOLERANCE


@pytest.mark.parametrize("path", ["LINE", "ARC"])
def test_it_meets_a_moving_target_at_its_speed_and_leaves_it_so(path):
    rig, target = posed()
    key_location(target, range(1, 71), moving_target)
    reach(limb(rig, target), 1, 40, hold=5, return_frames=20, path=path)
    steps = np.diff(tips(rig, range(39, 48)), axis=0)
    speed = Vector((0.02, -0.01)).length
    assert np.linalg.norm(steps - [0.02, -0.01, 0.0], axis=1)[:6].max() < 0.05 * speed
    assert np.linalg.norm(steps[6] - steps[5]) < 0.4 * speed, "it stops dead before it goes"


def test_the_tip_bows_from_the_line_as_that_of_a_hand_does():
    """Recorded reaches bow by 16 % of the chord: the elbow opens while the shoulder turns."""
    rig = chain_rig(2)
    rotate(rig.pose.bones["Bone 0"], Quaternion((1.0, 0.0, 0.0), -0.5))
    rotate(rig.pose.bones["Bone 1"], Quaternion((1.0, 0.0, 0.0), 1.9))
    bpy.context.view_layer.update()
    random, bows = Random(5), []
    for _ in range(12):
        rig.animation_data_clear()
        way = Vector((random.uniform(-0.3, 0.3), -1.0, random.uniform(-0.5, 0.5))).normalized()
        reach(limb(rig, empty(location=way * random.uniform(1.3, 1.8)), solver="GAUSS_NEWTON"), 1, 25)
        places = tips(rig, range(1, 26))
        chord = places[-1] - places[0]
        away = places - places[0] - np.outer((places - places[0]) @ chord / (chord @ chord), chord)
        bows.append(np.linalg.norm(away, axis=1).max() / np.linalg.norm(chord))
    assert 0.05 < np.median(bows) < 0.3, bows


def test_the_pose_at_a_stop_is_that_of_the_solver_of_the_limb():
    poses = {}
    for solver in ("TRIANGULATION", "CCD"):
        rig, target = posed()
        report = reach(limb(rig, target, solver=solver), 1, 15)
        assert report.solver == solver
        reached = [rotations(rig, bone.name)[-1] for bone in rig.pose.bones]
        rig.animation_data_clear()
        _pose_again(rig)
        solve_pose(limb(rig, target, solver=solver))
        own = [bone.matrix_basis.to_quaternion() for bone in rig.pose.bones]
        assert max(map(rotation_angle, own, reached)) < 1e-4
        poses[solver] = own
    assert max(map(rotation_angle, *poses.values())) > 0.05


def _pose_again(rig):
    """Back to the pose of posed()."""
    for bone in rig.pose.bones:
        rotate(bone, Quaternion())
    rotate(rig.pose.bones["Bone 0"], Quaternion((0.0, 1.0, 0.0), 0.3))
    rotate(rig.pose.bones[MIDDLE], Quaternion((1.0, 0.0, 0.0), -0.6))
    bpy.context.view_layer.update()

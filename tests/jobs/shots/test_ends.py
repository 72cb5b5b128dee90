# SPDX-License-Identifier: GPL-3.0-or-later
"""The ends of a bake (F45): what is right already stays, as do keys outside the range, and seams that jump are told."""

from math import atan2, cos, radians, sin
from random import Random

import bpy
import pytest
from mathutils import Quaternion, Vector

from ik_triangulation.jobs.bake import bake
from ik_triangulation.jobs.pose import solve_pose
from ik_triangulation.kinematics.rotation import rotation_angle
from ik_triangulation.motion.jumps import ROUND, SEAM
from ik_triangulation.rig.limb import Limb
from ik_triangulation.rig.rotation import channel
from ik_triangulation.solvers import SOLVERS

from ...rigs import (
    all_keys,
    chain_rig,
    curves_of,
    empty,
    evaluated_tip,
    key_location,
    push_down,
    random_rotation,
    rotate,
    rows,
)

pytestmark = pytest.mark.usefixtures("empty_scene")

LAST = 30
TIP = "Bone 2"


def posed(rig, seed):
    """Any pose that bends, and where its tip is."""
    random = Random(seed)
    for bone in rig.pose.bones:
        rotate(bone, Quaternion().slerp(random_rotation(random), 0.4))
    bpy.context.view_layer.update()
    return evaluated_tip(rig, TIP)


def key_pose(rig, frame, rotations=None):
    """Key the pose shown, or another one."""
    for bone, rotation in zip(rig.pose.bones, rotations or shown(rig), strict=True):
        bone.rotation_quaternion = rotation
        bone.keyframe_insert("rotation_quaternion", frame=frame)


def shown(rig):
    return [bone.rotation_quaternion.copy() for bone in rig.pose.bones]


def turned(before, after):
    return max(map(rotation_angle, before, after))


def limb_to(rig, target, **settings):
    return Limb.from_tip(rig, TIP, target, **settings)


def on_its_way(rig, seed=1, end=None):
    """A target that begins at the tip of a random pose and goes elsewhere; that pose is shown, and given."""
    begin = posed(rig, seed)
    places = {1: begin, 12: Vector((0.4, 1.1, 1.6)), LAST: end or Vector((-1.2, 0.7, 1.0))}
    target = key_location(empty(), places, places.__getitem__)
    return target, shown(rig)


@pytest.mark.parametrize("solver", [name for name in SOLVERS if name != "TWO_BONE"])
def test_a_first_frame_that_reaches_stays_with_every_solver(solver):
    rig = chain_rig(3)
    target, before = on_its_way(rig)
    target.location.x += 5e-4  # within tolerance, and not exact
    bpy.context.view_layer.update()
    report = bake(limb_to(rig, target, solver=solver), 1, 4)
    assert turned(before, report.frames[0].pose.rotations) < 1e-6
    assert report.frames[0].reached
    assert report.frames[0].iterations == 0


def test_a_solve_leaves_a_pose_that_reaches():
    rig = chain_rig(3)
    target = empty("Cup", posed(rig, 3) + Vector((3e-4, 0.0, -2e-4)))
    before = shown(rig)
    assert solve_pose(limb_to(rig, target)).all_reached
    assert turned(before, shown(rig)) < 1e-6


def test_a_first_frame_that_is_turned_wrong_is_solved_all_the_same():
    rig = chain_rig(3)
    target, before = on_its_way(rig)
    target.rotation_euler = (1.0, 2.0, 0.5)
    report = bake(limb_to(rig, target, orientation="FULL"), 1, 4)
    assert turned(before, report.frames[0].pose.rotations) > radians(5.0)


def test_a_first_frame_that_is_as_it_shall_be_stays():
    rig = chain_rig(3)
    target, before = on_its_way(rig)
    settings = {"rest_weight": 0.5, "rest_pose": "START"}
    report = bake(limb_to(rig, target, **settings), 1, LAST)
    assert turned(before, report.frames[0].pose.rotations) < 1e-6


def test_a_first_frame_beyond_its_limits_is_moved_inside():
    rig = chain_rig(3)
    target, before = on_its_way(rig)
    for bone in rig.pose.bones:
        own = bone.ik_triangulation_joint
        own.source, own.kind, own.minimum, own.maximum = "OWN", "EULER", (-0.1, -0.1, -0.1), (0.1, 0.1, 0.1)
    report = bake(limb_to(rig, target), 1, 4)
    assert turned(before, report.frames[0].pose.rotations) > radians(1.0)
    assert any("stood outside the limits" in warning for warning in report.warnings)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("keyed_after", [False, True], ids=["keyed there", "keys after it"])
def test_a_last_frame_that_is_animated_to_reach_stays_and_is_led_into(keyed_after, seed):
    rig = chain_rig(3)
    end, last = posed(rig, 10 + seed), shown(rig)
    target, first = on_its_way(rig, seed, end)
    assert turned(first, last) > radians(20.0)
    key_pose(rig, 1, first)
    for frame in (LAST - 3, LAST + 5) if keyed_after else (LAST,):
        key_pose(rig, frame, last)
    bpy.context.scene.frame_set(1)
    report = bake(limb_to(rig, target), 1, LAST)
    assert report.all_reached
    assert turned(last, report.frames[-1].pose.rotations) < 1e-3
    assert turned(last, [Quaternion(rows(rig, bone.name)[LAST - 1]) for bone in rig.pose.bones]) < 1e-3
    assert report.jumps == []


@pytest.mark.parametrize("keyed", [False, True], ids=["not keyed", "as baked before"])
def test_a_pose_that_nobody_keyed_by_hand_holds_no_last_frame(keyed):
    """Keys of an earlier bake are replaced."""
    rig = chain_rig(3)
    end, wanted = posed(rig, 11), shown(rig)
    target, first = on_its_way(rig, 1, end)
    if keyed:
        key_pose(rig, 1, first)
        key_pose(rig, LAST, wanted)
        for curve in curves_of(rig):
            curve.keyframe_points[1].type = "GENERATED"
    report = bake(limb_to(rig, target), 1, LAST)
    assert report.all_reached
    assert turned(wanted, report.frames[-1].pose.rotations) > radians(5.0)


def outside(rig, first, last):
    """All rotation keys before and after a range."""
    return {channel: [key for key in keys if not first <= key[0][0] <= last] for channel, keys in all_keys(rig).items()}


def test_keys_outside_the_range_stay_and_seams_that_jump_are_told():
    rig = chain_rig(3)
    posed(rig, 21)
    for frame in (1, 9, LAST + 1, LAST + 8):
        key_pose(rig, frame)
    target = key_location(empty(), range(1, LAST + 10, 4), lambda f: Vector((cos(0.05 * f), sin(0.05 * f), 1.0)))
    before = outside(rig, 10, LAST)
    report = bake(limb_to(rig, target), 10, LAST)
    after = outside(rig, 10, LAST)
    values = {channel: [key[0] for key in keys] for channel, keys in before.items()}
    assert values == {channel: [key[0] for key in keys] for channel, keys in after.items()}
    told = {report.frames[jump.turned.at].frame: jump for jump in report.jumps if jump.reason == SEAM}
    assert set(told) == {10, LAST}
    assert told[10].turned.joint.startswith("Bone ")
    assert {jump["reason"] for jump in report.to_dict()["jumps"]} == {SEAM}


def test_a_seam_that_is_given_time_is_no_jump():
    rig = chain_rig(3)
    posed(rig, 21)
    key_pose(rig, -200)
    target = key_location(empty(), range(1, LAST + 10, 4), lambda f: Vector((cos(0.05 * f), sin(0.05 * f), 1.0)))
    assert bake(limb_to(rig, target), 10, LAST).jumps == []


@pytest.mark.parametrize(("destination", "seams"), [("NEW_ACTION", [0]), ("NLA_TRACK", [])])
def test_seams_are_where_the_keys_outside_are(destination, seams):
    rig = chain_rig(3)
    posed(rig, 21)
    key_pose(rig, 9)
    if destination == "NLA_TRACK":
        push_down(rig)
    target = key_location(empty(), range(1, LAST + 10, 4), lambda f: Vector((cos(0.05 * f), sin(0.05 * f), 1.0)))
    report = bake(limb_to(rig, target, destination=destination), 10, LAST)
    assert [jump.turned.at for jump in report.jumps] == seams


@pytest.mark.parametrize("mode", ["QUATERNION", "XYZ"])
def test_a_limb_that_has_wound_about_a_joint_is_told_at_the_seam(mode):
    rig = chain_rig(1)
    (bone,) = rig.pose.bones
    bone.rotation_mode = mode
    for frame, angle in ((LAST + 20, 120.0), (1, 90.0)):
        rotate(bone, Quaternion((1.0, 0.0, 0.0), radians(angle)))
        bone.keyframe_insert(channel(bone)[0], frame=frame)
    bpy.context.view_layer.update()
    radius, start = bone.length, evaluated_tip(rig, bone.name)
    begin, turn = atan2(start.z, start.y), radians(360.0 / (LAST - 1))
    target = key_location(
        empty(),
        range(1, LAST + 1),
        lambda f: radius * Vector((0.0, cos(begin + (f - 1) * turn), sin(begin + (f - 1) * turn))),
    )
    report = bake(Limb.from_tip(rig, bone.name, target), 1, LAST)
    assert report.all_reached
    assert [(jump.turned.at, jump.reason) for jump in report.jumps] == [(LAST - 1, ROUND)]

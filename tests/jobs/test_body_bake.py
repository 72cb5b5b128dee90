# SPDX-License-Identifier: GPL-3.0-or-later
"""A body that is baked reaches with both hands, keeps its feet, and loses nothing."""

from itertools import pairwise
from math import degrees, pi, radians

import bpy
import numpy as np
import pytest
from mathutils import Euler, Matrix, Quaternion, Vector

from ik_triangulation.errors import AnimationError, IKError, RigError, TargetError
from ik_triangulation.jobs.bake import bake_body, delete_generated
from ik_triangulation.jobs.pose import solve_body_pose
from ik_triangulation.jobs.reach import body_stop, reach_with_body
from ik_triangulation.jobs.setup import set_up_body
from ik_triangulation.jobs.shots.problem import body_of
from ik_triangulation.kinematics import EulerLimits, Hinge
from ik_triangulation.kinematics.rotation import rotation_angle
from ik_triangulation.rig.body import RigBody
from ik_triangulation.rig.freedom import freedom_of, store
from ik_triangulation.rig.limb import Limb
from ik_triangulation.rig.rotation import rotation_of

from ..bodies import FEET, HANDS, SMALL, human_rig, keyed_target, reaching_body, set_up_rig, tails
from ..rigs import all_keys, curves_of, empty, nothing_lost

pytestmark = pytest.mark.usefixtures("empty_scene")
LAST = 24
LEG = 0.9  # [m] from hip to ankle


def shown(rig, frames=range(1, LAST + 1)):
    """Rotations of all bones and the matrices of the hips at each frame, as Blender shows them."""
    turns, hips = [], []
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        evaluated = rig.evaluated_get(bpy.context.evaluated_depsgraph_get())
        turns.append([rotation_of(bone) for bone in evaluated.pose.bones])
        hips.append(evaluated.pose.bones["spine"].matrix.copy())
    return turns, hips


def test_a_motion_whose_targets_end_where_they_began_becomes_a_loop():
    rig, last = human_rig(), 49
    body = reaching_body(rig, last)
    for limb in body.limbs:
        start = limb.target.location.copy()
        limb.target.animation_data_clear()
        for frame in range(1, last + 1):
            at = 2.0 * pi * (frame - 1) / (last - 1)
            way = -0.3 + 0.3 * np.cos(at), -0.2 - 0.35 * np.sin(at), -0.3 + 0.4 * np.sin(at + 0.7)
            limb.target.location = start + Vector(way)
            limb.target.keyframe_insert("location", frame=frame)
    report = bake_body(body, 1, last)
    assert report.reached, report.text
    turns, hips = shown(rig, (1, 2, last - 1, last))
    assert (hips[0].translation - hips[3].translation).length < 1e-5
    first, last = ([rotation_angle(a, b) for a, b in zip(*turns[k : k + 2], strict=True)] for k in (0, 2))
    assert max(map(rotation_angle, turns[0], turns[3])) < radians(0.1)
    assert max(last) < 1.5 * max(first), "it goes through the seam at an even speed"


def test_first_and_last_frames_whose_hands_are_at_their_targets_stay_as_they_were_keyed():
    rig = set_up_rig(LAST)
    for frame, turn in ((1, 0.3), (LAST, -0.3)):
        for bone, sign in (("upper_arm.L", 1.0), ("upper_arm.R", -1.0), ("spine.001", 0.5)):
            posed = rig.pose.bones[bone]
            posed.rotation_quaternion = Quaternion((0.3, 0.2, 1.0), sign * turn)
            posed.keyframe_insert("rotation_quaternion", frame=frame)
    for name in HANDS:
        target = rig.pose.bones[name].ik_triangulation.target
        for frame, place in zip((1, LAST), tails(rig, name, (1, LAST)), strict=True):
            target.location = place
            target.keyframe_insert("location", frame=frame)
    keyed, hips = shown(rig, (1, LAST))
    report = bake_body(body_of(rig, "hand.L"), 1, LAST)
    assert report.reached, report.text
    turns, places = shown(rig)
    for frame, number in ((1, 0), (LAST, 1)):
        assert max(map(rotation_angle, keyed[number], turns[frame - 1])) < radians(0.1)
        assert (hips[number].translation - places[frame - 1].translation).length < 1e-4
    steps = [max(map(rotation_angle, *pair)) for pair in pairwise(turns)]
    assert max(steps[0], steps[-1]) < max(steps[1:-1])


def test_an_elbow_of_a_body_points_at_its_pole():
    rig = set_up_rig(LAST, down=(-0.3, -0.15, 0.0))
    limb = rig.pose.bones["hand.L"].ik_triangulation
    limb.pole_target = empty("Pole", (2.0, 1.0, 3.0))
    report = bake_body(body_of(rig, "hand.L"), 1, LAST)
    assert report.reached, report.text
    for frame in range(1, LAST + 1):
        bpy.context.scene.frame_set(frame)
        shoulder, elbow, wrist = (rig.pose.bones[name].head for name in ("upper_arm.L", "forearm.L", "hand.L"))
        line = rig.pose.bones["hand.L"].tail - shoulder
        bend, pole = elbow + wrist - 2.0 * shoulder, limb.pole_target.location - shoulder
        bend, pole = (way - way.project(line) for way in (bend, pole))
        assert bend.angle(pole) < radians(10.0), "60 without"


@pytest.mark.parametrize("way", [(0.5, -0.2, 0.3), (0.0, -0.25, -0.45), (-0.35, -0.1, 0.3)])
def test_a_body_stands_still_until_shortly_before_its_hand_goes_somewhere_fast(way):
    rig, last = human_rig(), 73
    set_up_body(rig, relax_arms=False)
    target = rig.pose.bones["hand.L"].ik_triangulation.target
    start = target.location.copy()
    for frame in range(1, last + 1):
        target.location = start + Vector(way) * np.sin(pi * np.clip((frame - 30) / 12, 0.0, 1.0)) ** 2
        target.keyframe_insert("location", frame=frame)
    report = bake_body(body_of(rig, "hand.L"), 1, last)
    assert report.reached, report.text
    turns, hips = shown(rig, range(1, 22))
    for turned, placed in zip(turns, hips, strict=True):
        assert max(map(rotation_angle, turns[0], turned)) < radians(2.5)
        assert (placed.translation - hips[0].translation).length < 0.01


def test_both_hands_reach_the_shins_and_the_feet_stay_at_half_frames_too():
    rig, last = human_rig(), 72
    report = bake_body(reaching_body(rig, last), 1, last)
    assert report.reached, report.text
    assert list(report.tips) == [*FEET, *HANDS]
    for name in FEET:
        assert report.tips[name].held
        assert report.tips[name].error < 1e-3 * LEG
        assert degrees(report.tips[name].angle) < 0.05
    assert report.outside == 0.0
    turns, hips = shown(rig, range(1, last + 1))
    assert hips[0].translation.z - min(matrix.translation.z for matrix in hips) > 0.1
    knee = rig.pose.bones["shin.L"]
    bpy.context.scene.frame_set(last // 2)
    assert knee.head.y < min(knee.tail.y, knee.parent.head.y) - 0.05  # forwards
    pairs = (pair for one, two in pairwise(turns) for pair in zip(one, two, strict=True))
    assert degrees(max(rotation_angle(a, b) for a, b in pairs)) < 9.0


def test_only_the_bones_of_the_body_get_keys_and_only_the_hips_a_place():
    rig = human_rig()
    body = reaching_body(rig)
    report = bake_body(body, 1, LAST)
    paths = {curve.data_path for curve in curves_of(rig)}
    assert {path for path in paths if path.endswith("location")} == {'pose.bones["spine"].location'}
    assert len(paths) == len(body.bones) + 1
    assert report.keys == LAST * (4 * len(body.bones) + 3)
    assert not any("toe" in path for path in paths)


def test_baking_again_writes_the_same_keys():
    rig = human_rig()
    body = reaching_body(rig)
    bake_body(body, 1, LAST)
    first = all_keys(rig)
    bpy.context.scene.frame_set(LAST // 2)
    bake_body(body, 1, LAST)
    assert all_keys(rig) == first


def test_deleting_the_baked_keys_gives_back_what_was_there():
    rig = human_rig()
    rig.pose.bones["spine"].location = 0.0, 0.05, 0.0
    rig.pose.bones["spine"].keyframe_insert("location", frame=3)
    rig.pose.bones["thigh.L"].rotation_quaternion = Quaternion((1, 0, 0), 0.1)
    rig.pose.bones["thigh.L"].keyframe_insert("rotation_quaternion", frame=3)
    before = all_keys(rig)
    body = reaching_body(rig, down=SMALL)
    bake_body(body, 1, LAST)
    assert all_keys(rig) != before
    delete_generated(rig, body.bones)
    assert all_keys(rig) == before


def test_the_present_frame_and_what_is_not_of_the_body_stay():
    rig = human_rig()
    body = reaching_body(rig)
    other = keyed_target(rig, "toe.L", {1: (0, 0, 0), 9: (1, 1, 1)}, "Other")
    bpy.context.scene.frame_set(5)
    place = other.matrix_world.copy()
    bake_body(body, 1, LAST)
    assert bpy.context.scene.frame_current == 5
    assert other.matrix_world == place
    assert len(bpy.data.scenes) == 1


@pytest.mark.parametrize("parts", [0, 2, 5, 9, 12])
def test_a_bake_that_is_stopped_leaves_everything_as_it_was(parts):
    rig = human_rig()
    rig.pose.bones["spine"].keyframe_insert("location", frame=3)
    body = reaching_body(rig)
    with nothing_lost():
        job = bake_body.steps(body, 1, LAST)
        for _ in range(parts):
            next(job, None)
        job.close()


def test_a_bake_that_fails_leaves_everything_as_it_was():
    rig = human_rig()
    body = reaching_body(rig)
    rig.pose.bones["shin.L"].keyframe_insert("rotation_quaternion", frame=3)
    curves_of(rig)[0].lock = True
    with nothing_lost(), pytest.raises(AnimationError, match=r"'shin\.L' are locked"):
        bake_body(body, 1, LAST)


def test_limits_are_kept_as_blender_shows_them():
    rig = human_rig()
    for side in "LR":
        store(Hinge((1, 0, 0), 0.0, 2.4), 0.0, rig.pose.bones[f"shin.{side}"].ik_triangulation_joint)
        limits = EulerLimits("XYZ", (-2.0, -0.5, -0.5), (0.5, 0.5, 0.5))
        store(limits, 0.0, rig.pose.bones[f"thigh.{side}"].ik_triangulation_joint)
    rig.pose.bones["spine.001"].rotation_mode = "ZXY"
    body = reaching_body(rig)
    for side in "LR":  # a straight knee at the end of its range moves nothing at first
        rig.pose.bones[f"shin.{side}"].rotation_quaternion = Quaternion((1, 0, 0), 0.0)
    report = bake_body(body, 1, LAST)
    assert report.reached, report.text
    turns, _ = shown(rig)
    for row in turns:
        for bone, turn in zip(rig.pose.bones, row, strict=True):
            assert rotation_angle(freedom_of(bone).nearest(turn), turn) < 1e-4


@pytest.mark.parametrize(
    "object_matrix", [Matrix.LocRotScale(Vector((3, -2, 1)), Euler((0.4, -0.3, 2.0)), Vector((2, 2, 2)))]
)
def test_a_rig_that_is_moved_turned_and_scaled_bakes_as_well(object_matrix):
    rig = human_rig()
    rig.matrix_world = object_matrix
    bpy.context.view_layer.update()
    limbs = []
    for name, sign in zip(HANDS, (1.0, -1.0), strict=True):
        way = object_matrix.to_3x3() @ Vector((-0.4 * sign, -0.3, -0.6))
        limbs.append(Limb.from_tip(rig, name, keyed_target(rig, name, {1: (0, 0, 0), LAST: way})))
    report = bake_body(RigBody(rig, tuple(limbs), FEET), 1, LAST)
    assert report.reached, report.text
    assert max(report.tips[name].error for name in FEET) < 4e-3


def test_hands_out_of_reach_are_reported_and_the_feet_stay():
    rig = human_rig()
    limbs = [Limb.from_tip(rig, "hand.L", keyed_target(rig, "hand.L", {1: (0, 0, 0), LAST: (3, 0, 0)}))]
    report = bake_body(RigBody(rig, tuple(limbs), FEET), 1, LAST)
    assert not report.reached
    assert report.tips["hand.L"].missed
    assert report.tips["hand.L"].error > 0.5
    assert max(report.tips[name].error for name in FEET) < 0.06  # at half frames of a step of 12 cm
    assert "hand.L missed" in report.text


def test_feet_that_are_animated_are_held_frame_by_frame():
    rig = human_rig()
    for frame, turn in ((1, 0.0), (LAST, -0.6)):
        rig.pose.bones["thigh.L"].rotation_quaternion = Quaternion((1, 0, 0), turn)
        rig.pose.bones["thigh.L"].keyframe_insert("rotation_quaternion", frame=frame)
    before = []
    for frame in range(1, LAST + 1):
        bpy.context.scene.frame_set(frame)
        before.append(rig.pose.bones["foot.L"].tail.copy())
    limb = Limb.from_tip(rig, "hand.R", keyed_target(rig, "hand.R", {1: (0, 0, 0), LAST: (0.2, -0.3, -0.2)}))
    assert bake_body(RigBody(rig, (limb,), FEET), 1, LAST).reached
    for frame, place in enumerate(before, 1):
        bpy.context.scene.frame_set(frame)
        assert (rig.pose.bones["foot.L"].tail - place).length < 1e-4


@pytest.mark.parametrize("motion", ["UP_DOWN", "FIXED"])
def test_hips_move_only_as_they_may(motion):
    rig = human_rig()
    body = reaching_body(rig, down=(-0.2, -0.3, -0.4), hips_motion=motion)
    bake_body(body, 1, LAST)
    _, hips = shown(rig)
    ways = np.array([matrix.translation[:] for matrix in hips]) - np.array(hips[0].translation[:])
    assert np.abs(ways[:, :2]).max() < 1e-5
    assert (np.abs(ways[:, 2]).max() < 1e-6) == (motion == "FIXED")
    assert max(rotation_angle(m.to_quaternion(), hips[0].to_quaternion()) for m in hips) < radians(0.1)


def test_a_body_on_a_moving_root_bone_reaches_too():
    rig = human_rig()
    bpy.ops.object.mode_set(mode="EDIT")
    root = rig.data.edit_bones.new("root")
    root.head, root.tail = (0, 0, 0), (0, 0.3, 0)
    rig.data.edit_bones["spine"].parent = root
    bpy.ops.object.mode_set(mode="POSE")
    bone = rig.pose.bones["root"]
    for frame, x in ((1, 0.0), (LAST, 0.5)):
        bone.location, bone.rotation_quaternion = (x, 0, 0), Quaternion((0, 0, 1), x)
        bone.keyframe_insert("location", frame=frame)
        bone.keyframe_insert("rotation_quaternion", frame=frame)
    report = bake_body(reaching_body(rig, down=(-0.3, -0.3, -0.5)), 1, LAST)
    assert max(report.tips[name].error for name in FEET) < 6e-3
    assert "root" not in {
        name.split('"')[1] for name in {c.data_path for c in curves_of(rig)} if "location" in name
    } - {"root"}


def test_what_cannot_be_baked_is_named():
    rig = human_rig()
    with pytest.raises(IKError, match="before its start"):
        bake_body(reaching_body(rig), 10, 1)
    rig.pose.bones["forearm.L"].scale = 1.0, 2.0, 1.0
    with pytest.raises(IKError, match=r"'forearm\.L' is scaled"):
        bake_body(reaching_body(rig), 1, 5)


def test_a_hand_that_turns_by_half_a_turn_begins_as_it_was():
    rig = human_rig(with_head=True)
    set_up_body(rig, relax_arms=False)
    target = rig.pose.bones["hand.L"].ik_triangulation.target
    start, turn = target.location.copy(), target.rotation_euler.to_quaternion()
    way, half = Vector((-0.328, -0.4734, 0.3074)), turn @ Quaternion((0.0, 0.0, 1.0), pi)
    for frame, share, rotation in ((1, 0.0, turn), (LAST, 1.0, half)):
        target.location = start + way * share
        target.rotation_euler = rotation.to_euler("XYZ", target.rotation_euler)
        target.keyframe_insert("location", frame=frame)
        target.keyframe_insert("rotation_euler", frame=frame)
    bpy.context.scene.frame_set(1)
    before = {bone.name: bone.matrix.to_quaternion() for bone in rig.pose.bones}
    bake_body(body_of(rig, "hand.L"), 1, LAST)
    bpy.context.scene.frame_set(1)
    for bone in rig.pose.bones:
        assert rotation_angle(before[bone.name], bone.matrix.to_quaternion()) < radians(10.0), bone.name


@pytest.mark.parametrize("far", [1e30, 1e20, 1e13])
def test_a_target_that_is_endlessly_far_is_refused(far):
    rig = set_up_rig(6)
    target = rig.pose.bones["hand.L"].ik_triangulation.target
    target.animation_data_clear()
    target.location.x = far
    bpy.context.view_layer.update()
    body = body_of(rig, "hand.L")
    for act in (lambda: bake_body(body, 1, 6), lambda: solve_body_pose(body)):
        with nothing_lost(), pytest.raises(TargetError, match=r"'hand.L Target' is scaled or moved beyond"):
            act()


def test_a_pose_without_valid_numbers_is_refused():
    rig = set_up_rig(6)
    rig.pose.bones["thigh.L"].rotation_quaternion = float("nan"), 0.0, 0.0, 0.0
    bpy.context.view_layer.update()
    body = body_of(rig, "hand.L")
    for act in (lambda: bake_body(body, 1, 6), lambda: reach_with_body(body, [body_stop(body, "hand.L", 6)], 1)):
        with pytest.raises(RigError, match=r"Bone 'thigh.L' has an invalid pose at frame 1"):
            act()


def test_a_body_that_differs_each_time_it_is_evaluated_is_refused():
    rig = set_up_rig(6)
    count = iter(range(10_000))
    bpy.app.driver_namespace["next_turn"] = lambda: 0.1 * next(count)
    rig.pose.bones["shin.L"].rotation_mode = "XYZ"
    curve = rig.pose.bones["shin.L"].driver_add("rotation_euler", 0)
    curve.driver.type, curve.driver.expression = "SCRIPTED", "next_turn()"
    bpy.context.view_layer.update()
    try:
        with pytest.raises(RigError, match="'Rig' is not the same when frame 1 is evaluated twice"):
            bake_body(body_of(rig, "hand.L"), 1, 6)
    finally:
        del bpy.app.driver_namespace["next_turn"]

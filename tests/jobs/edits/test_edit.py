# SPDX-License-Identifier: GPL-3.0-or-later
"""A pull is small where its falloff ends, keeps the types of keys, and does not wear a shot out."""

from itertools import pairwise

import bpy
import numpy as np
import pytest
from mathutils import Euler, Matrix, Quaternion

from ik_triangulation.errors import AnimationError, SettingError
from ik_triangulation.jobs.bake import bake, delete_generated
from ik_triangulation.jobs.edits.edit import BakeChange, BakedPoses, _frames_around, pull
from ik_triangulation.jobs.setup import set_up_body
from ik_triangulation.rig.keyframes.channelbags import channelbag_of
from ik_triangulation.rig.limb import Limb

from ...bodies import followed_rig, human_rig, tails
from ...ik_rigs import arm_limb, ik_arm
from ...interrupted import writes_that_undo_all
from ...rigs import curve_of, empty, nothing_lost

pytestmark = pytest.mark.usefixtures("empty_scene", "addon")
LAST = 60


@pytest.fixture
def rig():
    """An arm that is baked from frame 1 to LAST, and follows a target."""
    return followed_rig(LAST)


def limb(rig, **settings):
    target = rig.pose.bones["hand.L"].ik_triangulation.target
    return Limb.from_tip(rig, "hand.L", target, 3, **settings)


def turns(rig, frames):
    """Largest turn of a bone of the arm from each frame to the next [rad]."""
    found = []
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        found.append([rig.pose.bones[name].matrix.to_quaternion() for name in ("upper_arm.L", "forearm.L")])
    return np.array([max(a.rotation_difference(b).angle for a, b in zip(*two, strict=True)) for two in pairwise(found)])


@pytest.mark.parametrize("settings", [{}, {"reduce": True}])
def test_a_pull_and_the_same_back_gives_the_shot_without_pops(rig, settings):
    bake(limb(rig, **settings), 1, LAST)
    frames = range(1, LAST + 1)
    before, calm = tails(rig, "hand.L", frames), turns(rig, frames).max()
    pull(rig, "hand.L", 30, (0.02, -0.03, 0.05))
    assert turns(rig, frames).max() < 1.5 * calm
    pull(rig, "hand.L", 30, (-0.02, 0.03, -0.05))
    assert (
        max((now - old).length for now, old in zip(tails(rig, "hand.L", frames), before, strict=True)) < 4e-3
    )  # a bake with few keys is so near


@pytest.mark.parametrize("frame", [1, LAST - 4, LAST])
def test_a_pull_reaches_to_the_first_and_last_frame_of_a_bake(rig, frame):
    bake(limb(rig), 1, LAST)
    report = pull(rig, "hand.L", frame, (0.02, -0.03, 0.05))
    assert report.all_reached
    target = rig.pose.bones["hand.L"].ik_triangulation.target
    for at in (1, LAST):
        (hand,) = tails(rig, "hand.L", [at])
        assert (hand - target.matrix_world.translation).length < 1e-4, at


def test_a_correction_by_hand_stays_one(rig):
    bake(limb(rig), 1, LAST)
    for index in range(4):
        curve_of(rig, "forearm.L", index).keyframe_points[32].type = "KEYFRAME"
    pull(rig, "hand.L", 30, (0.0, 0.0, 0.04))
    kinds = {key.co.x: key.type for key in curve_of(rig, "forearm.L", 1).keyframe_points}
    assert (kinds[32.0], kinds[33.0]) == ("GENERATED", "KEYFRAME")


def test_keys_made_by_hand_that_a_pull_replaced_come_back(rig):
    rig.pose.bones["hand.L"].ik_triangulation.target = None
    for frame, turn in ((1, 0.0), (30, 0.5), (60, 0.2)):
        rig.pose.bones["forearm.L"].rotation_quaternion = (1.0, turn, 0.0, 0.0)
        rig.pose.bones["forearm.L"].keyframe_insert("rotation_quaternion", frame=frame)
    frames = range(1, LAST + 1)
    before = tails(rig, "hand.L", frames)
    pull(rig, "hand.L", 30, (0.0, 0.0, 0.04), 10)
    assert delete_generated(rig, ["upper_arm.L", "forearm.L", "hand.L"])
    assert max((now - old).length for now, old in zip(tails(rig, "hand.L", frames), before, strict=True)) < 1e-3


def test_a_pull_that_fails_or_is_closed_leaves_everything_as_it_was(rig):
    bake(limb(rig), 1, LAST)
    for wrong, text in (({"profile": "ROUND"}, "is unknown"), ({"falloff": 0}, "too short")):
        with nothing_lost(), pytest.raises(SettingError, match=text):
            pull(rig, "hand.L", 30, (0.0, 0.0, 0.04), **wrong)
    for parts in (1, 2, 3):
        with nothing_lost():
            job = pull.steps(rig, "hand.L", 30, (0.0, 0.0, 0.04))
            for _ in range(parts):
                next(job)
            job.close()
    assert writes_that_undo_all(lambda: pull(rig, "hand.L", 30, (0.0, 0.0, 0.04)), 7)


@pytest.mark.parametrize("parented", [False, True])
def test_a_hand_that_follows_its_target_is_turned_with_a_falloff(rig, parented):
    stored = rig.pose.bones["hand.L"].ik_triangulation
    target = stored.target
    target.empty_display_type = "ARROWS"
    bpy.context.view_layer.update()
    if parented:
        holder = empty("Holder")
        holder.rotation_euler = (0.5, 0.2, 0.8)
        shoulder = rig.pose.bones["upper_arm.L"].head
        holder.location = shoulder - holder.rotation_euler.to_matrix() @ shoulder
        bpy.context.view_layer.update()
        target.parent, target.matrix_parent_inverse = holder, Matrix.Identity(4)
        bpy.context.view_layer.update()
    target.rotation_mode = "QUATERNION"
    hand = rig.pose.bones["hand.L"].matrix.to_quaternion()
    above = holder.matrix_world.to_quaternion() if parented else Quaternion()
    target.rotation_quaternion = above.inverted() @ hand
    bake(limb(rig, orientation="FULL"), 1, LAST)
    before = _turned(rig)
    turn = (0.3, -0.1, 0.2)
    report = pull(rig, "hand.L", 30, (0.0, 0.0, 0.0), 10, rotation=turn)
    assert report.all_reached
    asked, after = Euler(turn).to_quaternion(), _turned(rig)
    assert (asked @ before[29]).rotation_difference(after[29]).angle < 2e-3
    half = Quaternion(asked.to_axis_angle()[0], asked.to_axis_angle()[1] / 2.0)
    assert (half @ before[24]).rotation_difference(after[24]).angle < 5e-3
    outside = [k for k in range(LAST) if abs(k + 1 - 30) >= 10]
    assert max(before[k].rotation_difference(after[k]).angle for k in outside) < 1e-3


def test_a_hand_is_turned_by_its_own_keys_and_refused_where_it_follows_no_rotation(rig):
    bake(limb(rig), 1, LAST)
    with nothing_lost(), pytest.raises(AnimationError, match="does not follow the rotation"):
        pull(rig, "hand.L", 30, (0.0, 0.0, 0.0), 10, rotation=(0.3, 0.0, 0.0))
    rig.pose.bones["hand.L"].ik_triangulation.target = None
    before = _turned(rig)
    pull(rig, "hand.L", 30, (0.0, 0.0, 0.02), 10, rotation=(0.2, 0.0, 0.0))
    turned = Euler((0.2, 0.0, 0.0)).to_quaternion() @ before[29]
    assert turned.rotation_difference(_turned(rig)[29]).angle < 2e-3


def _turned(rig):
    """Rotation of the hand in world space at each frame."""
    found = []
    for frame in range(1, LAST + 1):
        bpy.context.scene.frame_set(frame)
        found.append((rig.matrix_world @ rig.pose.bones["hand.L"].matrix).to_quaternion())
    return found


def test_a_part_is_solved_with_some_frames_of_the_bake_around_it():
    assert list(_frames_around((1, 41, 1), [10, 11, 12], 5)) == list(range(5, 18))
    assert list(_frames_around((1, 41, 1), [3, 4, 39], 5)) == list(range(1, 42))
    assert list(_frames_around((1, 41, 4), [13, 17], 6)) == [5, 9, 13, 17, 21, 25]
    assert list(_frames_around((2, 20, 4), [6, 10], 40)) == [2, 6, 10, 14, 18]
    assert list(_frames_around((1, 3, 0.5), [2], 0.5)) == [1, 1.5, 2, 2.5, 3]


def test_poses_between_the_frames_of_a_bake_are_those_on_the_shorter_way():
    turns = [Quaternion((1.0, 0.0, 0.0), angle) for angle in (0.0, 0.4, 1.0)]
    rows = np.array([turns[0], [-each for each in turns[1]], turns[2]]).T[None]
    known = BakedPoses([1, 3, 5], ["Arm"], rows, np.array([[0.0, 2.0, 6.0], [0.0, 0.0, 0.0], [1.0, 1.0, 3.0]]))
    found = known.at([0.0, 1, 2, 3, 4.5, 5, 9])
    for column, angle in enumerate((0.0, 0.0, 0.2, 0.4, 0.85, 1.0, 1.0)):
        shown = Quaternion(found.rotations[0, :, column])
        assert shown.magnitude == pytest.approx(1.0)
        assert abs(shown.dot(Quaternion((1.0, 0.0, 0.0), angle))) == pytest.approx(1.0, abs=1e-6)
    assert found.locations[0].tolist() == [0.0, 0.0, 1.0, 2.0, 5.0, 6.0, 6.0]
    assert found.locations[2].tolist() == [1.0, 1.0, 1.0, 1.0, 2.5, 3.0, 3.0]
    one = BakedPoses([4], ["Arm"], rows[..., :1]).at([1, 4, 7])
    assert one.locations is None
    assert np.array_equal(one.rotations, np.repeat(rows[..., :1], 3, axis=2))


def test_an_edit_moves_what_is_shown_as_it_moves_the_bake_and_not_outside():
    frames, same = range(1, 12), np.array([[1.0, 0.0, 0.0, 0.0]])
    still = np.repeat(same.T[None], len(frames), axis=2)
    turn = Quaternion((0.0, 0.0, 1.0), 0.5)
    turned = np.repeat(np.array([turn]).T[None], len(frames), axis=2)
    way = np.zeros((3, len(frames)))
    before = BakedPoses(frames, ["Arm"], still, way)
    change = BakeChange(before, BakedPoses(frames, ["Arm"], turned, way + 0.25), 6)
    inside = range(3, 10)
    shown = np.repeat(still[..., 2:9], 2, axis=0)
    found = change.rotations(["Other", "Arm"], shown, inside, inside)
    assert np.array_equal(found[0], shown[0])
    assert abs(Quaternion(found[1, :, 3]).dot(turn)) == pytest.approx(1.0, abs=1e-6)
    assert found[1, :, [0, -1]] == pytest.approx(np.repeat(same, 2, axis=0), abs=1e-6)
    moved = change.locations(way[:, 2:9] + 1.0, inside, inside)
    assert moved[:, 3] == pytest.approx(1.25)
    assert moved[:, [0, -1]] == pytest.approx(1.0)
    assert change.rotations(["Arm"], still, frames, frames) == pytest.approx(turned)
    unlocated = BakeChange(before, before._replace(locations=None), 6)
    assert unlocated.locations(way, frames, frames) is way


def test_a_target_that_cannot_be_keyed_and_a_method_that_does_not_look_around_are_named(rig):
    report = bake(limb(rig, solver="TRIANGULATION"), 1, 12)
    assert not report.warnings
    report = pull(rig, "hand.L", 6, (0.0, 0.0, 0.02), 4)
    assert [each for each in report.warnings if "solved by Natural" in each]
    assert report.all_reached
    assert [*report.numbers] == [*range(2, 11)]
    assert report.keys == report.full_keys > 0
    target = rig.pose.bones["hand.L"].ik_triangulation.target
    for index in range(3):
        target.driver_add("location", index).driver.expression = "0.5"
    with nothing_lost(), pytest.raises(AnimationError, match=r"The location of target .Target hand\.L. has a driver"):
        pull(rig, "hand.L", 6, (0.0, 0.0, 0.02), 4)


def test_what_cannot_be_pulled_says_why_and_nothing_changes(rig):
    with nothing_lost(), pytest.raises(AnimationError):
        pull(rig, "hand.L", 6, (0.0, 0.0, 0.02))  # nothing is baked
    bake(limb(rig), 1, 12)
    channelbag_of(rig).fcurves.clear()
    with nothing_lost(), pytest.raises(AnimationError, match=r"'hand\.L' has no baked keys in the active action"):
        pull(rig, "hand.L", 6, (0.0, 0.0, 0.02))
    body = human_rig("Body")
    set_up_body(body)
    with nothing_lost(), pytest.raises(AnimationError, match=r"The target of 'hand\.L' was not moved or keyed yet"):
        pull(body, "hand.L", 6, (0.0, 0.0, 0.02))
    arm = ik_arm()
    made = arm_limb(arm)
    stored = arm.pose.bones["Palm"].ik_triangulation
    stored.target, stored.chain_count, stored.keys_on = made.target, 3, "IK"
    bake(Limb.of(arm.pose.bones["Palm"]), 1, 6)
    with nothing_lost(), pytest.raises(AnimationError, match="'Palm' is baked onto IK controls"):
        pull(arm, "Palm", 3, (0.0, 0.0, 0.02))

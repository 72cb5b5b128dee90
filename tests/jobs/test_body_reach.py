# SPDX-License-Identifier: GPL-3.0-or-later
"""A reach of a body goes from its pose to the targets with human timing, its feet planted, as one transaction."""

from dataclasses import replace

import bpy
import numpy as np
import pytest
from mathutils import Vector

from ik_triangulation.errors import ChainError, SettingError
from ik_triangulation.jobs.find_contacts import find_contacts
from ik_triangulation.jobs.pose import solve_body_pose
from ik_triangulation.jobs.reach import Stop, body_stop, own_stop, reach_with_body
from ik_triangulation.jobs.shots.keys import body_settings
from ik_triangulation.jobs.shots.problem import body_of
from ik_triangulation.motion.timing import profile

from ..bodies import FEET, HANDS, set_up_rig, sliding_rig
from ..interrupted import writes_that_undo_all
from ..rigs import all_keys, empty, nothing_lost
from .test_body_pose import apart, channels, tails

pytestmark = pytest.mark.usefixtures("empty_scene")
WAY = Vector((-0.2, -0.3, -0.45))


@pytest.fixture
def rig(empty_scene):
    rig = set_up_rig(24)
    for name, sign in zip(HANDS, (1.0, -1.0), strict=True):
        target = rig.pose.bones[name].ik_triangulation.target
        target.animation_data_clear()
        target.location += WAY * Vector((sign, 1.0, 1.0))
    return rig


def reached(rig, stops=None, start=1, **how):
    body = body_of(rig, "hand.L")
    return reach_with_body(body, stops or [own_stop(body.limbs[0], 25)], start, **how)


def seen(rig, frames):
    """Tails of hands and feet, and the hips, at frames."""
    found = []
    for frame in frames:
        bpy.context.scene.frame_set(int(frame), subframe=frame % 1)
        bones = rig.pose.bones
        found.append([*(bones[name].tail.copy() for name in (*HANDS, *FEET)), bones["spine"].head.copy()])
    return found


def test_hands_arrive_together_the_hips_go_down_and_the_feet_stay(rig):
    before, feet = channels(rig), tails(rig)
    report = reached(rig)
    assert report.reached, report.text
    assert report.keys > 0
    bpy.context.scene.frame_set(1)
    assert channels(rig) == [pytest.approx(each, abs=1e-5) for each in before]
    places = seen(rig, np.arange(1, 25.5, 0.5))
    for each in places:
        assert apart(each[2:4], feet) < 1e-3
    target = rig.pose.bones["hand.L"].ik_triangulation.target.location
    assert (places[-1][0] - target).length < 1e-3
    assert places[-1][4].z < places[0][4].z - 0.05
    assert 'pose.bones["spine"].location' in {path for path, _ in all_keys(rig)}


def test_frames_that_fewer_keys_move_off_the_way_are_not_missed(rig):
    settings = replace(body_settings(body_of(rig, "hand.L")), reduce=True)
    report = reached(rig, settings=settings)
    assert report.keys < 0.3 * report.full_keys
    assert report.tips["hand.L"].largest_distance > 1e-3
    assert report.reached, report.text


def test_it_arrives_in_the_pose_of_solve_pose(rig):
    solve_body_pose(body_of(rig, "hand.L"))
    solved = [bone.matrix.copy() for bone in rig.pose.bones]
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    again = set_up_rig(24)
    for name, sign in zip(HANDS, (1.0, -1.0), strict=True):
        target = again.pose.bones[name].ik_triangulation.target
        target.animation_data_clear()
        target.location += WAY * Vector((sign, 1.0, 1.0))
    reached(again)
    bpy.context.scene.frame_set(25)
    for bone, matrix in zip(again.pose.bones, solved, strict=True):
        assert bone.matrix.to_quaternion().rotation_difference(matrix.to_quaternion()).angle < 0.01


def test_it_has_the_timing_of_a_hand(rig):
    reached(rig, path="ARC")
    height = np.array([each[4].z for each in seen(rig, range(1, 26))])
    share = (height - height[0]) / (height[-1] - height[0])
    wanted = [profile("MINIMUM_JERK", "EASE_IN_OUT")(k / 24) for k in range(25)]
    assert np.abs(share - wanted).max() < 0.06


def test_along_a_line_the_hands_move_straight(rig):
    report = reached(rig, path="LINE")
    assert not report.warnings, report.warnings
    hands = np.array([each[0] for each in seen(rig, range(1, 26))])
    line = (hands[-1] - hands[0]) / np.linalg.norm(hands[-1] - hands[0])
    off = hands - hands[0]
    assert np.linalg.norm(off - np.outer(off @ line, line), axis=1).max() < 1e-3


def test_it_holds_and_returns_to_the_first_pose(rig):
    before = channels(rig)
    body = body_of(rig, "hand.L")
    report = reached(rig, [own_stop(body.limbs[0], 15, 5)], return_frames=12)
    assert report.reached, report.text
    target = rig.pose.bones["hand.L"].ik_triangulation.target.location
    for each in seen(rig, range(15, 21)):
        assert (each[0] - target).length < 1e-3
    bpy.context.scene.frame_set(32)
    assert channels(rig) == [pytest.approx(each, abs=1e-4) for each in before]


def test_it_stays_with_a_target_that_moves_on(rig):
    target = rig.pose.bones["hand.L"].ik_triangulation.target
    target.keyframe_insert("location", frame=10)
    target.location += Vector((0.1, -0.05, 0.15))
    target.keyframe_insert("location", frame=30)
    body = body_of(rig, "hand.L")
    report = reached(rig, [own_stop(body.limbs[0], 18, 10)])
    assert report.reached, report.text
    for frame in range(18, 29):
        (place, *_), *_ = seen(rig, [frame])
        assert (place - target.matrix_world.translation).length < 1e-3


def test_stops_are_those_of_one_limb_while_the_others_stay_at_theirs(rig):
    feet = tails(rig)
    cup = empty("Cup")
    cup.location = rig.pose.bones["hand.L"].tail + Vector((-0.1, -0.3, 0.0))
    cup.rotation_mode = "QUATERNION"
    own = rig.pose.bones["hand.L"].ik_triangulation.target
    report = reached(rig, [Stop(cup, 12, 3), Stop(own, 30)])
    assert report.tips["hand.R"].missed == []
    (at_cup,), (at_own,) = seen(rig, [13]), seen(rig, [30])
    assert (at_cup[0] - cup.location).length < 1e-3
    assert (at_own[0] - own.location).length < 1e-3
    for each in seen(rig, range(1, 31)):
        assert apart(each[2:4], feet) < 1e-3


def test_a_target_out_of_reach_is_told_and_the_feet_stay(rig):
    feet = tails(rig)
    rig.pose.bones["hand.L"].ik_triangulation.target.location.z += 3.0
    report = reached(rig)
    assert report.tips["hand.L"].missed == [25]
    for each in seen(rig, range(1, 26)):
        assert apart(each[2:4], feet) < 1e-3


def test_what_is_wrong_is_named_and_nothing_changes(rig):
    body = body_of(rig, "hand.L")
    with nothing_lost():
        with pytest.raises(SettingError, match="does not come after"):
            reach_with_body(body, [own_stop(body.limbs[0], 1)], 1)
        with pytest.raises(ChainError, match=r"'foot\.L' does not reach: it is held"):
            reach_with_body(body, [own_stop(body.limbs[0], 9)], 1, tip="foot.L")
        with pytest.raises(SettingError, match="Path 'ROUND' is unknown"):
            reach_with_body(body, [own_stop(body.limbs[0], 9)], 1, path="ROUND")
        stopped = reach_with_body.steps(body, [own_stop(body.limbs[0], 9)], 1)
        for _ in range(5):
            next(stopped)
        stopped.close()
    assert not all_keys(rig)


def test_a_write_that_fails_undoes_all(rig):
    assert writes_that_undo_all(lambda: reached(rig), stride=60) > 80


def test_a_body_that_only_holds_its_feet_says_that_nothing_reaches(empty_scene):
    rig = sliding_rig(24)
    find_contacts(rig, 1, 24)
    body = body_of(rig, "foot.L")
    with nothing_lost(), pytest.raises(ChainError, match="Nothing of the body reaches for anything"):
        body_stop(body, "foot.L", 20)
    rig.data.bones.active = rig.data.bones["foot.L"]
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="POSE")
    with pytest.raises(RuntimeError, match="Nothing of the body reaches for anything"):
        bpy.ops.pose.ik_triangulation_reach()


def test_a_reach_that_ends_where_there_are_no_frames_is_refused(rig):
    limb = body_of(rig, "hand.L").limbs[0]
    with nothing_lost(), pytest.raises(SettingError, match="There is no frame 1048600"):
        reached(rig, [own_stop(limb, 1048570)], 1048560, return_frames=30)

# SPDX-License-Identifier: GPL-3.0-or-later
"""A body stays above the floor that it stands on, and a hand out of reach leaves the other one at its target."""

from math import degrees
from pathlib import Path

import bpy
import numpy as np
import pytest
from mathutils import Vector

from ik_triangulation.jobs.bake import bake_body
from ik_triangulation.jobs.live import following as live
from ik_triangulation.jobs.pose import solve_body_pose
from ik_triangulation.jobs.reach import body_stop, reach_with_body
from ik_triangulation.jobs.shots.problem import body_of
from ik_triangulation.rig.by_hand.record import recorded_body

from ...bodies import FEET, HANDS, set_up_rig

pytestmark = pytest.mark.usefixtures("empty_scene")
LAST = 24
LEG = 0.9  # [m] from hip to ankle
ASIDE = (0.0, 0.0, 0.0), (3.0, 0.0, 0.0)
OLD_FILE = Path(__file__).resolve().parents[2] / "data" / "edition_0.blend"


@pytest.fixture(autouse=True)
def ends(addon):
    yield
    live.stop_all()


def target_of(rig, name):
    return rig.pose.bones[name].ik_triangulation.target


def still_rig(*places):
    """The rig of a whole body whose hands, the left one first, have targets at these places, not animated."""
    rig = set_up_rig(LAST)
    for name in HANDS:
        target_of(rig, name).animation_data_clear()
        target_of(rig, name).location = rig.pose.bones[name].tail
    for name, place in zip(HANDS, places, strict=False):
        target_of(rig, name).location = place
    bpy.context.view_layer.update()
    return rig


def lowest(rig):
    """Least height of a joint or tip outside the feet."""
    bones = [bone for bone in rig.pose.bones if not bone.name.startswith(("foot", "toe", "heel"))]
    return min(end.z for bone in bones for end in (bone.head, bone.tail))


def hips_height(rig):
    return rig.pose.bones["spine"].head.z


def away(rig, name):
    return (rig.pose.bones[name].tail - target_of(rig, name).location).length


def key_aside(rig, way, last=LAST):
    """Key the left hand's target aside and back, and the right one's a little down."""
    for name, most in (("hand.L", Vector((way, 0.0, 0.0))), ("hand.R", Vector((0.4, -0.4, -0.5)))):
        target = target_of(rig, name)
        target.animation_data_clear()
        start = rig.pose.bones[name].tail.copy()
        for frame, share in ((1, 0.0), ((1 + last) // 2, 1.0), (last, 0.0)):
            target.location = start + share * most
            target.keyframe_insert("location", frame=frame)
    bpy.context.scene.frame_set(1)


def largest_turn(rig, frames):
    before, most = None, 0.0
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        turns = np.array([bone.matrix_basis.to_quaternion()[:] for bone in rig.pose.bones])
        if before is not None:
            most = max(most, degrees(2.0 * np.arccos(np.clip(np.abs((turns * before).sum(1)), 0.0, 1.0)).max()))
        before = turns
    return most


@pytest.mark.parametrize("both", [False, True])
def test_a_hand_stops_at_the_floor_and_the_report_says_so(both):
    rig = still_rig((0.25, -0.35, -1.0), *([(-0.25, -0.35, -1.0)] if both else []))
    report = solve_body_pose(body_of(rig, "hand.L"))
    assert report.tips["hand.L"].missed
    assert "hand.L missed, 1 away: below the floor" in report.text.replace("0.999", "1")
    assert lowest(rig) > -0.02
    assert hips_height(rig) > 0.25 * LEG
    assert abs(rig.pose.bones["hand.L"].tail.z) < 0.02
    assert max(report.tips[name].error for name in FEET) < 1e-3 * LEG


def test_without_the_floor_a_hand_goes_below_it():
    rig = still_rig((0.25, -0.35, -0.3))
    rig.ik_triangulation.floor = False
    assert solve_body_pose(body_of(rig, "hand.L")).reached
    assert lowest(rig) < -0.25


def test_a_hand_reaches_what_lies_on_the_floor():
    rig = still_rig((0.25, -0.35, 0.0), (-0.25, -0.35, 0.0))
    assert solve_body_pose(body_of(rig, "hand.L")).reached


def test_a_bake_through_the_floor_keeps_above_it_without_a_pop():
    rig = still_rig()
    target = target_of(rig, "hand.L")
    for frame, height in ((1, 0.6), (12, -0.8), (LAST, 0.6)):
        target.location = 0.25, -0.35, height
        target.keyframe_insert("location", frame=frame)
    report = bake_body(body_of(rig, "hand.L"), 1, LAST)
    assert 0 < len(report.tips["hand.L"].missed) < LAST
    assert "below the floor" in report.text
    for frame in range(1, LAST + 1):
        bpy.context.scene.frame_set(frame)
        assert lowest(rig) > -0.02
        assert hips_height(rig) > 0.25 * LEG
        target_height = target.matrix_world.translation.z
        assert (frame in report.tips["hand.L"].missed) == (target_height < -0.002)
    assert largest_turn(rig, range(1, LAST + 1)) < 20.0


def test_what_the_animation_has_lower_may_stay_there():
    rig = still_rig()
    bones = rig.pose.bones
    for side in "LR":  # sits with its legs ahead
        bones[f"thigh.{side}"].rotation_quaternion = Vector((1, 0, 0)).rotation_difference(Vector((1, 0, 0)))
    hips = bones["spine"]
    into = (rig.matrix_world @ hips.bone.matrix_local).to_3x3().inverted()
    hips.location = into @ Vector((0.0, 0.0, -0.85))
    for side, sign in (("L", 1.0), ("R", -1.0)):
        bones[f"thigh.{side}"].rotation_mode = "XYZ"
        bones[f"thigh.{side}"].rotation_euler = (1.5 * -1.0, 0.0, 0.0 * sign)
    bpy.context.view_layer.update()
    low = min(hips_height(rig), lowest(rig))
    rig.ik_triangulation.balance = False
    for name in HANDS:
        target_of(rig, name).location = bones[name].tail + Vector((0.0, -0.05, 0.05))
    bpy.context.view_layer.update()
    report = solve_body_pose(body_of(rig, "hand.L"))
    assert report.reached, report.text
    assert lowest(rig) > min(low, 0.0) - 0.02


def test_live_keeps_above_the_floor_and_the_other_hand_at_its_target():
    rig = still_rig()
    target_of(rig, "hand.R").location = -0.4, -0.45, 1.0
    live.start(rig, "hand.L")
    target = target_of(rig, "hand.L")
    start = target.location.copy()
    for place in (Vector((0.4, -0.4, -1.0)), Vector((3.0, -0.4, 1.2))):
        for share in np.linspace(0.05, 1.0, 20):
            target.location = start.lerp(place, share)
            bpy.context.view_layer.update()
            assert lowest(rig) > -0.02
            assert hips_height(rig) > 0.25 * LEG
            assert away(rig, "hand.R") < 5e-4
        start = place
    assert live.is_live(rig, "hand.L")
    assert away(rig, "hand.L") > 1.0


def test_a_reach_of_the_body_stops_at_the_floor():
    rig = still_rig((0.25, -0.35, -1.0))
    body = body_of(rig, "hand.L")
    report = reach_with_body(body, [body_stop(body, "hand.L", 15, 3)], 1, return_frames=8)
    assert report.tips["hand.L"].missed == [15, 16, 17, 18]
    assert "below the floor" in report.text
    for frame in range(1, 27):
        bpy.context.scene.frame_set(frame)
        assert lowest(rig) > -0.02
        assert hips_height(rig) > 0.25 * LEG


FAR = 3.0, 120, 10.0


@pytest.mark.parametrize(
    ("way", "last", "turn"),
    [
        FAR,
        (0.5, 24, 13.0),
        (3.0, 24, 16.5),
        *(pytest.param(*each, marks=pytest.mark.long) for each in [(1.0, 24, 16.0), (0.5, 120, 7.0), (1.0, 120, 14.0)]),
    ],
)
def test_a_hand_out_of_reach_leaves_the_other_at_its_target_and_points_at_its_own(way, last, turn):
    rig = still_rig()
    key_aside(rig, way, last)
    report = bake_body(body_of(rig, "hand.L"), 1, last)
    far = report.tips["hand.L"]
    assert 0 < len(far.missed) < last
    assert not report.tips["hand.R"].missed
    assert report.tips["hand.R"].error < 5e-4
    assert max(report.tips[name].error for name in FEET) < 1e-3 * LEG
    assert largest_turn(rig, range(1, last + 1)) < turn
    bpy.context.scene.frame_set((1 + last) // 2)
    shoulder, hand = rig.pose.bones["upper_arm.L"].head, rig.pose.bones["hand.L"].tail
    goal = target_of(rig, "hand.L").matrix_world.translation
    assert degrees((hand - shoulder).angle(goal - shoulder)) < 25.0
    assert (hand - shoulder).length > 0.85 * sum(
        rig.data.bones[f"{name}.L"].length for name in ("upper_arm", "forearm", "hand")
    )


def test_a_hand_that_goes_far_out_of_reach_stretches_without_a_twitch():
    way, last, turn = FAR  # the motion of the test before, whose path is remembered
    rig = still_rig()
    key_aside(rig, way, last)
    report = bake_body(body_of(rig, "hand.L"), 1, last)
    assert largest_turn(rig, range(1, last + 1)) < turn
    outwards = []
    for frame in range(report.tips["hand.L"].missed[0], last // 2):
        bpy.context.scene.frame_set(int(frame))
        outwards.append(rig.pose.bones["hand.L"].tail.x)
    assert len(outwards) > 40
    assert np.diff(outwards).min() > -0.005


def test_a_pose_out_of_reach_leaves_the_other_hand_at_its_target():
    rig = still_rig((3.0, -0.3, 1.2), (-0.4, -0.45, 1.0))
    report = solve_body_pose(body_of(rig, "hand.L"))
    assert report.tips["hand.L"].missed
    assert not report.tips["hand.R"].missed
    assert away(rig, "hand.R") < 5e-4


def test_bodies_of_older_files_and_records_keep_no_floor(tmp_path):
    bpy.ops.wm.open_mainfile(filepath=str(OLD_FILE))
    stored = [ob.ik_triangulation for ob in bpy.data.objects if ob.type == "ARMATURE"]
    assert [each.floor for each in stored if each.is_property_set("floor")].count(False) >= 1
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    rig = set_up_rig(LAST)
    assert body_of(rig, "hand.L").floor
    bake_body(body_of(rig, "hand.L"), 1, 6)
    assert recorded_body(rig, "hand.L", bpy.context.scene)[0].floor

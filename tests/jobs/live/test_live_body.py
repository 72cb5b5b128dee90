# SPDX-License-Identifier: GPL-3.0-or-later
"""A live body follows any of its targets with its feet planted, is keyed and undone as one, and is as it is baked."""

from math import degrees
from time import sleep

import bpy
import numpy as np
import pytest
from mathutils import Vector

from ik_triangulation.jobs.bake import bake_body
from ik_triangulation.jobs.live import following as live
from ik_triangulation.jobs.pose import solve_body_pose
from ik_triangulation.jobs.shots.problem import BodyProblem, body_of
from ik_triangulation.kinematics import Locked
from ik_triangulation.kinematics.rotation import rotation_angle
from ik_triangulation.rig.by_hand.keys import location_before_writing
from ik_triangulation.rig.freedom import store
from ik_triangulation.ui.last_result import latest

from ...bodies import FEET, HANDS, SMALL, set_up_rig
from ...rigs import all_keys, empty, push_down, rotate
from ..test_body_pose import apart, channels, tails

pytestmark = pytest.mark.usefixtures("empty_scene")
LAST = 16


@pytest.fixture(autouse=True)
def ends(addon):
    yield
    live.stop_all()


@pytest.fixture
def rig(empty_scene):
    rig = set_up_rig(LAST)
    for name in HANDS:
        target_of(rig, name).animation_data_clear()
    return rig


def target_of(rig, name):
    return rig.pose.bones[name].ik_triangulation.target


def moved(rig, name, place, moves=6):
    """Drag a target to a place, in so many moves."""
    target = target_of(rig, name)
    start = target.location.copy()
    for part in np.linspace(0.0, 1.0, moves + 1)[1:]:
        target.location = start.lerp(Vector(place), part)
        bpy.context.view_layer.update()
    bpy.context.view_layer.update()


def turned(rig):
    return [bone.matrix.to_quaternion() for bone in rig.pose.bones]


def largest_angle(one, other):
    return degrees(max(a.rotation_difference(b).angle for a, b in zip(one, other, strict=True)))


@pytest.mark.parametrize("name", HANDS)
def test_either_hand_is_dragged_and_the_feet_stay(rig, name):
    feet = tails(rig)
    live.start(rig, "hand.L")
    place = target_of(rig, name).location + Vector((0.0, -0.2, -0.5))
    for part in range(1, 9):
        moved(rig, name, target_of(rig, name).location.lerp(place, part / 8), 1)
        assert apart(tails(rig), feet) < 1e-4
    assert (rig.pose.bones[name].tail - place).length < 1e-3
    assert rig.pose.bones["spine"].head.z < 0.97
    assert not live.problem(rig, "hand.R")
    assert not all_keys(rig)


def test_out_of_reach_the_feet_stay_and_the_report_says_so(rig):
    feet = tails(rig)
    live.start(rig, "hand.L")
    moved(rig, "hand.L", (0.6, -2.5, 1.0), 10)
    assert apart(tails(rig), feet) < 1e-3
    live._measure()
    assert not latest(rig, "hand.L").reached
    assert latest(rig, "foot.L").line.startswith("Missed: hand.L")


@pytest.mark.parametrize(
    "way", [pytest.param((-0.2, -0.2, -0.4), marks=pytest.mark.long), (-0.3, -0.3, -0.6), (-0.3, -0.2, -0.1)]
)
def test_a_drag_comes_to_rest_in_the_pose_of_solve_pose(rig, way):
    live.start(rig, "hand.L")
    moved(rig, "hand.L", target_of(rig, "hand.L").location + Vector(way))
    live.rest_now()
    bpy.context.view_layer.update()
    seen = turned(rig)
    live.stop_all()
    solve_body_pose(body_of(rig, "hand.L"))
    assert largest_angle(seen, turned(rig)) < 2.0


def test_what_is_seen_live_on_the_timeline_is_what_is_baked():
    rig = set_up_rig(LAST, (-0.3, -0.3, -0.5))
    live.start(rig, "hand.L")
    seen = []
    for frame in range(1, LAST + 1):
        bpy.context.scene.frame_set(frame)
        bpy.context.view_layer.update()
        seen.append(turned(rig))
    live.stop_all()
    assert not all_keys(rig)
    bake_body(body_of(rig, "hand.L"), 1, LAST)
    for frame in range(1, LAST + 1):
        bpy.context.scene.frame_set(frame)
        assert largest_angle(seen[frame - 1], turned(rig)) < 0.5


def test_a_shot_is_solved_once_although_the_target_of_a_hand_that_waits_goes_along(rig, monkeypatch):
    target, start = target_of(rig, "hand.L"), target_of(rig, "hand.L").location.copy()
    for frame, way in ((1, (0, 0, 0)), (12, (-0.2, -0.4, -0.6)), (LAST, (0, -0.2, 0))):
        target.location = start + Vector(way)
        target.keyframe_insert("location", frame=frame)
    bpy.context.scene.frame_set(2)
    waiting, before = target_of(rig, "hand.R"), target_of(rig, "hand.R").location.copy()
    live.start(rig, "hand.L")
    solved, path = [], BodyProblem.path
    monkeypatch.setattr(BodyProblem, "path", lambda *given, **more: solved.append(given) or path(*given, **more))
    for frame in (3, 9, 15, 8):
        bpy.context.scene.frame_set(frame)
        bpy.context.view_layer.update()
        assert (tails(rig, ["hand.L"])[0] - target.matrix_world.translation).length < 1e-3
    assert (waiting.location - before).length > 1e-3
    assert len(solved) <= 1


def drive_the_hips(rig):
    hips = rig.pose.bones[body_of(rig, "hand.L").hips]
    driver = hips.driver_add("location", 0).driver
    driver.expression = "0.1 * sin(frame / 6)"


def constrain_what_carries_the_target(rig):
    carrier, leader = empty("Carrier"), empty("Leader")
    for frame, place in ((1, (0.0, 0.0, 0.0)), (LAST, (0.1, -0.1, 0.1))):
        leader.location = place
        leader.keyframe_insert("location", frame=frame)
    carrier.constraints.new("COPY_LOCATION").target = leader
    target_of(rig, "hand.L").parent = carrier


def walk_by_a_strip(rig):
    hips, thigh = rig.pose.bones[body_of(rig, "hand.L").hips], rig.pose.bones["thigh.L"]
    for frame, way in ((1, 0.0), (12, 0.1), (LAST, 0.0)):
        hips.location = (way, -0.6 * way, 0.0)
        hips.keyframe_insert("location", frame=frame)
        rotate(thigh, (1.0, -way, 0.0, 0.0))
        thigh.keyframe_insert("rotation_quaternion", frame=frame)
    push_down(rig)


@pytest.mark.filterwarnings("error::RuntimeWarning")  # as where the only planted leg had no side to open its knee to
@pytest.mark.parametrize("change", [drive_the_hips, constrain_what_carries_the_target, walk_by_a_strip])
def test_where_more_than_keys_moves_a_body_it_is_what_is_baked(change):
    rig = set_up_rig(LAST, SMALL)
    change(rig)
    bpy.context.scene.frame_set(9)
    live.start(rig, "hand.L")
    seen = {9: turned(rig)}
    for frame in (16, LAST, 8):
        bpy.context.scene.frame_set(frame)
        bpy.context.view_layer.update()
        seen[frame] = turned(rig)
    live.stop_all()
    bake_body(body_of(rig, "hand.L"), 1, LAST)
    for frame, before in seen.items():
        bpy.context.scene.frame_set(frame)
        assert max(degrees(rotation_angle(*each)) for each in zip(before, turned(rig), strict=True)) < 0.5


def key_the_thigh(rig):
    for frame, turn in ((1, 0.0), (LAST, 0.4)):
        rotate(rig.pose.bones["thigh.L"], (1.0, turn, 0.0, 0.0))
        rig.pose.bones["thigh.L"].keyframe_insert("rotation_quaternion", frame=frame)


def add_a_strip_to_the_thigh(rig):
    rig.pose.bones["thigh.L"].rotation_mode = "XYZ"
    for frame, turn in ((1, 0.0), (LAST, 0.4)):
        rig.pose.bones["thigh.L"].rotation_euler.x = turn
        rig.pose.bones["thigh.L"].keyframe_insert("rotation_euler", frame=frame)
    push_down(rig, "ADD")


def drive_the_thigh(rig):
    rig.pose.bones["thigh.L"].rotation_mode = "XYZ"
    rig.pose.bones["thigh.L"].driver_add("rotation_euler", 0).driver.expression = "0.02 * frame"


def constrain_the_thigh(rig):
    leader = empty("Leader")
    for frame, turn in ((1, 0.2), (LAST, 0.4)):
        leader.rotation_euler.x = turn
        leader.keyframe_insert("rotation_euler", frame=frame)
    constraint = rig.pose.bones["thigh.L"].constraints.new("COPY_ROTATION")
    constraint.target, constraint.mix_mode, constraint.influence = leader, "ADD", 0.5


@pytest.mark.parametrize(
    ("change", "slips"),
    [
        pytest.param(key_the_thigh, 0, marks=pytest.mark.long),
        (add_a_strip_to_the_thigh, 0),
        (drive_the_thigh, 1),
        pytest.param(constrain_the_thigh, 1, marks=pytest.mark.long),
    ],
)
def test_at_each_frame_feet_are_held_where_the_animation_shows_them_whatever_was_live_before(rig, change, slips):
    change(rig)
    for name in FEET:
        rig.pose.bones[name].ik_triangulation.hold_where = "ANIMATION"
    shown = {}
    for frame in (1, 16):
        bpy.context.scene.frame_set(frame)
        shown[frame] = tails(rig)
    for frame, feet in shown.items():
        bpy.context.scene.frame_set(frame)
        live.start(rig, "hand.L")
        start = target_of(rig, "hand.L").location.copy()
        moved(rig, "hand.L", start + Vector((-0.05, -0.15, -0.25)), 4)
        live.stop(rig, "hand.L")
        told = [latest(rig, "hand.L").report.tips[name].error for name in FEET]
        assert told == pytest.approx([(a - b).length for a, b in zip(tails(rig), feet, strict=True)], abs=2e-4)
        assert (max(told) > 1e-3) == bool(slips)  # told, where something turns the leg whatever its channels are
        target_of(rig, "hand.L").location = start
        bpy.context.view_layer.update()


def test_a_target_that_is_dragged_off_its_animation_is_followed():
    rig = set_up_rig(LAST, (-0.3, -0.3, -0.5))
    live.start(rig, "hand.L")
    bpy.context.scene.frame_set(9)
    target = target_of(rig, "hand.L")
    moved(rig, "hand.L", target.location + Vector((0.05, 0.0, 0.1)), 5)
    assert (rig.pose.bones["hand.L"].tail - target.location).length < 1e-3
    bpy.context.scene.frame_set(10)
    bpy.context.view_layer.update()
    assert (rig.pose.bones["hand.L"].tail - target.matrix_world.translation).length < 1e-3


def test_baked_keys_are_shown_as_they_are():
    rig = set_up_rig(LAST, (-0.3, -0.3, -0.5))
    bake_body(body_of(rig, "hand.L"), 1, LAST)
    bpy.context.scene.frame_set(7)
    before = channels(rig)
    bpy.context.scene.frame_set(1)
    live.start(rig, "hand.L", at_once=False)
    bpy.context.scene.frame_set(7)
    bpy.context.view_layer.update()
    assert channels(rig) == before


def test_with_auto_keying_a_pose_that_rests_is_keyed_with_the_place_of_the_hips(rig):
    live.start(rig, "hand.L")
    bpy.context.scene.tool_settings.use_keyframe_insert_auto = True
    moved(rig, "hand.L", target_of(rig, "hand.L").location + Vector((0.0, -0.2, -0.4)))
    assert not all_keys(rig)
    sleep(1.1 * live._SETTLED)
    assert live._key() is None
    keys = all_keys(rig)
    assert {len(each) for each in keys.values()} == {1}
    assert {name for name, _ in keys} >= {'pose.bones["spine"].location', 'pose.bones["shin.L"].rotation_quaternion'}


def test_a_bone_that_is_posed_by_hand_is_the_new_reference(rig):
    live.start(rig, "hand.L")
    moved(rig, "hand.L", target_of(rig, "hand.L").location + Vector((0.0, -0.1, -0.2)))
    rotate(rig.pose.bones["spine.002"], (0.97, 0.0, 0.24, 0.0))
    bpy.context.view_layer.update()
    place = target_of(rig, "hand.L").location + Vector((0.0, -0.1, 0.0))
    moved(rig, "hand.L", place)
    assert (rig.pose.bones["hand.L"].tail - place).length < 1e-3


def test_the_place_of_the_hips_before_all_drags_stays_known(rig):
    hips = rig.pose.bones["spine"]
    hips.location = by_hand = (0.03, 0.01, 0.0)
    bpy.context.view_layer.update()
    live.start(rig, "hand.L")
    for down in (-0.3, -0.2):
        moved(rig, "hand.L", target_of(rig, "hand.L").location + Vector((0.0, -0.1, down)), 2)
        assert (hips.location - Vector(by_hand)).length > 0.005
        assert location_before_writing(hips) == pytest.approx(by_hand, abs=1e-6)


def test_a_drag_that_is_cancelled_brings_the_pose_back(rig, monkeypatch):
    dragging = [False]
    monkeypatch.setattr(live, "_is_dragging", lambda: dragging[0])
    live.start(rig, "hand.L")
    before, place = channels(rig), target_of(rig, "hand.L").location.copy()
    dragging[0] = True
    moved(rig, "hand.L", place + Vector((0.0, -0.2, -0.3)), 3)
    assert channels(rig) != before
    dragging[0] = False
    moved(rig, "hand.L", place, 1)
    assert channels(rig) == [pytest.approx(each, abs=1e-6) for each in before]


def test_undo_brings_back_what_was_and_it_goes_on_from_there(rig):
    live.start(rig, "hand.L")
    bpy.ops.ed.undo_push(message="Live")
    before, place = channels(rig), target_of(rig, "hand.L").location + Vector((0.0, -0.2, -0.3))
    moved(rig, "hand.L", place)
    bpy.ops.ed.undo_push(message="Moved")
    bpy.ops.ed.undo()
    rig = bpy.data.objects["Rig"]
    bpy.context.view_layer.update()
    assert channels(rig) == [pytest.approx(each, abs=1e-6) for each in before]
    moved(rig, "hand.L", place)
    assert (rig.pose.bones["hand.L"].tail - place).length < 1e-3


def test_a_target_that_is_lost_is_told_and_stop_still_stops(rig):
    live.start(rig, "hand.L")
    target_of(rig, "hand.L").rotation_euler.x += 0.5  # the rotation of a hand's target counts once it is turned
    target_of(rig, "hand.L").scale = (0.0, 0.0, 0.0)
    bpy.context.view_layer.update()
    assert "scaled to zero" in live.problem(rig, "hand.R")
    for name in FEET:
        rig.pose.bones[name].ik_triangulation.hold = False
    rig.pose.bones["hand.R"].ik_triangulation.target = None
    rig.update_tag()
    moved(rig, "hand.L", (0.5, 0.0, 1.0), 2)
    assert "no longer part of a body" in live.problem(rig, "hand.L")
    live.stop(rig, "hand.L")
    assert not live.under_way()


@pytest.mark.parametrize("mode", ["XYZ", "AXIS_ANGLE"])
def test_bones_of_any_rotation_mode_follow(rig, mode):
    for bone in rig.pose.bones:
        bone.rotation_mode = mode
    feet = tails(rig)
    live.start(rig, "hand.L")
    place = target_of(rig, "hand.L").location + Vector((0.0, -0.2, -0.4))
    moved(rig, "hand.L", place)
    assert (rig.pose.bones["hand.L"].tail - place).length < 1e-3
    assert apart(tails(rig), feet) < 1e-4


def test_hips_that_are_fixed_stay(rig):
    rig.ik_triangulation.hips_motion = "FIXED"
    live.start(rig, "hand.L")
    before = tuple(rig.pose.bones["spine"].location)
    moved(rig, "hand.L", target_of(rig, "hand.L").location + Vector((-0.1, -0.1, -0.1)))
    assert tuple(rig.pose.bones["spine"].location) == before


def test_feet_are_planted_at_the_next_frame_of_a_solved_shot_though_a_drag_was_cancelled(rig):
    target, start = target_of(rig, "hand.L"), target_of(rig, "hand.L").location.copy()
    for frame, way in ((1, (0, 0, 0)), (LAST, (-0.2, -0.4, -0.6))):
        target.location = start + Vector(way)
        target.keyframe_insert("location", frame=frame)
    bpy.context.scene.frame_set(2)
    live.start(rig, "hand.L")
    body = live._found(rig, "hand.L")
    bpy.context.scene.frame_set(12)
    assert set(body._motion.problem.samples.places) == set(FEET)
    body._motion = None  # as cancel_drag() leaves it
    bpy.context.scene.frame_set(13)
    assert set(body._motion.problem.samples.places) == set(FEET)


def test_a_shot_that_was_solved_is_solved_again_once_a_limit_has_changed(rig):
    target, start = target_of(rig, "hand.L"), target_of(rig, "hand.L").location.copy()
    for frame, way in ((1, (0, 0, 0)), (12, (-0.2, -0.4, -0.6)), (LAST, (0, -0.2, 0))):
        target.location = start + Vector(way)
        target.keyframe_insert("location", frame=frame)

    def shown_at(*frames):
        for frame in frames:
            bpy.context.scene.frame_set(frame)
            bpy.context.view_layer.update()
        return turned(rig)

    shown_at(2)
    live.start(rig, "hand.L")
    before = shown_at(12, 13)
    store(Locked(), 0.0, rig.pose.bones["upper_arm.L"].ik_triangulation_joint)
    bpy.context.view_layer.update()
    after = shown_at(12, 13)
    assert largest_angle(before, after) > 5.0
    live.stop_all()
    live.start(rig, "hand.L")
    assert largest_angle(shown_at(12, 13), after) < 1.0

# SPDX-License-Identifier: GPL-3.0-or-later
"""Keys of a body hold its tips between frames too, and can be fewer: no tip leaves its bound, no limit is broken."""

from dataclasses import replace

import bpy
import pytest
from mathutils import Quaternion

from ik_triangulation.errors import AnimationError
from ik_triangulation.jobs.bake import bake_body
from ik_triangulation.jobs.setup import set_up_body
from ik_triangulation.jobs.shots.keys import BodyKeySettings
from ik_triangulation.kinematics.rotation import rotation_angle
from ik_triangulation.rig.body import Contact
from ik_triangulation.rig.freedom import freedom_of
from ik_triangulation.rig.rotation import rotation_of
from ik_triangulation.rig.stored_body import stored_body

from ...bodies import FEET, HANDS, human_rig, reaching_body, set_up_rig
from ...rigs import curves_of, evaluated_tip, key_frames

pytestmark = pytest.mark.usefixtures("empty_scene")
LAST = 14
LEG = 0.9  # [m] from hip to ankle


def tips(rig, names, frames):
    """Tips as Blender shows them at frames."""
    found = {name: [] for name in names}
    for frame in frames:
        bpy.context.scene.frame_set(int(frame), subframe=frame - int(frame))
        for name in names:
            found[name].append(evaluated_tip(rig, name))
    return found


def slip(rig, last=LAST, names=FEET):
    """Farthest way of the feet from where they are at frame 1, on frames and half frames."""
    halves = [1 + 0.5 * k for k in range(2 * last - 1)]
    return max((place - places[0]).length for places in tips(rig, names, halves).values() for place in places)


def handles(rig):
    return {(key.interpolation, key.handle_left_type) for curve in curves_of(rig) for key in curve.keyframe_points}


def test_feet_are_held_on_half_frames_of_a_fast_crouch_by_the_handles_of_its_keys():
    rig = human_rig()
    body = reaching_body(rig, LAST)
    linear = bake_body(body, 1, LAST, settings=BodyKeySettings(interpolation="LINEAR"))
    assert linear.tips["foot.L"].error > 1.5e-3
    assert slip(rig) == pytest.approx(max(linear.tips[name].error for name in FEET), abs=1e-4)
    report = bake_body(body, 1, LAST)
    assert report.reached, report.text
    assert slip(rig) < 1e-3 * LEG
    assert max(report.tips[name].error for name in FEET) < 1e-3 * LEG
    assert {frame for curve in curves_of(rig) for frame in key_frames(curve)} == set(range(1, LAST + 1))
    assert {"BEZIER"} == {kind for kind, _ in handles(rig)}


def test_a_slow_motion_keeps_straight_keys():
    rig, last = human_rig(), 60
    report = bake_body(reaching_body(rig, last, down=(-0.2, -0.3, -0.3)), 1, last)
    assert handles(rig) == {("LINEAR", "AUTO_CLAMPED")}
    assert max(report.tips[name].error for name in FEET) < 1e-3 * LEG


@pytest.mark.parametrize("last", [pytest.param(LAST, marks=pytest.mark.long), 48])
def test_reduced_keys_bound_every_tip_and_keep_limits_and_balance(last):
    rig = set_up_rig(last)
    body = stored_body(rig, "hand.L")
    full = bake_body(body, 1, last)
    halves = [1 + 0.5 * k for k in range(2 * last - 1)]
    before = tips(rig, HANDS, halves)
    report = bake_body(body, 1, last, settings=BodyKeySettings(reduce=True))
    assert report.full_keys == full.keys
    assert report.reached  # what was allowed is no miss
    assert report.keys <= (0.35 if last > LAST else 1.0) * full.keys  # a crouch of half a second needs them all
    assert slip(rig, last) < 1e-3 * LEG
    after = tips(rig, HANDS, halves)
    arm = 0.7  # [m]
    assert max((a - b).length for name in HANDS for a, b in zip(before[name], after[name], strict=True)) < 0.005 * arm
    assert report.outside == 0.0
    for frame in halves:
        bpy.context.scene.frame_set(int(frame), subframe=frame - int(frame))
        bones = rig.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones
        for name in body.bones:
            turn = rotation_of(bones[name])
            assert rotation_angle(freedom_of(rig.pose.bones[name]).nearest(turn), turn) < 1e-4


def test_each_tip_has_a_bound_of_its_own():
    rig, last = human_rig(), 40
    body = reaching_body(rig, last)
    default = bake_body(body, 1, last, settings=BodyKeySettings(reduce=True))
    loose = {"foot.L": 0.02, "foot.R": 0.02, "hand.L": 0.05, "hand.R": 0.05}
    report = bake_body(body, 1, last, settings=BodyKeySettings(reduce=True, within=loose))
    assert report.keys < default.keys
    assert all(report.tips[name].error < 0.0205 for name in FEET)
    tight = bake_body(body, 1, last, settings=BodyKeySettings(reduce=True, within={"hand.L": 1e-4}))
    assert tight.keys > default.keys
    assert tight.tips["hand.L"].error < 2e-4


def test_a_scaled_rig_takes_its_bounds_in_world_space():
    rig, last = human_rig(), 40
    rig.scale = 2.0, 2.0, 2.0
    bpy.context.view_layer.update()
    made = set_up_body(rig)
    target = rig.pose.bones["hand.L"].ik_triangulation.target
    target.keyframe_insert("location", frame=1)
    target.location += bpy.data.objects["Rig"].location + type(target.location)((-0.3, -0.5, -1.0))
    target.keyframe_insert("location", frame=last)
    assert made.held == FEET
    body = stored_body(rig, "hand.L")
    report = bake_body(body, 1, last, settings=BodyKeySettings(reduce=True, within=dict.fromkeys(FEET, 0.01)))
    assert report.keys < 0.4 * report.full_keys
    assert slip(rig, last) < 0.5 * 0.0101  # armature space


def test_a_step_keys_every_other_frame_and_its_handles_hold_the_feet_between():
    rig, last = human_rig(), 41
    report = bake_body(reaching_body(rig, last), 1, last, step=2)
    assert {tuple(key_frames(curve)) for curve in curves_of(rig)} == {tuple(range(1, last + 1, 2))}
    assert report.frames == range(1, last + 1, 2)
    assert slip(rig, last) < 1e-3 * LEG


def test_constant_keys_hold_each_pose():
    rig = human_rig()
    bake_body(reaching_body(rig, LAST), 1, LAST, step=2, settings=BodyKeySettings(interpolation="CONSTANT"))
    assert {kind for kind, _ in handles(rig)} == {"CONSTANT"}
    assert slip(rig, LAST - 1) < 1e-4


def test_keys_only_where_one_of_the_targets_has_keys():
    rig = human_rig()
    body = reaching_body(rig, LAST)
    bake_body(body, 1, LAST, settings=BodyKeySettings(only_target_keys=True))
    assert {tuple(key_frames(curve)) for curve in curves_of(rig)} == {(1.0, 7.0, 14.0)}
    with pytest.raises(AnimationError, match="have no keys from frame 2 to 5"):
        bake_body(body, 2, 5, settings=BodyKeySettings(only_target_keys=True))


@pytest.mark.parametrize(
    ("mode", "motion"),
    [
        ("QUATERNION", "UP_DOWN"),
        pytest.param("XYZ", "FREE", marks=pytest.mark.long),
        ("XYZ", "FIXED"),
        ("AXIS_ANGLE", "FREE"),
    ],
)
def test_any_rotation_mode_and_any_motion_of_the_hips_is_held_and_reduced(mode, motion):
    rig = human_rig()
    for bone in rig.pose.bones:
        bone.rotation_mode = mode
    body = reaching_body(rig, LAST, down=(-0.2, -0.3, -0.3), hips_motion=motion)
    bake_body(body, 1, LAST, settings=BodyKeySettings(reduce=True))
    assert slip(rig) < 1e-3 * LEG


def test_feet_that_step_on_a_moving_root_are_held_where_they_are_animated_between_frames_too():
    rig = human_rig()
    bpy.ops.object.mode_set(mode="EDIT")
    root = rig.data.edit_bones.new("root")
    root.head, root.tail = (0, 0, 0), (0, 0.3, 0)
    rig.data.edit_bones["spine"].parent = root
    bpy.ops.object.mode_set(mode="POSE")
    for frame, share in ((1, 0.0), (6, 1.0), (LAST, 0.3)):
        rig.pose.bones["root"].location = 0.2 * share, 0.0, 0.0
        rig.pose.bones["root"].keyframe_insert("location", frame=frame)
        rig.pose.bones["thigh.L"].rotation_quaternion = Quaternion((1, 0, 0), -0.3 * share)
        rig.pose.bones["thigh.L"].keyframe_insert("rotation_quaternion", frame=frame)
    halves = [1 + 0.5 * k for k in range(2 * LAST - 1)]
    before = tips(rig, FEET, halves)
    report = bake_body(reaching_body(rig, LAST, down=(-0.2, -0.3, -0.3)), 1, LAST)
    after = tips(rig, FEET, halves)
    worst = max((a - b).length for name in FEET for a, b in zip(before[name], after[name], strict=True))
    assert worst < 1e-3 * LEG
    assert max(report.tips[name].error for name in FEET) == pytest.approx(worst, abs=1e-5)


@pytest.mark.parametrize("reduced", [False, True])
def test_a_foot_is_planted_in_its_contact_between_frames_and_with_fewer_keys_too(reduced):
    rig = human_rig()
    for frame, turn in ((1, -0.3), (LAST, 0.3)):  # a foot that slides
        rig.pose.bones["thigh.L"].rotation_quaternion = Quaternion((1, 0, 0), turn)
        rig.pose.bones["thigh.L"].keyframe_insert("rotation_quaternion", frame=frame)
    body = replace(reaching_body(rig, LAST, (-0.1, -0.2, -0.1)), contacts=(Contact("foot.L", 4, 9),), contact_fade=3)
    bake_body(body, 1, LAST, settings=BodyKeySettings(reduce=reduced))
    (places,) = tips(rig, ["foot.L"], [4 + 0.5 * k for k in range(11)]).values()
    assert max((place - places[0]).length for place in places) < 2e-3 * LEG
    assert (tips(rig, ["foot.L"], [1])["foot.L"][0] - places[0]).length > 0.05


@pytest.mark.parametrize("reduced", [False, True])
def test_a_foot_whose_influence_fades_is_held_where_that_is_1(reduced):
    rig = set_up_rig(LAST)
    for frame, share in ((5, 1.0), (9, 0.0)):
        rig.pose.bones["foot.L"].ik_triangulation.influence = share
        rig.keyframe_insert('pose.bones["foot.L"].ik_triangulation.influence', frame=frame)
    report = bake_body(stored_body(rig, "hand.L"), 1, LAST, settings=BodyKeySettings(reduce=reduced))
    assert slip(rig, 5) < 1e-3 * LEG
    assert slip(rig, LAST, ["foot.R"]) < 1e-3 * LEG
    assert report.tips["foot.L"].error < 1e-3 * LEG
    before = tips(rig, ["foot.L"], [12.0])["foot.L"][0]
    assert (before - tips(rig, ["foot.L"], [1])["foot.L"][0]).length > 1e-2


def test_smoothing_calms_the_motion():
    """How much it calms varies with the motion. At neither end everything is met, and would have to stay."""
    rig, first, last = human_rig(), 3, 16
    body, frames = reaching_body(rig, 18), range(first, last + 1)
    calmer = replace(body, limbs=tuple(replace(limb, smoothing=1.0) for limb in body.limbs))
    change = []
    for each in (body, calmer):
        bake_body(each, first, last)
        places = tips(rig, ["spine", "spine.002"], frames)
        second = [
            a - 2.0 * b + c for line in places.values() for a, b, c in zip(line, line[1:], line[2:], strict=False)
        ]
        change.append(sum(way.length_squared for way in second))
    assert change[1] < 0.9 * change[0]

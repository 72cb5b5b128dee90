# SPDX-License-Identifier: GPL-3.0-or-later
"""Held feet are planted at one place while only the hips are animated, and where their legs are, as animated."""

import bpy
import numpy as np
import pytest
from mathutils import Quaternion, Vector

from ik_triangulation.jobs.bake import bake_body, rebake_body
from ik_triangulation.jobs.find_contacts import find_contacts
from ik_triangulation.jobs.pose import solve_body_pose
from ik_triangulation.jobs.reach import body_stop, reach_with_body
from ik_triangulation.jobs.setup import set_up_body
from ik_triangulation.jobs.shots.problem import body_of
from ik_triangulation.rig.body import Contact, store_contacts

from ...bodies import FEET, human_rig, sliding_rig, tails

pytestmark = pytest.mark.usefixtures("empty_scene")
LEG = 0.95  # length of a leg of the rig
DOWN = (0.2, 0.0, -0.3)


def key_hips(rig, moves, hips="spine"):
    bone = rig.pose.bones[hips]
    into = bone.bone.matrix_local.to_3x3().inverted()
    for frame, move in moves:
        bone.location = into @ Vector(move)
        bone.keyframe_insert("location", frame=frame)


def sitting_rig(last=12):
    """A rig that is set up as a body, with only its hips keyed: down and aside."""
    rig = human_rig(with_head=True)
    bpy.context.view_layer.update()
    set_up_body(rig)
    rig.ik_triangulation.heels = False
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, last
    key_hips(rig, ((1, (0.0, 0.0, 0.0)), (last, DOWN)))
    bpy.context.scene.frame_set(1)
    return rig


def places(rig):
    """Places and rotations of the feet as shown now."""
    return {name: rig.pose.bones[name].matrix.copy() for name in FEET}


def slip(rig, before, frames):
    """The largest difference of the feet from their places and rotations before, at some frames."""
    found = []
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        found += [np.abs(np.array(each) - np.array(before[name])).max() for name, each in places(rig).items()]
    return max(found)


def key_leg(rig, bone="thigh.L"):
    for frame, turn in ((1, 0.0), (12, 0.3)):
        rig.pose.bones[bone].rotation_quaternion = Quaternion((1, 0, 0), turn)
        rig.pose.bones[bone].keyframe_insert("rotation_quaternion", frame=frame)


def test_to_sit_only_the_hips_are_keyed_and_the_feet_stay_and_knees_bend_ahead():
    rig = sitting_rig()
    before, hips = places(rig), tails(rig, "spine", range(1, 13))
    report = bake_body(body_of(rig, "foot.L"), 1, 12)
    assert report.reached
    assert max(report.tips[name].error for name in FEET) < 1e-3 * LEG
    assert slip(rig, before, range(1, 13)) < 1e-3 * LEG
    assert np.allclose(tails(rig, "spine", range(1, 13)), hips, atol=1e-3), "hips keep their keys"
    for side in "LR":
        hip, knee, ankle = (rig.pose.bones[f"{name}.{side}"].head for name in ("thigh", "shin", "foot"))
        assert knee.y < (hip.y + ankle.y) / 2.0 - 0.15, "the rig looks along -Y"


def test_a_part_of_the_shot_and_a_bake_again_and_a_pose_plant_the_feet_at_the_same_place():
    rig = sitting_rig()
    before = places(rig)
    bpy.context.scene.frame_set(9)
    solve_body_pose(body_of(rig, "foot.L"))
    assert max(np.abs(np.array(each) - np.array(before[name])).max() for name, each in places(rig).items()) < 1e-3
    bake_body(body_of(rig, "foot.L"), 6, 10)
    assert slip(rig, before, range(6, 11)) < 1e-3 * LEG
    key_leg(rig, "shin.L")  # beyond the bake: the leg is animated now, but was not when it was baked
    assert body_of(rig, "foot.L").planted == FEET[1:]
    rebake_body(rig, "foot.L")
    assert slip(rig, before, range(6, 11)) < 1e-3 * LEG


def test_a_key_that_corrects_a_bake_neither_moves_the_place_nor_makes_the_leg_animated():
    rig = sitting_rig()
    before = places(rig)
    bake_body(body_of(rig, "foot.L"), 1, 12)
    rig.pose.bones["thigh.L"].rotation_quaternion = Quaternion((1, 0, 0), -0.2)
    rig.pose.bones["thigh.L"].keyframe_insert("rotation_quaternion", frame=1)
    rig.pose.bones["thigh.L"].keyframe_insert("rotation_quaternion", frame=6)
    body = body_of(rig, "foot.L")
    assert body.planted == FEET
    bake_body(body, 1, 12)
    assert slip(rig, before, range(1, 13)) < 1e-3 * LEG


def test_a_reach_keeps_the_feet_planted():
    rig = sitting_rig(24)
    before, target = places(rig), rig.pose.bones["hand.L"].ik_triangulation.target
    target.location += Vector((-0.2, -0.3, -0.1))
    body = body_of(rig, "hand.L")
    reach_with_body(body, [body_stop(body, "hand.L", 20)], 8)
    assert slip(rig, before, range(8, 21)) < 1e-3 * LEG


def test_held_feet_are_judged_by_the_place_where_they_are_planted():
    rig = sitting_rig()
    rig.animation_data_clear()
    key_hips(rig, ((1, (0.0, 0.0, 0.0)), (12, (0.0, 0.0, 0.3))))
    rig.ik_triangulation.hips_motion = "FIXED"
    report = bake_body(body_of(rig, "foot.L"), 1, 12)
    assert report.tips["foot.L"].missed
    assert report.tips["foot.L"].error == pytest.approx(0.3, abs=0.08), "the hips lift them off the floor"


@pytest.mark.parametrize(("where", "planted"), [("AUTO", FEET[1:]), ("PLACE", FEET), ("ANIMATION", ())])
def test_hold_where_says_whether_a_leg_that_is_animated_is_planted(where, planted):
    rig = sitting_rig()
    key_leg(rig)
    for name in FEET:
        rig.pose.bones[name].ik_triangulation.hold_where = where
    assert body_of(rig, "foot.L").planted == planted


def test_as_animated_feet_whose_legs_have_no_keys_move_with_the_hips():
    rig = sitting_rig()
    for name in FEET:
        rig.pose.bones[name].ik_triangulation.hold_where = "ANIMATION"
    animated = tails(rig, "foot.L", (1, 6, 12))
    bake_body(body_of(rig, "foot.L"), 1, 12)
    assert np.allclose(tails(rig, "foot.L", (1, 6, 12)), animated, atol=1e-3)


def test_strips_drivers_and_constraints_animate_a_leg_and_limits_and_keys_of_the_trunk_do_not():
    rig = sitting_rig()
    shin = rig.pose.bones["shin.R"]
    shin.constraints.new("LIMIT_ROTATION")
    key_leg(rig, "spine.001")
    assert body_of(rig, "foot.L").planted == FEET
    copied = shin.constraints.new("COPY_ROTATION")
    copied.target, copied.subtarget = rig, "shin.L"
    assert body_of(rig, "foot.L").planted == FEET[:1]
    copied.mute = True
    curve = shin.driver_add("rotation_quaternion", 1)
    assert body_of(rig, "foot.L").planted == FEET[:1]
    curve.mute = True
    assert body_of(rig, "foot.L").planted == FEET
    key_leg(rig)
    strip = rig.animation_data.nla_tracks.new().strips.new("Walk", 1, rig.animation_data.action)
    rig.animation_data.action = None
    assert body_of(rig, "foot.L").planted == FEET[1:]
    strip.mute = True
    assert body_of(rig, "foot.L").planted == FEET


def test_feet_stay_where_a_strip_moves_the_hips():
    rig = sitting_rig()
    rig.animation_data.nla_tracks.new().strips.new("Sit", 1, rig.animation_data.action)
    rig.animation_data.action = None
    bpy.context.view_layer.update()
    before = places(rig)
    target = rig.pose.bones["hand.L"].ik_triangulation.target
    target.location.z -= 0.2
    assert bake_body(body_of(rig, "foot.L"), 4, 12).tips["foot.L"].missed == []
    assert slip(rig, before, range(4, 13)) < 1e-3 * LEG


def test_a_recorded_motion_with_contacts_is_planted_in_these_alone():
    rig = sliding_rig(24)
    find_contacts(rig, 1, 24)
    assert body_of(rig, "foot.R").contacts
    assert body_of(rig, "foot.R").planted == ()


def test_contacts_win_over_the_place_in_their_spans():
    rig = sliding_rig(24)
    for name in FEET:
        stored = rig.pose.bones[name].ik_triangulation
        stored.hold, stored.hold_where, stored.chain_count = True, "PLACE", 4
    store_contacts(rig, [Contact("foot.R", 16, 20)])
    rig.ik_triangulation.contact_fade = 4
    animated = tails(rig, "foot.R", (1, 18))
    bake_body(body_of(rig, "foot.R"), 1, 24)
    first, contact = tails(rig, "foot.R", (6, 18))
    assert (first - animated[0]).length < 1e-3
    assert (contact - animated[1]).length < 1e-3


def test_the_place_goes_along_with_the_object_of_the_armature():
    rig = sitting_rig()
    rig.keyframe_insert("location", frame=1)
    rig.location.x = 2.0
    rig.keyframe_insert("location", frame=12)
    before = places(rig)
    assert bake_body(body_of(rig, "foot.L"), 1, 12).reached
    assert slip(rig, before, range(1, 13)) < 1e-3 * LEG

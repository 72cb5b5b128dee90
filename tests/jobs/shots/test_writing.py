# SPDX-License-Identifier: GPL-3.0-or-later
"""Keys are written as one: what was there is kept, the present frame shows them, and a write that fails undoes all."""

import bpy
import pytest
from mathutils import Quaternion

from ik_triangulation.jobs.bake import bake, bake_body, bake_limbs, delete_generated
from ik_triangulation.jobs.pose import solve_body_pose, solve_pose
from ik_triangulation.jobs.shots.keys import BodyKeySettings
from ik_triangulation.rig.by_hand.reference import hold_reference
from ik_triangulation.rig.keyframes import generated
from ik_triangulation.rig.limb import Limb

from ...bodies import SMALL, human_rig, reaching_body
from ...ik_rigs import arm_limb, ik_arm
from ...interrupted import writes_that_undo_all
from ...modes import in_turn
from ...rigs import all_keys, curves_of, evaluated_tip, push_down
from ..moving import animated, limb

pytestmark = pytest.mark.usefixtures("empty_scene")
LAST = 12


def values(rig):
    return [(*bone.location, *bone.rotation_quaternion) for bone in rig.pose.bones]


@pytest.mark.parametrize(("frame", "kind"), [(1, "NLA_TRACK"), (5, "ACTION"), (5, "NLA_TRACK"), (40, "NEW_ACTION")])
def test_the_present_frame_shows_the_keys_at_once(frame, kind):
    rig = human_rig()
    body = reaching_body(rig, LAST, SMALL)
    bpy.context.scene.frame_set(frame)
    bake_body(body, 1, LAST, settings=BodyKeySettings(destination=kind))
    shown = values(rig)
    place = evaluated_tip(rig, "hand.L")
    bpy.context.scene.frame_set(frame)
    assert values(rig) == [pytest.approx(each, abs=1e-6) for each in shown]
    assert (evaluated_tip(rig, "hand.L") - place).length < 1e-5


def test_a_pose_without_keys_outside_the_body_stays():
    rig = human_rig()
    rig.pose.bones["toe.L"].rotation_quaternion = Quaternion((1, 0, 0), 0.3)
    before = tuple(rig.pose.bones["toe.L"].rotation_quaternion)
    bake_body(reaching_body(rig, LAST, SMALL), 1, LAST)
    assert tuple(rig.pose.bones["toe.L"].rotation_quaternion) == before


def test_a_new_action_gives_back_what_the_bake_replaced():
    rig = human_rig()
    for frame, x in ((1, 0.0), (9, 0.1)):
        rig.pose.bones["spine"].location.x = x
        rig.pose.bones["spine"].keyframe_insert("location", frame=frame)
    before = all_keys(rig)
    body = reaching_body(rig, LAST, SMALL)
    bake_body(body, 1, LAST, settings=BodyKeySettings(destination="NEW_ACTION"))
    assert all_keys(rig) != before
    delete_generated(rig, body.bones)
    assert all_keys(rig) == before


def disturbed_body(kind):
    """A body with keys and a pose made by hand that its bake replaces."""
    rig = human_rig()
    rig.pose.bones["spine"].keyframe_insert("location", frame=3)
    rig.pose.bones["thigh.L"].keyframe_insert("rotation_quaternion", frame=2)
    if kind == "NLA_TRACK":
        push_down(rig)
    return reaching_body(rig, LAST, SMALL)


@pytest.mark.parametrize("kind", ["ACTION", "NEW_ACTION", "NLA_TRACK", "LAYER"])
def test_a_write_of_a_body_that_fails_undoes_all(kind):
    body = disturbed_body(kind)
    settings = BodyKeySettings(destination=kind, mark_misses=True, reduce=True)
    assert writes_that_undo_all(lambda: bake_body(body, 1, LAST, settings=settings), stride=23) > 80


def test_a_write_of_a_body_that_is_posed_undoes_all():
    body = disturbed_body("ACTION")
    assert writes_that_undo_all(lambda: solve_body_pose(body, key=True), stride=13) > 40


@pytest.mark.parametrize(
    ("where", "kind"),
    in_turn(["ACTION", "NEW_ACTION", "NLA_TRACK", "LAYER"], ["no animation", "an empty action", "keys"]),
)
def test_a_write_of_a_limb_that_fails_undoes_all(where, kind, long):
    rig, target = animated(kind)
    if (where, kind) == ("NLA_TRACK", "keys"):
        push_down(rig)
    bpy.context.view_layer.update()
    rig.pose.bones["Bone 0"].rotation_quaternion = (0.6, 0.0, 0.8, 0.0)  # posed, not keyed
    own = limb(rig, target, destination=where, mark_misses=True)
    assert writes_that_undo_all(lambda: bake(own, 1, 10), stride=1 if long else 7) > 15


def test_a_write_of_a_limb_that_is_posed_undoes_all():
    rig, target = animated("keys")
    rig.pose.bones["Bone 0"].rotation_quaternion = (0.6, 0.0, 0.8, 0.0)  # posed, not keyed
    assert writes_that_undo_all(lambda: solve_pose(limb(rig, target), key=True)) > 10


def test_a_write_of_several_limbs_undoes_all():
    rig, target = animated("keys")
    limbs = [Limb.from_tip(rig, tip, target, 1) for tip in ("Bone 0", "Bone 2")]
    assert writes_that_undo_all(lambda: bake_limbs(limbs, 1, 6), stride=5) > 10


def test_a_write_of_ik_controls_that_fails_undoes_all():
    rig = ik_arm(stretch=True)
    rig.pose.bones["Palm"].constraints[0].influence = 0.0
    rig.pose.bones["Ulna"].constraints[0].mute = True
    rig.pose.bones["Grip"].keyframe_insert("location", frame=3)
    rig.pose.bones["Grip"].location.x = 0.1  # posed, not keyed
    own = arm_limb(rig, keys_on="IK")
    bpy.context.view_layer.update()
    assert writes_that_undo_all(lambda: bake(own, 1, 6), stride=7) > 20


def test_a_pose_that_a_bake_left_does_not_count_as_made_by_hand():
    """Also without keys: those of the bake were deleted by other means."""
    rig = human_rig()
    rig.pose.bones["forearm.L"].rotation_quaternion = Quaternion((1, 0, 0), 0.4)
    before = [tuple(bone.rotation_quaternion) for bone in rig.pose.bones]
    body = reaching_body(rig, LAST, SMALL)
    bake_body(body, 1, LAST)
    own = Limb.from_tip(rig, "hand.L", body.limbs[0].target, 3)
    bake(own, 1, LAST)
    rig.animation_data_clear()
    assert [tuple(rig.pose.bones[name].rotation_quaternion) for name in own.bones] != [
        before[rig.pose.bones.find(name)] for name in own.bones
    ]
    for part in (body, own):
        held = hold_reference([rig.pose.bones[name] for name in part.bones], bpy.context.scene)
        for name in part.bones:
            assert held[name] == pytest.approx(before[rig.pose.bones.find(name)], abs=1e-6)


def test_no_more_curves_are_made_than_the_body_needs():
    rig = human_rig()
    body = reaching_body(rig, LAST, SMALL, hips_motion="FIXED")
    bake_body(body, 1, LAST)
    assert not [curve for curve in curves_of(rig) if curve.data_path.endswith("location")]


# IK controls


@pytest.mark.parametrize("mode", ["QUATERNION", "AXIS_ANGLE", "XYZ", "ZXY"])
def test_controls_have_generated_keys_in_their_rotation_mode(mode):
    rig = ik_arm()
    rig.pose.bones["Grip"].rotation_mode = mode
    report = bake(arm_limb(rig, keys_on="IK"), 1, 6)
    assert report.all_reached
    assert report.keys == sum(len(curve.keyframe_points) for curve in curves_of(rig))
    assert all(generated(curve).all() for curve in curves_of(rig))
    assert len(curves_of(rig)) == 3 + (3 if len(mode) == 3 else 4) + 3


def test_the_present_frame_is_posed_at_once():
    rig = ik_arm()
    limb = arm_limb(rig, keys_on="IK")
    bpy.context.scene.frame_set(4)
    bake(limb, 1, 6)
    shown = rig.pose.bones["Grip"].location.copy()
    bpy.context.scene.frame_set(5)
    bpy.context.scene.frame_set(4)
    assert (rig.pose.bones["Grip"].location - shown).length < 1e-6


def test_keys_made_by_hand_come_back_with_the_last_generated_one():
    rig = ik_arm()
    for frame in (2, 5, 30):
        for name in ("Grip", "Aim"):
            rig.pose.bones[name].location.z = 0.01 * frame
            rig.pose.bones[name].keyframe_insert("location", frame=frame)
    before = all_keys(rig)
    for _ in range(2):
        bake(arm_limb(rig, keys_on="IK"), 1, 6)
        assert all_keys(rig) != before
    delete_generated(rig, ["Grip", "Aim"])
    assert all_keys(rig) == before

# SPDX-License-Identifier: GPL-3.0-or-later
"""Hands and feet are found on what they truly rest on, and held there; what they only pass is no contact."""

import bpy
import numpy as np
import pytest
from mathutils import Vector

from ik_triangulation.errors import ChainError, TargetError
from ik_triangulation.jobs.bake import bake_body
from ik_triangulation.jobs.find_contacts import _Figure, find_contacts
from ik_triangulation.jobs.shots.problem import bodies_and_tips, body_of
from ik_triangulation.rig.body import stored_contacts
from scripts.benchmarks import touching
from scripts.benchmarks.contacts import places_on

from ..bodies import human_rig, sliding_rig, tails
from ..rigs import all_keys, curves_of, nothing_lost

pytestmark = pytest.mark.usefixtures("empty_scene")


def of_hands(found):
    return [each for each in found if each.tip.startswith("hand")]


def test_hands_are_found_on_a_cart_that_moves_and_held_there():
    made = touching.hands_on_a_cart(5)
    found = find_contacts(made.rig, 1, made.frames)
    cart = bpy.data.objects["Cart"]
    assert [(each.tip, each.support) for each in of_hands(found)] == [("hand.R", cart), *[("hand.L", cart)] * 2]
    for each, truth in zip(of_hands(found), sorted(made.truths, key=lambda truth: truth.first), strict=True):
        assert abs(each.frame_start - truth.first) <= 4
        assert abs(each.frame_end - truth.last) <= 4
    assert all(bake_body(body, 1, made.frames).reached for body in bodies_and_tips(made.rig)[0])
    for each in found:
        places = places_on(made.rig, each, made.frames)[2 * int(each.frame_start) - 2 : 2 * int(each.frame_end) - 1]
        assert np.ptp(places, axis=0).max() < 1e-3


def test_a_hand_on_the_own_thigh_goes_along_with_it_and_the_trunk_stays():
    made = touching.hand_on_the_thigh(5)
    found = find_contacts(made.rig, 1, made.frames)
    (hand,) = of_hands(found)
    assert hand.on == (made.rig, "thigh.L")
    every = range(1, made.frames + 1)
    trunk = tails(made.rig, "spine", every)
    report = bake_body(body_of(made.rig, "hand.L"), 1, made.frames)
    assert report.reached
    inside = slice(2 * int(hand.frame_start) - 2, 2 * int(hand.frame_end) - 1)
    assert np.ptp(places_on(made.rig, hand, made.frames)[inside], axis=0).max() < 1e-3
    away = [(a - b).length for a, b in zip(tails(made.rig, "spine", every), trunk, strict=True)]
    assert max(away) < 5e-3  # as much as its feet need


def test_feet_are_found_on_a_table_that_turns_and_not_in_the_world():
    made = touching.feet_on_a_turntable(5)
    found = find_contacts(made.rig, 1, made.frames)
    assert {each.support for each in found} == {bpy.data.objects["Turntable"]}
    assert sorted({each.tip for each in found}) == ["foot.L", "foot.R"]
    assert len(found) == len(made.truths)


def test_hands_that_pass_by_a_cupboard_and_rest_beside_it_touch_nothing():
    made = touching.hands_that_pass_by(5)
    assert of_hands(find_contacts(made.rig, 1, made.frames)) == []
    assert not made.rig.pose.bones["hand.L"].ik_triangulation.hold


def test_a_hand_that_moves_slowly_where_there_is_nothing_touches_nothing():
    rig = human_rig()
    for frame, turn in ((1, 0.0), (60, 0.35)):
        rig.pose.bones["upper_arm.L"].rotation_mode = "XYZ"
        rig.pose.bones["upper_arm.L"].rotation_euler.x = turn
        rig.pose.bones["upper_arm.L"].keyframe_insert("rotation_euler", frame=frame)
    assert find_contacts(rig, 1, 60, ["hand.L"]) == []
    assert stored_contacts(rig) == ()


def still_hand(*, on):
    """A figure whose left hand stays on a box, which hangs on its right hand or stands on its own."""
    rig, stage = human_rig(), touching.Stage(24, 1)
    bpy.data.objects.remove(stage.model)
    place = rig.pose.bones["hand.L"].tail + Vector((0.0, 0.0, -0.06))
    box = stage.mesh("Box", (0.2, 0.2, 0.08), place=place)
    rig.pose.bones["spine.002"].keyframe_insert("rotation_quaternion", frame=1)
    if on:
        hold = box.constraints.new("CHILD_OF")
        hold.name, hold.target, hold.subtarget = f"Held by {on}", rig, on
        hold.inverse_matrix = (rig.matrix_world @ rig.pose.bones[on].matrix).inverted()
    bpy.context.view_layer.update()
    return rig, box


def test_hands_alone_leave_the_hips_and_what_is_in_the_other_hand_is_on_that():
    rig, box = still_hand(on="")
    (found,) = find_contacts(rig, 1, 24, ["hand.L"])
    assert found.on == (box, "")
    assert rig.ik_triangulation.hips_motion == "FIXED"
    assert bake_body(body_of(rig, "hand.L"), 1, 24).reached
    assert {path.split('"')[1] for path, _ in all_keys(rig)} <= {"upper_arm.L", "forearm.L", "hand.L", "spine.002"}
    assert find_contacts(rig, 1, 24, ["foot.L", "foot.R"])
    assert rig.ik_triangulation.hips_motion == "FREE"
    for ob in (rig, box):
        bpy.data.objects.remove(ob)
    rig, box = still_hand(on="hand.R")
    found = of_hands(find_contacts(rig, 1, 24))
    assert [(each.tip, each.on) for each in found] == [("hand.L", (rig, "hand.R"))]
    for frame, turn in ((1, -0.3), (12, 0.0)):  # the right hand comes and takes it
        rig.pose.bones["upper_arm.R"].rotation_quaternion = 1.0, turn, 0.0, 0.0
        rig.pose.bones["upper_arm.R"].keyframe_insert("rotation_quaternion", frame=frame)
        box.constraints[0].influence = float(frame == 12)
        box.constraints[0].keyframe_insert("influence", frame=frame)
    for curve in curves_of(box):
        for key in curve.keyframe_points:
            key.interpolation = "CONSTANT"
    found = of_hands(find_contacts(rig, 1, 24))
    assert [(each.tip, each.on, each.frame_start) for each in found] == [("hand.L", (rig, "hand.R"), 12)]


def test_the_things_that_count_can_be_chosen():
    rig, box = still_hand(on="")
    assert of_hands(find_contacts(rig, 1, 24, supports=[])) == []
    assert [each.support for each in of_hands(find_contacts(rig, 1, 24, supports=[box]))] == [box]


@pytest.mark.parametrize("kind", ["empty", "skin", "away"])
def test_things_that_nothing_touches_are_named_and_nothing_is_lost(kind):
    rig = sliding_rig(12)
    mesh = bpy.data.meshes.new("Mesh")
    mesh.from_pydata([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [], [(0, 1, 2)])
    ob = bpy.data.objects.new("Thing", None if kind == "empty" else mesh)
    if kind != "away":
        bpy.context.scene.collection.objects.link(ob)
    if kind == "skin":
        ob.modifiers.new("Armature", "ARMATURE").object = rig
    with nothing_lost(), pytest.raises(TargetError, match="'Thing'"):
        find_contacts(rig, 1, 12, supports=[ob])


def test_a_hand_that_does_not_hang_on_the_hips_is_named():
    rig = human_rig()
    rig.ik_triangulation.hips = "thigh.L"
    with nothing_lost(), pytest.raises(ChainError, match=r"'thigh\.L' is not above all tips"):
        find_contacts(rig, 1, 5, ["hand.R"])


def test_limbs_are_read_from_hips_above_them_without_uneven_scale_and_arms_that_stand_have_no_hands():
    rig = human_rig()
    figure = _Figure(rig)
    assert set(figure.ends) == {"hand.L", "hand.R", "foot.L", "foot.R"}
    assert figure.free_hands == ["hand.L", "hand.R"]
    assert [figure.arm_length(tip) for tip in ("hand.L", "foot.L")] == [3, 0]
    bones = rig.data.bones
    whole = sum(
        (bones[b].head_local - bones[a].head_local).length for a, b in (("thigh.L", "shin.L"), ("shin.L", "foot.L"))
    )
    assert figure.length("foot.L") == pytest.approx(whole)
    assert (figure.is_readable("hand.L", "spine"), figure.is_readable("hand.L", "thigh.L")) == (True, False)
    rig.pose.bones["forearm.L"].scale = (1.0, 1.2, 1.0)
    assert (figure.is_readable("hand.L", "spine"), figure.is_readable("hand.R", "spine")) == (False, True)
    bpy.ops.object.mode_set(mode="EDIT")
    edit = rig.data.edit_bones
    edit["forearm.R"].tail, edit["hand.R"].tail = (-0.3, -0.2, 0.2), (-0.3, -0.3, 0.03)
    bpy.ops.object.mode_set(mode="POSE")
    assert list(_Figure(rig).hands) == ["hand.L"]

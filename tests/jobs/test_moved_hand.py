# SPDX-License-Identifier: GPL-3.0-or-later
"""A hand whose target is only moved stays natural to its forearm, and turns with it over the whole shot once turned."""

from itertools import pairwise
from math import degrees, radians

import bpy
import pytest
from mathutils import Quaternion, Vector

from ik_triangulation.jobs.bake import bake, bake_body
from ik_triangulation.jobs.live import following as live
from ik_triangulation.jobs.setup import add_limbs, give_new_target, set_up_body
from ik_triangulation.jobs.shots.problem import body_of
from ik_triangulation.jobs.targets import TargetDrag, target_from_animation
from ik_triangulation.kinematics.rotation import rotation_angle
from ik_triangulation.rig.limb import Limb
from ik_triangulation.rig.targets.untouched import is_as_made, is_not_turned_yet

from ..bodies import human_rig
from ..rigs import armature, empty

pytestmark = pytest.mark.usefixtures("empty_scene")

HAND, FOREARM = "hand.L", "forearm.L"
ARM = "shoulder.L", "upper_arm.L", FOREARM, HAND
WAYS = {1: (0.0, 0.0, 0.0), 12: (-0.35, -0.4, 0.2), 24: (-0.5, -0.3, -0.1)}
NATURAL = 0.5  # degrees that rounding of stored keys explains


@pytest.fixture(autouse=True)
def ends(addon):
    yield
    live.stop_all()


def hand(tip=HAND):
    rig = human_rig()
    (made,) = add_limbs(rig, [tip])
    bpy.context.view_layer.update()
    return rig, rig.pose.bones[made].ik_triangulation.target


def key(target, turn=0.0, rotation=True):
    """Move the target by WAYS, turned at frame 12, keyed as Blender keys by default: location, rotation and scale."""
    place, turned = target.location.copy(), target.rotation_euler.copy()
    for frame, way in WAYS.items():
        target.location = place + Vector(way)
        target.rotation_euler = turned
        if frame == 12:
            target.rotation_euler.rotate_axis("Z", radians(turn))
        for path in ("location", "scale", *(["rotation_euler"] if rotation else [])):
            target.keyframe_insert(path, frame=frame)


def off_forearm(rig):
    """Turn of the hand off its forearm from rest [degrees], as shown."""
    shown = rig.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones[HAND]
    return degrees(rotation_angle(shown.matrix_basis.to_quaternion(), Quaternion()))


def off_target(rig, target):
    """Angle between hand and target [degrees], as shown."""
    graph = bpy.context.evaluated_depsgraph_get()
    turned = (rig.matrix_world @ rig.evaluated_get(graph).pose.bones[HAND].matrix).to_quaternion()
    return degrees(rotation_angle(turned, target.evaluated_get(graph).matrix_world.to_quaternion()))


def over_the_shot(what, *given):
    found = []
    for frame in range(1, 25):
        bpy.context.scene.frame_set(frame)
        found.append(what(*given))
    return found


@pytest.mark.parametrize("rotation", [False, True], ids=["location", "all"])
def test_a_bake_leaves_the_hand_as_it_is_on_the_forearm_and_judges_no_angle(rotation):
    rig, target = hand()
    key(target, rotation=rotation)
    report = bake(Limb.of(rig.pose.bones[HAND]), 1, 24)
    assert report.reached
    assert report.largest_angle is None
    assert max(over_the_shot(off_forearm, rig)) < NATURAL


def test_one_key_that_turns_it_has_the_hand_turn_with_it_at_all_frames():
    rig, target = hand()
    key(target, turn=15.0)
    report = bake(Limb.of(rig.pose.bones[HAND]), 1, 24)
    assert report.largest_angle is not None
    off = over_the_shot(off_target, rig, target)
    assert off[0] < 0.1
    assert off[1] < 0.5, "the next frames trade, and what is traded begins smoothly"
    assert max(off) < 20.0
    assert max(over_the_shot(off_forearm, rig)) > 5.0


def test_a_foot_turns_with_its_target_at_once():
    rig, target = hand("foot.L")
    assert not is_as_made(target)
    assert not is_not_turned_yet(rig.pose.bones["foot.L"].ik_triangulation)


@pytest.mark.parametrize("choice", ["AUTO", "FULL", "NONE"])
def test_a_choice_of_the_user_wins(choice):
    rig, target = hand()
    rig.pose.bones[HAND].ik_triangulation.orientation = choice
    target.location += Vector(WAYS[12])
    bpy.context.view_layer.update()
    bake(Limb.of(rig.pose.bones[HAND]), 1, 1)
    assert (off_forearm(rig) < NATURAL) == (choice != "FULL")


def test_a_limb_of_an_earlier_file_keeps_requesting_the_rotation():
    rig, target = hand()
    target.ik_triangulation_made_rotation = (0.0, 0.0, 0.0, 0.0)  # as if it was never there
    key(target)
    assert bake(Limb.of(rig.pose.bones[HAND]), 1, 24).largest_angle is not None
    assert max(over_the_shot(off_forearm, rig)) > 5.0


def test_another_target_turns_the_hand_and_a_new_one_does_not():
    rig, _ = hand()
    stored = rig.pose.bones[HAND].ik_triangulation
    stored.target = empty("Mine")
    stored.target.empty_display_type = "ARROWS"
    assert not is_not_turned_yet(stored)
    give_new_target(rig, HAND)
    assert is_not_turned_yet(stored)


def test_live_follows_a_move_and_then_a_turn():
    rig, target = hand()
    live.start(rig, HAND)
    target.location += Vector(WAYS[12])
    bpy.context.view_layer.update()
    assert off_forearm(rig) < NATURAL
    target.rotation_euler.rotate_axis("X", radians(5.0))
    bpy.context.view_layer.update()
    assert off_target(rig, target) < 1.0


def test_a_ring_that_is_dragged_begins_with_the_rotation_of_the_hand():
    rig, target = hand()
    target.location += Vector(WAYS[12])
    bpy.context.view_layer.update()
    bake(Limb.of(rig.pose.bones[HAND]), 1, 1)
    assert off_target(rig, target) > 20.0
    drag = TargetDrag(rig, HAND, bpy.context.scene, bpy.context.view_layer)
    drag.turn(Quaternion((1.0, 0.0, 0.0), radians(3.0)))
    assert off_target(rig, target) < 0.5
    assert 1.0 < off_forearm(rig) < 4.0
    drag.cancel()
    assert is_as_made(target)


def test_target_from_animation_turns_it_even_where_the_hand_never_turns():
    rig, target = hand()
    limb = Limb.of(rig.pose.bones[HAND])
    target_from_animation([limb], 1, 10)
    assert not is_as_made(target)


@pytest.mark.parametrize("ahead", [-0.01, 0.0, 0.01])
def test_a_knee_that_is_straight_at_rest_bends_forwards_though_its_foot_is_told_no_rotation(ahead):
    places = [(0.1, 0.0, 0.9), (0.1, -ahead, 0.5), (0.1, 0.0, 0.1), (0.1, -0.15, 0.02)]
    names = ("thigh.L", "shin.L", "foot.L")
    specs = [{"name": "hips", "head": Vector((0.0, 0.0, 0.95)), "tail": Vector((0.0, 0.0, 1.1)), "parent": None}]
    for name, (head, tail) in zip(names, pairwise(map(Vector, places)), strict=True):
        specs.append({"name": name, "head": head, "tail": tail, "parent": specs[-1]["name"]})
    rig, target = armature("Leg", specs), empty(location=places[-1])
    add_limbs(rig, ["foot.L"], target)
    for frame, height in ((1, 0.02), (30, 0.27)):
        target.location.z = height
        target.keyframe_insert("location", frame=frame)
    assert bake(Limb.of(rig.pose.bones["foot.L"]), 1, 30).reached
    forward = []
    for frame in range(1, 31):
        bpy.context.scene.frame_set(frame)
        forward.append(-rig.pose.bones["shin.L"].head.y)
    assert abs(forward[0] - ahead) < 1e-3
    assert forward[4] > 0.05
    assert forward[-1] > 0.3
    assert max(after - before for before, after in pairwise(forward)) < 0.025


def test_an_arm_that_is_straight_at_rest_does_not_turn_about_itself_there_and_live_does_as_the_bake():
    places = [(0.17, 0.0, 1.43), (0.2, 0.0, 1.43), (0.53, 0.0, 1.43), (0.78, 0.0, 1.43), (0.97, 0.0, 1.43)]
    specs = [{"name": "chest", "head": Vector((0.0, 0.0, 1.1)), "tail": Vector((0.0, 0.0, 1.4)), "parent": None}]
    for name, (head, tail) in zip(ARM, pairwise(map(Vector, places)), strict=True):
        specs.append({"name": name, "head": head, "tail": tail, "parent": specs[-1]["name"]})
    rig = armature("T-Pose", specs)
    add_limbs(rig, [HAND])
    target, bones = rig.pose.bones[HAND].ik_triangulation.target, [rig.pose.bones[name] for name in ARM[1:]]
    path = [target.location + Vector((-0.02, -0.02, 0.0)) * min(k, 12 - k) for k in range(13)]
    bpy.ops.object.mode_set(mode="POSE")
    assert live.start(rig, HAND) is None
    shown = []
    for place in path:
        target.location = place
        bpy.context.view_layer.update()
        shown.append([bone.matrix_basis.to_quaternion() for bone in bones])
    live.stop_all()
    for bone in bones:
        bone.rotation_quaternion = Quaternion()
    for frame, place in enumerate(path, 1):
        target.location = place
        target.keyframe_insert("location", frame=frame)
    assert bake(Limb.of(rig.pose.bones[HAND]), 1, len(path)).reached
    for frame, before in enumerate(shown, 1):
        bpy.context.scene.frame_set(frame)
        apart = [
            degrees(rotation_angle(bone.matrix_basis.to_quaternion(), each))
            for bone, each in zip(bones, before, strict=True)
        ]
        assert max(apart) < (0.1 if frame in (1, len(path)) else 3.0)
    assert max(degrees(rotation_angle(each, Quaternion())) for each in shown[0]) < 0.1


def test_the_hands_of_a_body_stay_natural_and_its_feet_keep_their_rotation():
    rig = human_rig()
    set_up_body(rig)
    target = rig.pose.bones[HAND].ik_triangulation.target
    key(target)
    report = bake_body(body_of(rig, HAND), 1, 24)
    assert report.reached
    assert max(over_the_shot(off_forearm, rig)) < 15.0  # nothing but the posture turns it
    assert report.tips[HAND].angle == 0.0  # none is judged

# SPDX-License-Identifier: GPL-3.0-or-later
"""A head that is free looks where hands go: before them, half of the way, and not at what stays where it is."""

from math import degrees

import bpy
import numpy as np
import pytest
from mathutils import Vector

from ik_triangulation.jobs.bake import bake_body, rebake_body
from ik_triangulation.jobs.pose import solve_body_pose
from ik_triangulation.jobs.reach import Stop, reach_with_body
from ik_triangulation.jobs.setup import set_up_body
from ik_triangulation.jobs.shots.problem import body_of
from ik_triangulation.rig.body import Contact, store_contacts

from ...bodies import human_rig

pytestmark = pytest.mark.usefixtures("empty_scene")
THERE, LAST = 16, 24
FORWARD = Vector((0.0, -1.0, 0.0))
LOW = (-0.5, -0.5, -0.5)  # to the front, across and down


def reaching_rig(way, looks=True, hands=("hand.L",)):
    """A rig that is set up as a body, whose hands go this way and stay."""
    rig = human_rig(with_head=True)
    bpy.context.view_layer.update()
    set_up_body(rig, relax_arms=False)
    assert rig.ik_triangulation.look_at_hands, "bodies that are set up look"
    rig.ik_triangulation.look_at_hands = looks
    for name in hands:
        target = rig.pose.bones[name].ik_triangulation.target
        start = target.location.copy()
        sign = Vector((1.0 if name.endswith("L") else -1.0, 1.0, 1.0))
        for frame, share in ((1, 0.0), (THERE, 1.0), (LAST, 1.0)):
            target.location = start + Vector(way) * sign * share
            target.keyframe_insert("location", frame=frame)
    bpy.context.scene.frame_set(1)
    return rig


def baked(rig):
    assert bake_body(body_of(rig, "hand.L"), 1, LAST).reached
    return shown(rig)


def posed(rig):
    """The matrices that *Pose* gives at the last frame."""
    bpy.context.scene.frame_set(LAST)
    assert solve_body_pose(body_of(rig, "hand.L")).reached
    return {bone.name: np.array(bone.matrix)[None] for bone in rig.pose.bones}


def shown(rig, frames=range(1, LAST + 1)):
    """Matrices (F, 4, 4) of all bones by their names."""
    found = {bone.name: [] for bone in rig.pose.bones}
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        for name, every in found.items():
            every.append(np.array(rig.pose.bones[name].matrix))
    return {name: np.array(every) for name, every in found.items()}


def turns(one, other, bone="head"):
    """Angles [degrees] between the rotations of a bone in two motions."""
    cosine = (np.einsum("fij,fij->f", one[bone][:, :3, :3], other[bone][:, :3, :3]) - 1.0) / 2.0
    return np.degrees(np.arccos(np.clip(cosine, -1.0, 1.0)))


def off_the_hand(rig, motion, hand="hand.L"):
    """Angles [degrees] from where the face looks to a hand."""
    into = np.array(rig.data.bones["head"].matrix_local.to_3x3().inverted() @ FORWARD)
    found = []
    for head, place in zip(motion["head"], motion[hand], strict=True):
        line = place[:3, 3] + 0.05 * place[:3, 1] - head[:3, 3]
        found.append(degrees(Vector(head[:3, :3] @ into).angle(Vector(line))))
    return np.array(found)


def test_a_free_head_turns_half_of_the_angle_to_where_a_hand_goes_and_nothing_else_moves():
    still = baked(reaching_rig(LOW, looks=False))
    rig = reaching_rig(LOW)
    found = baked(rig)
    before, after = off_the_hand(rig, still)[-1], off_the_hand(rig, found)[-1]
    assert before > 40.0
    assert 0.4 * before < after < 0.7 * before
    turn = turns(still, found)
    assert turn[0] < 0.1, "at rest it looks as before"
    assert np.abs(np.diff(turn)).max() < 8.0, "and it turns smoothly"
    others = set(found) - {"neck", "head"}
    assert max(np.abs(found[name] - still[name]).max() for name in others) < 1e-6


def test_the_head_is_ahead_of_the_hand():
    still, found = (baked(reaching_rig(LOW, looks)) for looks in (False, True))
    turned = turns(still, found)
    way = np.linalg.norm(found["hand.L"][:, :3, 3] - found["hand.L"][0, :3, 3], axis=1)
    half = [np.flatnonzero(each > 0.5 * each[-1])[0] for each in (turned, way)]
    assert half[0] < half[1]


def test_head_or_chest_starts_no_later_than_the_hands_down_to_the_floor_and_back_up():
    hands, end = ("hand.L", "hand.R"), LAST + 20
    rig = reaching_rig((-0.1, -0.35, -0.7), hands=hands)
    for name in hands:
        target = rig.pose.bones[name].ik_triangulation.target
        bpy.context.scene.frame_set(1)
        target.keyframe_insert("location", frame=end)
    assert bake_body(body_of(rig, "hand.L"), 1, end).reached
    for first, last in ((1, THERE), (LAST, end)):
        found = shown(rig, range(first, last + 1))
        way = np.linalg.norm(found["hand.L"][:, :3, 3] - found["hand.L"][0, :3, 3], axis=1)
        still = {name: np.repeat(every[:1], len(every), 0) for name, every in found.items()}
        turned = [turns(still, found, name) for name in ("head", "spine.002")]
        assert min(each.max() for each in turned) > 20.0
        starts = [np.argmax(each > 0.1 * each.max()) for each in (way, *turned)]
        assert min(starts[1:]) <= starts[0]


def test_a_hand_that_stays_and_one_at_the_head_turn_no_head():
    for way in ((0.0, 0.0, 0.0), (-0.6, -0.15, 0.5)):
        still, found = (posed(reaching_rig(way, looks)) for looks in (False, True))
        assert turns(still, found)[0] < 3.0


def test_keys_made_by_hand_and_a_target_keep_a_head_as_they_have_it():
    rig = reaching_rig(LOW)
    assert body_of(rig, "hand.L").free_heads == ("head",)
    rig.pose.bones["head"].keyframe_insert("rotation_quaternion", frame=1)
    assert not body_of(rig, "hand.L").free_heads
    motions = []
    for looks in (False, True):
        rig = reaching_rig(LOW, looks)
        rig.pose.bones["head"].ik_triangulation.target.keyframe_insert("location", frame=1)
        motions.append(posed(rig))
    assert turns(*motions).max() < 0.1
    store_contacts(rig, [Contact("foot.L", 1, LAST)])
    assert not body_of(rig, "hand.L").free_heads, "a recorded motion has its own"


def test_a_bake_again_looks_the_same_and_the_pose_at_rest_is_that_of_pose():
    rig = reaching_rig(LOW)
    found = baked(rig)
    assert rebake_body(rig, "hand.L").reached
    assert turns(found, shown(rig)).max() < 0.1
    assert turns({"head": found["head"][-1:]}, posed(reaching_rig(LOW)))[0] < 4.0


def test_a_reach_with_the_body_looks_where_its_hand_goes_as_a_bake_does():
    motions = []
    for looks in (False, True):
        rig = reaching_rig(LOW, looks)
        target = rig.pose.bones["hand.L"].ik_triangulation.target
        reach_with_body(body_of(rig, "hand.L"), [Stop(target, LAST)], 1)
        motions.append(shown(rig))
    turn = turns(*motions)
    assert turn[0] < 0.1
    assert turn[-1] > 15.0

# SPDX-License-Identifier: GPL-3.0-or-later
"""Held tips are planted as long as nothing animates their own bones, and corrections of a bake are known."""

import bpy
import numpy as np
import pytest

from ik_triangulation.jobs.bake import bake_body
from ik_triangulation.jobs.shots.problem import body_of
from ik_triangulation.rig.by_hand.record import corrected_times
from ik_triangulation.rig.frames.body_frames import with_places
from ik_triangulation.rig.stored_body import is_moved_above, planted_tips

from ..bodies import FEET, human_rig, set_up_rig

pytestmark = pytest.mark.usefixtures("empty_scene")


def test_keys_on_the_leg_and_not_those_on_hips_and_spine_animate_a_foot():
    rig = set_up_rig()
    body = body_of(rig, "hand.L")
    for name in ("spine", "spine.001"):
        rig.pose.bones[name].keyframe_insert("rotation_quaternion", frame=1)
    assert planted_tips(body) == FEET
    rig.pose.bones["foot.R"].keyframe_insert("location", frame=1)
    assert planted_tips(body) == FEET[:1]
    assert not is_moved_above(body)


def test_the_times_of_a_bake_are_those_between_which_keys_correct_it():
    rig = set_up_rig()
    body = body_of(rig, "hand.L")
    assert corrected_times(body, bpy.context.scene) is None
    bake_body(body, 3, 7)
    assert corrected_times(body, bpy.context.scene) == (3, 7)
    assert planted_tips(body_of(rig, "hand.L")) == FEET, "baked keys do not count"


def test_the_frames_of_planted_tips_are_at_one_place_and_all_others_stay():
    body = body_of(set_up_rig(), "hand.L")
    frames, place = np.zeros((len(body.bones), 3, 4, 5)), np.arange(12.0).reshape(3, 4)
    found, row = with_places(body, frames, {"foot.L": place}), body.bones.index("foot.L")
    assert np.array_equal(found[row], np.repeat(place[:, :, None], 5, -1))
    assert not np.delete(found, row, 0).any()
    assert not frames.any()


def test_a_leg_that_follows_what_the_hips_hang_on_is_planted_and_one_that_follows_a_control_is_not():
    rig = human_rig()
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    for name, parent in (("root", None), ("turn", "root"), ("carrier", None), ("control", "root")):
        bone = rig.data.edit_bones.new(name)
        bone.head, bone.tail = (0, 1, 0), (0, 1, 1)
        bone.parent = rig.data.edit_bones.get(parent) if parent else None
    rig.data.edit_bones["spine"].parent = rig.data.edit_bones["carrier"]
    bpy.ops.object.mode_set(mode="POSE")
    set_up_rig(rig=rig)
    parent = rig.pose.bones["carrier"].constraints.new("ARMATURE").targets.new()
    parent.target, parent.subtarget = rig, "turn"
    follows = rig.pose.bones["thigh.L"].constraints.new("COPY_SCALE")
    follows.target = rig
    for bone, found in (("root", FEET), ("shin.L", FEET), ("control", FEET[1:])):
        follows.subtarget = bone
        assert planted_tips(body_of(rig, "hand.L")) == found
    follows.subtarget = ""  # the armature itself, which may be anywhere
    assert planted_tips(body_of(rig, "hand.L")) == FEET[1:]

# SPDX-License-Identifier: GPL-3.0-or-later
"""The trail of a tip, and a drag of one of its places: shown while it moves, restored by Esc, keyed as shown."""

import bpy
import numpy as np
import pytest
from mathutils import Vector

from ik_triangulation.cooperative import finished
from ik_triangulation.errors import IKError
from ik_triangulation.jobs.edits.trail import PullDrag, hips_above, keyed_frames, pose_frames, read_trail

from ...bodies import set_up_rig, tails
from ...characters import character, part_of
from ...rigs import chain_rig, curve_of, nothing_lost

pytestmark = pytest.mark.usefixtures("addon")

LAST, AT, FALLOFF = 24, 9, 6
OFFSET = Vector((-0.05, -0.1, 0.15))
HAND = "hand.L"


@pytest.fixture
def rig():
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    made = set_up_rig(LAST)
    bpy.ops.pose.ik_triangulation_bake(frame_start=1, frame_end=LAST)
    return made


def where():
    return bpy.context.scene, bpy.context.view_layer


def trail_of(rig, space=None):
    return finished(read_trail(rig.pose.bones[HAND], range(1, LAST + 1), space, *where(), 0.01))


def test_the_trail_is_where_the_tip_is_shown_and_knows_the_keys_of_its_target(rig):
    trail = trail_of(rig)
    assert np.abs(trail.places - np.array(tails(rig, HAND, trail.frames))).max() < 1e-5
    assert np.array(trail.frames)[trail.keys].tolist() == [1, (1 + LAST) // 2, LAST]
    assert np.abs(trail.shown(5) - trail.places).max() < 1e-9


def test_a_trail_seen_from_the_hips_moves_with_them_and_meets_the_tip(rig):
    hips = hips_above(rig.pose.bones[HAND])
    assert hips == "spine"
    trail = trail_of(rig, (rig, hips))
    for frame in (1, 12):
        drawn = trail.shown(frame)
        assert np.abs(drawn[frame - 1] - trail.places[frame - 1]).max() < 1e-5
    assert np.abs(trail.shown(1) - trail.shown(12)).max() > 0.1


def test_a_drag_shows_what_its_end_keys_and_the_feet_stay(rig):
    before, feet = trail_of(rig), tails(rig, "foot.L", range(1, LAST + 1))
    drag = PullDrag(rig, HAND, AT, FALLOFF, *where())
    assert drag.problem == ""
    for share in (0.3, 1.0):
        drag.pull(OFFSET * share, FALLOFF, "SMOOTH")
    assert drag.problem == ""
    assert drag.settle()
    assert not drag.settle()
    tip = drag.frame.translation + OFFSET
    assert (rig.pose.bones[HAND].tail - tip).length < 1e-3
    shown, pose = before.moved(*drag.moved), {bone.name: bone.matrix.copy() for bone in rig.pose.bones}
    report = drag.finish()
    assert report.reached
    assert bpy.context.scene.frame_current == AT
    assert max((bone.matrix - pose[bone.name]).median_scale for bone in rig.pose.bones) < 1e-3
    assert np.abs(trail_of(rig).places - shown.places).max() < 2e-3
    slips = [(now - old).length for now, old in zip(tails(rig, "foot.L", range(1, LAST + 1)), feet, strict=True)]
    assert max(slips) < 1e-3


def test_esc_restores_frame_pose_and_all_else(rig):
    bpy.context.scene.frame_set(3)
    rig.pose.bones["shin.L"].location.x = 0.01  # posed without a key
    rig.pose.bones["hand.R"].ik_triangulation.target.location.x += 0.1  # so is this, off its keys
    with nothing_lost():
        drag = PullDrag(rig, HAND, AT, FALLOFF, *where())
        drag.pull(OFFSET, FALLOFF, "LINEAR")
        drag.pull(OFFSET, 60, "LINEAR")  # wider than what was read
        drag.cancel()


def test_what_cannot_be_dragged_says_why_and_nothing_changes(rig):
    with nothing_lost(), pytest.raises(IKError, match="not in the bake"):
        PullDrag(rig, HAND, LAST + 5, FALLOFF, *where())
    with nothing_lost(), pytest.raises(IKError, match="is held"):
        PullDrag(rig, "foot.L", AT, FALLOFF, *where())


def test_without_a_target_the_frames_are_those_keyed_by_hand_and_else_those_of_the_bake(empty_scene):
    rig, scene = chain_rig(6), bpy.context.scene
    bone = rig.pose.bones["Bone 4"]
    assert pose_frames(rig, ["Bone 4"], range(1, 30), scene) == []
    for name, frame in (("Bone 4", 3), ("Bone 1", 7), ("Bone 0", 9), ("Bone 5", 11), ("Bone 4", 40)):
        rig.pose.bones[name].keyframe_insert("rotation_quaternion", frame=frame)
    assert keyed_frames(bone, range(1, 30), scene) == [3.0, 7.0]
    assert pose_frames(rig, ["Bone 4"], range(1, 30), scene) == [3, 7]
    assert pose_frames(rig, ["Bone 4", "Bone 5"], range(1, 30), scene) == [3, 7, 11]
    assert pose_frames(rig, [], range(1, 30), scene) == [3, 7, 9, 11]
    for name in ("Bone 4", "Bone 1", "Bone 0", "Bone 5"):
        for index in range(4):
            for key in curve_of(rig, name, index).keyframe_points:
                key.type = "GENERATED" if key.co.x != 9.0 else "KEYFRAME"
    assert keyed_frames(bone, range(1, 30), scene) == []
    assert pose_frames(rig, ["Bone 4"], range(1, 30), scene) == [9]
    for index in range(4):
        curve_of(rig, "Bone 0", index).keyframe_points[0].type = "GENERATED"
    assert pose_frames(rig, ["Bone 4"], range(1, 30), scene) == [3, 7, 9, 11]


def test_the_hips_above_a_bone_are_those_of_the_character_or_what_it_hangs_on(empty_scene):
    assert hips_above(chain_rig(4).pose.bones["Bone 3"]) == "Bone 0"
    rig = character("Mixamo")
    assert hips_above(part_of(rig, "Mixamo", "hand")) == "mixamorig:Hips"

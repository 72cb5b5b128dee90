# SPDX-License-Identifier: GPL-3.0-or-later
"""The place of hips is read as it was made by hand, and baked keys never count."""

from contextlib import ExitStack

import bpy
import numpy as np
import pytest

from ik_triangulation.cooperative import finished
from ik_triangulation.errors import AnimationError
from ik_triangulation.rig.by_hand.keys import (
    check_hips,
    hips_locations,
    is_moved_by_hand,
    location_before_writing,
    location_channel,
    place_before_bake,
    remember_before,
    remember_location,
    remember_written,
)
from ik_triangulation.rig.by_hand.reference import body_by_hand, is_as_by_hand
from ik_triangulation.rig.keyframes import GENERATED, ensure_channelbag, replace_keys
from ik_triangulation.rig.keyframes.reading import keep_replaced

from ..bodies import human_rig, reaching_body
from ..rigs import curves_of, push_down

pytestmark = pytest.mark.usefixtures("empty_scene")
FRAMES = [1, 2, 3, 4, 5]


def locations(rig, frames=FRAMES):
    return hips_locations(rig, "spine", frames, bpy.context.scene)


def bake_locations(rig, values, first=1, last=5):
    """Write generated keys as a bake does."""
    with ExitStack() as undo:
        bag = ensure_channelbag(rig, undo)
        run = location_channel(rig, "spine", values)
        keep_replaced(bag, run.path, place_before_bake(rig, "spine", bag), run.indices, (first, last), undo)
        finished(replace_keys(bag, [run], range(first, last + 1), first, last, undo, kind=GENERATED))
        undo.pop_all()


def test_without_keys_it_is_where_the_bone_stands():
    rig = human_rig()
    rig.pose.bones["spine"].location = 1.0, 2.0, 3.0
    assert np.array_equal(locations(rig), np.tile([[1.0], [2.0], [3.0]], 5))


def test_keys_are_read_as_blender_plays_them():
    rig = human_rig()
    bone = rig.pose.bones["spine"]
    for frame, value in ((1, 0.0), (5, 2.0)):
        bone.location[1] = value
        bone.keyframe_insert("location", index=1, frame=frame)
    read = locations(rig)
    for number, frame in enumerate(FRAMES):
        bpy.context.scene.frame_set(frame)
        assert read[:, number] == pytest.approx(bone.location[:], abs=1e-6)


def test_a_bake_does_not_change_what_was_made_by_hand():
    rig = human_rig()
    bone = rig.pose.bones["spine"]
    for frame, value in ((1, 0.0), (5, 2.0)):
        bone.location[1] = value
        bone.keyframe_insert("location", index=1, frame=frame)
    before = locations(rig)
    for _ in range(2):
        bake_locations(rig, np.full((3, 5), 7.0))
        assert len(curves_of(rig)) == 3
        assert np.abs(locations(rig) - before).max() < 1e-6


def test_a_bake_of_hips_without_keys_remembers_where_they_stood():
    rig = human_rig()
    rig.pose.bones["spine"].location = 1.0, 2.0, 3.0
    bake_locations(rig, np.full((3, 5), 7.0))
    rig.pose.bones["spine"].location = 7.0, 7.0, 7.0
    assert np.array_equal(locations(rig), np.tile([[1.0], [2.0], [3.0]], 5))


def test_locked_channels_get_no_keys_and_locked_curves_are_named():
    rig = human_rig()
    rig.pose.bones["spine"].lock_location[0] = True
    assert location_channel(rig, "spine", np.zeros((3, 2))).indices == [1, 2]
    rig.pose.bones["spine"].keyframe_insert("location", frame=1)
    check_hips(rig, "spine")
    curves_of(rig)[0].lock = True
    with pytest.raises(AnimationError, match="location of 'spine'"):
        check_hips(rig, "spine")


def test_an_action_that_keys_the_hips_hides_a_new_track_unless_they_stay_or_it_has_no_influence():
    rig = human_rig()
    rig.pose.bones["spine"].keyframe_insert("location", frame=1)
    check_hips(rig, "spine", "NEW_ACTION")
    check_hips(rig, "spine", "NLA_TRACK", is_moved=False)
    with pytest.raises(AnimationError, match="keys 'spine' as well and hides a new NLA track"):
        check_hips(rig, "spine", "NLA_TRACK")
    rig.animation_data.action_influence = 0.0
    check_hips(rig, "spine", "NLA_TRACK")


def written(bone, before=(0.0, 0.0, 0.0)):
    """Have the present location of a bone count as written."""
    with ExitStack() as undo:
        remember_location(bone, before, undo)
        undo.pop_all()


def test_hips_that_were_moved_by_hand_make_all_of_a_body_by_hand_as_it_is_shown():
    rig, scene = human_rig(), bpy.context.scene
    body = reaching_body(rig, 6)
    hips, thigh = rig.pose.bones["spine"], rig.pose.bones["thigh.L"]
    remember_before(thigh, (1.0, 0.0, 0.0, 0.0))
    hips.location, thigh.rotation_quaternion = (0.1, 0.2, 0.3), (0.8, 0.6, 0.0, 0.0)
    remember_written([thigh])
    written(hips)
    assert not is_as_by_hand(body, scene)
    turned = body_by_hand(body, [1, 2], scene)[0][body.bones.index("thigh.L")]
    assert np.allclose(turned, [[1.0] * 2, [0.0] * 2, [0.0] * 2, [0.0] * 2])
    hips.location.x = 0.5
    assert is_moved_by_hand(rig, "spine")
    assert is_as_by_hand(body, scene)
    turned = body_by_hand(body, [1, 2], scene)[0][body.bones.index("thigh.L")]
    assert np.allclose(turned, [[0.8] * 2, [0.6] * 2, [0.0] * 2, [0.0] * 2])


@pytest.mark.parametrize("how", ["by hand", "keyed", "keyed but muted", "driven", "in a strip"])
def test_hips_are_by_hand_where_a_bone_was_turned_since_they_were_written_unless_something_animates_it(how):
    rig = human_rig()
    hips, shin = rig.pose.bones["spine"], rig.pose.bones["shin.R"]
    hips.location = (0.1, 0.2, 0.3)
    remember_before(shin, (1.0, 0.0, 0.0, 0.0))
    remember_written([shin])
    written(hips, (0.0, 0.5, 0.0))
    assert location_before_writing(hips) == (0.0, 0.5, 0.0)
    shin.rotation_quaternion = (0.8, 0.6, 0.0, 0.0)
    if how == "driven":
        for index in range(4):
            shin.driver_add("rotation_quaternion", index)
    elif how != "by hand":
        shin.keyframe_insert("rotation_quaternion", frame=1)
        for curve in curves_of(rig):
            curve.mute = how == "keyed but muted"
        if how == "in a strip":
            push_down(rig)
    is_by_hand = how in {"by hand", "keyed but muted"}
    assert location_before_writing(hips) == pytest.approx((0.1, 0.2, 0.3) if is_by_hand else (0.0, 0.5, 0.0))

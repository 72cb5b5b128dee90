# SPDX-License-Identifier: GPL-3.0-or-later
"""The place of hips is read as it was made by hand, and baked keys never count."""

from contextlib import ExitStack

import bpy
import numpy as np
import pytest

from ik_triangulation.cooperative import finished
from ik_triangulation.errors import AnimationError
from ik_triangulation.rig.by_hand.keys import check_hips, hips_locations, location_channel, place_before_bake
from ik_triangulation.rig.keyframes import GENERATED, ensure_channelbag, replace_keys
from ik_triangulation.rig.keyframes.reading import keep_replaced

from ..bodies import human_rig
from ..rigs import curves_of

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

# SPDX-License-Identifier: GPL-3.0-or-later
"""A retime moves what a tip does in time: along its path, with the shot outside of the falloff as it was."""

import bpy
import numpy as np
import pytest
from mathutils import Vector

from ik_triangulation.errors import AnimationError, ChainError, SettingError
from ik_triangulation.jobs.bake import bake
from ik_triangulation.jobs.edits.retime import Retime, _is_curved, retime
from ik_triangulation.jobs.edits.trail import PullDrag
from ik_triangulation.rig.keyframes.arrays import get_keys
from ik_triangulation.rig.limb import Limb

from ...bodies import followed_rig, set_up_rig, tails
from ...interrupted import writes_that_undo_all
from ...rigs import curves_of, empty, key_frames, nothing_lost

pytestmark = pytest.mark.usefixtures("empty_scene", "addon")
LAST, AT, SHIFT, FALLOFF = 60, 25, 6, 18
FRAMES = range(1, LAST + 1)


@pytest.fixture
def rig():
    """An arm that is baked from frame 1 to LAST, and follows a target."""
    rig = followed_rig(LAST)
    bake(Limb.from_tip(rig, "hand.L", rig.pose.bones["hand.L"].ik_triangulation.target, 3), 1, LAST)
    return rig


def far(some, others):
    return max((a - b).length for a, b in zip(some, others, strict=True))


@pytest.mark.parametrize("shift", [SHIFT, -SHIFT])
def test_what_the_tip_does_comes_at_another_time_and_the_rest_stays(rig, shift):
    before = tails(rig, "hand.L", FRAMES)
    target = rig.pose.bones["hand.L"].ik_triangulation.target
    report = retime(rig, "hand.L", AT, shift, FALLOFF)
    after = tails(rig, "hand.L", FRAMES)
    assert report.all_reached
    assert (after[AT + shift - 1] - before[AT - 1]).length < 1e-4
    outside = [k for k, frame in enumerate(FRAMES) if abs(frame - AT) >= FALLOFF]
    assert far([after[k] for k in outside], [before[k] for k in outside]) < 1e-5
    sources = Retime(AT, FALLOFF, "SMOOTH", shift).sources(FRAMES)
    asked = np.stack([np.interp(sources, FRAMES, axis) for axis in np.array(before).T], 1)
    assert np.linalg.norm(np.array(after) - asked, axis=1).max() < 0.01
    keys = key_frames(curves_of(target)[0])
    assert {1, AT - FALLOFF, AT + shift, AT + FALLOFF, LAST} <= {*keys}
    assert len(keys) <= 9


def test_a_body_keeps_its_feet_and_poses_as_it_did_at_that_time():
    rig = set_up_rig(40)
    bpy.ops.pose.ik_triangulation_bake(frame_start=1, frame_end=40)
    hands, feet = tails(rig, "hand.L", range(1, 41)), tails(rig, "foot.L", range(1, 41))
    bpy.context.scene.frame_set(20)
    elbow = rig.pose.bones["forearm.L"].head.copy()
    report = retime(rig, "hand.L", 20, 4, 12)
    assert report.reached
    assert (tails(rig, "hand.L", [24])[0] - hands[19]).length < 1e-3
    assert far(tails(rig, "foot.L", range(1, 41)), feet) < 1e-3
    bpy.context.scene.frame_set(24)
    assert (rig.pose.bones["forearm.L"].head - elbow).length < 0.05


def test_keys_of_bones_without_a_target_move(rig):
    rig.pose.bones["hand.L"].ik_triangulation.target = None
    rig.animation_data_clear()
    for frame, turn in ((1, 0.0), (30, 0.5), (60, 0.2)):
        rig.pose.bones["forearm.L"].rotation_quaternion = (1.0, turn, 0.0, 0.0)
        rig.pose.bones["forearm.L"].keyframe_insert("rotation_quaternion", frame=frame)
    before = tails(rig, "hand.L", FRAMES)
    assert retime(rig, "hand.L", 30, -5, 10) is None
    after = tails(rig, "hand.L", FRAMES)
    assert (after[24] - before[29]).length < 1e-5
    assert far(after[:20] + after[40:], before[:20] + before[40:]) < 1e-5


def test_an_offset_of_nothing_changes_nothing(rig):
    rig.data.bones.active = rig.data.bones["hand.L"]
    with nothing_lost():
        assert retime(rig, "hand.L", AT, 0, FALLOFF) is None
        assert bpy.ops.pose.ik_triangulation_retime(frame=AT) == {"FINISHED"}, "so that the offset can be adjusted"


def test_the_motion_never_turns_back(rig):
    edit = Retime(25.0, FALLOFF, "SMOOTH", 8.0)
    assert min(np.diff(edit.sources(FRAMES))) > 0.0
    with nothing_lost(), pytest.raises(SettingError, match="falloff of 17 frames or more"):
        retime(rig, "hand.L", AT, 10, 5)
    with nothing_lost(), pytest.raises(SettingError, match="without a step"):
        retime(rig, "hand.L", AT, 2, 5, "CONSTANT")


def test_what_cannot_be_retimed_says_why_and_a_write_that_fails_undoes_all(rig):
    with nothing_lost(), pytest.raises(AnimationError, match="not in the bake"):
        retime(rig, "hand.L", LAST + 5, 2)
    with nothing_lost(), pytest.raises(AnimationError, match="no keys around"):
        retime(rig, "hand.R", AT, 2)
    rig.pose.bones["hand.R"].ik_triangulation.hold = True
    with nothing_lost(), pytest.raises(ChainError, match="is held"):
        retime(rig, "hand.R", AT, 2)
    rig.pose.bones["hand.R"].ik_triangulation.hold = False
    bpy.context.view_layer.update()
    assert writes_that_undo_all(lambda: retime(rig, "hand.L", AT, SHIFT, FALLOFF), 11) > 3


def test_a_drag_along_the_trail_shows_what_its_end_keys(rig):
    before = tails(rig, "hand.L", FRAMES)
    drag = PullDrag(rig, "hand.L", AT, FALLOFF, bpy.context.scene, bpy.context.view_layer)
    assert drag.nearest(before[AT + 4 - 1]) == 4
    drag.pull(Vector((0.0, 0.0, 0.1)), FALLOFF, "SMOOTH")
    drag.retime(40, FALLOFF, "SMOOTH")
    assert "turn the motion back" in drag.problem
    drag.retime(4, FALLOFF, "SMOOTH")
    shown = rig.pose.bones["hand.L"].tail.copy()
    assert drag.finish().all_reached
    assert (rig.pose.bones["hand.L"].tail - shown).length < 5e-3
    assert (tails(rig, "hand.L", [AT + 4])[0] - before[AT - 1]).length < 1e-4


def test_only_curves_that_move_and_are_smooth_all_the_way_get_keys_in_between():
    target = empty()
    for frame, value in ((1, 0.0), (10, 1.0), (20, 1.0), (30, 1.0), (40, 3.0)):
        target.location = (value, 0.0, 0.0)
        target.keyframe_insert("location", frame=frame)
    curve = curves_of(target)[0]

    def curved(first, last):
        return _is_curved(get_keys(curve), (first, 0.0, last))

    assert (curved(1, 40), curved(1, 10), curved(10, 30), curved(20, 40)) == (True, True, False, True)
    curve.keyframe_points[1].interpolation = "LINEAR"
    assert (curved(1, 40), curved(1, 10), curved(10, 40), curved(20, 40)) == (False, True, False, True)
    curve.keyframe_points[1].interpolation, curve.keyframe_points[3].interpolation = "BEZIER", "CONSTANT"
    assert (curved(1, 40), curved(1, 30), curved(30, 40)) == (False, True, False)


def test_times_within_the_falloff_go_over_into_those_outside():
    edit = Retime(20.0, 10, "LINEAR", 4.0)
    assert [edit.moved(frame) for frame in (5, 10, 15, 20, 25, 30, 35)] == [5, 10, 17, 24, 27, 30, 35]
    assert edit.sources([5, 10, 17, 24, 27, 30, 35]) == pytest.approx([5, 10, 15, 20, 25, 30, 35])
    before, after = edit.samples()
    assert (before[0], before[-1], after[0], after[-1]) == (10.0, 30.0, 10.0, 30.0)
    assert len(before) == 641
    with pytest.raises(SettingError, match="no valid number of frames"):
        Retime(20.0, 10, "LINEAR", float("nan"))
    with pytest.raises(SettingError, match=r"\+10 frames within 10 .* falloff of 12 frames or more"):
        Retime(20.0, 10, "LINEAR", 10.0)
    assert Retime(20.0, 10, "LINEAR", -8.0).moved(20.0) == 12.0


def test_a_target_without_keys_of_its_own_place_or_hidden_by_a_track_is_refused(rig):
    target = rig.pose.bones["hand.L"].ik_triangulation.target
    track = target.animation_data.nla_tracks.new()
    track.is_solo = True
    with nothing_lost(), pytest.raises(AnimationError, match="is solo"):
        retime(rig, "hand.L", AT, 2)
    target.animation_data.nla_tracks.remove(track)
    target.animation_data.action = None
    with nothing_lost(), pytest.raises(AnimationError, match=r"no keys of target 'Target hand\.L' to move in time"):
        retime(rig, "hand.L", AT, 2)

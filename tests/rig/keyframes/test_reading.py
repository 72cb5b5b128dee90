# SPDX-License-Identifier: GPL-3.0-or-later
"""Keyframes are read by time: those beside a frame, those of one bone, those that were made by hand."""

from contextlib import ExitStack
from random import Random

import pytest

from ik_triangulation.rig.keyframes import key_frames, keys_beside, made_by_hand, values_before
from ik_triangulation.rig.keyframes.arrays import get_keys
from ik_triangulation.rig.keyframes.channelbags import channelbag_of
from ik_triangulation.rig.keyframes.reading import Replaced, before_bake, keep_followed, put_replaced, replaced_in

from ...rigs import chain_rig, curves_of

pytestmark = pytest.mark.usefixtures("empty_scene")

BONE, PATH = "Bone 1", 'pose.bones["Bone 1"].rotation_quaternion'


def keyed(frames):
    """A rig with a bone whose W channel is a hundredth of the frame at each of these."""
    rig = chain_rig(2)
    bone = rig.pose.bones[BONE]
    for frame in frames:
        bone.rotation_quaternion.w = frame / 100.0
        bone.keyframe_insert("rotation_quaternion", index=0, frame=frame)
    return rig


@pytest.mark.parametrize(
    ("frame", "before", "after"),
    [(0, None, 3), (3, None, 7), (5, 3, 7), (7, 3, 20), (7.5, 7, 20), (20, 7, None), (99, 20, None)],
)
def test_the_keys_beside_a_frame_are_those_next_to_it_and_not_the_one_on_it(frame, before, after):
    rig = keyed((3, 7, 20))
    for wanted, is_after in ((before, False), (after, True)):
        found = keys_beside(rig, PATH, frame, is_after)
        expected = {} if wanted is None else {0: pytest.approx((wanted, wanted / 100.0))}
        assert found == expected
    assert values_before(rig, PATH, frame) == ({} if before is None else {0: pytest.approx(before / 100.0)})


def test_the_keys_beside_any_frame_are_the_nearest_of_all():
    random = Random(7)
    frames = sorted(random.sample(range(1, 500), 60))
    rig = keyed(frames)
    for frame in random.sample(range(501), 80):
        before = max((key for key in frames if key < frame), default=None)
        after = min((key for key in frames if key > frame), default=None)
        found = [keys_beside(rig, PATH, frame, is_after).get(0, (None,))[0] for is_after in (False, True)]
        assert found == [before, after]


def test_keys_that_blender_takes_for_one_frame_are_not_beside_it():
    rig = keyed((3, 7))
    assert keys_beside(rig, PATH, 7.0004, after=False)[0][0] == pytest.approx(3.0)
    assert keys_beside(rig, PATH, 6.9996, after=True) == {}


def test_the_key_frames_of_a_bone_are_its_own_and_inside_the_range_with_its_ends():
    rig = keyed((3, 7, 20))
    rig.pose.bones["Bone 0"].keyframe_insert("location", frame=5)
    assert key_frames(rig, BONE, 3, 20) == [3.0, 7.0, 20.0]
    assert key_frames(rig, BONE, 4, 19) == [7.0]
    assert key_frames(rig, "Bone 0", 1, 30) == [5.0]


def test_keys_made_by_hand_are_told_from_generated_ones():
    rig = keyed((3, 7, 20))
    (curve,) = curves_of(rig)
    curve.keyframe_points[1].type = "GENERATED"
    assert made_by_hand(rig, [BONE], 1, 30) == {
        BONE: {3.0: {0: pytest.approx(0.03)}, 20.0: {0: pytest.approx(0.2)}},
    }
    assert made_by_hand(rig, [BONE], 4, 19) == {}


def test_generated_keys_are_kept_as_the_reference_between_two_times():
    rig = keyed((3, 7, 20))
    (curve,), bag = curves_of(rig), channelbag_of(rig)
    with ExitStack() as undo:
        keep_followed(bag, PATH, (1.0, 30.0), undo)
        assert replaced_in(bag, PATH) is None  # of a property that no bake has replaced
        own = {0: get_keys(curve)}
        put_replaced(bag, PATH, Replaced("QUATERNION", (0.5, 0.0, 0.0, 0.0), own), undo)
        assert before_bake(bag, PATH, (0.1, 0.2)) == (0.1, 0.2)  # nothing there is generated
        for point in curve.keyframe_points:
            point.type, point.co.y = "GENERATED", point.co.y + 1.0
        assert before_bake(bag, PATH, (0.1, 0.2)) == (0.5, 0.0, 0.0, 0.0)
        keep_followed(bag, PATH, (5.0, 10.0), undo)
        known = replaced_in(bag, PATH)
        assert known.followed[0]["co"][:, 0].tolist() == [3.0, 7.0, 20.0]
        assert known.followed[0]["co"][:, 1] == pytest.approx([0.03, 1.07, 0.2], abs=1e-6)
        assert known.keys[0]["co"][:, 1] == pytest.approx([0.03, 0.07, 0.2], abs=1e-6)
    assert replaced_in(bag, PATH) is None
    assert before_bake(bag, PATH, (0.1, 0.2)) == (0.1, 0.2)

# SPDX-License-Identifier: GPL-3.0-or-later
"""Keyframes that go through arrays are the same bit by bit, and merge in order of time."""

import bpy
import numpy as np
import pytest

from ik_triangulation.rig.keyframes.arrays import (
    NewKeys,
    enum_number,
    get_keys,
    in_range,
    merge_keys,
    put_keys,
)

from ...jobs.moving import dress
from ...rigs import curves_of, empty, keys_of

pytestmark = pytest.mark.usefixtures("empty_scene")


def curve(frames=(1, 2, 5, 9)):
    """A curve with a key at each frame, of all kinds."""
    ob = empty()
    for frame in frames:
        ob.location.x = 0.3 * frame
        ob.keyframe_insert("location", index=0, frame=frame)
    (made,) = curves_of(ob)
    dress(made)
    return made


def keys_at(*frames, kind="GENERATED"):
    """New keys of one channel, that of the X axis."""
    flat = np.zeros((len(frames), 1))
    (keys,) = NewKeys(frames, "BEZIER", kind).on_curves(flat + 7.0, [0], (flat, flat))
    return keys


def test_keys_that_are_put_back_are_the_same_bit_by_bit():
    made = curve()
    before = keys_of(made)
    put_keys(made, get_keys(made))
    assert keys_of(made) == before


def test_the_ends_of_a_range_belong_to_it():
    assert in_range(get_keys(curve()), 2, 5).tolist() == [False, True, True, False]


def test_new_keys_take_the_place_of_old_ones_in_the_range():
    merged = merge_keys(get_keys(curve()), keys_at(2, 3, 4, 5), 2, 5)
    assert merged["co"][:, 0].tolist() == [1, 2, 3, 4, 5, 9]
    assert (merged["co"][1:5, 1] == 7.0).all()


def test_only_keys_of_one_type_are_replaced_where_the_others_shall_stay():
    made = curve()
    for key in made.keyframe_points:
        key.type = "KEYFRAME" if key.co.x == 2 else "GENERATED"
    merged = merge_keys(get_keys(made), keys_at(2, 3), 1, 9, enum_number("type", "GENERATED"))
    assert merged["co"][:, 0].tolist() == [2, 3]
    assert merged["co"][0, 1] == pytest.approx(0.6)


def test_a_new_key_at_nearly_the_frame_of_one_that_stays_is_dropped():
    made = curve((1, 9))
    merged = merge_keys(get_keys(made), keys_at(1.0005, 3), 2, 5)
    assert merged["co"][:, 0].tolist() == [1, 3, 9]


def test_handles_are_a_third_of_the_way_along_the_slopes():
    slopes = np.array([[0.0], [3.0], [1.0]])
    new = NewKeys([0, 3, 9], "BEZIER", "GENERATED")
    (keys,) = new.on_curves(np.array([[0.0], [1.0], [2.0]]), [0], (slopes, slopes))
    assert keys["handle_left"][1].tolist() == pytest.approx([2.0, -2.0])
    assert keys["handle_right"][1].tolist() == pytest.approx([5.0, 7.0])


@pytest.mark.parametrize("frames", [[1], [1, 2], [1, 2, 3, 4, 5], [1, 2.5, 9, 10, 30]])
def test_without_slopes_handles_have_the_mean_slope_around_their_key(frames):
    values = np.random.default_rng(0).normal(size=(len(frames), 3))
    slopes = np.gradient(values, frames, axis=0) if len(frames) > 1 else 0.0 * values
    new = NewKeys(frames, "BEZIER", "GENERATED")
    given = [
        {name: keys[name].copy() for name in ("co", "handle_left", "handle_right")}
        for keys in new.on_curves(values, [0, 2], (slopes, slopes))
    ]
    for keys, expected in zip(new.on_curves(values, [0, 2]), given, strict=True):
        for name, points in expected.items():
            assert keys[name] == pytest.approx(points, abs=1e-6)


def test_handles_with_one_slope_are_aligned_and_others_free():
    new = NewKeys([1, 2], "BEZIER", "GENERATED")
    (keys,) = new.on_curves(np.zeros((2, 1)), [0], (np.array([[1.0], [1.0]]), np.array([[1.0], [2.0]])))
    items = bpy.types.Keyframe.bl_rna.properties["handle_left_type"].enum_items
    assert keys["handle_left_type"].tolist() == [items["ALIGNED"].value, items["FREE"].value]


@pytest.mark.parametrize("interpolation", ["BEZIER", "LINEAR", "CONSTANT", "ELASTIC"])
@pytest.mark.parametrize("kind", ["KEYFRAME", "GENERATED"])
def test_keys_that_are_left_as_they_are_added_are_the_same_bit_by_bit(interpolation, kind):
    new = NewKeys([1, 2, 5], interpolation, kind)
    (keys,) = new.on_curves(np.array([[0.0], [1.0], [2.0]]), [0])
    made = curve()
    put_keys(made, keys)
    whole = keys_of(made)
    put_keys(made, keys, left_as_added=new.as_added)
    assert keys_of(made) == whole

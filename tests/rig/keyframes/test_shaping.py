# SPDX-License-Identifier: GPL-3.0-or-later
"""F-curves are divided without a change of their shape, and reshaped between two times alone."""

from math import sin

import numpy as np
import pytest

from ik_triangulation.errors import AnimationError
from ik_triangulation.items import PROFILES
from ik_triangulation.rig.keyframes.arrays import enum_number, get_keys, put_keys
from ik_triangulation.rig.keyframes.shaping import (
    changed_keys,
    knots_for,
    profile_at,
    reshaped,
    retimed,
    slope,
    with_keys_at,
    with_outside_of,
)

from ...rigs import curves_of, empty

pytestmark = pytest.mark.usefixtures("empty_scene")
TIMES = np.arange(-5.0, 45.1, 0.25)


def curve_with(interpolation, long=False):
    """A curve with keys at 1, 12 and 40, and with handles of uneven length if these are `long`."""
    ob = empty()
    for frame, x in ((1, 0.3), (12, -1.0), (40, 2.0)):
        ob.location.x = x
        ob.keyframe_insert("location", index=0, frame=frame)
    (curve,) = curves_of(ob)
    for key in curve.keyframe_points:
        key.interpolation = interpolation
        if long:
            key.handle_left_type = key.handle_right_type = "FREE"
            key.handle_left, key.handle_right = key.co - type(key.co)((1.0, 2.0)), key.co + type(key.co)((14.0, -1.0))
    return curve


@pytest.mark.parametrize("interpolation", ["BEZIER", "LINEAR", "CONSTANT"])
@pytest.mark.parametrize("uneven", [False, True])
def test_new_keys_leave_the_curve_as_it_is(interpolation, uneven):
    curve = curve_with(interpolation, uneven)
    before = [curve.evaluate(time) for time in TIMES]
    keys = with_keys_at(curve, (-3.0, 7.0, 12.0, 20.5, 43.0))
    assert len(keys["co"]) == 7
    put_keys(curve, keys)
    assert np.allclose([curve.evaluate(time) for time in TIMES], before, atol=1e-5)
    curve.update()
    assert np.allclose([curve.evaluate(time) for time in TIMES], before, atol=1e-5)


def test_an_easing_that_cannot_be_divided_is_named():
    with pytest.raises(AnimationError, match="has an easing between its keys at 1 and 12"):
        with_keys_at(curve_with("BOUNCE"), (5.0,))


@pytest.mark.parametrize("profile", PROFILES)
def test_a_curve_takes_new_values_between_two_times_alone(profile):
    curve = curve_with("BEZIER", long=True)
    before = dict(zip(TIMES, (curve.evaluate(time) for time in TIMES), strict=True))
    old = np.arange(5.0, 35.001, 0.005)
    heights = [curve.evaluate(time) for time in old]

    def wanted(time):
        return float(np.interp(time, old, heights)) + 0.4 * float(profile_at(profile, 1.0 - abs(time - 20.0) / 15.0))

    knots = knots_for([wanted], (5.0, 35.0), [12.0, 20.0], 1e-3)
    put_keys(curve, reshaped(with_keys_at(curve, (5.0, 35.0)), wanted, knots))
    for time in TIMES:
        if time <= 5.0 or time >= 35.0:
            assert abs(curve.evaluate(time) - before[time]) < 1e-5
        elif time == int(time) and profile not in {"SPHERE", "ROOT", "CONSTANT"}:
            assert abs(curve.evaluate(time) - wanted(time)) < 3e-3
    assert abs(curve.evaluate(20.0) - wanted(20.0)) < 1e-5


def test_a_smooth_falloff_needs_few_keys():
    def height(time):
        return sin(time / 20.0) + float(profile_at("SMOOTH", 1.0 - abs(time - 20.0) / 15.0))

    assert len(knots_for([height], (5.0, 35.0), [20.0], 1e-3)) <= 5


FREE = enum_number("handle_left_type", "FREE")


def test_keys_move_with_their_handles_and_their_values_stay():
    keys = get_keys(curve_with("BEZIER"))

    def later(time):
        return time + 0.5 * max(time - 12.0, 0.0)  # 40 comes to 54

    found = retimed(keys, later)
    assert found["co"][:, 0].tolist() == [1.0, 12.0, 54.0]
    assert np.array_equal(found["co"][:, 1], keys["co"][:, 1])
    for name in ("handle_left", "handle_right"):
        assert found[name][:, 0] == pytest.approx([later(time) for time in keys[name][:, 0].tolist()], abs=1e-4)
        assert np.array_equal(found[name][:, 1], keys[name][:, 1])
    assert (found["handle_left_type"] == FREE).tolist() == [False, True, True]  # of 12 a handle moves
    assert np.array_equal(found["handle_left_type"], found["handle_right_type"])
    assert np.array_equal(keys["co"][:, 0], [1.0, 12.0, 40.0])


def test_keys_at_whole_frames_come_to_whole_frames_where_there_is_room():
    keys = get_keys(curve_with("BEZIER"))
    keys["co"][1, 0] = 12.5
    found = retimed(keys, lambda time: time + 0.3)
    assert found["co"][:, 0] == pytest.approx([1.0, 12.8, 40.0])
    for name in ("handle_left", "handle_right"):  # with the rounding of their keys
        assert found[name][:, 0] - found["co"][:, 0] == pytest.approx(keys[name][:, 0] - keys["co"][:, 0], abs=1e-4)
    near = retimed(keys, lambda time: 0.03 * time)
    assert near["co"][:, 0] == pytest.approx([0.03, 0.375, 1.2])


@pytest.mark.parametrize("keep", [True, False])
def test_keys_written_between_two_times_keep_what_is_outside(keep):
    before, now = get_keys(curve_with("LINEAR")), get_keys(curve_with("BEZIER", long=True))
    extreme = enum_number("type", "EXTREME")
    before["type"][:] = extreme
    before["co"][:, 1] += 1.0
    now["co"][:, 0] = 1.0, 20.0, 40.0
    found = with_outside_of(now, before, (1.0, 40.0), keep)
    assert found["co"][:, 1] == pytest.approx([now["co"][0, 1] + 1.0, now["co"][1, 1], now["co"][2, 1] + 1.0])
    assert np.array_equal(found["handle_left"][0], before["handle_left"][0])
    assert np.array_equal(found["handle_right"][2], before["handle_right"][2])
    for number, name in ((0, "handle_right"), (2, "handle_left")):  # the inner ones come along
        assert found[name][number] == pytest.approx(now[name][number] + (0.0, 1.0))
    assert np.array_equal(found["handle_right"][1], now["handle_right"][1])
    linear, bezier = (enum_number("interpolation", kind) for kind in ("LINEAR", "BEZIER"))
    assert found["interpolation"].tolist() == [bezier, bezier, linear]
    assert (found["type"] == extreme).tolist() == [keep, False, keep]
    assert (found["handle_left_type"][[0, 2]] == FREE).all()
    inner = with_outside_of(now, before, (2.0, 39.0), keep)
    assert all(np.array_equal(inner[name], now[name]) for name in now)


def test_a_new_key_is_of_the_kind_of_the_one_before_it_and_beyond_all_the_curve_is_a_line():
    curve = curve_with("CONSTANT")
    for key, kind, interpolation in zip(
        curve.keyframe_points, ("EXTREME", "JITTER", "BREAKDOWN"), ("LINEAR", "CONSTANT", "BEZIER"), strict=True
    ):
        key.type, key.interpolation = kind, interpolation
    keys = with_keys_at(curve, (-3.0, 5.0, 20.0, 50.0))
    assert keys["co"][:, 0].tolist() == [-3.0, 1.0, 5.0, 12.0, 20.0, 40.0, 50.0]
    kinds = ["KEYFRAME", "EXTREME", "EXTREME", "JITTER", "JITTER", "BREAKDOWN", "KEYFRAME"]
    assert keys["type"].tolist() == [enum_number("type", kind) for kind in kinds]
    ways = ["LINEAR", "LINEAR", "LINEAR", "CONSTANT", "CONSTANT", "LINEAR", "LINEAR"]
    assert keys["interpolation"].tolist() == [enum_number("interpolation", way) for way in ways]


@pytest.mark.parametrize(
    ("profile", "quarter", "half"),
    [
        ("SMOOTH", 0.15625, 0.5),
        ("SPHERE", 0.4375**0.5, 0.75**0.5),
        ("ROOT", 0.5, 0.5**0.5),
        ("INVERSE_SQUARE", 0.4375, 0.75),
        ("SHARP", 0.0625, 0.25),
        ("LINEAR", 0.25, 0.5),
        ("CONSTANT", 1.0, 1.0),
    ],
)
def test_the_profiles_of_proportional_editing_are_those_of_blender(profile, quarter, half):
    shares = np.array([-1.0, 0.0, 0.25, 0.5, 1.0, 2.0])
    assert profile_at(profile, shares).tolist() == pytest.approx([0.0, 0.0, quarter, half, 1.0, 1.0])


def test_the_slope_is_measured_on_its_side_of_a_time():
    assert slope(lambda time: time * time, 2.0, 1.0) == pytest.approx(4.01)
    assert slope(lambda time: time * time, 2.0, -1.0) == pytest.approx(3.99)
    assert slope(abs, 0.0, 1.0) == pytest.approx(1.0)
    assert slope(abs, 0.0, -1.0) == pytest.approx(-1.0)


def test_knots_are_put_in_the_middle_of_what_is_off_and_at_whole_frames():
    def corner(time):
        return abs(time - 9.0)

    assert knots_for([corner], (1.0, 33.0), [], 1e-3) == [1.0, 9.0, 17.0, 33.0]
    assert knots_for([corner], (1.0, 33.0), [], 50.0) == [1.0, 33.0]
    assert knots_for([corner], (1.0, 33.0), [9.0, 40.0, 1.0], 1e-3) == [1.0, 9.0, 33.0]
    assert knots_for([corner], (8.5, 9.5), [], 1e-3) == [8.5, 9.5], "there is no whole frame between that has room"
    assert knots_for([lambda time: float(time > 4.2)], (1.0, 8.0), [], 0.1) == [1.0, 4.0, 5.0, 6.0, 8.0]
    assert knots_for([corner, lambda time: time**3], (20.0, 30.0), [], 3.0) == [20.0, 30.0], "a cubic is one"


def test_channels_that_are_changed_together_keep_the_slopes_of_their_curves():
    mixing = np.array([[0.0, 2.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])  # from each channel to all
    keys = {0: get_keys(curve_with("BEZIER", long=True))}
    found = changed_keys(keys, (9.0, 0.5, -1.0), lambda values: values @ mixing)
    assert set(found) == {1}, "nothing else depends on the channel that has keys"
    old, new = keys[0], found[1]
    assert new["co"][:, 0].tolist() == old["co"][:, 0].tolist()
    for name in ("co", "handle_left", "handle_right"):
        assert new[name][:, 0] == pytest.approx(old[name][:, 0])
        assert new[name][:, 1] == pytest.approx(2.0 * old[name][:, 1], abs=1e-4)
    same = changed_keys(keys, (9.0, 0.5, -1.0), lambda values: values + np.array((0.0, 0.0, 3.0)))
    assert set(same) == {0}
    for name, column in old.items():
        assert same[0][name] == pytest.approx(column, abs=1e-4), name
    both = changed_keys({0: old, 1: old}, (9.0, 0.5, -1.0), lambda values: values @ mixing)
    assert set(both) == {0, 1}
    assert both[0]["co"][:, 1] == pytest.approx(old["co"][:, 1])
    squared = changed_keys({2: old}, (9.0, 0.5, -1.0), lambda values: values**2)
    assert set(squared) == {2}
    assert squared[2]["co"][:, 1] == pytest.approx(old["co"][:, 1] ** 2, abs=1e-6)
    for name in ("handle_left", "handle_right"):
        steep = 2.0 * old["co"][:, 1] * (old[name][:, 1] - old["co"][:, 1])
        assert squared[2][name][:, 1] - squared[2]["co"][:, 1] == pytest.approx(steep, abs=1e-3)

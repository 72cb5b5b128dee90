# SPDX-License-Identifier: GPL-3.0-or-later
"""F-curves are divided without a change of their shape, and reshaped between two times alone."""

from math import sin

import numpy as np
import pytest

from ik_triangulation.errors import AnimationError
from ik_triangulation.items import PROFILES
from ik_triangulation.rig.keyframes.arrays import put_keys
from ik_triangulation.rig.keyframes.shaping import knots_for, profile_at, reshaped, with_keys_at

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

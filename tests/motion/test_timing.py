# SPDX-License-Identifier: GPL-3.0-or-later
"""How a movement goes in time."""

from itertools import pairwise

import bpy
import pytest

from ik_triangulation.errors import SettingError
from ik_triangulation.motion.timing import EASINGS, TIMINGS, profile, window

TIMES = [number / 200.0 for number in range(201)]
EASED = [name for name, timing in TIMINGS.items() if timing.eased]
both = pytest.mark.parametrize("easing", EASINGS)


@pytest.mark.parametrize("timing", TIMINGS)
@both
@pytest.mark.whole
def test_every_timing_leads_from_0_to_1_and_never_back(timing, easing):
    shares = [profile(timing, easing)(time) for time in TIMES]
    assert (shares[0], shares[-1]) == pytest.approx((0.0, 1.0), abs=1e-12)
    assert all(after >= before for before, after in pairwise(shares))


@pytest.mark.parametrize("timing", TIMINGS)
def test_nothing_moves_outside_the_time(timing):
    share = profile(timing)
    assert [share(time) for time in (-3.0, -1e-9, 1.0 + 1e-9, 7.0)] == [0.0, share(0.0), share(1.0), 1.0]


def test_minimum_jerk_starts_and_ends_without_speed_and_acceleration():
    share, step = profile("MINIMUM_JERK"), 1e-3
    for near, beyond in ((0.0, 1.0), (1.0, -1.0)):
        first, second, third = (share(near + beyond * step * n) for n in range(3))
        assert abs(second - first) / step < 2e-5
        assert abs(third - 2.0 * second + first) / step**2 < 0.1  # 60 t near both ends


def test_minimum_jerk_is_fastest_half_way_at_15_eighths_of_the_mean_speed():
    share = profile("MINIMUM_JERK")
    speeds = [share(time + 0.0025) - share(time - 0.0025) for time in TIMES]
    assert TIMES[speeds.index(max(speeds))] == 0.5
    assert max(speeds) / 0.005 == pytest.approx(15.0 / 8.0, rel=1e-4)
    assert share(0.5) == 0.5


@pytest.mark.parametrize("timing", EASED)
@both
@pytest.mark.whole
def test_an_easing_is_that_of_blenders_keys(timing, easing):
    action = bpy.data.actions.new("Easing")
    try:
        strip = action.layers.new("Layer").strips.new(type="KEYFRAME")
        curve = strip.channelbag(action.slots.new("OBJECT", "Any"), ensure=True).fcurves.new("location", index=0)
        curve.keyframe_points.insert(0.0, 0.0)
        curve.keyframe_points.insert(200.0, 1.0)
        first = curve.keyframe_points[0]
        first.interpolation, first.easing = timing, easing
        share = profile(timing, easing)
        for frame, time in enumerate(TIMES):
            assert share(time) == pytest.approx(curve.evaluate(frame), abs=2e-6)
    finally:
        bpy.data.actions.remove(action)


def test_unknown_names_are_refused():
    with pytest.raises(SettingError, match=r"Timing 'JERKY' is unknown\. Choose one of MINIMUM_JERK, LINEAR"):
        profile("JERKY")
    with pytest.raises(SettingError, match=r"Easing 'NOT' is unknown\. Choose one of EASE_IN"):
        profile("SINE", "NOT")


def test_without_onset_all_joints_have_the_whole_time():
    assert all(window(time, joint, 4, 0.0) == time for time in TIMES for joint in range(4))


def test_with_full_onset_the_last_joint_begins_when_the_first_is_there():
    assert [window(time, 0, 3, 1.0) for time in (0.0, 0.25, 0.5)] == [0.0, 0.5, 1.0]
    assert [window(time, 1, 3, 1.0) for time in (0.25, 0.75)] == [0.0, 1.0]
    assert [window(time, 2, 3, 1.0) for time in (0.5, 0.75, 1.0)] == [0.0, 0.5, 1.0]


@pytest.mark.parametrize("onset", [0.0, 0.3, 1.0])
def test_all_windows_lie_inside_the_time_and_overlap_in_order(onset):
    begins = [-window(0.0, joint, 5, onset) for joint in range(5)]
    assert begins == sorted(begins)
    assert begins[0] == 0.0
    assert all(window(1.0, joint, 5, onset) >= 1.0 - 1e-12 for joint in range(5))
    assert window(1.0, 4, 5, onset) == pytest.approx(1.0)


def test_a_single_joint_has_the_whole_time():
    assert window(0.3, 0, 1, 1.0) == 0.3

# SPDX-License-Identifier: GPL-3.0-or-later
"""F-curves have the values at many times that Blender gives them one by one."""

from random import Random

import bpy
import numpy as np
import pytest

from ik_triangulation.rig.frames.curve_values import values_at, values_of_keys
from ik_triangulation.rig.keyframes.arrays import get_keys

from ...rigs import curves_of, empty, key_location

pytestmark = pytest.mark.usefixtures("empty_scene")

KINDS = ("BEZIER", "LINEAR", "CONSTANT")
HANDLES = (0.0, 0.3, 1.0, 5.0, 20.0)  # in frames: some reach beyond the next keyframe


def keyed_randomly(random, kinds):
    """An object with 1 to 12 keyframes at a time, near and far apart, half of them with handles of any length."""
    ob, time = empty(), 0.0
    for _ in range(random.randint(1, 12)):
        time += random.choice((0.3, 1.0, 1.0, 2.0, 7.3))
        ob.location = [random.uniform(-1.0, 1.0) for _ in range(3)]
        ob.keyframe_insert("location", frame=time)
    for curve in curves_of(ob):
        for key in curve.keyframe_points:
            key.interpolation = random.choice(kinds)
            if random.random() < 0.5:
                key.handle_left_type = key.handle_right_type = "FREE"
                key.handle_left = key.co.x - random.choice(HANDLES), random.uniform(-1.0, 1.0)
                key.handle_right = key.co.x + random.choice(HANDLES), random.uniform(-1.0, 1.0)
    return ob, time


def times_around(last, count=200):
    """Times before, between, at and after the keyframes, in single precision."""
    times = np.linspace(-3.0, last + 3.0, count).astype(np.float32).astype(float)
    times[::3] = np.round(times[::3])
    return times


def one_by_one(curves, times):
    return np.array([[curve.evaluate(time) for time in times.tolist()] for curve in curves])


@pytest.mark.parametrize("kinds", [("BEZIER",), ("LINEAR",), ("CONSTANT",), KINDS, (*KINDS, "SINE", "ELASTIC")])
@pytest.mark.parametrize("seed", range(10))
def test_values_are_those_that_blender_evaluates(kinds, seed):
    ob, last = keyed_randomly(Random(seed), kinds)
    curves, times = curves_of(ob), times_around(last)
    apart = np.abs(values_at(curves, times) - one_by_one(curves, times))
    # Where handles make a curve steep, single precision of the time shows in the value.
    assert apart.max() <= 2e-4
    assert np.median(apart) <= 1e-7


def test_smooth_curves_are_exact_to_single_precision():
    curves, times = curves_of(key_location(empty(), range(1, 200, 7))), times_around(200.0, 2000)
    assert np.abs(values_at(curves, times) - one_by_one(curves, times)).max() <= 5e-7


@pytest.mark.parametrize("kind", ["NOISE", "CYCLES"])
def test_curves_with_modifiers_are_evaluated(kind):
    ob, last = keyed_randomly(Random(3), ("BEZIER",))
    curves_of(ob)[0].modifiers.new(kind)
    curves, times = curves_of(ob), times_around(last)
    assert np.array_equal(values_at(curves, times)[0], one_by_one(curves, times)[0])


def test_curves_that_lead_on_beyond_their_keyframes_do_so():
    ob = key_location(empty(), (1, 5, 9))
    for curve in curves_of(ob):
        curve.extrapolation = "LINEAR"
    curves, times = curves_of(ob), times_around(20.0)
    assert np.abs(values_at(curves, times) - one_by_one(curves, times)).max() <= 1e-6


def test_few_times_are_those_of_blender_bit_by_bit():
    curves, times = curves_of(key_location(empty(), (1, 5, 9))), np.array([1.0, 2.5, 30.0])
    assert np.array_equal(values_at(curves, times), one_by_one(curves, times))


@pytest.mark.parametrize("kinds", [KINDS, ("SINE", "ELASTIC")])
@pytest.mark.parametrize("more", ["nothing", "a modifier", "linear extrapolation"])
@pytest.mark.parametrize("seed", range(3))
def test_values_of_other_keys_are_those_a_curve_would_have_with_them(kinds, more, seed):
    (one, last), (other, _) = keyed_randomly(Random(seed), kinds), keyed_randomly(Random(seed + 9), KINDS)
    curves = [curves_of(ob) for ob in (one, other)]
    for curve in (*curves[0], *curves[1]):
        if more == "a modifier":
            curve.modifiers.new("CYCLES")
        elif more == "linear extrapolation":
            curve.extrapolation = "LINEAR"
    times, actions = times_around(last), len(bpy.data.actions)
    found = values_of_keys(list(zip(curves[1], map(get_keys, curves[0]), strict=True)), times)
    assert np.abs(found - one_by_one(curves[0], times)).max() <= 2e-4
    assert len(bpy.data.actions) == actions

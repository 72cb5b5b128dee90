# SPDX-License-Identifier: GPL-3.0-or-later
"""What rotations tell of a joint: the hinge or the ranges they were made with."""

from math import degrees, inf, pi, radians, sin
from random import Random

import numpy as np
import pytest
from mathutils import Euler, Quaternion, Vector

from ik_triangulation.errors import SettingError
from ik_triangulation.kinematics import EulerLimits, Hinge, Locked
from ik_triangulation.kinematics.rotation import EULER_ORDERS, about, angle_between, from_euler, rotation_angle
from ik_triangulation.motion.learning import learn_freedom

from ..chains import random_direction

FRAMES = 240


def swing(lower, upper, frame):
    """There and back, more than twice; each end is met."""
    return lower + (upper - lower) * (0.5 - 0.5 * np.cos(frame * 2.0 * pi / 100.0))


def hinge_motion(random, axis, lower, upper, noise=0.0):
    """A hinge in motion, each frame turned aside a little."""
    rotations = []
    for frame in range(FRAMES):
        aside = about(random_direction(random), random.gauss(0.0, noise)) if noise else Quaternion()
        sign = random.choice((-1.0, 1.0))
        rotations.append(tuple(aside @ about(axis, swing(lower, upper, frame)) * sign))
    return rotations


def same_way(hinge, axis):
    """The hinge's range about `axis`, which may point the other way."""
    return (hinge.lower, hinge.upper) if hinge.axis.dot(axis) > 0.0 else (-hinge.upper, -hinge.lower)


@pytest.mark.parametrize("ends", [(0, 140), (-20, 100), (30, 60), (-90, -5), (10, 179)])
def test_a_noisy_hinge_is_recovered(ends):
    random = Random(str(ends))
    lower, upper = map(radians, ends)
    for _ in range(5):
        axis = random_direction(random)
        learned = learn_freedom(hinge_motion(random, axis, lower, upper, radians(1.0)), "XYZ")
        assert isinstance(learned.freedom, Hinge)
        assert degrees(min(angle_between(learned.freedom.axis, a) for a in (axis, -axis))) < 1.0
        assert [degrees(end) for end in same_way(learned.freedom, axis)] == pytest.approx(ends, abs=2.0)
        assert (learned.frames, learned.freedom.upper + learned.freedom.lower > 0.0) == (FRAMES, True)
        assert 0.3 < degrees(learned.strays) < 3.0


@pytest.mark.parametrize("ends", [(150, 210), (-200, -120), (60, 300), (-20, 330)])
def test_a_hinge_across_half_a_turn_is_recovered(ends):
    random = Random(str(ends))
    axis = random_direction(random)
    hinge = learn_freedom(hinge_motion(random, axis, *map(radians, ends)), "XYZ", share=100.0).freedom
    assert degrees(hinge.upper - hinge.lower) == pytest.approx(ends[1] - ends[0], abs=0.1)
    for angle in range(ends[0], ends[1], 5):
        rotation = about(axis, radians(angle + 0.1))
        assert rotation_angle(hinge.nearest(rotation), rotation) < 2e-3
    between = about(axis, radians((ends[0] + ends[1]) / 2.0 + 180.0))
    off = radians(180.0 - (ends[1] - ends[0]) / 2.0)
    assert rotation_angle(hinge.nearest(between), between) == pytest.approx(off, abs=2e-3)


def test_a_wheel_is_a_hinge_without_limits():
    axis = Vector((0.0, 0.6, 0.8))
    learned = learn_freedom([about(axis, 0.1 * frame) for frame in range(140)], "XYZ")
    assert (learned.freedom.lower, learned.freedom.upper) == (-inf, inf)
    assert str(learned) == "hinge about (0.00, 0.60, 0.80), all round, from 140 frames, strays 0.0°"


@pytest.mark.parametrize("offset", [0.0, 1.0])
def test_what_does_not_turn_is_locked(offset):
    random = Random(7)
    rest = about(Vector((1.0, 0.0, 0.0)), offset)
    rotations = [about(random_direction(random), radians(0.04)) @ rest for _ in range(50)]
    learned = learn_freedom(rotations, "XYZ")
    assert learned.freedom == Locked()
    assert str(learned) == "does not turn, from 50 frames"
    assert str(learn_freedom([rest], "XYZ")) == "does not turn, from 1 frame"


def ball_motion(order, lower, upper):
    """Euler angles that run through their ranges at rates of their own, each from end to end."""
    triples = [
        tuple(swing(lower[i], upper[i], frame * rate) for i, rate in enumerate((1.0, 1.7, 0.6)))
        for frame in range(4 * FRAMES)
    ]
    return triples, [from_euler(triple, order) for triple in triples]


BALLS = {
    "around rest": ((-0.5, -0.75, -1.0), (1.0, 0.25, 0.5)),
    "across half a turn": ((-0.5, -0.75, 2.5), (1.0, 0.25, 3.75)),
    "on one side": ((0.25, 0.5, -1.25), (1.25, 1.0, -0.5)),
}


@pytest.mark.parametrize("ball", BALLS)
@pytest.mark.parametrize("order", EULER_ORDERS)
def test_a_ball_joint_has_its_ranges_recovered(order, ball):
    lower, upper = (tuple(ends["XYZ".index(letter)] for letter in "XYZ") for ends in BALLS[ball])
    if ball == "across half a turn":  # the middle angle of the order cannot
        outer, middle = "XYZ".index(order[0]), "XYZ".index(order[1])
        lower, upper = [-0.5] * 3, [1.0] * 3
        lower[outer], upper[outer], lower[middle], upper[middle] = 2.5, 3.75, -0.75, 0.25
    triples, rotations = ball_motion(order, lower, upper)
    learned = learn_freedom(rotations, order, share=100.0)
    assert isinstance(learned.freedom, EulerLimits)
    assert learned.freedom.order == order
    widths = [high - low for low, high in zip(learned.freedom.lower, learned.freedom.upper, strict=True)]
    assert widths == pytest.approx([high - low for low, high in zip(lower, upper, strict=True)], abs=0.02)
    for rotation in rotations:
        assert rotation_angle(learned.freedom.nearest(rotation), rotation) < 1e-5
    given = learn_freedom(rotations, order, share=100.0, triples=triples).freedom
    assert np.allclose(given.lower + given.upper, learned.freedom.lower + learned.freedom.upper, atol=1e-4)


def test_the_share_leaves_out_single_frames():
    rotations = [about(Vector((1.0, 0.0, 0.0)), 1.0 + 0.5 * sin(frame)) for frame in range(1000)]
    rotations[500] = about(Vector((1.0, 0.0, 0.0)), 2.5)
    hinge = learn_freedom(rotations, "XYZ").freedom
    assert (hinge.lower, hinge.upper) == (pytest.approx(0.5, abs=0.01), pytest.approx(1.5, abs=0.01))
    whole = learn_freedom(rotations, "XYZ", share=100.0, margin=0.25).freedom
    assert (whole.lower, whole.upper) == (pytest.approx(0.25, abs=0.01), pytest.approx(2.75, abs=0.01))


def test_a_hinge_is_what_strays_less_than_asked():
    random = Random(8)
    rotations = hinge_motion(random, Vector((0.0, 0.0, 1.0)), 0.0, 2.0, radians(2.0))
    learned = learn_freedom(rotations, "YXZ")
    assert isinstance(learned.freedom, Hinge)
    limits = learn_freedom(rotations, "YXZ", off_axis=learned.strays * 0.9).freedom
    assert isinstance(limits, EulerLimits)
    assert (limits.lower[2], limits.upper[2]) == (pytest.approx(0.0, abs=0.1), pytest.approx(2.0, abs=0.1))


def test_an_axis_that_does_not_turn_is_frozen():
    rotations = [from_euler((sin(frame / 9.0), 0.25, sin(frame / 7.0)), "XYZ") for frame in range(200)]
    limits = learn_freedom(rotations, "XYZ").freedom
    assert limits.axes == (0, 2)
    assert limits.lower[1] == pytest.approx(0.25, abs=1e-4)


def test_known_euler_angles_are_used_where_rotations_do_not_tell_them():
    triples = [(0.5 + 0.2 * sin(frame / 8.0), pi / 2.0, 0.75) for frame in range(200)]
    rotations = [Euler(triple).to_quaternion() for triple in triples]
    limits = learn_freedom(rotations, "XYZ", off_axis=0.0, share=100.0, triples=triples).freedom
    assert limits.lower == pytest.approx((0.3, pi / 2.0, 0.75), abs=1e-2)
    assert limits.upper == pytest.approx((0.7, pi / 2.0, 0.75), abs=1e-2)


def test_euler_triples_that_jump_to_the_other_one_do_not_widen_the_ranges():
    triples = [(sin(frame / 9.0), 0.5 * sin(frame / 5.0), 0.5 * sin(frame / 7.0)) for frame in range(300)]
    rotations = [from_euler(triple, "XYZ") for triple in triples]
    jumping = [(x + pi, pi - y, z - pi) if n % 70 > 40 else (x, y, z + 2.0 * pi) for n, (x, y, z) in enumerate(triples)]
    limits = learn_freedom(rotations, "XYZ", share=100.0, triples=jumping).freedom
    assert limits.lower == pytest.approx((-1.0, -0.5, -0.5), abs=0.01)
    assert limits.upper == pytest.approx((1.0, 0.5, 0.5), abs=0.01)


def test_what_was_found_is_said_in_a_line():
    rotations = [about(Vector((-1.0, 0.0, 0.0)), -radians(3.0 + 1.25 * frame)) for frame in range(101)]
    learned = learn_freedom(rotations, "XYZ", share=100.0)
    assert str(learned) == "hinge about (1.00, 0.00, 0.00), 3° to 128°, from 101 frames, strays 0.0°"
    _, rotations = ball_motion("ZXY", (-0.5, -0.5, -0.5), (0.5, 0.5, 0.5))
    said = str(learn_freedom(rotations, "ZXY", share=100.0))
    assert said.startswith("ZXY Euler, X -29° to 29°, Y -29° to 29°, Z -29° to 29°, from 960 frames, strays ")


@pytest.mark.parametrize("settings", [{"share": 0.0}, {"share": 101.0}, {"margin": -0.1}])
def test_a_share_or_margin_without_meaning_is_refused(settings):
    with pytest.raises(SettingError, match="describe no range"):
        learn_freedom([(1.0, 0.0, 0.0, 0.0)], "XYZ", **settings)

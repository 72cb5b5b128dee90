# SPDX-License-Identifier: GPL-3.0-or-later
"""Channel values of many frames at once are those of one frame after the other."""

from math import dist, inf, pi, radians, tau
from random import Random

import numpy as np
import pytest
from mathutils import Quaternion, Vector

from ik_triangulation.kinematics import EulerLimits, Free, Hinge
from ik_triangulation.kinematics.rotation import rotation_angle
from ik_triangulation.rig.rotation import run_of, values_for

from ..chains import random_cone, random_direction, random_hinge, random_limits, random_rotation
from ..modes import every_euler_mode, every_mode
from ..rigs import rotation_from

NEAR = 2e-6  # the axis of a rotation is known in single precision to mathutils
X = Vector((1.0, 0.0, 0.0))


def assert_the_same(rotations, mode, freedoms, previous):
    """Each row is what values_for() gives after the row before; of two that are equally near either will do."""
    same = all(freedom is freedoms[0] for freedom in freedoms)
    found = run_of(np.array(rotations, np.float64), mode, freedoms[0] if same else freedoms, previous)
    assert len(found) == len(rotations)
    for rotation, freedom, row in zip(rotations, freedoms, found, strict=True):
        expected = values_for(rotation, mode, freedom, tuple(previous))
        if np.abs(row - expected).max() > NEAR:
            assert dist(row, previous) == pytest.approx(dist(expected, previous), abs=1e-12)
            assert rotation_angle(rotation_from(mode, row), rotation_from(mode, expected)) < NEAR
        previous = row
    return found


def before(random, mode):
    """Values that were there, of any number of turns."""
    if mode == "QUATERNION":
        return tuple(random_rotation(random))
    if mode == "AXIS_ANGLE":
        return random.choice([(0.0, 0.0, 0.0, 0.0), (random.uniform(-20.0, 20.0), *random_direction(random))])
    return tuple(random.uniform(-15.0, 15.0) for _ in range(3))


def smooth(random, frames):
    """Turns about an axis that sways, in steps of up to 40 degrees, now and then with a rest."""
    rotation, axis, path = random_rotation(random), random_direction(random), []
    step = radians(random.choice([1.0, 8.0, 40.0]))
    for _ in range(frames):
        axis = (axis + 0.2 * random_direction(random)).normalized()
        if random.random() < 0.95:
            rotation = (Quaternion(axis, step) @ rotation).normalized()
        path.append(rotation if random.random() < 0.8 else -rotation)
    return path


def anywhere(random, frames):
    return [random_rotation(random) for _ in range(frames)]


def near_rest(random, frames):
    return [Quaternion(random_direction(random), random.choice([0.0, 1e-7, 1e-3, 0.5])) for _ in range(frames)]


PATHS = {"smooth": smooth, "anywhere": anywhere, "near rest": near_rest}
every_path = pytest.mark.parametrize("path", PATHS)


@every_path
@every_mode
def test_free_rotations_run_on_as_one_by_one(mode, path):
    random = Random(f"{mode} {path}")
    for _ in range(60):
        frames = random.choice([1, 2, 7, 90])
        assert_the_same(PATHS[path](random, frames), mode, [Free()] * frames, before(random, mode))


@every_euler_mode
def test_rotations_within_euler_limits_stay_inside_and_run_on_as_one_by_one(mode):
    random = Random(mode)
    for _ in range(150):
        limits, frames = random_limits(random, mode), random.choice([1, 3, 40])
        path = [limits.random(random) for _ in range(frames)]
        found = assert_the_same(path, mode, [limits] * frames, before(random, mode))
        assert (found >= np.array(limits.lower)).all()
        assert (found <= np.array(limits.upper)).all()


WIDE = {
    "half a turn each way": (-pi, pi),
    "most of a turn": (-3.1, 3.1),
    "from rest on": (0.0, radians(350.0)),
    "more than a turn": (-5.0, 4.0),
    "two turns": (-tau, tau),
    "from one end": (-1.0, inf),
    "to one end": (-inf, 2.0),
}


@every_path
@pytest.mark.parametrize("width", WIDE)
@every_euler_mode
def test_wide_limits_hold_over_several_turns_as_one_by_one(mode, width, path, long):
    random = Random(f"{mode} {width} {path}")
    for _ in range(12 if long else 4):
        kinds = [random.choice([WIDE[width], (-inf, inf), (-0.5, 0.5)]) for _ in range(3)]
        kinds[random.randrange(3)] = WIDE[width]
        limits = EulerLimits(mode, *zip(*kinds, strict=True))
        rotations = [limits.nearest(rotation) for rotation in PATHS[path](random, 60)]
        assert_the_same(rotations, mode, [limits] * 60, before(random, mode))


@every_euler_mode
def test_around_the_poles_of_the_middle_axis_rows_run_on_as_one_by_one(mode):
    random, middle = Random(f"poles {mode}"), "XYZ".index(mode[1])
    for _ in range(150):
        rows = []
        for frame in range(40):
            row = [0.1 * frame + random.gauss(0.0, 0.3) for _ in range(3)]
            row[middle] = random.choice([-pi, pi]) / 2.0 + random.choice([0.0, 1e-9, 1e-5, 0.02]) * random.gauss(0, 1)
            rows.append(rotation_from(mode, row))
        freedom = random.choice([Free(), EulerLimits(mode, (-2.9,) * 3, (2.9,) * 3), random_limits(random, mode)])
        assert_the_same([freedom.nearest(row) for row in rows], mode, [freedom] * 40, before(random, mode))


def test_rotations_outside_their_limits_come_to_the_nearest_allowed_ones():
    random = Random(4)
    for _ in range(60):
        limits = random_limits(random, "ZXY")
        found = assert_the_same(anywhere(random, 20), "ZXY", [limits] * 20, before(random, "ZXY"))
        assert (found >= np.array(limits.lower)).all()
        assert (found <= np.array(limits.upper)).all()


@every_mode
def test_limits_that_change_from_frame_to_frame_hold_each_at_its_frame(mode):
    random = Random(f"changing {mode}")
    kinds = [
        random_hinge,
        random_cone,
        lambda random: random_limits(random, mode if len(mode) == 3 else "XYZ"),
        lambda _: Free(),
        lambda random: Hinge(X, -random.random(), random.random()),
    ]
    for _ in range(40):
        freedoms = [random.choice(kinds)(random) for _ in range(25)]
        path = [freedom.random(random) for freedom in freedoms]
        assert_the_same(path, mode, freedoms, before(random, mode))


def test_precision_is_not_lost_to_single():
    """Rotations in double precision give angles in double precision."""
    angles = np.linspace(0.0, 3.0, 50)
    rotations = np.column_stack((np.cos(angles / 2.0), np.sin(angles / 2.0), 0.0 * angles, 0.0 * angles))
    found = run_of(rotations, "XYZ", Free(), (0.0, 0.0, 0.0))
    assert np.abs(found[:, 0] - angles).max() < 1e-14
    assert np.abs(run_of(rotations, "AXIS_ANGLE", Free(), (0.0, 1.0, 0.0, 0.0))[1:, 0] - angles[1:]).max() < 1e-14

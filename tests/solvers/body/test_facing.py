# SPDX-License-Identifier: GPL-3.0-or-later
"""What lies far aside or behind turns pelvis and spine by half of what is beyond the range of the neck."""

from math import cos, radians, sin

import numpy as np
import pytest

from ik_triangulation.goals.orientation import LookTask
from ik_triangulation.kinematics.batch import Geometry
from ik_triangulation.kinematics.body import states_of
from ik_triangulation.solvers.body.amounts import turn_for_looks
from scripts.benchmarks import humanoid

FIGURE = humanoid.body()
UP, AHEAD = np.array([[0.0], [0.0], [1.0]]), np.array([[0.0], [-1.0], [0.0]])
HEAD = FIGURE.number_of["head"]


def turns(*ways):
    """Turns [degrees] for points in directions (azimuth to the left of ahead, elevation) [degrees] from the eyes."""
    geometry = Geometry(FIGURE.tree, states_of([FIGURE.rest_pose()] * len(ways)))
    directions = np.array(
        [(sin(radians(a)) * cos(radians(e)), -cos(radians(a)) * cos(radians(e)), sin(radians(e))) for a, e in ways]
    ).T
    look = LookTask(
        axis=AHEAD, point=geometry.tip(HEAD) + 3.0 * directions, up=UP, length=1.0, tolerance=np.ones(1), tip=HEAD
    )
    return np.degrees(turn_for_looks(geometry, np.repeat(UP, len(ways), 1), [look]))


def test_the_head_turns_alone_up_to_forty_degrees_and_the_trunk_by_half_of_the_rest():
    assert turns((0, 0), (39, 0), (-39, 0)) == pytest.approx(0.0)
    for angle in (50, 90, 150):
        assert turns((angle, 0)) == pytest.approx(0.5 * (angle - 40.0), abs=1e-4)
        assert turns((-angle, 0)) == pytest.approx(-0.5 * (angle - 40.0), abs=1e-4)


def test_who_looks_round_from_one_side_to_behind_the_other_goes_on_turning():
    assert turns((120, 0), (170, 0), (220, 0)) == pytest.approx([40.0, 65.0, 90.0], abs=1e-4)


def test_what_is_steeply_above_tells_no_side():
    level = [cos(radians(e)) for e in (75, 60, 20)]
    shares = np.clip([(each - 0.3) / 0.3 for each in level], 0.0, 1.0)
    assert shares[0] == 0.0
    assert 0.0 < shares[1] < shares[2] == 1.0
    for elevation, share in zip((75, 60, 20), shares, strict=True):
        assert turns((120, elevation)) == pytest.approx(40.0 * share, abs=1e-3)


def test_without_a_look_of_a_face_nothing_turns():
    geometry = Geometry(FIGURE.tree, states_of([FIGURE.rest_pose()] * 2))
    look = LookTask(axis=AHEAD, point=-9.0 * AHEAD, length=1.0, tolerance=np.ones(1), tip=HEAD)
    for tasks in ([], [look]):
        assert turn_for_looks(geometry, np.repeat(UP, 2, 1), tasks).tolist() == [0.0, 0.0]


def test_what_is_at_the_eye_turns_nothing():
    geometry = Geometry(FIGURE.tree, states_of([FIGURE.rest_pose()] * 2))
    places = geometry.tip(HEAD) + np.array([[0.0, 0.0], [0.0, -3.0], [0.0, 0.0]])
    look = LookTask(axis=AHEAD, point=places, up=UP, length=1.0, tolerance=np.ones(1), tip=HEAD)
    assert turn_for_looks(geometry, np.repeat(UP, 2, 1), [look]) == pytest.approx([0.0, 0.0], abs=1e-6)

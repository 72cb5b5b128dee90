# SPDX-License-Identifier: GPL-3.0-or-later
"""The hips of a body whose feet follow goals go over the foot that stands, and no higher than both legs allow."""

from dataclasses import replace

import numpy as np
import pytest

from ik_triangulation.goals.from_goals import point_task
from ik_triangulation.goals.task import Level
from ik_triangulation.kinematics.batch import Geometry
from ik_triangulation.solvers.body.floor import stood
from scripts.benchmarks import humanoid
from scripts.benchmarks.body_goals import FEET, stands

FIGURE = humanoid.body()
TREE = FIGURE.tree


def hips_of(ways):
    """How far the hips (3) of one pose move for ways (3) of tips by their names; None if it does not stand."""
    reference = stands(FIGURE, 1)
    geometry, tasks = Geometry(TREE, reference), []
    for name, way in ways.items():
        number = FIGURE.number_of[name]
        goal = point_task(geometry.tip(number) + np.array(way, float)[:, None], np.array([1e-3]))
        tasks.append(replace(goal, tip=number, level=Level.REACH))
    found = stood(TREE, reference, tasks)
    return None if found is None else (found.place - reference.place)[:, 0]


def test_feet_that_are_where_they_were_leave_the_hips_there():
    assert hips_of(dict.fromkeys(FEET, (0, 0, 0))) == pytest.approx([0, 0, 0], abs=1e-9)


def test_weight_goes_over_the_foot_that_stands():
    left = hips_of({"foot.L": (0, -0.2, 0.25), "foot.R": (0, 0, 0)})
    right = hips_of({"foot.L": (0, 0, 0), "foot.R": (0, -0.2, 0.25)})
    assert left[0] < -0.03
    assert right == pytest.approx(left * (-1, 1, 1), abs=1e-6)
    assert -0.1 < left[1] <= 0.0, "the foot in the air does not take the hips along"


def test_hips_go_between_feet_that_are_apart_and_sink_for_them():
    moved = hips_of({"foot.L": (0, -0.7, 0), "foot.R": (0, 0, 0)})
    assert moved[1] == pytest.approx(-0.35, abs=1e-6)
    assert -0.2 < moved[2] < -0.02


def test_both_feet_higher_take_the_hips_up():
    assert hips_of(dict.fromkeys(FEET, (0, -0.1, 0.3))) == pytest.approx([0, -0.1, 0.3], abs=1e-6)


def test_hands_that_cannot_be_reached_from_there_tell_that_it_does_not_stand():
    assert hips_of(dict.fromkeys(FEET, (0, 0, 0)) | {"hand.L": (0, -0.3, 0.3)}) is not None
    assert hips_of(dict.fromkeys(FEET, (0, 0, 0)) | {"hand.L": (0, -0.9, -0.7)}) is None

# SPDX-License-Identifier: GPL-3.0-or-later
"""The panel of posture shows what counts for the limb's solver."""

import pytest

from ik_triangulation.solvers import SOLVERS

from ...layouts import drawn
from .states import panel, standard

pytestmark = pytest.mark.usefixtures("empty_scene")
POSTURE = panel("_posture")
COMFORT = ["effort_weight", "rest_weight", "(rest_pose)", "obstacles"]


@pytest.mark.parametrize("finish", [True, False])
def test_natural_is_smoothed_with_or_without_finish_and_has_no_frame_to_start_from(finish):
    standard(solver="NATURAL", finish=finish)
    assert drawn(POSTURE) == ["smoothing", "soft_edge", "obstacles"]


@pytest.mark.parametrize("solver", sorted(set(SOLVERS) - {"NATURAL"}))
def test_a_published_method_starts_from_a_pose_and_has_its_jumps_removed(solver):
    standard(solver=solver)
    assert drawn(POSTURE) == ["smoothing", "smooth", "start_from", *COMFORT]


def test_removing_jumps_and_smoothing_need_finish_with_a_published_method():
    standard(solver="CCD", finish=False)
    assert drawn(POSTURE)[:3] == ["(smoothing)", "(smooth)", "start_from"]


def test_comfort_of_natural_is_there_where_it_is_set():
    standard(rest_weight=0.5)
    assert "rest_pose" in drawn(POSTURE)

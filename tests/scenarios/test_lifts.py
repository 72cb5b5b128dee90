# SPDX-License-Identifier: GPL-3.0-or-later
"""Legs that lift and squat within their limits, with comfort and without: no knee snaps."""

from itertools import pairwise

import pytest

from scripts.benchmarks import lifts, scenes

pytestmark = pytest.mark.usefixtures("empty_scene")

MOST = 11.5  # degrees in a frame
JUMPS = 1  # turns that stand out from those around them; each is within MOST


@pytest.mark.parametrize("solver", lifts.SOLVERS)
@pytest.mark.parametrize("comfort", lifts.COMFORT)
@pytest.mark.parametrize("preset", lifts.PRESETS)
def test_no_joint_of_a_leg_snaps_while_the_target_moves_steadily(preset, comfort, solver, long):
    with scenes.extension():
        for found in lifts.moves(4, 3 if long or solver == lifts.SOLVERS[0] else 1, preset, comfort, solver):
            assert found.turn <= MOST
            assert found.jumps <= JUMPS
            assert found.reached == lifts.FRAMES


def test_the_foot_goes_there_steadily_and_comes_back():
    shares = [lifts.there_and_back(frame) for frame in range(1, lifts.FRAMES + 1)]
    assert shares[0] == shares[-1] == 0.0
    assert max(shares) == pytest.approx(1.0, abs=1e-3)
    assert max(abs(b - a) for a, b in pairwise(shares)) < 0.07

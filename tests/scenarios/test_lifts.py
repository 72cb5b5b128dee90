# SPDX-License-Identifier: GPL-3.0-or-later
"""Legs that lift and squat within their limits, with comfort and without: no knee snaps."""

from itertools import pairwise

import pytest

from scripts.benchmarks import lifts, scenes

from ..modes import in_turn

pytestmark = pytest.mark.usefixtures("empty_scene")

MOST = 11.5  # degrees in a frame
MANY, FEW, SEED = 4, 2, 1  # lifts and squats in turn: with --long, and in short
JUMPS = 1  # turns that stand out from those around them; each is within MOST


@pytest.mark.parametrize(("preset", "comfort"), in_turn(lifts.PRESETS, lifts.COMFORT))
def test_no_joint_of_a_leg_snaps_while_the_target_moves_steadily(preset, comfort, long):
    with scenes.extension():
        for found in lifts.moves(MANY if long else FEW, SEED, preset, comfort, "NATURAL"):
            assert found.turn <= MOST
            assert found.jumps <= JUMPS
            assert found.reached == lifts.FRAMES


@pytest.mark.parametrize("solver", ["TRIANGULATION", pytest.param("GAUSS_NEWTON", marks=pytest.mark.long)])
def test_a_leg_by_a_published_method_turns_no_faster_than_by_the_method_itself(solver, long):
    with scenes.extension():
        for preset in lifts.PRESETS if long else lifts.PRESETS[-1:]:
            mended, own = (
                lifts.moves(MANY if long else FEW, SEED, preset, 0.0, solver, smooth=smooth) for smooth in (True, False)
            )
            for found, alone in zip(mended, own, strict=True):
                assert found.turn <= 1.05 * alone.turn + 0.5
                assert found.jumps <= alone.jumps // 2
                assert found.reached == lifts.FRAMES
            assert max(each.turn for each in mended) < 0.8 * max(each.turn for each in own)


def test_the_foot_goes_there_steadily_and_comes_back():
    shares = [lifts.there_and_back(frame) for frame in range(1, lifts.FRAMES + 1)]
    assert shares[0] == shares[-1] == 0.0
    assert max(shares) == pytest.approx(1.0, abs=1e-3)
    assert max(abs(b - a) for a, b in pairwise(shares)) < 0.07

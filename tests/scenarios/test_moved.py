# SPDX-License-Identifier: GPL-3.0-or-later
"""An arm whose target is moved and never turned does not flip, baked or live; the benchmark's motions, some of them."""

import numpy as np
import pytest

from ik_triangulation.jobs.live import following as live
from scripts.benchmarks import moved

from ..modes import in_turn

SEED, COUNT = 7, 4


@pytest.fixture(autouse=True)
def ends(addon):
    yield
    live.stop_all()


MEDIAN = {moved.OURS: 30.0, moved.LIVE: 41.0}


@pytest.mark.parametrize(("rig", "method"), in_turn(moved.RIGS, MEDIAN))
def test_no_joint_flips_on_the_way(rig, method):
    found = [moved.motion(rig, pair, method) for pair in moved.motions(rig, SEED, COUNT)]
    most = [each.turns.max() for each in found]
    assert np.median(most) < MEDIAN[method]
    assert max(most) < moved.FLIP
    assert max(np.median(each.off) for each in found) < moved.AWAY

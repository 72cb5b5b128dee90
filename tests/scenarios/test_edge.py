# SPDX-License-Identifier: GPL-3.0-or-later
"""A leg whose target leaves the reach and comes back turns no joint fast there, also where its foot gives way."""

import pytest

from scripts.benchmarks import edge

pytestmark = pytest.mark.usefixtures("addon")
MOST = 15.0  # degrees of a joint in a frame next to one that is missed


@pytest.mark.parametrize(("turned", "seed"), [(False, 1040), (True, 1041)])
def test_a_leg_does_not_swing_round_while_its_target_is_out_of_reach(turned, seed):
    path = edge.of_limb("leg", turned, seed, edge.SOFT)
    assert path.touching.sum() > 5
    assert path.largest_at_edge < MOST
    assert (path.off - path.beyond).max() < 0.03

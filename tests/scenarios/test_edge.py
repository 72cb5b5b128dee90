# SPDX-License-Identifier: GPL-3.0-or-later
"""A leg whose target leaves the reach and comes back turns no joint fast there, also where its foot gives way.

Nor does an arm of a body leap where its hand cannot turn as told.
"""

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


@pytest.mark.parametrize(
    ("rig", "seed", "most"), [("human", 3, 40.0), pytest.param("t-pose", 2, 85.0, marks=pytest.mark.long)]
)
def test_an_arm_of_a_body_does_not_leap_where_its_hand_cannot_turn_as_told(rig, seed, most):
    path = edge.of_hasty_body(rig, seed, True)  # 59 and 111 degrees in a frame where no turn is traded
    assert path.turns.max() < most

# SPDX-License-Identifier: GPL-3.0-or-later
"""Limbs are solved as one body if one is held or if they share bones; what bodies cannot do is told."""

import pytest

from ik_triangulation.errors import ChainError
from ik_triangulation.jobs.shots.problem import bodies_and_tips, body_of, check_alone

from ...bodies import FEET, HANDS, human_rig, set_up_rig
from ...rigs import configure, empty

pytestmark = pytest.mark.usefixtures("empty_scene")


def test_limbs_that_share_no_bone_stay_alone():
    rig = human_rig()
    configure(rig, "hand.L", target=empty("One"), chain_count=3)
    configure(rig, "spine.002", target=empty("Two"), chain_count=2)
    assert body_of(rig, "hand.L") is None
    assert bodies_and_tips(rig) == ([], ["spine.002", "hand.L"])
    check_alone(rig, "hand.L", "Live")


def test_limbs_that_share_a_bone_are_a_body():
    rig = human_rig()
    for name in HANDS:
        configure(rig, name, target=empty(name), chain_count=5)
    assert [limb.tip for limb in body_of(rig, "hand.R").limbs] == list(HANDS)


def test_a_limb_of_selected_bones_is_never_part_of_a_body():
    rig = set_up_rig()
    rig.pose.bones["hand.L"].ik_triangulation.use_selected = True
    assert [limb.tip for limb in body_of(rig, "hand.R").limbs] == ["hand.R"]


def test_a_held_tip_alone_is_told():
    rig = human_rig()
    rig.pose.bones["foot.L"].ik_triangulation.hold = True
    with pytest.raises(ChainError, match=r"'foot\.L' is held, and no limb reaches"):
        body_of(rig, "foot.L")


def test_a_limb_that_is_not_ticked_is_not_solved_alone_beside_held_ones():
    rig = set_up_rig()
    rig.pose.bones["hand.L"].ik_triangulation.enabled = False
    with pytest.raises(ChainError, match="not ticked"):
        body_of(rig, "hand.L")
    assert body_of(rig, "hand.R").tips == (*FEET, "hand.R")


def test_what_works_on_single_limbs_is_refused():
    with pytest.raises(ChainError, match=r"'hand\.L' is part of a body, and Reach works on single limbs"):
        check_alone(set_up_rig(), "hand.L", "Reach")


def test_a_limb_that_hangs_on_the_body_is_of_it_when_all_are_baked():
    rig = set_up_rig()
    toe = rig.pose.bones["heel.L"].ik_triangulation
    toe.target, toe.chain_count = empty("Toe"), 1
    (body,), alone = bodies_and_tips(rig)
    assert "heel.L" in body.tips  # it hangs on the foot
    assert alone == []

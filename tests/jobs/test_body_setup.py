# SPDX-License-Identifier: GPL-3.0-or-later
"""A body that is set up in one call has hands that reach, feet that are held, limits and balance."""

import bpy
import pytest

from ik_triangulation.errors import ChainError
from ik_triangulation.jobs.bodies import body_of
from ik_triangulation.jobs.body_setup import set_up_body
from ik_triangulation.kinematics import Locked
from ik_triangulation.rig.freedom import freedom_of, store

from ..bodies import FEET, HANDS, human_rig
from ..rigs import chain_rig, empty, nothing_lost

pytestmark = pytest.mark.usefixtures("empty_scene")


def test_hands_reach_for_empties_and_feet_are_held():
    rig = human_rig()
    made = set_up_body(rig)
    assert (made.reach, made.held, made.hips) == (HANDS, FEET, "spine")
    for name in HANDS:
        limb = rig.pose.bones[name].ik_triangulation
        assert limb.target.empty_display_type == "ARROWS"
        assert (limb.hold, limb.body_part) == (False, "ARM")
        assert (limb.target.matrix_world.translation - rig.pose.bones[name].tail).length < 1e-5
    for name in FEET:
        limb = rig.pose.bones[name].ik_triangulation
        assert (limb.hold, limb.target, limb.chain_count) == (True, None, 3)
    body = body_of(rig, "hand.L")
    assert (body.held, body.hips, body.balance) == (FEET, "spine", True)
    assert {"spine.001", "shin.R", "hand.L"} <= set(body.bones)


def test_a_target_and_limits_that_are_there_stay():
    rig, cup = human_rig(), empty("Cup")
    rig.pose.bones["hand.L"].ik_triangulation.target = cup
    store(Locked(), 0.0, rig.pose.bones["shin.L"].ik_triangulation_joint)
    set_up_body(rig)
    assert rig.pose.bones["hand.L"].ik_triangulation.target == cup
    assert isinstance(freedom_of(rig.pose.bones["shin.L"]), Locked)
    assert not isinstance(freedom_of(rig.pose.bones["shin.R"]), Locked)


def test_chosen_bones_are_the_tips_and_stand_for_their_limbs():
    rig = human_rig()
    made = set_up_body(rig, ["forearm.R", "foot.L", "toe.R"])
    assert (made.reach, made.held) == (("hand.R",), FEET)
    assert rig.pose.bones["hand.L"].ik_triangulation.target is None


def test_chosen_bones_of_an_unknown_creature_are_held_where_they_end_near_the_ground():
    rig = human_rig()
    names = {name: f"B{number}" for number, name in enumerate(rig.data.bones.keys())}
    for name, other in names.items():
        rig.data.bones[name].name = other
    made = set_up_body(rig, [names[name] for name in ("hand.L", "foot.L", "toe.R")])
    assert made.reach == (names["hand.L"],)
    assert set(made.held) == {names["foot.L"], names["foot.R"]} or set(made.held) == {names["foot.L"], names["toe.R"]}


def test_what_cannot_be_a_body_is_told_and_nothing_changes():
    rig = chain_rig(4)
    with nothing_lost(), pytest.raises(ChainError, match="Select the tip bones"):
        set_up_body(rig)
    rig = human_rig("Other")
    rig.pose.bones["spine"].lock_location = (False, True, False)
    with nothing_lost(), pytest.raises(ChainError, match="its location is locked"):
        set_up_body(rig)
    assert not bpy.data.objects.get("hand.L Target")

# SPDX-License-Identifier: GPL-3.0-or-later
"""Limbs are recognised whatever a rig calls its bones, and whichever of them is chosen."""

import pytest

from ik_triangulation.presets import find_preset
from ik_triangulation.rig.anatomy.limbs import LIMB_KINDS, RestBody
from ik_triangulation.rig.anatomy.names import PARTS
from ik_triangulation.rig.anatomy.skeleton import RestBone
from ik_triangulation.settings import by_property
from ik_triangulation.settings.goal import ChainSettings

from .conventions import CONVENTIONS

each_convention = pytest.mark.parametrize("name", CONVENTIONS)


def found(limb):
    return limb and (limb.kind.name, limb.side, limb.bones)


@each_convention
def test_every_bone_of_a_rig_stands_for_the_limb_that_an_animator_expects(name):
    convention = CONVENTIONS[name]
    bones, expected = convention.bones(), convention.expected()
    assert set(expected) <= set(bones)
    body = RestBody(bones)
    wrong = {each: found(body.limb_with(each)) for each in bones if found(body.limb_with(each)) != expected.get(each)}
    assert not wrong, {each: (limb, expected.get(each)) for each, limb in wrong.items()}


def line(*names, parent=None):
    """Bones below one another, all at one place."""
    origin = (0.0, 0.0, 0.0)
    return {n: RestBone(above, origin, origin) for n, above in zip(names, (parent, *names), strict=False)}


def test_an_arm_without_a_hand_is_its_two_long_bones_whose_end_does_not_turn():
    limb = RestBody(line("upper_arm.L", "forearm.L")).limb_with("upper_arm.L")
    assert (found(limb), limb.turns) == (("ARM", "L", ("upper_arm.L", "forearm.L")), False)


def test_fk_controls_go_before_bones_that_only_follow():
    fk, original, deform = (
        line(*(name.format(bone) for bone in ("upper_arm", "forearm", "hand")))
        for name in ("{}_fk.R", "ORG-{}.R", "DEF-{}.R")
    )
    body = RestBody({**deform, **original, **fk, **line("hand_ik.R")})
    assert {found(body.limb_with(name)) for name in ("DEF-hand.R", "hand_ik.R", "ORG-forearm.R")} == {
        ("ARM", "R", ("upper_arm_fk.R", "forearm_fk.R", "hand_fk.R"))
    }
    assert RestBody({**deform, **original}).limb_with("DEF-hand.R").bones[-1] == "ORG-hand.R"


def test_of_two_bodies_in_one_armature_the_chosen_bones_own_is_taken():
    arm = ("upper_arm.L", "forearm.L", "hand.L", "palm.L")
    other = tuple(f"{name}.001" for name in arm)
    body = RestBody(line(*arm) | line(*other))
    assert body.limb_with("palm.L").bones == arm[:3]
    assert body.limb_with("palm.L.001").bones == other[:3]
    assert body.limb_with("hand.L.001").bones == other[:3]


@pytest.mark.parametrize(
    ("names", "kind", "turns"),
    [
        (["upper_arm.L", "forearm.L", "hand.L"], "ARM", True),
        (["upper_arm.L", "forearm.L"], "ARM", False),
        (["clavicle.L", "upper_arm.L", "forearm.L", "hand.L"], "ARM", True),
        (["forearm.L", "hand.L"], None, None),
        (["clavicle.L", "upper_arm.L", "forearm.L"], None, None),
        (["hand.L"], None, None),
        (["thigh.R", "shin.R", "foot.R", "toe.R"], "LEG", False),
        (["spine.001", "spine.002"], "SPINE", True),
        (["neck", "head"], "NECK", True),
        (["upper_arm.L", "forearm.L", "other"], None, None),
    ],
)
def test_bones_that_are_chosen_together_are_a_limb_from_its_first_bone_on(names, kind, turns):
    arm = line("clavicle.L", "upper_arm.L", "forearm.L", "hand.L", "other", parent="spine.002")
    legs = line("thigh.R", "shin.R", "foot.R", "toe.R", parent="hips")
    body = RestBody(line("hips", "spine.001", "spine.002", "neck", "head") | arm | legs)
    limb = body.limb_of(names)
    assert (limb and limb.kind.name) == kind
    assert (limb and limb.turns) == turns


def test_twist_bones_that_are_chosen_along_are_left_between_the_joints():
    names = ["UpperArm.L", "UpperArmTwist.L", "ForeArm.L", "ForeArm.L.001", "Hand.L"]
    body = RestBody(line(*names))
    assert body.limb_of(names).bones == ("UpperArm.L", "ForeArm.L", "Hand.L")
    assert body.limb_of(names[:4]) is None, "it does not end in a joint's own bone"


def test_a_finger_that_is_chosen_from_its_middle_has_no_knuckle():
    body = RestBody(line("f_index.01.L", "f_index.02.L", "f_index.03.L"))
    assert body.limb_of(["f_index.01.L", "f_index.02.L", "f_index.03.L"]).kind.name == "FINGER"
    assert body.limb_of(["f_index.02.L", "f_index.03.L"]) is None


def test_fingers_of_a_foot_stand_for_the_leg():
    body = RestBody(line("thigh.L", "shin.L", "foot.L", "toe.L", "r_index.01.L", "r_index.02.L"))
    assert body.limb_with("r_index.01.L").kind.name == "LEG"
    assert body.limb_with("r_index.02.L").kind.name == "FINGER"


def test_a_kind_of_limb_is_an_item_of_the_setting_and_has_a_preset(addon):
    items = by_property(ChainSettings)["body_part"].choices
    assert ["NONE", *LIMB_KINDS] == items
    for kind in LIMB_KINDS.values():
        assert set(kind.parts) <= {*PARTS, "finger", "wing", "fin"}  # the last two by shape and single words
        assert kind.turning <= set(kind.parts)
        assert find_preset(kind.preset).is_file()

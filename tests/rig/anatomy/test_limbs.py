# SPDX-License-Identifier: GPL-3.0-or-later
"""Limbs are recognised whatever a rig calls its bones, and whichever of them is chosen."""

import pytest

from ik_triangulation.rig.anatomy.limbs import Body

from .conventions import CONVENTIONS

each_convention = pytest.mark.parametrize("name", CONVENTIONS)


def found(limb):
    return limb and (limb.kind.name, limb.side, limb.bones)


@each_convention
def test_every_bone_of_a_rig_stands_for_the_limb_that_an_animator_expects(name):
    convention = CONVENTIONS[name]
    bones, expected = convention.bones(), convention.expected()
    assert set(expected) <= set(bones)
    body = Body(bones)
    wrong = {each: found(body.limb_with(each)) for each in bones if found(body.limb_with(each)) != expected.get(each)}
    assert not wrong, {each: (limb, expected.get(each)) for each, limb in wrong.items()}

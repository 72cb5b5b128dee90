# SPDX-License-Identifier: GPL-3.0-or-later
"""What type checkers read of a limb's settings is what the table declares."""

from dataclasses import fields
from inspect import signature

import pytest

from ik_triangulation.rig.limb import Limb
from ik_triangulation.settings import settings_of
from ik_triangulation.settings.typed import LimbOptions


def test_the_typed_settings_are_those_of_a_limb():
    declared = {each.name: each.type for each in fields(Limb) if each.name in settings_of(Limb)}
    assert {name: kind.__forward_arg__ for name, kind in typed().items()} == declared


def typed():
    """Names with their types as they are written, in each group in the order of its declarations."""
    return LimbOptions.__annotations__


@pytest.mark.parametrize("made_by", [Limb.from_tip, Limb.from_bones])
def test_a_limb_takes_the_typed_settings(made_by):
    assert signature(made_by).parameters["settings"].annotation == "Unpack[LimbOptions]"

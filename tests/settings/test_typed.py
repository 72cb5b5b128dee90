# SPDX-License-Identifier: GPL-3.0-or-later
"""What type checkers read of a limb's settings is what the table declares."""

from inspect import signature
from typing import get_type_hints

import pytest

from ik_triangulation.rig.limb import Limb
from ik_triangulation.settings import settings_of
from ik_triangulation.settings.typed import LimbOptions


def test_the_typed_settings_are_those_of_a_limb():
    declared = get_type_hints(Limb)
    assert get_type_hints(LimbOptions) == {name: declared[name] for name in settings_of(Limb)}


@pytest.mark.parametrize("made_by", [Limb.from_tip, Limb.from_bones])
def test_a_limb_takes_the_typed_settings(made_by):
    assert signature(made_by).parameters["settings"].annotation == "Unpack[LimbOptions]"

# SPDX-License-Identifier: GPL-3.0-or-later
"""Limbs and bodies are posed as they were; kept_poses.py has the cases, and when their table may be renewed."""

import pytest

from .kept_poses import CLOSE, cases, difference, table

CASES = cases()
KEPT = table()


@pytest.mark.parametrize("name", KEPT)
def test_the_pose_is_the_one_that_was_kept(name):
    assert difference(KEPT[name], *CASES[name]()) < CLOSE


def test_nearly_all_cases_are_steady_enough_to_be_kept():
    assert len(KEPT) > 0.9 * len(CASES)


SINGLE = ("limb", "chain", "shot free", "shot cones", "shot hinge", "shot spine", "shot finger", "soft")
IN_UNITS = [*enumerate(filter(lambda name: name.startswith(SINGLE), KEPT))][::3]


@pytest.mark.parametrize(("number", "name"), IN_UNITS)
def test_the_pose_is_the_same_in_other_units(number, name):
    assert difference(KEPT[name], *CASES[name](unit=2.0 ** (10 if number % 2 else -10))) < CLOSE

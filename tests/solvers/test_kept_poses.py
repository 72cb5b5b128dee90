# SPDX-License-Identifier: GPL-3.0-or-later
"""Natural limbs and bodies are posed as they were; kept_poses.py has the cases, and when their table may be renewed."""

import pytest

from .kept_poses import CLOSE, cases, difference, table

CASES = cases()
KEPT = table()


@pytest.mark.parametrize("name", KEPT)
def test_the_pose_is_the_one_that_was_kept(name):
    assert difference(KEPT[name], *CASES[name]()) < CLOSE


def test_nearly_all_cases_are_steady_enough_to_be_kept():
    assert len(KEPT) > 0.95 * len(CASES)

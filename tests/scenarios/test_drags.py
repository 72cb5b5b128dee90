# SPDX-License-Identifier: GPL-3.0-or-later
"""The benchmark of drags tells pops of a limb, and holds the figures of the manual."""

import numpy as np
import pytest

from scripts.benchmarks import drags

pytestmark = pytest.mark.usefixtures("empty_scene")


@pytest.fixture(scope="module")
def found(long):
    return drags.measure(4 if long else 2, 7)


def test_a_dragged_limb_hardly_pops_and_is_near_what_a_bake_keys(found):
    every = [each for kind in found.values() for each in kind]
    assert sum((each.turns > drags.POP).sum() for each in every) <= 0.005 * sum(len(each.turns) for each in every)
    assert np.mean(np.concatenate([each.off for each in every]) <= drags.NEAR) >= 0.95


def test_a_line_counts_the_moves_of_its_drags(found):
    (kind, some), *_ = found.items()
    cells = [each.strip() for each in drags.line_of(kind, some).strip("|").split("|")]
    assert len(cells) == drags.HEAD.count("|") - 1
    assert cells[2] == str(len(some) * (drags.STEPS - 1))

# SPDX-License-Identifier: GPL-3.0-or-later
"""The duel lists what every solver makes of a limb, shows the chosen one as a ghost, and puts it to use."""

import pytest

from ik_triangulation.solvers import SOLVERS
from ik_triangulation.ui.panels.advanced import VIEW3D_PT_ik_triangulation_duel as PANEL

from ...layouts import drawn
from ..fights import fight, fought, standard

pytestmark = pytest.mark.usefixtures("empty_scene", "no_fight_left", "research_tools")


def test_in_a_narrow_sidebar_the_names_of_the_solvers_have_all_the_room():
    standard()
    fight(by="seconds")
    said = drawn(PANEL, 200)
    assert sum(text.endswith(" ms") for text in said) == 1  # of the chosen one, below the list


@pytest.mark.parametrize("width", [260, 600])
def test_the_list_shows_the_measure_that_counts_and_in_a_wide_sidebar_frames_and_time_too(width):
    standard()
    fight(by="naturalness")
    said = drawn(PANEL, width)
    rows = said[3 : said.index("duel_apply")]
    assert sum(text.strip("()") in {solver.label for solver in SOLVERS.values()} for text in rows) == len(SOLVERS)
    listed = len(SOLVERS) - 1  # one refuses
    chosen = {"reached": 1, "°": 2, "ms": 1}  # which is there in full as well
    assert sum(text.endswith("°") for text in rows) == listed + chosen["°"]
    beside = listed if width == 600 else 0
    assert sum(text.endswith(" ms") for text in rows) == beside + chosen["ms"]
    assert sum(" of " in text for text in rows) == beside + chosen["reached"]


def test_naturalness_is_the_default_order_and_says_so():
    standard()
    duel = fought()
    duel.property_unset("by")
    fight()
    assert duel.by == "naturalness"
    values = [row.naturalness for row in duel.rows if not row.refusal]
    assert values == sorted(values)
    assert "Naturalness" in drawn(PANEL)

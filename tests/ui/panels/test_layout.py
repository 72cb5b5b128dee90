# SPDX-License-Identifier: GPL-3.0-or-later
"""Labels and headers in a sidebar of any width."""

from importlib import import_module

import pytest

from ...layouts import drawn
from ...rigs import chain_rig, configure, empty

pytestmark = pytest.mark.usefixtures("empty_scene")


def test_in_a_narrow_sidebar_long_labels_stand_above_their_values():
    configure(chain_rig(4), "Bone 3", target=empty())
    goal = import_module("ik_triangulation.ui.panels.goal").VIEW3D_PT_ik_triangulation_goal
    narrow, usual = drawn(goal, width=200), drawn(goal, width=260)
    assert narrow[narrow.index("orientation") - 1] == "Orientation:"
    assert [line for line in narrow if line != "Orientation:"] == usual


def test_presets_and_manual_are_in_the_header_or_where_that_is_too_narrow_below_it():
    configure(chain_rig(4), "Bone 3", target=empty())
    main = import_module("ik_triangulation.ui.panels.limbs").VIEW3D_PT_ik_triangulation
    assert "url_open" in drawn(main, width=200)
    assert "url_open" not in drawn(main, width=260)

# SPDX-License-Identifier: GPL-3.0-or-later
"""Labels and headers in a sidebar of any width."""

from importlib import import_module

import blf
import bpy
import pytest

from ik_triangulation.ui.panels.layout import paragraph

from ...layouts import Recorder, context_now, drawn
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
    assert "manual" in drawn(main, width=200)
    assert "manual" not in drawn(main, width=260)


def lines_of(text, width):
    """The lines that a paragraph draws in a sidebar of this width [pixels]."""
    context = context_now(width)
    column = Recorder(context)
    paragraph(column, text, context)
    return column.drawn


def width_of(line):
    blf.size(0, bpy.context.preferences.ui_styles[0].widget.points)
    return blf.dimensions(0, line)[0]


@pytest.mark.parametrize("width", [150, 260, 500])
@pytest.mark.parametrize("letters", ["i", "W", "word"])
def test_a_paragraph_is_as_wide_as_the_font_and_the_sidebar_allow(width, letters):
    text = " ".join([letters] * 60)
    lines = lines_of(text, width)
    assert " ".join(lines) == text
    room = width - 60
    assert all(width_of(line) <= room for line in lines)
    assert all(width_of(f"{line} {letters}") > room for line in lines[:-1])


@pytest.mark.parametrize("width", [20, 150, 260])
def test_a_word_that_is_too_long_for_a_line_is_cut(width):
    text = "A_bone_with_a_very_long_name" * 4
    lines = lines_of(f"At {text} now", width)
    assert "".join(lines).replace(" ", "") == f"At{text}now"
    assert all(width_of(line) <= width - 60 or len(line) == 1 for line in lines)

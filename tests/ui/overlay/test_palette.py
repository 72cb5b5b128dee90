# SPDX-License-Identifier: GPL-3.0-or-later
"""Colors come from the theme, and texts can be read over every background."""

import bpy
import pytest

from ik_triangulation.ui.overlay.sketch import Role, palette, plain_text


@pytest.fixture
def theme():
    theme = bpy.context.preferences.themes[0]
    before = tuple(theme.view_3d.space.text_hi), tuple(theme.user_interface.axis_x)
    yield theme
    theme.view_3d.space.text_hi, theme.user_interface.axis_x = before


def test_every_role_has_a_color():
    for table in palette(bpy.context.preferences.themes[0]):
        assert table.shape == (len(Role), 4)
        assert (table >= 0.0).all()
        assert (table <= 1.0).all()


def test_colors_follow_the_theme(theme):
    theme.user_interface.axis_x = (0.25, 0.5, 0.75)
    assert palette(theme).outlines[Role.X, :3].tolist() == pytest.approx([0.25, 0.5, 0.75], abs=0.01)


def test_reached_missed_and_at_a_limit_differ():
    outlines = palette(bpy.context.preferences.themes[0]).outlines
    rows = {tuple(outlines[role, :3].round(2)) for role in (Role.REACHED, Role.MISSED, Role.AT_LIMIT, Role.COMING)}
    assert len(rows) == 4


@pytest.mark.parametrize(("text", "outline"), [(1.0, 0.0), (0.0, 1.0)])
def test_a_text_has_an_outline_that_contrasts_with_it(theme, text, outline):
    theme.view_3d.space.text_hi = (text,) * 3
    assert plain_text(theme) == ((text,) * 3, (outline,) * 3)

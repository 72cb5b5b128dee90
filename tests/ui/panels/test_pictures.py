# SPDX-License-Identifier: GPL-3.0-or-later
"""What every panel draws, part by part, in situations that differ."""

import re

import bpy
import pytest

from ik_triangulation.jobs.live import following as live
from ik_triangulation.ui import preferences
from ik_triangulation.ui.last_result import clear_comparison

from ...layouts import check_pictures, layouts_of, stored_pictures
from .situations import CASES

pytestmark = pytest.mark.usefixtures("empty_scene")


@pytest.fixture(autouse=True)
def nothing_left(addon):
    """Nothing is live afterwards, and no comparison is shown."""
    yield
    live.stop_all()
    clear_comparison(bpy.context)


def pictures(build, panels, widths, research, monkeypatch):
    """The pictures in a situation, by panel."""
    monkeypatch.setattr(preferences, "has_research_tools", lambda context: research)
    build()
    bpy.context.view_layer.update()  # as Blender does before it draws
    found = {}
    for each in panels:
        for width in widths:
            title = build.__name__.replace("_", " ") + (f", {width} pixels" if width else "")
            layouts = layouts_of(each, width)
            assert layouts, f"{each.__name__} is not there: {title}"
            lines = [line for layout in layouts.values() if layout.children for line in layout.picture()]
            found[_name(each), title] = "".join(f"{_without_solved(line)}\n" for line in lines)
    return found


def _without_solved(line):
    """A line without numbers that a solver found, or that rounding tells."""
    line = re.sub(r"(less than 1 µm at frame) \d+", r"\1 #", line)
    if not line.endswith(("COLOR", "DRIVER_ROTATIONAL_DIFFERENCE")):
        return line
    return re.sub(r'"[^"]*"', lambda text: re.sub(r"\d[\d.]*", "#", text[0]), line)


def _name(cls):
    return cls.__name__.removeprefix("VIEW3D_PT_ik_triangulation").removeprefix("_") or "main"


@pytest.mark.parametrize(("build", "panels", "widths", "research"), CASES, ids=[case[0].__name__ for case in CASES])
def test_the_panels_are_drawn_as_in_their_pictures(monkeypatch, build, panels, widths, research):
    check_pictures(pictures(build, panels, widths, research, monkeypatch))


def test_every_picture_is_of_a_situation_that_is_drawn():
    drawn = {build.__name__.replace("_", " ") for build, *_ in CASES}
    names = {_name(each) for _, panels, *_ in CASES for each in panels}
    assert {title.partition(",")[0] for name, title in stored_pictures() if name in names} == drawn

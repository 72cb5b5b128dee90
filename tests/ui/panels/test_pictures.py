# SPDX-License-Identifier: GPL-3.0-or-later
"""What every panel draws, part by part, in situations that differ: the pictures are in `pictures/`, a file a panel.

A picture that changes is to be looked at. With PICTURES=write in the environment all of them are written anew.
"""

import os
import re
from pathlib import Path

import bpy
import pytest

from ik_triangulation.jobs.live import following as live
from ik_triangulation.ui import preferences
from ik_triangulation.ui.last_result import clear_comparison

from ...layouts import layouts_of
from .situations import CASES

pytestmark = pytest.mark.usefixtures("empty_scene")
FOLDER = Path(__file__).parent / "pictures"


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
    """A line without numbers that a solver found."""
    if not line.endswith(("COLOR", "DRIVER_ROTATIONAL_DIFFERENCE")):
        return line
    return re.sub(r'"[^"]*"', lambda text: re.sub(r"\d[\d.]*", "#", text[0]), line)


def _name(cls):
    return cls.__name__.removeprefix("VIEW3D_PT_ik_triangulation").removeprefix("_") or "main"


def stored():
    """The pictures in the files, by panel and situation."""
    found = {}
    for path in sorted(FOLDER.glob("*.txt")):
        for part in path.read_text(encoding="utf-8").split("## ")[1:]:
            title, _, picture = part.partition("\n")
            found[path.stem, title] = f"{picture.rstrip()}\n"
    return found


@pytest.mark.parametrize(("build", "panels", "widths", "research"), CASES, ids=[case[0].__name__ for case in CASES])
def test_the_panels_are_drawn_as_in_their_pictures(monkeypatch, build, panels, widths, research):
    found = pictures(build, panels, widths, research, monkeypatch)
    if os.environ.get("PICTURES") == "write":
        _write({**stored(), **found})
    known = stored()
    for key, picture in found.items():
        assert picture == known.get(key), key


def _write(found):
    for name in {name for name, _ in found}:
        parts = [f"## {title}\n{picture}" for (of, title), picture in found.items() if of == name]
        (FOLDER / f"{name}.txt").write_text("\n".join(parts), encoding="utf-8", newline="\n")


def test_every_picture_is_of_a_situation_that_is_drawn():
    drawn = {build.__name__.replace("_", " ") for build, *_ in CASES}
    assert {title.partition(",")[0] for _, title in stored()} == drawn

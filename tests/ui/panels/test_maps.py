# SPDX-License-Identifier: GPL-3.0-or-later
"""Maps are for who studies methods, Show Reach is for all; each legend is below the button that it explains."""

import bpy
import pytest

from ik_triangulation.ui import preferences
from ik_triangulation.ui.operators import map as map_operators
from ik_triangulation.ui.panels.advanced import VIEW3D_PT_ik_triangulation_advanced as ADVANCED
from ik_triangulation.ui.panels.advanced import VIEW3D_PT_ik_triangulation_maps as PANEL

from ...layouts import drawn
from ...mapped import rig_in_space
from ...rigs import configure, empty

pytestmark = pytest.mark.usefixtures("empty_scene", "research_tools")


def below(name, said):
    return said[said.index(name) + 1 :]


def test_show_reach_says_how_much_is_reached(monkeypatch):
    monkeypatch.setattr(map_operators, "_RESOLUTION", 4)
    configure(rig_in_space(), "Bone 2", target=empty(), chain_count=3)
    bpy.ops.pose.ik_triangulation_show_reach()
    assert below("show_reach", drawn(ADVANCED))[0].endswith("% of the points are reached")
    assert below("map_volume", drawn(PANEL)) == []


def test_maps_are_there_only_with_research_tools(monkeypatch):
    configure(rig_in_space(), "Bone 2", target=empty(), chain_count=3)
    assert drawn(PANEL) is not None
    monkeypatch.setattr(preferences, "has_research_tools", lambda context: False)
    assert drawn(PANEL) is None
    assert "show_reach" in drawn(ADVANCED)


def test_the_colours_of_a_volume_are_explained_below_its_button():
    configure(rig_in_space(), "Bone 2", target=empty(), chain_count=3)
    bpy.ops.pose.ik_triangulation_map_volume(resolution=3, metric="travel")
    said = drawn(PANEL)
    assert below("map_volume", said)[0].startswith("Travel: 0% (blue) to")
    assert not any("are reached" in text for text in said)
    assert sum("are reached" in text for text in drawn(ADVANCED)) == 1

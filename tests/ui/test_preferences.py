# SPDX-License-Identifier: GPL-3.0-or-later
"""What the preferences show, and which settings are shown for which method."""

from types import SimpleNamespace

import bpy
import pytest

from ik_triangulation.ui import preferences
from ik_triangulation.ui.menus import PIE

from ..layouts import Recorder, context_now
from ..rigs import chain_rig, configure, empty

pytestmark = pytest.mark.usefixtures("empty_scene")


@pytest.fixture
def pie():
    """The shortcut of the pie menu as a user has it; Blender copies those of extensions only in a window."""
    keymap = bpy.context.window_manager.keyconfigs.user.keymaps.new(name="Pose", space_type="EMPTY")
    items = [keymap.keymap_items.new(name, "Y", "PRESS") for name in ("pose.transforms_clear", "wm.call_menu_pie")]
    items[1].properties.name = PIE
    yield items[1]
    for item in items:
        keymap.keymap_items.remove(item)


def drawn():
    layout = Recorder(context_now(), kind="panel")
    seen = SimpleNamespace(bl_rna=preferences.IKT_preferences.bl_rna, layout=layout)
    preferences.IKT_preferences.draw(seen, bpy.context)
    return layout.picture()


def test_the_pie_menu_is_switched_on_where_a_user_has_its_shortcut(pie):
    assert preferences.shortcut_of_user(PIE) == pie
    row = 'row: .active "Pie Menu in Pose Mode" | .type full event ""'
    assert drawn() == [f"panel: .research_tools | {row}"]
    pie.properties.name = "Another"
    assert preferences.shortcut_of_user(PIE) is None
    assert preferences.shortcut_of_user("Another") == pie
    assert drawn() == ["panel: .research_tools"]


@pytest.mark.parametrize("research", [False, True])
def test_all_settings_are_shown_for_published_methods_and_with_research_tools(monkeypatch, research):
    limb = configure(chain_rig(3), "Bone 2", target=empty()).ik_triangulation
    assert not preferences.has_research_tools(bpy.context), "it is no installed extension here"
    monkeypatch.setattr(preferences, "has_research_tools", lambda context: research)
    for solver, shown in (("NATURAL", research), ("CCD", True), ("FABRIK", True)):
        limb.solver = solver
        assert preferences.shows_all(bpy.context, limb) == shown


def test_research_tools_are_as_the_installed_extension_says():
    for addon, shown in (
        (None, False),
        (SimpleNamespace(preferences=None), False),
        (SimpleNamespace(preferences=SimpleNamespace(research_tools=False)), False),
        (SimpleNamespace(preferences=SimpleNamespace(research_tools=True)), True),
    ):
        addons = {preferences.ADDON: addon} if addon else {}
        context = SimpleNamespace(preferences=SimpleNamespace(addons=addons))
        assert preferences.has_research_tools(context) is shown

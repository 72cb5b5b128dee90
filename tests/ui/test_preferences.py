# SPDX-License-Identifier: GPL-3.0-or-later
"""What the preferences show, and which settings are shown for which method."""

from types import SimpleNamespace

import bpy
import pytest

from ik_triangulation.ui import preferences
from ik_triangulation.ui.gizmos.groups import TOOL
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


def shortcuts():
    """The shortcuts of extensions that call something by a name, as what they are."""
    keymaps = bpy.context.window_manager.keyconfigs.addon.keymaps
    items = [(keymap, item) for keymap in keymaps for item in keymap.keymap_items if hasattr(item.properties, "name")]
    keys = "idname", "type", "value", "shift", "ctrl", "active"
    return {
        item.properties.name: (keymap.name, keymap.space_type, *(getattr(item, key) for key in keys))
        for keymap, item in items
    }


def test_shortcuts_are_in_pose_mode_and_that_of_the_pie_menu_waits_to_be_switched_on(addon):
    addon.unregister()
    before = shortcuts()
    assert not {PIE, TOOL} & before.keys()
    addon.register()
    found = shortcuts()
    assert found.pop(PIE) == ("Pose", "EMPTY", "wm.call_menu_pie", "Y", "PRESS", 0, 0, False)
    assert found.pop(TOOL) == ("Pose", "EMPTY", "wm.tool_set_by_id", "D", "PRESS", 1, 1, True)
    assert found == before


def test_a_shortcut_that_is_removed_leaves_the_others_of_its_keymap(addon):
    before = shortcuts()
    preferences.add_shortcut("wm.call_menu_pie", "Tried", "F5", alt=True)
    assert shortcuts().keys() - before.keys() == {"Tried"}
    preferences.remove_shortcut("Tried")
    preferences.remove_shortcut("Tried")
    assert shortcuts() == before

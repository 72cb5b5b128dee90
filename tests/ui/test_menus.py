# SPDX-License-Identifier: GPL-3.0-or-later
"""The menu IK Triangulation: its entries, and the menus that it is in."""

from types import SimpleNamespace

import bpy
import pytest

from ik_triangulation.jobs.live import following as live
from ik_triangulation.ui.menus import PIE, VIEW3D_MT_ik_triangulation, VIEW3D_MT_ik_triangulation_pie

from ..layouts import Recorder, check_pictures, context_now
from ..rigs import chain_rig, configure, empty

pytestmark = pytest.mark.usefixtures("empty_scene")

MENU, PIES = VIEW3D_MT_ik_triangulation, VIEW3D_MT_ik_triangulation_pie
POSING = ("VIEW3D_MT_pose", "VIEW3D_MT_pose_context_menu")
OBJECTS = ("VIEW3D_MT_object", "VIEW3D_MT_object_context_menu")


def added_to(name):
    """What the extension adds to one of Blender's menus now."""
    context = context_now()
    menu = SimpleNamespace(layout=Recorder(context))
    for draw in getattr(bpy.types, name)._dyn_ui_initialize():
        if draw.__module__.startswith("ik_triangulation."):
            draw(menu, context)
    return menu.layout.drawn


def test_it_has_what_one_does_with_a_limb():
    configure(chain_rig(3), "Bone 2", target=empty())
    context = context_now()
    layout = Recorder(context)
    VIEW3D_MT_ik_triangulation.draw(SimpleNamespace(layout=layout), context)
    entries = ["limb_add", "solve", "live", "bake", "bake_all", "reach", "generated_delete"]
    assert [entry for entry in layout.drawn if entry in entries] == entries


@pytest.mark.parametrize("name", POSING)
def test_it_is_in_the_menus_of_pose_mode_before_there_is_a_limb(name):
    chain_rig(3)
    assert added_to(name) == [VIEW3D_MT_ik_triangulation.bl_label]


@pytest.mark.parametrize("name", OBJECTS)
def test_it_is_in_the_menus_of_object_mode_for_a_rig_with_limbs_only(name):
    rig = chain_rig(3)
    bpy.ops.object.mode_set(mode="OBJECT")
    assert added_to(name) == []
    configure(rig, "Bone 2", target=empty())
    assert added_to(name) == [VIEW3D_MT_ik_triangulation.bl_label]
    rig.select_set(False)
    bpy.context.view_layer.objects.active = empty("Another")
    assert added_to(name) == []


def test_the_pie_menu_has_eight_entries_and_its_shortcut_is_off():
    configure(chain_rig(3), "Bone 2", target=empty())
    context = context_now()
    layout = Recorder(context)
    VIEW3D_MT_ik_triangulation_pie.draw(SimpleNamespace(layout=SimpleNamespace(menu_pie=lambda: layout)), context)
    assert len(layout.drawn) == 8
    keyconfig = bpy.context.window_manager.keyconfigs.addon
    items = [item for keymap in keyconfig.keymaps for item in keymap.keymap_items] if keyconfig else []
    ours = [item for item in items if item.properties and getattr(item.properties, "name", "") == PIE]
    assert [item.active for item in ours] == [False] * len(ours)


def drawn_menu(menu):
    context = context_now()
    layout = Recorder(context, kind="menu")
    menu.draw(SimpleNamespace(layout=SimpleNamespace(menu_pie=lambda: layout) if menu is PIES else layout), context)
    return "".join(f"{line}\n" for line in layout.picture())


def test_the_menus_are_drawn_as_in_their_pictures():
    rig = chain_rig(3)
    found = {("menus", "without a limb"): drawn_menu(MENU)}
    configure(rig, "Bone 2", target=empty())
    found |= {("menus", "limb"): drawn_menu(MENU), ("menus", "pie"): drawn_menu(PIES)}
    live.start(rig, "Bone 2")
    found["menus", "live limb"] = drawn_menu(MENU)
    live.stop_all()
    check_pictures(found)

# SPDX-License-Identifier: GPL-3.0-or-later
"""The overlay's panel has its main switch in the header, and greys out what that switches off."""

from types import SimpleNamespace

import bpy
import pytest

from ik_triangulation.ui.overlay.settings import IKT_PG_overlay
from ik_triangulation.ui.panels.advanced import VIEW3D_PT_ik_triangulation_overlay as PANEL

from ...rigs import chain_rig

pytestmark = pytest.mark.usefixtures("empty_scene")


class Layout:
    """Takes what is drawn, and knows what is greyed out."""

    def __init__(self, above=None):
        self.above, self.active, self.drawn = above, True, above.drawn if above else {}

    def column(self, heading=""):
        return Layout(self)

    def prop(self, data, name, text=None):
        assert name in data.bl_rna.properties
        self.drawn[name] = self.active and (self.above is None or self.above.active)


def drawn():
    """What the panel draws, and whether each is active."""
    layout = Layout()
    panel = SimpleNamespace(layout=layout, column=layout.column)
    PANEL.draw_header(panel, bpy.context)
    PANEL.draw(panel, bpy.context)
    return layout.drawn


def test_every_switch_is_in_the_panel():
    assert set(drawn()) == set(IKT_PG_overlay.__annotations__)


def test_what_is_switched_off_is_greyed_out():
    assert all(drawn().values())
    bpy.context.scene.ik_triangulation_overlay.show = False
    assert {name for name, active in drawn().items() if active} == {"show", "show_ghosts"}


def test_it_is_in_the_popover_of_the_viewports_overlays():
    assert PANEL.poll(bpy.context)
    assert hasattr(bpy.types, PANEL.bl_parent_id)
    assert (PANEL.bl_space_type, PANEL.bl_region_type) == ("VIEW_3D", "HEADER")
    rig = chain_rig()
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    assert not PANEL.poll(bpy.context)

# SPDX-License-Identifier: GPL-3.0-or-later
"""What a panel draws, written down instead of shown."""

from types import SimpleNamespace

import bpy

from ik_triangulation.ui.panels.layout import SidebarPanel


class Recorder:
    """Takes what a panel draws, fails for what Blender would refuse, and knows what is greyed out."""

    use_property_split = use_property_decorate = alert = False
    alignment, scale_y = "EXPAND", 1.0

    def __init__(self, context, above=None):
        self.context, self.above, self.active, self.enabled = context, above, True, True
        self.drawn = above.drawn if above else []
        self.properties = above.properties if above else set()  # (property group, property)
        self.labels = above.labels if above else {}  # of buttons, by operator

    def _part(self, align=False, heading="", factor=0.0):
        return Recorder(self.context, self)

    column = row = box = split = _part

    def _shown(self):
        return self.active and self.enabled and (self.above is None or self.above._shown())

    def _add(self, what, icon):
        assert icon in bpy.types.UILayout.bl_rna.functions["label"].parameters["icon"].enum_items
        if what:
            self.drawn.append(what if self._shown() else f"({what})")

    def _refer(self, data, name):
        rna = data.properties.bl_rna if isinstance(data, bpy.types.Operator) else data.bl_rna
        assert name in rna.properties
        self.properties.add((rna.identifier, name))

    def prop(self, data, name, text=None, icon="NONE", slider=False, toggle=-1, emboss=True, icon_only=False):
        self._refer(data, name)
        self._add(name, icon)

    def prop_enum(self, data, name, value, text=None, icon="NONE"):
        self._refer(data, name)
        assert value in data.bl_rna.properties[name].enum_items
        self._add(text or value, icon)

    def prop_search(self, data, name, search_data, search_name, icon="NONE"):
        self._refer(data, name)
        assert search_name in search_data.bl_rna.properties
        self._add(name, icon)

    def label(self, text="", icon="NONE"):
        assert isinstance(text, str)
        self._add(text, icon)

    def operator(self, name, text=None, icon="NONE", depress=False, emboss=True):
        group, _, operator = name.partition(".")
        assert hasattr(bpy.types, f"{group.upper()}_OT_{operator}")
        self._add(operator.removeprefix("ik_triangulation_"), icon)
        self.labels[operator.removeprefix("ik_triangulation_")] = text
        return SimpleNamespace()

    def menu(self, name, text=None, icon="NONE"):
        self._add(text or getattr(bpy.types, name).bl_label, icon)

    def popover(self, panel="", text="", icon="NONE"):
        assert hasattr(bpy.types, panel)
        self._add(text, icon)

    def separator(self, factor=1.0):
        pass

    def template_list(self, kind, name, data, items, active_data, active, rows=5, maxrows=5):
        """Draw the items that the list's own filter leaves, as many as there is room for, as Blender does."""
        self._refer(data, items)
        self._refer(active_data, active)
        shown = getattr(bpy.types, kind)
        of_list = SimpleNamespace(bitflag_filter_item=1, filter_name="", draw_row=shown.draw_row)
        flags, order = shown.filter_items(of_list, self.context, data, items)
        things = getattr(data, items)
        assert len(flags) in {0, len(things)}
        assert len(order) in {0, len(things)}
        left = [index for index, flag in enumerate(flags or [1] * len(things)) if flag]
        for index in left[:maxrows]:
            where = data, things[index], 0, active_data, active, index, 0
            shown.draw_item(of_list, self.context, self._part(), *where)


def context_now(width=None):
    """What a panel sees of the context, in a sidebar so wide [pixels]."""
    names = (
        "active_object",
        "scene",
        "preferences",
        "view_layer",
        "mode",
        "window_manager",
        "selected_objects",
        "space_data",
    )
    seen = {name: getattr(bpy.context, name) for name in names}
    return SimpleNamespace(**seen, area=None, region=SimpleNamespace(width=width, type="UI") if width else None)


def drawn(panel, width=None):
    """What a panel draws now; None if it is not there."""
    layout = recorded(panel, width)
    return layout and layout.drawn


def recorded(panel, width=None):
    """The layout that a panel draws into; None if it is not there."""
    context = context_now(width)
    layout = Recorder(context)
    if hasattr(panel, "poll") and not panel.poll(context):
        return None
    own = SimpleNamespace(layout=layout)
    own.column = lambda context: SidebarPanel.column(own, context)
    for header in ("draw_header", "draw_header_preset"):
        if hasattr(panel, header):
            getattr(panel, header)(SimpleNamespace(layout=Recorder(context)), context)
    panel.draw(own, context)
    return layout

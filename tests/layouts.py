# SPDX-License-Identifier: GPL-3.0-or-later
"""What a panel draws, written down instead of shown.

Pictures of all parts are in `ui/panels/pictures/`, a file for each panel and for the menus and operators. A picture
that changes is to be looked at; with PICTURES=write in the environment they are written anew.
"""

import os
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace

import bpy

from ik_triangulation.ui.panels.layout import SidebarPanel


class Recorder:
    """Takes what a panel draws, fails for what Blender would refuse, and knows what is greyed out."""

    def __init__(self, context, above=None, kind="column", how=()):
        self.context, self.above, self.kind, self.how = context, above, kind, how
        self.active = self.enabled = self.use_property_decorate = True
        self.alert = self.use_property_split = False
        self.alignment, self.scale_y, self.emboss = "EXPAND", 1.0, "NORMAL"
        self.operator_context = "INVOKE_DEFAULT"
        self.children = []  # parts, and what is drawn
        if above:
            self.use_property_split, self.use_property_decorate = above.use_property_split, above.use_property_decorate
        self.drawn = above.drawn if above else []
        self.properties = above.properties if above else set()  # (property group, property)
        self.labels = above.labels if above else {}  # of buttons, by operator

    def _part(self, kind, *how):
        self.children.append(Recorder(self.context, self, kind, tuple(filter(None, how))))
        return self.children[-1]

    def column(self, align=False, heading=""):
        return self._part("column", align and "align", heading and repr(heading))

    def row(self, align=False, heading=""):
        return self._part("row", align and "align", heading and repr(heading))

    def box(self):
        return self._part("box")

    def split(self, factor=0.0, align=False):
        return self._part(f"split {factor:g}", align and "align")

    def _shown(self):
        return self.active and self.enabled and (self.above is None or self.above._shown())

    def _add(self, what, icon, *words, text=None):
        assert icon in bpy.types.UILayout.bl_rna.functions["label"].parameters["icon"].enum_items
        if what:
            self.drawn.append(what if self._shown() else f"({what})")
        given = SimpleNamespace()  # to a button
        self.children.append(_Drawn(words, text, icon, given))
        return given

    def _refer(self, data, name):
        rna = data.properties.bl_rna if isinstance(data, bpy.types.Operator) else data.bl_rna
        assert name in rna.properties
        self.properties.add((rna.identifier, name))

    def prop(self, data, name, text=None, icon="NONE", slider=False, toggle=-1, emboss=True, full_event=False):
        self._refer(data, name)
        flags = slider and "slider", toggle > 0 and "toggle", not emboss and "flat", full_event and "full event"
        self._add(name, icon, f".{name}", *flags, text=text)

    def prop_enum(self, data, name, value, text=None, icon="NONE"):
        self._refer(data, name)
        assert value in data.bl_rna.properties[name].enum_items
        self._add(text or value, icon, f".{name}={value}", text=text)

    def prop_search(self, data, name, search_data, search_name, icon="NONE"):
        self._refer(data, name)
        assert search_name in search_data.bl_rna.properties
        self._add(name, icon, f".{name}", f"of {search_data.name}.{search_name}")

    def label(self, text="", icon="NONE"):
        assert isinstance(text, str)
        self._add(text, icon, text=text)

    def operator(self, name, text=None, icon="NONE", depress=False, emboss=True):
        group, _, operator = name.partition(".")
        assert hasattr(bpy.types, f"{group.upper()}_OT_{operator}")
        short = operator.removeprefix("ik_triangulation_")
        self.labels[short] = text
        return self._add(short, icon, f"{short}()", depress and "pressed", not emboss and "flat", text=text)

    def menu(self, name, text=None, icon="NONE"):
        self._add(text or getattr(bpy.types, name).bl_label, icon, f"menu {name.partition('_MT_')[2]}", text=text)

    def popover(self, panel="", text="", icon="NONE"):
        assert hasattr(bpy.types, panel)
        self._add(text, icon, f"popover {panel.removeprefix('VIEW3D_PT_ik_triangulation_')}", text=text)

    def separator(self, factor=1.0):
        self._add("", "NONE", "---")

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
        listed = self._part(f"list {items}, {active}", f"rows {rows}", f"at most {maxrows}", order and f"order {order}")
        for index in left[:maxrows]:
            where = data, things[index], 0, active_data, active, index, 0
            shown.draw_item(of_list, self.context, listed._part("row"), *where)

    def picture(self):
        """All that is drawn, as lines: parts with what is special about them, and what is in them indented."""
        above = self.above or Recorder(self.context)
        words = [self.kind, *self.how]
        special = {"alert": self.alert, "inactive": not self.active, "disabled": not self.enabled}
        words += [word for word, is_so in special.items() if is_so]
        for name in ("use_property_split", "use_property_decorate"):
            if getattr(self, name) != getattr(above, name):
                words.append(f"{name}={getattr(self, name)}")
        for name, usual in (("alignment", "EXPAND"), ("scale_y", 1.0), ("emboss", "NORMAL")):
            if getattr(self, name) != usual:
                words.append(f"{name} {getattr(self, name)}")
        words += [self.operator_context] * (self.operator_context != "INVOKE_DEFAULT")
        head, lines = " ".join(words), self._lines()
        if head in {"row", "column"} and len(lines) == 1:
            return lines
        if not lines:
            return [head]
        in_line = f"{head}: {' | '.join(lines)}"
        flat = len(lines) == 1 or (self.kind != "column" and not any(line.startswith(" ") for line in lines))
        if flat and len(in_line) < _WIDTH:
            return [in_line]
        return [f"{head}:", *(f"    {line}" for line in lines)]

    def _lines(self):
        """The lines of what is in it; those of a paragraph, which are divided as the font has it, are one."""
        labels = [child for child in self.children if isinstance(child, _Drawn) and not child.words]
        if self.scale_y < 1.0 and labels and labels == self.children:
            first, *others = labels
            assert {each.icon for each in others} <= {"NONE" if first.icon == "NONE" else "BLANK1"}
            return [str(replace(first, text=" ".join(each.text for each in labels)))]
        parts = [child.picture() if isinstance(child, Recorder) else [str(child)] for child in self.children]
        return [line for part in parts for line in part]


@dataclass(frozen=True)
class _Drawn:
    """A field, a label or a button."""

    words: tuple
    text: str | None
    icon: str
    given: SimpleNamespace

    def __str__(self):
        said = [*filter(None, self.words)] + [f'"{self.text}"'] * (self.text is not None)
        said += [f"{name}={value}" for name, value in vars(self.given).items()]
        return " ".join([*said, self.icon] if self.icon != "NONE" else said)


_WIDTH = 100  # of the lines of a picture
_FOLDER = Path(__file__).parent / "ui/panels/pictures"


def stored_pictures():
    """The pictures in the files, by the name of the file and the situation."""
    found = {}
    for path in sorted(_FOLDER.glob("*.txt")):
        for part in path.read_text(encoding="utf-8").split("## ")[1:]:
            title, _, picture = part.partition("\n")
            found[path.stem, title] = f"{picture.rstrip()}\n"
    return found


def check_pictures(found):
    """Compare pictures, by the name of the file and the situation, with those in the files."""
    known = stored_pictures()
    if os.environ.get("PICTURES") == "write":
        known |= found
        for name in {name for name, _ in found}:
            parts = [f"## {title}\n{picture}" for (of, title), picture in known.items() if of == name]
            (_FOLDER / f"{name}.txt").write_text("\n".join(parts), encoding="utf-8", newline="\n")
    for key, picture in found.items():
        assert picture == known.get(key), key


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
    return next(iter(layouts_of(panel, width).values()), None)


def layouts_of(panel, width=None):
    """The layouts that a panel draws into: "panel", and those of its headers; nothing if it is not there."""
    context = context_now(width)
    if hasattr(panel, "poll") and not panel.poll(context):
        return {}
    found = {"panel": Recorder(context, kind="panel")}
    own = SimpleNamespace(layout=found["panel"])
    own.column = lambda context: SidebarPanel.column(own, context)
    panel.draw(own, context)
    for header in ("draw_header", "draw_header_preset"):
        if hasattr(panel, header):
            found[header] = Recorder(context, kind=header.removeprefix("draw_"))
            getattr(panel, header)(SimpleNamespace(layout=found[header]), context)
    return found

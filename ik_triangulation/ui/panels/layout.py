# SPDX-License-Identifier: GPL-3.0-or-later
"""Base classes of the panels, layout that depends on the width of the sidebar, and whether the joints are unfolded.

Blender does not tell whether a panel is unfolded. Each time it draws a sidebar it polls all panels, and then draws
those that are unfolded.
"""

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import blf
import bpy
from bpy.types import Context, UILayout, bpy_struct

from ..context import active_bone, is_limb
from ..overlay.updates import redraw
from ..translation import translated

_FONT = 0  # Blender's interface font
# Widths in pixels at 1x interface scale
_TABS = 60.0  # of the tabs and the margins
_ICON = 20.0
_USUAL = 260.0  # of a sidebar as Blender opens it
_NARROW = 230.0  # up to which there is no room for all columns
_ALL_LINES = 1000
_WIDE = 320.0  # above which there is room for more columns


class SidebarPanel:
    """Base of all panels: in a tab of their own in the 3D viewport's sidebar, so that Bake is on small screens too."""

    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "IK"

    def column(self, context: Context) -> UILayout:
        """Return a column with labels left, values right and no key buttons; a narrow one has labels in the fields."""
        layout = self.layout
        layout.use_property_split = not is_narrow(context)
        layout.use_property_decorate = False
        return layout.column()


class LimbPanel(SidebarPanel):
    """Base of the panels inside the main panel; they need a limb, with a target or with stops of a reach."""

    bl_parent_id = "VIEW3D_PT_ik_triangulation"

    @classmethod
    def poll(cls, context: Context) -> bool:
        bone = active_bone(context)
        return bone is not None and (is_limb(bone) or bool(bone.ik_triangulation.reach_stops))


class RowList:
    """Base of the lists: draw_row() draws an item, and all items are shown unless a list has a filter of its own."""

    @staticmethod
    @abstractmethod
    def draw_row(context: Context, layout: UILayout, item: Any, data: Any) -> None:
        """Draw an item."""

    def draw_item(
        self,
        context: Context,
        layout: UILayout,
        data: bpy_struct,
        item: bpy_struct,
        icon: int,
        active_data: bpy_struct,
        active_property: str,
        index: int = 0,
        flt_flag: int = 0,
    ) -> None:
        self.draw_row(context, layout, item, data)

    def filter_items(self, context: Context, data: object, name: str) -> tuple[list[int], list[int]]:
        return [], []


def in_order(keys: Sequence[Any]) -> list[int]:
    """Return the place of each item in a list that is sorted by these keys."""
    by_key = sorted(range(len(keys)), key=lambda i: keys[i])
    return [by_key.index(i) for i in range(len(keys))]


def is_narrow(context: Context) -> bool:
    """Return True if the sidebar has no room for all columns, nor for labels beside their fields."""
    return _width(context) <= _NARROW


def is_wide(context: Context) -> bool:
    """Return True if the sidebar has room for more columns than at its usual width."""
    return _width(context) > _WIDE


def _width(context: Context) -> float:
    """Return the width of the sidebar [pixels at 1x interface scale]."""
    return context.region.width / _scale(context) if context.region else _USUAL


def _scale(context: Context) -> float:
    """Return the interface scale."""
    return context.preferences.system.ui_scale or 1.0  # without a window it is 0


def choice(column: UILayout, data: bpy_struct, name: str, context: Context) -> None:
    """Draw a property whose value and label need room: in a narrow sidebar the label is above the value."""
    if is_narrow(context):
        prop = data.bl_rna.properties[name]
        label = bpy.app.translations.pgettext_iface(prop.name, prop.translation_context)
        column.label(text=f"{label}:")
        column.prop(data, name, text="")
    else:
        column.prop(data, name)


def paragraph(
    column: UILayout,
    text: str,
    context: Context,
    icon: str = "NONE",
    room: float | None = None,
    most: int = _ALL_LINES,
) -> int:
    """Draw a text, wrapped at the width of the sidebar or at so much `room` [pixels at 1x interface scale].

    Of more than `most` lines the rest is left out, with an ellipsis. Returns the number of lines.
    """
    text = translated(text)
    lines = column.column(align=True)
    lines.scale_y = 0.8
    scale = _scale(context)
    room = (room or _width(context) - _TABS) - (_ICON if icon != "NONE" else 0.0)
    blf.size(_FONT, context.preferences.ui_styles[0].widget.points * scale)
    found = list(wrapped(text, lambda part: blf.dimensions(_FONT, part)[0] <= room * scale))
    if len(found) > most:
        found = [*found[: most - 1], f"{found[most - 1]} …"]
    for number, line in enumerate(found):
        lines.label(text=line, icon="BLANK1" if number and icon != "NONE" else icon)
    return len(found)


def wrapped(text: str, fits: Callable[[str], bool]) -> Iterator[str]:
    """Yield the lines of a text of which each `fits`; a word that does not fit alone is cut."""
    line = ""
    for word in text.split():
        longer = f"{line} {word}" if line else word
        if fits(longer):
            line = longer
            continue
        if line:
            yield line
        *cut, line = _cut(word, fits)
        yield from cut
    if line:
        yield line


def _cut(word: str, fits: Callable[[str], bool]) -> Iterator[str]:
    """Yield the parts of a word of which each `fits`, or is a single letter."""
    while not fits(word) and len(word) > 1:
        length = next((n for n in range(len(word) - 1, 1, -1) if fits(word[:n])), 1)
        yield word[:length]
        word = word[length:]
    yield word


_unfolded: set[int] = set()  # areas, by their addresses
_drawn_unfolded: set[int] = set()  # those of them at the last redraw of the viewports


def note_folded(context: Context) -> None:
    """Count the panel as folded in a sidebar that Blender begins to draw."""
    if _in_sidebar(context):
        area = context.area.as_pointer()
        if area in _unfolded:
            _unfolded.remove(area)
            _compare_soon()


def note_unfolded(context: Context) -> None:
    """Count the panel as unfolded in the sidebar that draws it."""
    if _in_sidebar(context):
        _unfolded.add(context.area.as_pointer())
        _compare_soon()


def is_unfolded(context: Context) -> bool:
    """Tell whether the sidebar beside the viewport of the context is open and shows the panel."""
    return context.space_data.show_region_ui and context.area.as_pointer() in _unfolded


def _in_sidebar(context: Context) -> bool:
    return context.region is not None and context.region.type == "UI" and context.area is not None


def _compare_soon() -> None:
    if not bpy.app.timers.is_registered(_compare):
        bpy.app.timers.register(_compare)


def _compare() -> None:
    """Have the viewports drawn anew once the panel has been folded or unfolded."""
    if _unfolded != _drawn_unfolded:
        _drawn_unfolded.clear()
        _drawn_unfolded.update(_unfolded)
        redraw()

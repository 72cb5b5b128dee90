# SPDX-License-Identifier: GPL-3.0-or-later
"""Buttons of the extension's panels, found where they are drawn.

Blender tells no script where a button is. So the panels draw the button in question in red for a moment, and it is
where the picture changes: whatever the layout of the panels, the interface scale, the theme and the sidebar's width.
"""

from collections.abc import Generator, Iterator
from contextlib import contextmanager
from inspect import isfunction
from types import MethodType

import bpy
import numpy as np
from bpy.types import Context, Panel, UILayout

from . import hands
from .screen import Steps, pixels, region

BELOW = 30  # pixels at 1x interface scale below the top of the sidebar, where a panel always is
NOTCHES = 10  # of the wheel at once: about 500 pixels, less than the sidebar is high
DRAWN = 0.05  # seconds until the sidebar is
LOOKS = 40  # at most, until nothing moves any more
_fields: set[str] = set()  # drawn by panels that are looked at
_unfolded: dict[str, dict[type[Panel], set[str]]] = {}  # by module, options before fold() has changed them


class _Layout:
    """A layout that draws one operator's button, or one property's, in red if told so."""

    def __init__(self, layout: UILayout, name: str, red: bool) -> None:
        vars(self).update(layout=layout, name=name, red=red)

    def __setattr__(self, key: str, value: object) -> None:
        setattr(self.layout, key, value)

    def __getattr__(self, key: str):
        value = getattr(self.layout, key)
        return self._call(key) if callable(value) else value

    def _call(self, key: str):
        def call(*args, **options):
            layout = self.layout
            if key in {"prop", "prop_search"}:
                _fields.add(f"{type(args[0]).__name__}.{args[1]}")
            if self.name in args[:2]:  # operator(NAME), prop(DATA, NAME)
                layout = layout.row()
                layout.alert = self.red
            result = getattr(layout, key)(*args, **options)
            return _Layout(result, self.name, self.red) if isinstance(result, UILayout) else result

        return call


class _Drawn:
    """A panel whose layout is another."""

    def __init__(self, panel: Panel, layout: _Layout) -> None:
        self._panel, self.layout = panel, layout

    def __getattr__(self, key: str):
        value = getattr(type(self._panel), key)
        return MethodType(value, self) if isfunction(value) else getattr(self._panel, key)


def panels(module: str = "ik_triangulation") -> list[type[Panel]]:
    """The panels whose module's name has this in it, in the order in which they were registered."""
    return [cls for cls in Panel.__subclasses__() if module in cls.__module__ and cls.is_registered]


def fold(*ids: str, closed: bool = True, module: str = "ik_triangulation") -> None:
    """Have these panels, or all of a module if none is named, begin closed or open.

    Only before their tab is first shown: afterwards they keep how they are.
    """
    options = {}
    for cls in panels(module):
        if not ids or cls.__name__ in ids:
            before = set(getattr(cls, "bl_options", ()))
            _unfolded.setdefault(module, {}).setdefault(cls, before)
            options[cls] = before | {"DEFAULT_CLOSED"} if closed else before - {"DEFAULT_CLOSED"}
    _give(module, options)


def unfold() -> None:
    """Have all panels begin as they do without fold()."""
    for module, options in _unfolded.items():
        _give(module, options)
    _unfolded.clear()


def _give(module: str, options: dict[type[Panel], set[str]]) -> None:
    """Give panels of a module other options, and keep the order of all."""
    classes = panels(module)
    for cls in reversed(classes):
        bpy.utils.unregister_class(cls)
    for cls in classes:
        if cls in options:
            cls.bl_options = options[cls]
        bpy.utils.register_class(cls)


def find(name: str, scrolling: bool = True) -> Generator[float, None, tuple[int, int, int, int]]:
    """Return the position of an operator's or a property's button in the window: left, bottom, right, top.

    Scrolls the sidebar down until all of it is there, unless told not to. Raises LookupError where none is drawn.
    """
    sidebar = region("UI")
    top = sidebar.y + sidebar.height - 1
    while True:
        hands.move(*hands.rest())
        rows, columns = np.nonzero((yield from _changes(name)))
        if len(rows) and rows.min() > 0 and rows.max() < sidebar.height - 1:
            return sidebar.x + columns.min(), top - rows.max(), sidebar.x + columns.max(), top - rows.min()
        if not scrolling or not (yield from _scroll("WHEELDOWNMOUSE")):
            raise LookupError(f"No panel in the sidebar draws {name}, from here to its end")


def press(name: str) -> Steps:
    """Click the button of an operator or a property."""
    left, bottom, right, top = yield from find(name)
    yield from hands.click((left + right) / 2, (bottom + top) / 2)


def fields() -> Generator[float, None, set[str]]:
    """Return the properties that the panels which are open have fields for."""
    with _drawing("", red=False):
        _fields.clear()
        yield from _still()
        return set(_fields)


def to_top() -> Steps:
    """Scroll the sidebar to its top."""
    while (yield from _scroll("WHEELUPMOUSE")):
        pass


def _scroll(wheel: str) -> Generator[float, None, bool]:
    """Turn the wheel over the sidebar; whether that moved anything."""
    sidebar = region("UI")
    # Below its last panel the wheel is the viewport's, which would zoom.
    over = sidebar.x + sidebar.width / 2, sidebar.y + sidebar.height - BELOW * bpy.context.preferences.system.ui_scale
    hands.move(*over)
    before = yield from _still()
    hands.scroll(*over, wheel, NOTCHES)
    after = yield from _still()
    return not np.array_equal(before, after)


def _changes(name: str) -> Generator[float, None, np.ndarray]:
    pictures = []
    for red in (False, True):
        with _drawing(name, red):
            pictures.append((yield from _still()))
    region("UI").tag_redraw()
    yield DRAWN
    plain, marked = pictures
    return (plain != marked).any(axis=2)


def _still() -> Generator[float, None, np.ndarray]:
    """A picture of the sidebar after what moves in it has come to rest: panels slide as they open."""
    before = None
    for _ in range(LOOKS):
        region("UI").tag_redraw()
        yield DRAWN
        now = pixels(region("UI"))
        if before is not None and np.array_equal(before, now):
            return now
        before = now
    raise TimeoutError("The sidebar does not come to rest")


@contextmanager
def _drawing(name: str, red: bool) -> Iterator[None]:
    """The panels draw the button in red or plainly."""
    before = {cls: cls.draw for cls in panels()}

    def drawing(draw):
        def drawn(panel: Panel, context: Context) -> None:
            draw(_Drawn(panel, _Layout(panel.layout, name, red)), context)

        return drawn

    for cls, draw in before.items():
        cls.draw = drawing(draw)
    try:
        yield
    finally:
        for cls, draw in before.items():
            cls.draw = draw

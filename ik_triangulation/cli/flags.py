# SPDX-License-Identifier: GPL-3.0-or-later
"""Flags of the command line, derived from the table of settings: type, choices, range, help, units."""

from __future__ import annotations

from collections.abc import Callable, Collection
from math import degrees, inf, radians
from typing import Any

from bpy.props import BoolProperty, EnumProperty, FloatProperty, IntProperty

from ..settings import Flag, Setting, settings_of
from .numbers import number, whole, within

_INT = 2**31 - 1  # the largest whole number of a property


def add_settings(
    arguments: Any, group: type, only: Collection[str] = (), without: Collection[str] = (), defaults: bool = False
) -> None:
    """Add the flags of a group of settings: all of them, `only` these, or all `without` these.

    Parsed values have the names of the fields. A flag that is not given is None, or with `defaults` the default.
    """
    for name, row in settings_of(group).items():
        if isinstance(row.flag, Flag) and name not in without and (not only or name in only):
            default = {"default": row.default if defaults else None}
            keywords = {"dest": name, "help": _help(row, defaults), **default, **_value(row), **row.flag.more}
            arguments.add_argument(row.flag.name, **keywords)


def _help(row: Setting, defaults: bool) -> str:
    """Return the flag's own help, or the setting's description with unit and range, escaped for argparse."""
    assert isinstance(row.flag, Flag)
    text = row.flag.help or row.description[0].lower() + row.description[1:] + _unit(row)
    return text.replace("%", "%%") + (" (default: %(default)s)" if defaults and row.default is not False else "")


def _unit(row: Setting) -> str:
    options = row.options
    if options.get("subtype") == "DISTANCE":
        return ", in Blender units"
    is_share = row.kind is FloatProperty and options.get("subtype") == "FACTOR"
    return f" ({options['min']:g} to {options['max']:g})" if is_share else ""


def _value(row: Setting) -> dict[str, Any]:
    """Return the keywords with which argparse reads a value of the setting."""
    assert isinstance(row.flag, Flag)
    if row.kind is BoolProperty:
        return {"action": "store_false" if row.flag.name.startswith("--no-") else "store_true"}
    if row.kind is EnumProperty:
        return {"type": _choice(row.choices), "choices": row.choices}
    if row.kind not in {IntProperty, FloatProperty}:
        return {}
    end = _INT if row.kind is IntProperty else inf
    least, most = row.flag.range or (row.options.get("min", -end), row.options.get("max", end))
    if row.options.get("subtype") == "ANGLE":
        read = within(number, degrees(least), degrees(most), "number of degrees")
        return {"type": lambda text: radians(read(text)), "metavar": "DEGREES"}
    return {"type": within(whole, least, most) if row.kind is IntProperty else within(number, least, most)}


def _choice(choices: list[str]) -> Callable[[str], str]:
    """Return a reader of these identifiers that ignores case."""
    meant = {choice.upper(): choice for choice in choices}
    return lambda text: meant.get(text.upper(), text)

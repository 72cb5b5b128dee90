# SPDX-License-Identifier: GPL-3.0-or-later
"""The mechanism of the table of settings: each is declared once, and everything else is derived from that.

A group of settings is a class whose annotated names are the settings:

    @group(page="solvers.html#solvers")
    class MethodSettings:
        iterations: int = setting(
            IntProperty, "Iterations", "Maximum number of iterations", default=100, min=1, flag="--iterations"
        )

It becomes a frozen dataclass with keyword-only fields, so that records such as Limb inherit the settings with their
defaults. The properties that Blender saves, those of operators, the flags of the command line and the addresses in
the manual are read from the same declaration.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, TypeVar, dataclass_transform

from bpy.props import CollectionProperty
from bpy.types import Context, PropertyGroup

_T = TypeVar("_T")


@dataclass(frozen=True)
class Exempt:
    """Given instead of a flag or a panel: the reason why a setting has none."""

    reason: str


@dataclass(frozen=True)
class Flag:
    """A flag of the command line; its help is the setting's description unless it has its own.

    A flag `--no-...` switches its setting off. `range` holds least and greatest value where these are not those of
    the property, `more` other keywords of argparse's add_argument().
    """

    name: str
    help: str = ""
    range: tuple[int, int] | None = None
    more: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Setting:
    """One row of the table: a property of this `kind`, a function of bpy.props that takes `options` besides the rest.

    `name` is that of the property which Blender saves. `panel` is None for what a panel draws. A `per_frame` setting
    says what a frame aims at or when it is there, and is read at every frame where it is animated.
    """

    kind: Callable[..., Any]
    label: str
    description: str
    default: Any
    options: Mapping[str, Any]
    name: str = ""
    page: str = ""
    flag: Flag | Exempt | None = None
    panel: Exempt | None = None
    per_frame: bool = False
    preset: bool = False

    def as_property(self, **more: Any) -> Any:
        """The property as Blender takes it in an annotation; what the setting says itself goes before `more`."""
        default = {} if self.default is None else {"default": self.default}
        return self.kind(**{"name": self.label, "description": self.description, **default, **more, **self.options})

    @property
    def choices(self) -> list[str]:
        """Identifiers of an enumeration's items, without headings, whose identifiers are empty."""
        return [item[0] for item in self.options["items"] if item[0]]


def setting(
    kind: Callable[..., Any],
    label: str,
    description: str,
    *,
    default: Any,
    name: str = "",
    page: str = "",
    flag: str | Flag | Exempt | None = None,
    panel: Exempt | None = None,
    per_frame: bool = False,
    preset: bool = False,
    **options: Any,
) -> Any:
    """Declare a setting; typed Any as the annotation before it says what its values are.

    `name` is needed where the saved property has another name than the field, `page` where the manual explains the
    setting elsewhere than its group. A default of None is for pointers and collections, whose properties have none.
    """
    flag = Flag(flag) if isinstance(flag, str) else flag
    return Setting(kind, label, description, default, options, name, page, flag, panel, per_frame, preset)


@dataclass_transform(frozen_default=True, kw_only_default=True)
def group(page: str, flags: Exempt | None = None) -> Callable[[type[_T]], type[_T]]:
    """Make a class a group of settings, explained on this `page` of the manual; `flags` exempts all of them."""

    def made(cls: type[_T]) -> type[_T]:
        for name, row in list(vars(cls).items()):
            if isinstance(row, Setting):
                whole = replace(row, name=row.name or name, page=row.page or page, flag=row.flag or flags)
                setattr(cls, name, field(default=row.default, metadata={_ROW: whole}))
        return dataclass(frozen=True, kw_only=True)(cls)

    return made


def settings_of(*groups: type) -> dict[str, Setting]:
    """The settings of these groups by the names of their fields; of a record, those that it inherits."""
    return {each.name: each.metadata[_ROW] for one in groups for each in fields(one) if _ROW in each.metadata}


def by_property(*groups: type) -> dict[str, Setting]:
    """The settings of these groups by the names of the properties that Blender saves."""
    return {row.name: row for one in groups for row in settings_of(one).values()}


def saved(*groups: type, **more: Any) -> dict[str, Any]:
    """Annotations for a property group that saves these groups of settings; each property takes `more` keywords.

    Blender tells the dependency graph of a value that a script sets only where the property has an update function.
    """
    rows = by_property(*groups).items()
    updates = {name: {} if row.kind is CollectionProperty else {"update": _updated} for name, row in rows}
    return {name: row.as_property(**updates[name], **more) for name, row in rows}


def _updated(owner: PropertyGroup, context: Context) -> None:
    """Do nothing: Blender only checks that the function exists."""


def given(one: type, *names: str) -> dict[str, Any]:
    """Annotations for an operator that takes the settings of a group, by the names of their fields; all or these."""
    return {name: row.as_property() for name, row in settings_of(one).items() if not names or name in names}


_ROW = "setting"  # key of a field's metadata

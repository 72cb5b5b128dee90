# SPDX-License-Identifier: GPL-3.0-or-later
"""Write the manual's pages of all settings, for animators and for scripts, from the table in ik_triangulation/settings.

python scripts/settings_page.py
"""

from collections.abc import Callable
from math import degrees

from environment import ROOT, enter

PAGE, SCRIPT_PAGE = ROOT / "docs" / "settings.md", ROOT / "docs" / "settings_in_scripts.md"
HEADINGS = {  # of groups whose class is not called as an animator would
    "Chain": "Limb and target",
    "Bend": "Orientation and pole",
    "Method": "Solver",
    "Frame": "Frames",
    "Key": "Keys",
    "StopList": "Stops",
    "Joint": "Joints",
    "PlaneMap": "Map in a plane",
    "SpaceMap": "Map of the space",
}
HEAD = """# All settings

What the fields in the panels mean, with what they are set to at first. Those marked ◆ can be keyed and driven; the
others have one value for a whole bake. For their names in Python and on the command line see
[Settings in scripts](settings_in_scripts.md).
"""
SCRIPT_HEAD = """# Settings in scripts

The names of [all settings](settings.md) in Python and on the command line, and the values that choices have. A limb's
last bone saves the settings of the limb as `pose_bone.ik_triangulation`, every bone those of its joint as
`pose_bone.ik_triangulation_joint`. If there are two names, the second is the saved one.

`python scripts/settings_page.py` writes both pages.
"""


def page() -> str:
    """The text of the page for animators. The package has to be importable, and Blender."""
    return _page(HEAD, ("Setting", "Meaning", "Default"), _row)


def script_page() -> str:
    """The text of the page for scripts. The package has to be importable, and Blender."""
    return _page(SCRIPT_HEAD, ("Setting", "Python", "Values", "Command line"), _script_row)


def _page(head: str, columns: "tuple[str, ...]", row: Callable) -> str:
    from ik_triangulation.maps.properties import PlaneMapSettings, SpaceMapSettings
    from ik_triangulation.settings import property_groups

    groups = [*property_groups.LIMB_GROUPS, property_groups.StopSettings, property_groups.JointSettings]
    tables = (_section(group, columns, row) for group in (*groups, PlaneMapSettings, SpaceMapSettings))
    return "\n".join([head, *filter(None, tables)])


def _section(group, columns: "tuple[str, ...]", row: Callable) -> str:
    from ik_triangulation.settings import settings_of

    rows = {field: setting for field, setting in settings_of(group).items() if setting.label and setting.page}
    if not rows:
        return ""
    name = group.__name__.removesuffix("Settings")
    lines = [f"## {HEADINGS.get(name, name)}", "", _line(columns), "|" + "---|" * len(columns)]
    return "\n".join([*lines, *(_line(row(field, setting)) for field, setting in rows.items()), ""])


def _line(cells) -> str:
    return f"| {' | '.join(cells)} |"


def _row(field: str, row) -> "tuple[str, ...]":
    items = row.options.get("items", ())
    few = [item for item in items if item[2]] if len(items) < 15 else []  # solvers have a page of their own
    meaning = "<br>".join([row.description, *(f"*{item[1]}*: {item[2]}" for item in few)])
    return f"{_linked(row)}{' ◆' if row.per_frame else ''}", meaning, _default(row, items)


def _script_row(field: str, row) -> "tuple[str, ...]":
    flag, items = getattr(row.flag, "name", ""), row.options.get("items", ())
    names = ", ".join(f"`{each}`" for each in dict.fromkeys((field, row.name)))
    return _linked(row), names, ", ".join(f"`{item[0]}`" for item in items), f"`{flag}`" if flag else ""


def _linked(row) -> str:
    return f"[{row.label}]({row.page.replace('.html', '.md')})"


def _default(row, items) -> str:
    value = row.default
    if value is None or value == "":
        return ""
    if isinstance(value, bool):
        return "On" if value else "Off"
    if isinstance(value, str):
        return next((item[1] for item in items if item[0] == value), value)
    if isinstance(value, set):
        return ", ".join(item[1] for item in items if item[0] in value)
    if row.options.get("subtype") in {"ANGLE", "EULER"}:
        angles = value if isinstance(value, tuple) else (value,)
        return ", ".join(f"{degrees(angle):.4g}°" for angle in angles)
    return ", ".join(f"{each:g}" for each in value) if isinstance(value, tuple) else f"{value:g}"


def main() -> None:
    enter("blender")
    for path, text in ((PAGE, page()), (SCRIPT_PAGE, script_page())):
        path.write_text(text, encoding="utf-8")
        print(path)


if __name__ == "__main__":
    main()

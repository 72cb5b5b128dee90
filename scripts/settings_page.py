# SPDX-License-Identifier: GPL-3.0-or-later
"""Write docs/settings.md, the manual's page of all settings, from the table in ik_triangulation/settings.

python scripts/settings_page.py
"""

from math import degrees

from environment import ROOT, enter

PAGE = ROOT / "docs" / "settings.md"
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

The settings with their names in the panels, in Python and on the command line. A limb's last bone saves the settings of
the limb as `pose_bone.ik_triangulation`, every bone those of its joint as `pose_bone.ik_triangulation_joint`. If there
are two Python names, the second is the saved one. Settings marked ◆ can be keyed and driven; the others have one value
for a whole bake.

`python scripts/settings_page.py` writes this page.
"""


def page() -> str:
    """The text of the page. The package has to be importable, and Blender."""
    from ik_triangulation.maps.properties import PlaneMapSettings, SpaceMapSettings
    from ik_triangulation.settings import property_groups

    groups = [*property_groups.LIMB_GROUPS, property_groups.StopSettings, property_groups.JointSettings]
    return "\n".join([HEAD, *(_section(group) for group in (*groups, PlaneMapSettings, SpaceMapSettings))])


def _section(group) -> str:
    from ik_triangulation.settings import settings_of

    rows = {field: row for field, row in settings_of(group).items() if row.label and row.page}
    if not rows:
        return ""
    name = group.__name__.removesuffix("Settings")
    lines = [f"## {HEADINGS.get(name, name)}", ""]
    lines += ["| Setting | Meaning | Default | Python | Command line |", "|---|---|---|---|---|"]
    return "\n".join([*lines, *(_row(field, row) for field, row in rows.items()), ""])


def _row(field: str, row) -> str:
    items = row.options.get("items", ())
    few = [item for item in items if item[2]] if len(items) < 15 else []  # solvers have a page of their own
    meaning = "<br>".join([row.description, *(f"*{item[1]}*: {item[2]}" for item in few)])
    flag = getattr(row.flag, "name", "")
    setting = f"[{row.label}]({row.page.replace('.html', '.md')}){' ◆' if row.per_frame else ''}"
    names = ", ".join(f"`{each}`" for each in dict.fromkeys((field, row.name)))
    return f"| {setting} | {meaning} | {_default(row, items)} | {names} | {f'`{flag}`' if flag else ''} |"


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
    PAGE.write_text(page(), encoding="utf-8")
    print(PAGE)


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: GPL-3.0-or-later
"""What saved files, scripts and the command line rely on: every setting's type, default, range, numbers and flag.

tests/data/settings.txt has it, a line for each setting. A new setting adds a line. A line that changes may change what
saved files mean (settings/edition.py says what to do for a default). To write the file anew:

    python -m tests.settings.test_contract
"""

from pathlib import Path

import bpy

from ik_triangulation.maps.properties import MAP_TABLE
from ik_triangulation.settings import TABLE, Exempt, MethodSettings
from ik_triangulation.settings.property_groups import IKT_PG_posed

from ..rigs import chain_rig

FILE = Path(__file__).resolve().parent.parent / "data" / "settings.txt"
RANGE = "hard_min", "hard_max", "soft_min", "soft_max"


def number(value):
    """A number as it is read best, the largest of all as infinite."""
    is_limit = isinstance(value, float | int) and abs(value) > 2e9
    return f"{'-' * (value < 0)}inf" if is_limit else f"{value:.6g}" if isinstance(value, float) else str(value)


def of_property(prop):
    """Type, default and range of a property of Blender, and the numbers that files hold of an enumeration."""
    if prop.type in {"POINTER", "COLLECTION"}:
        return [prop.type, prop.fixed_type.identifier]
    is_array = getattr(prop, "is_array", False)
    said = [prop.type, " ".join(map(number, prop.default_array)) if is_array else number(prop.default) or "''"]
    if prop.type in {"INT", "FLOAT"}:
        said.append(" ".join(f"{name} {number(getattr(prop, name))}" for name in RANGE))
    if prop.type == "FLOAT":
        said.append(f"precision {prop.precision}")
    if prop.type == "ENUM":
        said.append(" ".join(f"{item.identifier}={item.value}" for item in prop.enum_items))
    return [*said, "hidden"] if prop.is_hidden else said


def of_row(row):
    """The unit and the flag of a setting with its range, and where its value counts."""
    flag = None if row.flag is None or isinstance(row.flag, Exempt) else row.flag
    said = [flag.name, *(flag.range or ()), *(f"{key}={value}" for key, value in flag.more.items())] if flag else []
    said = [row.options.get("subtype", ""), " ".join(map(str, said))]
    return [*filter(None, said), *(name for name in ("per_frame", "preset") if getattr(row, name))]


def lines(table):
    """What is relied on of the properties of a table of settings."""
    for kind, rows in table.items():
        for name, prop in kind.bl_rna.properties.items():
            if name not in {"rna_type", "name"}:
                said = [*of_property(prop), *(of_row(rows[name]) if name in rows else [])]
                yield f"{kind.__name__}.{name}: {', '.join(said)}"


def line_of_objects():
    made = bpy.types.Object.bl_rna.properties["ik_triangulation_made_rotation"]
    return f"Object.{made.identifier}: {', '.join(of_property(made))}"


def written(*kinds):
    """The lines of the file about these property groups."""
    return [line for line in FILE.read_text(encoding="utf-8").splitlines() if line.partition(".")[0] in kinds]


def test_what_files_and_scripts_rely_on_stays(empty_scene):
    assert MethodSettings().refines, "Natural, by default"
    rig = chain_rig(1)
    contact = rig.ik_triangulation.contacts.add()
    contact.support = rig
    assert contact.support_name == "Rig", "the only property that follows another one"
    table = TABLE | {IKT_PG_posed: {}}
    was, now = written(*(kind.__name__ for kind in table), "Object"), [*lines(table), line_of_objects()]
    assert [line for line in was if line not in now] == [line for line in now if line not in was] == []


if __name__ == "__main__":
    import addon_utils

    addon_utils.enable("ik_triangulation")
    all_of_them = [*lines(TABLE | {IKT_PG_posed: {}} | MAP_TABLE), line_of_objects()]
    FILE.write_text("\n".join(all_of_them) + "\n", encoding="utf-8")

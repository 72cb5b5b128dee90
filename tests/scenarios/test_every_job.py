# SPDX-License-Identifier: GPL-3.0-or-later
"""Every job that a user can start is registered, has a button, and is in the manual by each of its names."""

import json
import re
from argparse import _SubParsersAction
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

import pytest

from ik_triangulation import api
from ik_triangulation.cli import parser
from ik_triangulation.ui import operators, panels

DOCS = Path(__file__).resolve().parents[2] / "docs"
PANELS = "\n".join(path.read_text("utf-8") for path in Path(panels.__file__).parent.glob("*.py"))


def classes_in(package, marker):
    """Classes that the modules of a package define for Blender, with the names of their modules."""
    modules = [import_module(f"{package.__name__}.{found.name}") for found in iter_modules(package.__path__)]
    return {name: cls for module in modules for name, cls in vars(module).items() if name.startswith(f"{marker}ik_tri")}


OPERATORS = classes_in(operators, "POSE_OT_")
OURS = OPERATORS | classes_in(panels, "VIEW3D_PT_")
COMMANDS = next(action for action in parser()._actions if isinstance(action, _SubParsersAction)).choices
FUNCTIONS = [name for name in api.__all__ if name.islower()]


@pytest.mark.parametrize("name", OURS)
def test_an_operator_or_panel_is_registered(name, addon):
    module = OURS[name].__module__.rpartition(".")
    assert OURS[name].is_registered, (
        f"{name} is not registered. Let register() of {module[2]}.py name it, and list {module[2]!r} in "
        f"{module[0].rpartition('.')[2]}/__init__.py."
    )


@pytest.mark.parametrize("name", OPERATORS)
def test_an_operator_has_a_button(name):
    assert re.search(rf"\b{name}\b|{re.escape(OPERATORS[name].bl_idname)}\b", PANELS), (
        f"No panel has a button for {name}. Add column.operator({name}.bl_idname) to the one in ui/panels/ that it "
        "belongs to."
    )


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_public_function_is_in_the_manual(name):
    assert re.search(rf"\b{name}\b", (DOCS / "python.md").read_text("utf-8")), (
        f"The manual does not name {name}(). Add it to the table of calls in docs/python.md."
    )


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_is_in_the_manual_and_its_report_in_the_schema(name):
    assert re.search(rf"python -m ik_triangulation {name} ", (DOCS / "command_line.md").read_text("utf-8")), (
        f"The manual has no example of the command {name}. Add one to docs/command_line.md."
    )
    schema = json.loads((DOCS / "report.schema.json").read_text("utf-8"))
    assert name in schema["properties"]["command"]["enum"], (
        f"docs/report.schema.json does not allow reports of the command {name}. Add it to the enum of `command`."
    )

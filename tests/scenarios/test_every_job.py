# SPDX-License-Identifier: GPL-3.0-or-later
"""Every job is registered, has a button, leaves nothing behind if closed, and is in the manual by all its names."""

import json
import re
from argparse import _SubParsersAction
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

import bpy
import pytest

from ik_triangulation import api
from ik_triangulation.cli import parser
from ik_triangulation.jobs.bake import bake
from ik_triangulation.rig.limb import Limb
from ik_triangulation.ui import operators, panels
from ik_triangulation.ui.operators.job import JobOperator

from ..mapped import standard
from ..rigs import nothing_lost
from ..ui.test_modal_job import Recorder, pressed

DOCS = Path(__file__).resolve().parents[2] / "docs"
PANELS = "\n".join(path.read_text("utf-8") for path in Path(panels.__file__).parent.glob("*.py"))


def classes_in(package, marker):
    """Classes that the modules of a package define for Blender, with the names of their modules."""
    modules = [import_module(f"{package.__name__}.{found.name}") for found in iter_modules(package.__path__)]
    return {name: cls for module in modules for name, cls in vars(module).items() if name.startswith(f"{marker}ik_tri")}


OPERATORS = classes_in(operators, "POSE_OT_")
OURS = OPERATORS | classes_in(panels, "VIEW3D_PT_")
COMMANDS = next(action for action in parser()._actions if isinstance(action, _SubParsersAction)).choices
JOBS = [name for name, cls in OPERATORS.items() if issubclass(cls, JobOperator)]
FUNCTIONS = [name for name in api.__all__ if name.islower()]


@pytest.mark.parametrize("name", OURS)
def test_an_operator_or_panel_is_registered(name, addon):
    module = OURS[name].__module__.rpartition(".")
    assert OURS[name].is_registered, (
        f"{name} is not registered. Let register() of {module[2]}.py name it, and list {module[2]!r} in "
        f"{module[0].rpartition('.')[2]}/__init__.py."
    )


# The button of Bake does what Re-Bake does, where there is a bake; targets are dragged by their gizmo.
WITHOUT_A_BUTTON = {
    "POSE_OT_ik_triangulation_rebake",
    "POSE_OT_ik_triangulation_target_move",
    "POSE_OT_ik_triangulation_target_rotate",
}


@pytest.mark.parametrize("name", sorted(set(OPERATORS) - WITHOUT_A_BUTTON))
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


def defaults_of(cls):
    """The defaults of an operator's own properties."""
    kind = getattr(bpy.ops.pose, cls.bl_idname.partition(".")[2]).get_rna_type()
    return {prop.identifier: prop.default for prop in kind.properties if hasattr(prop, "default")}


@pytest.mark.parametrize("parts", [1, 2, 5, 40])
@pytest.mark.parametrize("name", JOBS)
def test_a_job_that_is_closed_leaves_nothing_behind(name, parts, addon):
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    rig, target = standard()
    bake(Limb.from_tip(rig, "Bone 3", target, 3), 1, 8)
    target.location = (0.2, 0.9, 1.0)
    operator, context = pressed(OPERATORS[name], Recorder(), **defaults_of(OPERATORS[name]))
    context.space_data, context.window_manager = None, bpy.context.window_manager
    with nothing_lost():
        job = operator.job(context, 0.0)
        for _ in range(parts):
            if next(job, None) is None:
                pytest.skip("it has ended before")
        job.close()

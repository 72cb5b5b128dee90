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
from ik_triangulation.ui.operators.base import JobOperator

from ..bodies import walking_body
from ..characters import character
from ..ik_rigs import ik_arm
from ..mapped import standard
from ..rigs import nothing_lost
from ..sources import told
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
OF_LISTS = {"bake-list", "list-assets"}  # commands without a report of their own: each shot has one, of its bake
JOBS = [name for name, cls in OPERATORS.items() if issubclass(cls, JobOperator)]
FUNCTIONS = [name for name in api.__all__ if name.islower()]


def test_an_operator_or_panel_is_registered(addon):
    absent = [f"{name} of {cls.__module__}" for name, cls in OURS.items() if not cls.is_registered]
    assert not absent, (
        "These are not registered. Let register() of their module name them, and list the module in the "
        f"__init__.py of its folder:{told(absent)}"
    )


# The button of Bake does what Re-Bake does, where there is a bake; targets are dragged by their gizmo.
WITHOUT_A_BUTTON = {
    "POSE_OT_ik_triangulation_rebake",
    "POSE_OT_ik_triangulation_target_move",
    "POSE_OT_ik_triangulation_target_rotate",
}


@pytest.mark.parametrize("name", OPERATORS)
def test_no_setting_of_an_operator_hides_what_its_bases_do(name, addon):
    cls, settings = OPERATORS[name], set(properties_of(OPERATORS[name]))
    ours = [base for base in cls.__mro__ if base.__module__.startswith("ik_triangulation")]
    hidden = {name for base in ours for name, value in vars(base).items() if callable(value)} & settings
    assert not hidden, f"Rename these methods, which are no longer found as self's: {sorted(hidden)}."


def test_an_operator_has_a_button():
    names = {name: OPERATORS[name].bl_idname for name in sorted(set(OPERATORS) - WITHOUT_A_BUTTON)}
    absent = [n for n, idname in names.items() if not re.search(rf"\b{n}\b|{re.escape(idname)}\b", PANELS)]
    assert not absent, (
        "No panel has a button for these. Add column.operator(<name>.bl_idname) to the one in ui/panels/ that each "
        f"belongs to:{told(absent)}"
    )


def test_a_public_function_is_in_the_manual():
    text = (DOCS / "python.md").read_text("utf-8")
    absent = [f"{name}()" for name in FUNCTIONS if not re.search(rf"\b{name}\b", text)]
    assert not absent, f"Add these to the table of calls in docs/python.md:{told(absent)}"


def test_a_command_is_in_the_manual_and_its_report_in_the_schema():
    text, schema = (DOCS / "command_line.md").read_text("utf-8"), (DOCS / "report.schema.json").read_text("utf-8")
    absent = [name for name in COMMANDS if f"python -m ik_triangulation {name} " not in text]
    assert not absent, f"Add an example of each of these commands to docs/command_line.md:{told(absent)}"
    known = json.loads(schema)["properties"]["command"]["enum"]
    refused = [name for name in COMMANDS if name not in known and name not in OF_LISTS]
    assert not refused, f"Add these commands to the enum of `command` in docs/report.schema.json:{told(refused)}"


def defaults_of(cls):
    """The defaults of an operator's own properties."""
    known = {name: prop for name, prop in properties_of(cls).items() if hasattr(prop, "default")}
    return {
        name: [*prop.default_array] if getattr(prop, "is_array", False) else prop.default
        for name, prop in known.items()
    }


def properties_of(cls):
    """The settings that an operator is called with, by name."""
    return dict(getattr(bpy.ops.pose, cls.bl_idname.partition(".")[2]).get_rna_type().properties.items())


@pytest.mark.parametrize("name", JOBS)
def test_a_job_that_is_closed_leaves_nothing_behind(name, addon, long):
    closed = [parts for parts in ((1, 2, 5, 40) if long else (2, 40)) if closed_after(name, parts)]
    assert closed, "It ends before its first part: nothing was tried. Give it something to do in closed_after()."


def closed_after(name, parts):
    """Close a job after some of its parts, ask that nothing is left behind, and say whether it had not ended before."""
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    if "transfer" in name:
        ik_arm()
    elif "follow_rig" in name:
        source = walking_body(12)
        bpy.context.scene.frame_end = 12
        rig = character("Mixamo", "Other", 1.3, 0.8)
        bpy.ops.object.mode_set(mode="OBJECT")
        source.select_set(True)
        rig.select_set(True)
        bpy.context.view_layer.objects.active = rig
    else:
        rig, target = standard()
        bake(Limb.from_tip(rig, "Bone 3", target, 3), 1, 8)
        target.location = (0.2, 0.9, 1.0)
    given = defaults_of(OPERATORS[name])
    if "retime" in name:
        given["offset"] = 2  # by 0 frames it has nothing to do
    operator, context = pressed(OPERATORS[name], Recorder(), **given)
    context.space_data, context.window_manager = None, bpy.context.window_manager
    try:
        with nothing_lost():
            job = operator.job(context, 0.0)
            for _ in range(parts):
                next(job)
            job.close()
    except StopIteration:
        return False
    return True

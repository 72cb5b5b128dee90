# SPDX-License-Identifier: GPL-3.0-or-later
"""Every public name can be had from ik_triangulation.api, in Blender and as far as it goes without."""

import ast
import re
import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

from ik_triangulation import api

ROOT = Path(__file__).resolve().parent.parent
ALONE = "import bpy, sys; sys.modules['bpy'] = None"  # mathutils as Blender brings it, but no bpy
NOTHING = "import sys; sys.modules['bpy'] = sys.modules['mathutils'] = None"
# What is asked of one process that has mathutils alone, as each takes a second to start; the refusals before the rest.
REFUSED = ("bake", "preset_names")
ASKED = """
for name in {names}:
    try:
        exec(f"from ik_triangulation.api import {{name}}")
    except ImportError as error:
        print(f"{{name}}: {{error}}")
"""

# As if another mathutils were imported before bpy.
OTHER = """import bpy, mathutils, sys; del sys.modules['bpy']
from ik_triangulation import solve
assert 'bpy' not in sys.modules
print("solve")
from ik_triangulation import bake
"""

NEED_SAVED_SETTINGS = [
    "Limb.of(tip)",
    "enabled_limbs(rig)",
    "add_limbs(rig, ['Bone 1'])",
    "remove_limb(rig, 'Bone 1')",
    "start_live(rig, 'Bone 1')",
    "copy_joints_to_own(rig, ['Bone 1'])",
    "copy_joint_to_others(rig, 'Bone 0', ['Bone 1'])",
    "mirror_joints(rig, ['Bone 1'])",
    "learn_joints(rig, ['Bone 1'])",
    "preset_of(rig, ['Bone 1'], 'Own')",
]


def python(code):
    return subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=120, check=False
    )


def test_every_public_name_is_there():
    assert [name for name in api.__all__ if getattr(api, name) is None or name not in dir(api)] == []


def test_no_name_is_said_twice_and_nothing_has_two_names():
    tree = ast.parse(Path(api.__file__).read_text(encoding="utf-8"))
    froms = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.level]
    public = [alias.asname or alias.name for node in froms for alias in node.names]
    original = [(node.module, alias.name) for node in froms for alias in node.names]
    assert sorted(public) == sorted(set(api.__all__))
    assert len(set(original)) == len(original)


def test_importing_it_loads_nothing_else():
    loaded = "import ik_triangulation.api, sys; print(*(name for name in sys.modules if 'triangulation' in name))"
    allowed = {"ik_triangulation", "ik_triangulation.api", "ik_triangulation.registration"}
    assert set(python(loaded).stdout.split()) == allowed


def test_a_name_that_is_not_there_is_told_as_any_module_does():
    with pytest.raises(AttributeError, match=r"module 'ik_triangulation.api' has no attribute 'beak'"):
        getattr(api, "beak")  # noqa: B009
    with pytest.raises(ImportError, match="cannot import name 'beak'"):
        exec("from ik_triangulation.api import beak")


@pytest.fixture(scope="module")
def alone():
    """What a process says that has mathutils alone."""
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "docs/python.md").read_text(encoding="utf-8"), re.DOTALL)
    (mathematics,) = [block for block in blocks if "solve(" in block]
    asked = f"{ALONE}\n{ASKED.format(names=REFUSED)}\nfrom ik_triangulation import solve\nprint('solve')\n"
    return python(f"{asked}{mathematics}\nassert solution.reached\nprint('reached')")


def test_the_mathematics_of_the_manual_run_without_bpy(alone):
    assert alone.stdout.splitlines()[-1:] == ["reached"], alone.stderr
    assert alone.returncode == 0, alone.stderr


def assert_remedy(said, name, missing):
    (line,) = [each for each in said.stdout.splitlines() if each.startswith(f"{name}: ")]
    assert line.startswith(f"{name}: '{name}' needs {missing}"), said.stderr
    assert line.endswith("pip install bpy, for a Python that has it.")


@pytest.mark.parametrize("name", REFUSED)
def test_what_needs_bpy_is_told_with_the_remedy(alone, name):
    assert_remedy(alone, name, "bpy")


def test_what_needs_mathutils_is_told_with_the_remedy():
    assert_remedy(python(f"{NOTHING}\n{ASKED.format(names=['solve'])}"), "solve", "mathutils")


def test_the_package_itself_has_the_same_names(alone):
    everything = {}
    exec("from ik_triangulation import *", everything)
    assert set(api.__all__) <= set(everything)
    assert everything["bake"] is api.bake
    assert set(api.__all__) <= set(dir(sys.modules["ik_triangulation"]))
    with pytest.raises(ImportError, match="cannot import name 'beak'"):
        exec("from ik_triangulation import beak")
    assert "solve" in alone.stdout.splitlines(), alone.stderr


def test_with_another_mathutils_the_mathematics_run_and_the_rest_says_what_to_do():
    done = python(OTHER)
    assert done.stdout.splitlines()[-1:] == ["solve"], done.stderr
    said = done.stderr.strip()
    assert said.endswith("mathutils was imported before it, from another package. Import bpy first."), said


def test_what_needs_saved_settings_says_so_where_nothing_is_registered():
    done = python(f"""
from ik_triangulation.api import *
from tests.rigs import chain_rig
rig = chain_rig(2)
tip = rig.pose.bones["Bone 1"]
for call in {NEED_SAVED_SETTINGS}:
    try:
        eval(call)
    except SettingError as error:
        print(error)
""")
    said = [line for line in done.stdout.splitlines() if line.startswith("Bones have no saved settings")]
    assert len(said) == len(NEED_SAVED_SETTINGS), done.stderr
    assert "ik_triangulation.register()" in said[0]


def test_pytest_loads_no_second_copy_of_the_rooms():
    package = ROOT / "ik_triangulation"
    files = {name: Path(getattr(module, "__file__", None) or "/") for name, module in list(sys.modules.items())}
    copies = {file for name, file in files.items() if package in file.parents and name.split(".")[0] != package.name}
    assert copies <= {package / "__init__.py", package / "api.py", package / "registration.py"}


def test_the_file_beside_the_manifest_can_be_read_in_a_folder_that_cannot_be_a_package():
    spec = spec_from_file_location(
        "__init__", ROOT / "__init__.py"
    )  # as pytest does in a folder such as ik-triangulation
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    assert not hasattr(module, "pytest_plugins")

# SPDX-License-Identifier: GPL-3.0-or-later
"""The pip package, installed from its sdist into an environment of its own, works with real bpy.

With --long the environment is empty, and pip brings all that the package needs; without, what it needs is that of the
tests, as unpacking Blender takes longest.
"""

import json
import os
import re
import subprocess
import sys
import tarfile
import tomllib
import venv
from pathlib import Path
from zipfile import ZipFile

import bpy
import pytest
from pip._vendor.packaging.specifiers import SpecifierSet

from scripts.environment import BLENDERS

from ..commands import DONE, FAILED
from ..rigs import chain_rig, empty, key_location

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
VERSION = tomllib.loads((ROOT / "blender_manifest.toml").read_text("utf-8"))["version"]
HAS_MATHUTILS = sys.version_info >= (3, 13)  # the package has no wheel for Python 3.11, and compiling takes a while

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(bool(bpy.app.binary_path), reason="the package is for the bpy module"),
]


def run(*words, cwd, code=DONE, **variables):
    """Run a command to its end with nothing of this checkout on Python's path, and return its standard output."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")} | variables
    done = subprocess.run(
        list(map(str, words)), cwd=cwd, env=environment, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == code, f"{done.stdout}\n{done.stderr}"
    return done.stdout if code == DONE else done.stderr


@pytest.fixture(scope="module")
def sdist(source_archive, tmp_path_factory):
    """The sdist, built from the source as it is downloaded."""
    folder = tmp_path_factory.mktemp("sdist")
    with ZipFile(source_archive) as file:
        file.extractall(folder)
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "-q"]
    run(*pip, "--target", folder / "tools", *PROJECT["build-system"]["requires"], cwd=folder)
    build = [sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", folder]
    run(*build, cwd=folder / "any-name-main", PYTHONPATH=str(folder / "tools"))
    (found,) = folder.glob("*.tar.gz")
    return found


@pytest.fixture(scope="module")
def scripts(sdist, tmp_path_factory, long):
    """The folder with the programs of an environment in which nothing but the package was installed."""
    home = tmp_path_factory.mktemp("empty environment")
    venv.create(home, with_pip=long)
    programs = home / ("Scripts" if os.name == "nt" else "bin")
    if not long:
        python = programs / "python"
        tools = sdist.parent / "tools"
        pip = [sys.executable, "-m", "pip", "-q", "--python", python, "install", "--no-deps", "--no-build-isolation"]
        needed = PROJECT["project"]["optional-dependencies"]["mathutils"] if HAS_MATHUTILS else []
        run(*pip, "--no-compile", sdist, *needed, cwd=home, PYTHONPATH=str(tools))
        (own,) = home.rglob("site-packages")
        (own / "tests.pth").write_text(f"{Path(pytest.__file__).parents[1]}\n", encoding="utf-8")
        return programs
    extras = "[bpy,mathutils]" if HAS_MATHUTILS else "[bpy]"
    run(programs / "python", "-m", "pip", "install", "-q", f"ik-triangulation{extras} @ {sdist.as_uri()}", cwd=home)
    return programs


@pytest.fixture
def shot(empty_scene, tmp_path):
    """A file with the arm and the moving cup of the README."""
    chain_rig(3, names=("upper_arm.L", "forearm.L", "hand.L"))
    key_location(empty("Cup"), range(1, 122, 5))
    empty_scene.frame_end = 120
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    return tmp_path / "shot.blend"


def test_the_wheel_holds_the_package_and_no_more(scripts):
    pip = [sys.executable, "-m", "pip", "--python", scripts / "python"]
    files = run(*pip, "show", "-f", "ik-triangulation", cwd=scripts)
    found = {line.strip() for line in files.partition("Files:\n")[2].splitlines() if "__pycache__" not in line}
    found = {name.replace(os.sep, "/") for name in found}
    package = {name for name in found if name.startswith("ik_triangulation/")}
    listed = {path.relative_to(ROOT) for path in (ROOT / "ik_triangulation").rglob("*") if path.is_file()}
    ours = {path.as_posix() for path in listed if not {"pages", "__pycache__"} & set(path.parts)}
    assert package == ours | {"ik_triangulation/report.schema.json"}
    others = {name for name in found - package if ".dist-info/" not in name}
    assert [name for name in others if not re.search(r"/(bin|Scripts)/ik-triangulation(\.exe)?$", name)] == []
    assert [name for name in found if name.endswith("licenses/LICENSE")]


def test_the_page_on_an_index_has_addresses_on_the_web_instead_of_paths(sdist, tmp_path):
    with tarfile.open(sdist) as file:
        file.extractall(tmp_path, filter="data")
    (source,) = tmp_path.iterdir()
    manifest = source / "blender_manifest.toml"
    manifest.write_text(f'website = "https://example.org/ik/"\n{manifest.read_text("utf-8")}', "utf-8")
    command = sys.executable, "-m", "hatchling", "metadata"
    written = json.loads(run(*command, cwd=source, PYTHONPATH=str(sdist.parent / "tools")))
    text, site = written["readme"]["text"], "https://example.org/ik/"
    assert "](docs/" not in text
    assert {f"({site}_images/demo.webp)", f"({site}solvers.html#natural)"} <= set(re.findall(r"\(http[^)]*\)", text))
    assert written["urls"] == {"Documentation": site}


def test_pip_refuses_a_python_that_no_blender_is_made_for():
    said = SpecifierSet(PROJECT["project"]["requires-python"])
    assert [minor for minor in range(8, 16) if f"3.{minor}.1" in said] == sorted(minor for _, minor in BLENDERS)


def test_the_command_tells_the_version_of_the_manifest(scripts, tmp_path):
    assert run(scripts / "ik-triangulation", "--version", cwd=tmp_path) == f"IK Triangulation {VERSION}\n"


# The other document is run without the package: test_readme.py.
@pytest.mark.parametrize("document", ["README.md", pytest.param("docs/python.md", marks=pytest.mark.long)])
def test_the_python_of_the_documents_runs(document, scripts, shot, tmp_path):
    said = run(scripts / "python", HERE / "use_readme.py", "--", ROOT / document, shot, cwd=tmp_path)
    assert "imported from ik_triangulation." in said


def test_a_bake_with_a_preset(scripts, shot, tmp_path, long):
    bake = [scripts / "ik-triangulation", "bake", shot, "--tip", "hand.L", "--chain-length", 3, "--target", "Cup"]
    with_preset = [*bake, "--preset", "Human Arm", "--accept-misses"]
    report = json.loads(run(*with_preset, "--output", tmp_path / "baked.blend", "--json", cwd=tmp_path))
    assert (report["version"], report["error"]) == (VERSION, None)
    assert report["limbs"][0]["frames"] == 120
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "baked.blend"))
    rig = bpy.data.objects["Rig"]
    assert rig.pose.bones["forearm.L"].ik_triangulation_joint.kind != "FREE", "the preset was not applied"
    assert rig.animation_data.action.frame_range[:] == (1.0, 120.0)
    if long:
        said = run(*bake, "--preset", "Arm", "--discard", cwd=tmp_path, code=FAILED)
        assert "Preset 'Arm' is not there. Choose one of 'Animal Leg', 'Finger'" in said


def test_without_bpy_the_mathematics_run_on_the_package_mathutils(scripts, tmp_path):
    if not HAS_MATHUTILS:
        pytest.skip("no mathutils here")
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "docs/python.md").read_text("utf-8"), re.DOTALL)
    (alone,) = [block for block in blocks if "solve(" in block]
    code = f"import sys; sys.modules['bpy'] = None\n{alone}\nassert solution.reached\n"
    code += "import mathutils\nassert mathutils.__file__\n"
    run(scripts / "python", "-c", code, cwd=tmp_path)
    said = run(scripts / "python", "-c", code + "from ik_triangulation import bake", cwd=tmp_path, code=1)
    assert "ImportError: 'bake' needs bpy" in said


def test_the_mathutils_of_bpy_is_used_where_both_are(scripts, tmp_path, long):
    code = """
from ik_triangulation import Chain, Joint, Free
import bpy, sys
from mathutils import Quaternion, Vector
joint = Joint("one", Vector(), Quaternion(), Free())
pose = Chain((joint,), tip=Vector((0, 1, 0))).rest_pose()
assert type(bpy.data.objects[0].location) is type(pose.tip) is Vector
assert not hasattr(sys.modules["mathutils"], "__file__")
"""
    run(scripts / "python", "-c", code, cwd=tmp_path)
    if HAS_MATHUTILS and long:
        late = "import mathutils\nfrom ik_triangulation import Point, solve\nPoint((1, 2, 3))\n"
        run(scripts / "python", "-c", late, cwd=tmp_path)
        said = run(scripts / "python", "-c", f"{late}from ik_triangulation import bake", cwd=tmp_path, code=1)
        assert said.strip().endswith("Import bpy first."), said


def test_blender_is_asked_for_in_the_same_versions_everywhere():
    extra = {word.split(";")[0].strip() for word in PROJECT["project"]["optional-dependencies"]["bpy"]}
    group = {word.split(";")[0].strip() for word in PROJECT["dependency-groups"]["blender"] if "bpy" in word}
    assert extra == group

# SPDX-License-Identifier: GPL-3.0-or-later
"""Every script says which Python it wants, in whatever Python it is started."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPTS = sorted((Path(__file__).resolve().parents[2] / "scripts").glob("*.py"))
WRONG = [f"3.{minor}" for minor in (6, 7, 8, 9, 10, 12, 14)]
ALL = {"3.6", "3.14"}  # the wrong Pythons that every script is started with; each of the others has some of them


def python_of(version):
    """That Python, from pyenv or from PATH; None if it is not on this machine."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    found = [*pyenv.glob(f"{version}*/bin/python"), *filter(None, [shutil.which(f"python{version}")])]
    return next((path for path in found if says(path, "-V").startswith(f"Python {version}.")), None)


def says(python, *words, **variables):
    done = subprocess.run(
        [python, *words],
        capture_output=True,
        text=True,
        timeout=60,
        env=os.environ | variables,
        stdin=subprocess.DEVNULL,
        check=False,
    )
    return done.stdout + done.stderr


@pytest.mark.parametrize("version", WRONG)
def test_a_wrong_python_gets_the_same_message_from_every_script(version, long):
    python = python_of(version)
    if python is None:
        pytest.skip(f"no Python {version} on this machine")
    for script in SCRIPTS if long or version in ALL else SCRIPTS[WRONG.index(version) :: len(WRONG)]:
        lines = says(python, script).splitlines()
        assert [lines[0], len(lines)] == [
            f"This is Python {version}, and Blender as a Python module needs Python 3.13 (Blender 5.2) or 3.11 (4.5).",
            4,
        ], script.name
        assert str(script) in lines[2]


def test_an_old_python_is_told_to_have_no_environment_as_well():
    python = python_of("3.10")
    if python is None:
        pytest.skip("no Python 3.10 on this machine")
    for script in SCRIPTS[:2]:  # that all scripts ask the same is tested above
        assert says(python, script, IK_TRIANGULATION_NO_VENV="1").startswith("This is Python 3.10, and Blender")


def test_the_tests_tell_which_python_another_blender_needs_and_which_blenders_they_know():
    (run,) = (script for script in SCRIPTS if script.name == "run_tests.py")
    other, python = ("5.0", "3.11") if sys.version_info >= (3, 12) else ("5.1", "3.13")
    assert (
        says(sys.executable, run, "--blender", other)
        == f"Blender {other} needs Python {python}: run this again with it\n"
    )
    assert says(sys.executable, run, "--blender", "2.79").endswith("the tests know: 4.5, 5.0, 5.1, 5.2, 5.3\n")
    assert says(sys.executable, run, "--blender") == "--blender needs the version of Blender, for example 5.1\n"

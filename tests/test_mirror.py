# SPDX-License-Identifier: GPL-3.0-or-later
"""Tests mirror the rooms: what tests a module is found beside its namesake."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE, TESTS = ROOT / "ik_triangulation", ROOT / "tests"
LEAST_LINES = 60  # up to which a module may be tested by those that use it
ENTRANCES = {"__init__.py", "__main__.py"}
BESIDE_THE_ROOMS = {"scenarios", "window", "data"}


def inside(path):
    return path.relative_to(PACKAGE)


def is_long(path):
    """Whether a module has that many lines and anything to run; tables of settings are read by tests/settings."""
    text = path.read_text(encoding="utf-8")
    runs = any(isinstance(node, ast.FunctionDef | ast.Lambda) for node in ast.walk(ast.parse(text)))
    return runs and len(text.splitlines()) > LEAST_LINES


def place_of(path):
    """The file that tests a module; that of a folder's own `__init__.py` has the folder's name."""
    folder, name = inside(path).parent, path.parent.name if path.name == "__init__.py" else path.stem
    return TESTS / folder / f"test_{name}.py"


FILES = sorted(path for path in PACKAGE.rglob("*.py") if PACKAGE / "pages" not in path.parents)  # the manual
LONG = [path for path in FILES if inside(path).as_posix() not in ENTRANCES and is_long(path)]


@pytest.mark.parametrize("path", LONG, ids=lambda path: inside(path).as_posix())
def test_a_module_has_a_test_file_of_its_own(path):
    wanted = place_of(path)
    tests = wanted.is_file() and "\ndef test_" in wanted.read_text(encoding="utf-8")
    assert tests, (
        f"Nothing tests ik_triangulation/{inside(path).as_posix()} by name. Add {wanted.relative_to(ROOT).as_posix()} "
        "with tests of what the module does (docs/contributing.md, Tests)."
    )


def test_every_folder_of_tests_is_a_room():
    rooms = {folder.name for folder in PACKAGE.iterdir() if folder.is_dir()}
    folders = {path.parent.relative_to(TESTS).parts[0] for path in TESTS.glob("*/**/*.py")}
    assert folders - rooms - BESIDE_THE_ROOMS == set(), (
        "Tests of one room are in the folder of its name, and what crosses rooms is in tests/scenarios."
    )

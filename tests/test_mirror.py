# SPDX-License-Identifier: GPL-3.0-or-later
"""Tests mirror the rooms: what tests a module is found in the folder of its room."""

import ast
from functools import cache

from .sources import FILES, PACKAGE, ROOT, inside, nodes_of, text_of, told

TESTS = ROOT / "tests"
LEAST_LINES = 60  # up to which a module may be tested by those that use it
ENTRANCES = {"__init__.py", "__main__.py"}
BESIDE_THE_ROOMS = {"scenarios", "window", "data"}


def is_long(path):
    """Whether a module has that many lines and anything to run; tables of settings are read by tests/settings."""
    runs = any(isinstance(node, ast.FunctionDef | ast.Lambda) for node in nodes_of(path))
    return runs and len(text_of(path).splitlines()) > LEAST_LINES


def module_name(path):
    """The name to import a module by; that of a folder's `__init__.py` is the folder's."""
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def modules_used(folder):
    """Modules that the tests of a room import, and the last names of those that have a test file of their own."""
    imported, own = set(), set()
    for path in folder.rglob("test_*.py") if folder != TESTS else folder.glob("test_*.py"):
        nodes = nodes_of(path)
        if any(isinstance(node, ast.FunctionDef) and node.name.startswith("test_") for node in nodes):
            own.add(path.stem.removeprefix("test_"))
            for node in nodes:
                if isinstance(node, ast.ImportFrom) and not node.level:
                    imported |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
                elif isinstance(node, ast.Import):
                    imported |= {alias.name for alias in node.names}
    return imported, own


@cache
def modules_imported(path):
    """Names of the modules that a module imports from the package, and of what it imports from them."""
    names = set()
    for node in nodes_of(path):
        if isinstance(node, ast.ImportFrom) and node.level:
            folder = path.relative_to(PACKAGE.parent).parts[: -node.level]
            start = ".".join([*folder, *([node.module] if node.module else [])])
            names |= {start, *(f"{start}.{alias.name}" for alias in node.names)}
    return names


def is_tested(path):
    """Whether a module has tests in its room, or is a part of one of the same room that has."""
    if has_tests(path):
        return True
    room, name = path.relative_to(PACKAGE).parts[0], module_name(path)
    mates = [other for other in FILES if other.relative_to(PACKAGE).parts[0] == room and other != path]
    return any(name in modules_imported(other) and has_tests(other) for other in mates)


def has_tests(path):
    room = path.relative_to(PACKAGE).parts[0]
    imported, own = modules_used(TESTS if room.endswith(".py") else TESTS / room)
    name = module_name(path)
    return name in imported or name.rpartition(".")[2] in own


def test_a_long_module_is_tested_in_its_room():
    long = [path for path in FILES if inside(path) not in ENTRANCES and is_long(path)]
    untested = [inside(path) for path in long if not is_tested(path)]
    assert not untested, (
        "No test file of their room is named after these modules, or imports them or what uses them. Add tests "
        f"(docs/contributing.md, Tests):{told(untested)}"
    )


def test_every_folder_of_tests_is_a_room():
    rooms = {folder.name for folder in PACKAGE.iterdir() if folder.is_dir()}
    folders = {path.parent.relative_to(TESTS).parts[0] for path in TESTS.glob("*/**/*.py")}
    assert folders - rooms - BESIDE_THE_ROOMS == set(), (
        "Tests of one room are in the folder of its name, and what crosses rooms is in tests/scenarios."
    )

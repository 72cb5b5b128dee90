# SPDX-License-Identifier: GPL-3.0-or-later
"""Rooms that speak plainly: a public name has one meaning, and a docstring says what a thing does."""

import ast
import re
from collections import Counter
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parent.parent / "ik_triangulation"
ROOMS = ("kinematics", "goals", "solvers", "motion", "maps", "ui", "cli")
FILES = [path for room in ROOMS for path in sorted((PACKAGE / room).rglob("*.py"))]
EVERYWHERE = {"step", "register", "unregister"}  # with one meaning: solvers.solver.Step, and Blender's own
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef)


def public_names(path):
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            yield from (name.id for target in targets for name in ast.walk(target) if isinstance(name, ast.Name))


def test_a_public_name_is_defined_once():
    names = Counter(name for path in FILES for name in public_names(path) if not name.startswith("_"))
    assert [name for name, count in names.items() if count > 1 and name not in EVERYWHERE] == []


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_a_docstring_begins_with_a_verb_or_a_noun(path):
    nodes = (node for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, DOCUMENTED))
    found = [ast.get_docstring(node) or "" for node in nodes]
    assert [text for text in found if re.match(r"(What|Which|Where|How)\b", text)] == []

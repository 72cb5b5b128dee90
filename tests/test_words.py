# SPDX-License-Identifier: GPL-3.0-or-later
"""The package speaks plainly: a public name has one meaning, and a docstring says what a thing does."""

import ast
import re
from collections import defaultdict

from .sources import FILES, inside, nodes_of, told

# Protocols, with one meaning: each method's step (solvers.solver.Step), and the calls by which Blender loads modules.
EVERYWHERE = {"step", "register", "unregister"}
QUESTION = re.compile(r"(What|Which|Where|How)\b")
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef)


def public_names(path):
    for node in nodes_of(path)[0].body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            yield from (name.id for target in targets for name in ast.walk(target) if isinstance(name, ast.Name))


def question_words(path):
    """Docstrings of a file that begin with a question word."""
    nodes = (node for node in nodes_of(path) if isinstance(node, DOCUMENTED))
    return [text for node in nodes if QUESTION.match(text := ast.get_docstring(node) or "")]


def test_a_public_name_is_defined_once():
    places = defaultdict(list)
    for path in FILES:
        for name in public_names(path):
            if not name.startswith("_") and name not in EVERYWHERE:
                places[name].append(inside(path))
    assert {name: found for name, found in places.items() if len(found) > 1} == {}, (
        "These names are defined in several files. Give each meaning a name of its own, or import the one there is; "
        "what only its file uses begins with an underscore."
    )


def test_a_docstring_begins_with_a_verb_or_a_noun():
    wrong = [f"{inside(path)}: {text.splitlines()[0]}" for path in FILES for text in question_words(path)]
    assert not wrong, f"Begin with what it does (Return ..., Solve ...), or with the noun that it is:{told(wrong)}"

# SPDX-License-Identifier: GPL-3.0-or-later
"""The package speaks plainly: a docstring says what a thing does."""

import ast
import re

from .sources import FILES, inside, nodes_of, told

QUESTION = re.compile(r"(What|Which|Where|How)\b")
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef)


def question_words(path):
    """Docstrings of a file that begin with a question word."""
    nodes = (node for node in nodes_of(path) if isinstance(node, DOCUMENTED))
    return [text for node in nodes if QUESTION.match(text := ast.get_docstring(node) or "")]


def test_a_docstring_begins_with_a_verb_or_a_noun():
    wrong = [f"{inside(path)}: {text.splitlines()[0]}" for path in FILES for text in question_words(path)]
    assert not wrong, f"Begin with what it does (Return ..., Solve ...), or with the noun that it is:{told(wrong)}"

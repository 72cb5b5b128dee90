# SPDX-License-Identifier: GPL-3.0-or-later
"""The package's source, read and parsed once for all rules about it."""

import ast
from functools import cache
from pathlib import Path

from ik_triangulation.cooperative import no_garbage_collection

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "ik_triangulation"
FILES = sorted(path for path in PACKAGE.rglob("*.py") if PACKAGE / "pages" not in path.parents)  # the manual


@cache
def text_of(path):
    return path.read_text(encoding="utf-8")


@cache
def nodes_of(path):
    """All nodes of a file's syntax tree, the module first."""
    with no_garbage_collection():  # which takes as long as the parser, and finds nothing
        return tuple(ast.walk(ast.parse(text_of(path))))


def inside(path):
    """The path of a module from the package's folder."""
    return path.relative_to(PACKAGE).as_posix()


def told(offenders):
    """Offenders as the lines of a message."""
    return "".join(f"\n  {each}" for each in offenders)

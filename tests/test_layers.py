# SPDX-License-Identifier: GPL-3.0-or-later
"""The package's imports point one way, and the mathematics knows nothing of Blender's data."""

import ast
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parent.parent / "ik_triangulation"

# The rooms (folders) that each room may import from, without those that these import from: they are allowed as well.
ROOMS = {
    "kinematics": ["errors", "cooperative"],
    "goals": ["kinematics"],
    "solvers": ["goals"],
    "motion": ["solvers"],
    "settings": ["motion"],
    "rig": ["settings"],
    "presets": ["rig"],
    "jobs": ["presets"],
    "maps": ["jobs"],
    "ui": ["maps"],
    "cli": ["maps"],
}
LOOSE = {"errors": [], "cooperative": [], "api": ["maps"]}  # modules beside the rooms
MOST_LOOSE = 3
MOST_LINES = 300
BELOW = ROOMS | LOOSE
ENTRANCES = {"__init__", "__main__"}  # may import every part, inside functions: Blender or bpy may not be there yet
MATHEMATICS = {"errors", "cooperative"}
WITH_NUMPY = {"kinematics", "goals", "solvers", "motion"}
BLENDER = {
    "addon_utils",
    "bl_operators",
    "bl_ui",
    "blf",
    "bpy",
    "bpy_extras",
    "gpu",
    "gpu_extras",
    "mathutils",
    "numpy",
}

FILES = sorted(path for path in PACKAGE.rglob("*.py") if PACKAGE / "pages" not in path.parents)  # the manual
every_file = pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(PACKAGE).as_posix())
PARTS = {path.stem for path in PACKAGE.iterdir()}


def part_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def below(part: str) -> set[str]:
    return set(BELOW[part]).union(*map(below, BELOW[part]))


def imports(path: Path):
    """The parts of this package and the other modules that a file imports, each with its line."""
    inside, outside = [], []
    folder = path.relative_to(PACKAGE.parent).parent.parts  # ("ik_triangulation", "solvers")
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.level:
            start = folder[: len(folder) - node.level + 1]
            assert start, f"{path}:{node.lineno} reaches out of the package"
            for alias in node.names:
                if alias.name == "__version__":  # the package's own, which every room may tell
                    continue
                name = (*start[1:], *filter(None, (node.module or "").split(".")), alias.name)[0]
                inside.append((name if name in PARTS else "__init__", node.lineno))
        elif isinstance(node, ast.ImportFrom):
            outside.append((node.module.split(".")[0], node.lineno))
        elif isinstance(node, ast.Import):
            outside += [(alias.name.split(".")[0], node.lineno) for alias in node.names]
    return inside, outside


def test_every_part_has_its_place():
    assert {part_of(path) for path in FILES} <= set(BELOW) | ENTRANCES


def test_few_modules_are_beside_the_rooms():
    beside = {path.stem for path in PACKAGE.glob("*.py")} - ENTRANCES
    assert beside == set(LOOSE)
    assert len(beside) <= MOST_LOOSE


@every_file
def test_a_file_is_short(path):
    assert len(path.read_text(encoding="utf-8").splitlines()) <= MOST_LINES, "Cut it along its seams."


@every_file
def test_imports_point_down(path):
    part = part_of(path)
    allowed = set(BELOW) | ENTRANCES if part in ENTRANCES else below(part) | {part}
    assert [(name, line) for name, line in imports(path)[0] if name not in allowed] == []


@every_file
def test_imports_from_outside(path):
    part = part_of(path)
    allowed = {"mathutils"} if part in MATHEMATICS else {"mathutils", "numpy"} if part in WITH_NUMPY else BLENDER
    # `ik_triangulation` itself is missing here on purpose: installed, the package has another name.
    assert [(n, line) for n, line in imports(path)[1] if n not in allowed | sys.stdlib_module_names] == []


@every_file
def test_imports_are_at_the_top(path):
    if path.stem in ENTRANCES:  # what registers waits until Blender's data is there
        return
    functions = [n for n in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(n, FUNCTIONS)]
    hidden = {n.lineno for f in functions for n in ast.walk(f) if isinstance(n, ast.Import | ast.ImportFrom)}
    assert hidden == set()


FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def test_every_file_names_its_licence():
    root = PACKAGE.parent
    sources = [root / "__init__.py", *FILES, *(root / "scripts").rglob("*.py"), *(root / "tests").rglob("*.py")]
    first = "# SPDX-License-Identifier: GPL-3.0-or-later\n"
    assert [path for path in sources if not path.read_text(encoding="utf-8").startswith(first)] == []


@every_file
def test_typing_keeps_no_function_of_a_module_that_knows_blender(path):
    """Blender 4.5 as a module hangs when it ends while `typing` holds overloads of such a module."""
    knows_blender = part_of(path) not in MATHEMATICS | WITH_NUMPY
    assert not (knows_blender and "@overload" in path.read_text(encoding="utf-8"))

# SPDX-License-Identifier: GPL-3.0-or-later
"""The package's imports point one way, and the mathematics knows nothing of Blender's data."""

import ast
import sys
from collections import Counter
from pathlib import Path

from .sources import FILES, PACKAGE, inside, nodes_of, text_of, told

# The rooms (folders) that each room may import from, without those that these import from: they are allowed as well.
ROOMS = {
    "kinematics": ["errors", "cooperative", "items"],
    "goals": ["kinematics"],
    "solvers": ["goals"],
    "motion": ["solvers"],
    "settings": ["motion"],
    "rig": ["settings", "registration"],
    "presets": ["rig"],
    "jobs": ["presets"],
    "maps": ["jobs"],
    "ui": ["maps"],
    "cli": ["maps"],
}
LOOSE = {"errors": [], "cooperative": [], "items": [], "registration": [], "api": ["maps"]}  # modules beside the rooms
MOST_LOOSE = 5
MOST_LINES = 500
MOST_FILES, MOST_IN_A_FOLDER = 280, 22
MOST_AT_START = 90  # files
BELOW = ROOMS | LOOSE
ENTRANCES = {"__init__", "__main__"}  # may import every part, inside functions: Blender or bpy may not be there yet
MATHEMATICS = {"errors", "cooperative", "items"}
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

INTERFACES = {"register", "unregister", "step"}  # names that several modules define, as one interface

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
KNOWN = set(FILES)
PARTS = {path.stem for path in PACKAGE.iterdir()}


def part_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def below(part: str) -> set[str]:
    return set(BELOW[part]).union(*map(below, BELOW[part]))


def imports(path: Path):
    """The parts of this package and the other modules that a file imports, each with its line."""
    ours, others = [], []
    folder = path.relative_to(PACKAGE.parent).parent.parts  # ("ik_triangulation", "solvers")
    for node in nodes_of(path):
        if isinstance(node, ast.ImportFrom) and node.level:
            start = folder[: len(folder) - node.level + 1]
            assert start, f"{path}:{node.lineno} reaches out of the package"
            for alias in node.names:
                if alias.name == "__version__":  # the package's own, which every room may tell
                    continue
                name = (*start[1:], *filter(None, (node.module or "").split(".")), alias.name)[0]
                ours.append((name if name in PARTS else "__init__", node.lineno))
        elif isinstance(node, ast.ImportFrom):
            others.append((node.module.split(".")[0], node.lineno))
        elif isinstance(node, ast.Import):
            others += [(alias.name.split(".")[0], node.lineno) for alias in node.names]
    return ours, others


def imported_files(path: Path) -> dict[Path, int]:
    """The files of this package that a file imports, each with a line: in functions and for type checkers as well."""
    found = {}
    for node in nodes_of(path):
        if isinstance(node, ast.ImportFrom) and node.level:
            start = path.parents[node.level - 1].joinpath(*(node.module or "").split("."))
            for alias in node.names:
                tries = [start / f"{alias.name}.py", start / alias.name / "__init__.py"]
                tries += [start.with_suffix(".py"), start / "__init__.py"]
                found.setdefault(next(file for file in tries if file in KNOWN), node.lineno)
    return found


def files_behind(path: Path, arrows: dict[Path, dict[Path, int]]) -> set[Path]:
    """The files that a file needs: those that it imports, those that these import, and so on."""
    found, ahead = set(), [path]
    while ahead:
        new = arrows.get(ahead.pop(), {}).keys() - found
        found |= new
        ahead += new
    return found


def public_names(path: Path) -> set[str]:
    """Names without an underscore that a module defines at its top level."""
    names = set()
    for node in nodes_of(path)[0].body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names |= {each.id for target in targets for each in ast.walk(target) if isinstance(each, ast.Name)}
    return {name for name in names if not name.startswith("_")}


def test_every_part_has_its_place():
    assert {part_of(path) for path in FILES} <= set(BELOW) | ENTRANCES


def test_few_modules_are_beside_the_rooms():
    beside = {path.stem for path in PACKAGE.glob("*.py")} - ENTRANCES
    assert beside == set(LOOSE)
    assert len(beside) <= MOST_LOOSE


def test_a_file_is_short():
    lines = {path: len(text_of(path).splitlines()) for path in FILES}
    long = [f"{inside(path)}: {count} lines" for path, count in lines.items() if count > MOST_LINES]
    assert not long, f"No file has more than {MOST_LINES} lines. Cut these along their seams:{told(long)}"


def test_there_are_few_files():
    folders = Counter(inside(path.parent) for path in FILES)
    full = [f"{folder}: {count} files" for folder, count in folders.items() if count > MOST_IN_A_FOLDER]
    assert not full, f"No folder has more than {MOST_IN_A_FOLDER} files. Join what is one idea:{told(full)}"
    assert len(FILES) <= MOST_FILES, (
        "Put what is new into a file of its idea, or join two files that are halves of one."
    )


def test_imports_point_down():
    wrong = []
    for path in FILES:
        part = part_of(path)
        allowed = set(BELOW) | ENTRANCES if part in ENTRANCES else below(part) | {part}
        wrong += [f"{inside(path)}:{line} imports {name}" for name, line in imports(path)[0] if name not in allowed]
    assert not wrong, f"A room imports only from those below it (ROOMS above):{told(wrong)}"


def test_no_files_import_each_other():
    arrows = {path: imported_files(path) for path in FILES if part_of(path) not in ENTRANCES}
    behind = {path: files_behind(path, arrows) for path in arrows}
    wrong = [
        f"{inside(path)}:{line} imports {inside(other)}"
        for path, others in arrows.items()
        for other, line in others.items()
        if path in behind.get(other, ())
    ]
    assert not wrong, f"No circle of imports: move what two files need to one below both:{told(wrong)}"


def test_a_public_name_is_defined_once():
    homes: dict[str, list[str]] = {}
    for path in FILES:
        for name in public_names(path) - INTERFACES:
            homes.setdefault(name, []).append(inside(path))
    wrong = [f"{name}: {', '.join(files)}" for name, files in homes.items() if len(files) > 1]
    assert not wrong, f"One public name has one meaning in the whole package. Rename all but one:{told(wrong)}"


def test_imports_from_outside():
    wrong = []
    for path in FILES:
        part = part_of(path)
        allowed = {"mathutils"} if part in MATHEMATICS else {"mathutils", "numpy"} if part in WITH_NUMPY else BLENDER
        # `ik_triangulation` itself is missing here on purpose: installed, the package has another name.
        allowed = allowed | sys.stdlib_module_names
        wrong += [f"{inside(path)}:{line} imports {name}" for name, line in imports(path)[1] if name not in allowed]
    assert not wrong, (
        f"Beyond Python's own modules, rooms import what their row in docs/contributing.md says:{told(wrong)}"
    )


def test_imports_are_at_the_top():
    hidden = []
    for path in FILES:
        if path.stem not in ENTRANCES:  # what registers waits until Blender's data is there
            functions = [node for node in nodes_of(path) if isinstance(node, FUNCTIONS)]
            lines = {n.lineno for f in functions for n in ast.walk(f) if isinstance(n, ast.Import | ast.ImportFrom)}
            hidden += [f"{inside(path)}:{line}" for line in sorted(lines)]
    assert not hidden, f"Imports stand at the top of a file, not inside functions:{told(hidden)}"


def run_first(path: Path) -> set[Path]:
    """The files that Python runs for the imports of a file, except modules of packages that load them when used."""
    found = set()
    for node in nodes_of(path)[0].body:
        if isinstance(node, ast.ImportFrom) and node.level:
            start = path.parents[node.level - 1].joinpath(*(node.module or "").split("."))
            package, module = start / "__init__.py", start.with_suffix(".py")
            found |= {module} & KNOWN
            if package in KNOWN and "__getattr__ = lazy_modules" not in text_of(package):
                found |= {start / f"{alias.name}.py" for alias in node.names} & KNOWN
            found |= {folder / "__init__.py" for folder in (start, *start.parents)} & KNOWN
    return found


def test_enabling_loads_no_mathematics():
    """Blender enables the extension at each start, and most sessions need little of what is behind its buttons."""
    first = {path for path in FILES if "register" in public_names(path)}
    loaded = files_behind(PACKAGE / "__init__.py", {path: dict.fromkeys(run_first(path) | first, 0) for path in FILES})
    heavy = [inside(path) for path in loaded if part_of(path) in {"kinematics", "goals", "solvers"}]
    assert not heavy, f"Import the module from its package where it is used, as `from ..jobs import bake`:{told(heavy)}"
    assert len(loaded) <= MOST_AT_START, f"These files run at each start of Blender:{told(map(inside, sorted(loaded)))}"


def test_every_file_names_its_licence():
    root = PACKAGE.parent
    sources = [root / "__init__.py", *FILES, *(root / "scripts").rglob("*.py"), *(root / "tests").rglob("*.py")]
    first = "# SPDX-License-Identifier: GPL-3.0-or-later\n"
    assert [path for path in sources if not text_of(path).startswith(first)] == []


def test_typing_keeps_no_function_of_a_module_that_knows_blender():
    """Blender 4.5 as a module hangs when it ends while `typing` holds overloads of such a module."""
    knowing = [path for path in FILES if part_of(path) not in MATHEMATICS | WITH_NUMPY]
    assert [inside(path) for path in knowing if "@overload" in text_of(path)] == []

# SPDX-License-Identifier: GPL-3.0-or-later
"""The reference of the public names, from their source: signatures and docstrings, as Markdown for the manual.

docs/conf.py asks for it while the page is read, so that it is never older than what it describes. Nothing is imported:
the manual is built without Blender.
"""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent.parent / "ik_triangulation"
TITLES = {
    "jobs": "Jobs",
    "rig": "Limbs, bodies and contacts",
    "presets": "Presets",
    "solvers": "Solvers",
    "goals": "Targets and goals",
    "kinematics": "Chains, joints and poses",
    "maps": "Maps",
    "errors": "Errors",
}
Definition = ast.FunctionDef | ast.ClassDef


def reference() -> str:
    """Return all public names, a heading for each, under one for each room."""
    rooms: dict[str, list[str]] = {room: [] for room in TITLES}
    for public, module, name in sorted(public_names()):
        rooms[module.split(".")[0]].append(_entry(public, name, _source(module)))
    return "\n\n".join(f"## {TITLES[room]}\n\n" + "\n\n".join(entries) for room, entries in rooms.items() if entries)


def public_names() -> Iterator[tuple[str, str, str]]:
    """Yield each name of ik_triangulation/api.py with the module that it comes from, and its name there."""
    for node in ast.walk(ast.parse((PACKAGE / "api.py").read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.level and node.module:
            for alias in node.names:
                yield alias.asname or alias.name, *_home(node.module, alias.name)


def _home(module: str, name: str) -> tuple[str, str]:
    """Return the module in which a name is defined, through those that only import it, and its name there."""
    package = module if (PACKAGE / Path(*module.split(".")) / "__init__.py").is_file() else module.rpartition(".")[0]
    for node in ast.walk(_source(module)):
        if isinstance(node, ast.ImportFrom) and node.level:
            for alias in node.names:
                if name == (alias.asname or alias.name):
                    above = package.split(".")[: len(package.split(".")) - node.level + 1]
                    return _home(".".join([*above, *filter(None, [node.module])]), alias.name)
    return module, name


@cache
def _source(module: str) -> ast.Module:
    path = PACKAGE.joinpath(*module.split("."))
    file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    return ast.parse(file.read_text("utf-8"))


def _entry(public: str, name: str, source: ast.Module) -> str:
    """Return the heading of a name, how it is called and what it is."""
    for node in source.body:
        if isinstance(node, Definition) and node.name == name:
            lines = [f"### {public}", f"```python\n{_signature(node, public)}\n```", _text(node)]
            return "\n\n".join([*filter(None, lines), *(_members(node) if isinstance(node, ast.ClassDef) else ())])
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        named = {each.id for target in targets if target for each in ast.walk(target) if isinstance(each, ast.Name)}
        if name in named:
            return f"### {public}\n\n```python\n{_shortened(ast.unparse(node))}\n```"
    raise LookupError(f"{name} is not defined where ik_triangulation/api.py imports it from")


def _signature(node: Definition, name: str) -> str:
    """Return how a function is called or an object is made."""
    if isinstance(node, ast.FunctionDef):
        arguments, result = ast.unparse(node.args), node.returns
        if any(isinstance(line, ast.Name) and line.id == "cooperative" for line in node.decorator_list):
            # called as it is it runs to the end: cooperative.py
            arguments, result = f"{arguments}, progress: Progress | None=None", getattr(result, "slice", result)
        return _shortened(f"{name}({arguments})" + (f" -> {ast.unparse(result)}" if result else ""))
    made = next((each for each in node.body if isinstance(each, ast.FunctionDef) and each.name == "__init__"), None)
    if made:
        return _shortened(f"{name}({ast.unparse(made.args).removeprefix('self').removeprefix(', ')})")
    fields = [ast.unparse(each) for each in node.body if isinstance(each, ast.AnnAssign)]
    bases = ", ".join(ast.unparse(base) for base in node.bases)
    return _shortened(f"{name}({', '.join(fields)})" if fields else f"class {name}({bases})" if bases else name)


def _shortened(code: str) -> str:
    """Break a long line after its commas, as far as they are outside of brackets within the call."""
    if len(code) <= 100:
        return code
    lines, depth = [""], 0
    for letter in code:
        depth += (letter in "([{") - (letter in ")]}")
        if depth == 0 and letter == ")":
            lines.append("")
        lines[-1] += letter
        if depth == 1 and letter in "(,":
            lines.append("   " if letter == "," else "    ")
    return "\n".join(lines)


def _members(node: ast.ClassDef) -> Iterator[str]:
    """Yield the public methods and properties of a class, each with the first paragraph of its docstring."""
    for each in node.body:
        if isinstance(each, ast.FunctionDef) and not each.name.startswith("_") and _text(each):
            is_property = any("property" in ast.unparse(line) for line in each.decorator_list)
            arguments = ast.unparse(each.args).removeprefix("self").removeprefix(", ")
            called = each.name if is_property else f"{each.name}({arguments})"
            yield f"`{node.name}.{called}`: {_text(each).split(chr(10) * 2)[0]}"


def _text(node: Definition) -> str:
    """Return a docstring with its words as they are: in Markdown a star or an underline would be more."""
    text = ast.get_docstring(node) or ""
    return "".join(f"\\{letter}" if letter in "*_<[|" and "`" not in text else letter for letter in text)

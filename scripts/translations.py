# SPDX-License-Identifier: GPL-3.0-or-later
"""The texts of the extension as a template for translators (.pot), on standard output.

python scripts/translations.py > de_DE.po     to be translated, and put into ik_triangulation/locale

Names and descriptions are read from what the extension registers, messages from the code: literals with a space in
them, and f-strings with {0}, {1} in the places of their values.
"""

import ast
import json
import re

from environment import ROOT, enter

PACKAGE = ROOT / "ik_triangulation"
ROOMS = ("jobs", "maps", "motion", "goals", "kinematics", "presets", "rig", "solvers", "ui")
OPERATOR = "Operator"  # the context in which Blender translates the names of operators
WORDS = {"doing", "parts"}  # variables with texts of a single word
_MESSAGE = re.compile(r"[A-Za-z]{2,}[^\n]* [^\n]*|[^\n]* [^\n]*[A-Za-z]{2,}")  # letters, and a space
_CODE = re.compile(r'^[\w.]+\["|^\S+\.\S+\($')  # a data path


def messages():
    """All texts by context and text, with the places where they are found."""
    found = {}
    for context, text, place in (*_registered(), *_written()):
        if text:
            found.setdefault((context, text), []).append(place)
    return found


def _registered():
    """Names and descriptions of what the extension registers."""
    import bpy

    classes = (bpy.types.Operator, bpy.types.Panel, bpy.types.Menu, bpy.types.UIList, bpy.types.PropertyGroup)
    for cls in (each for kind in classes for each in _below(kind)):
        if not cls.__module__.startswith(PACKAGE.name) or not cls.is_registered:
            continue
        kind = cls
        if issubclass(cls, bpy.types.Operator):
            group, name = cls.bl_idname.split(".")
            kind = getattr(getattr(bpy.ops, group), name).get_rna_type()
            yield OPERATOR, cls.bl_label, cls.__name__
        elif hasattr(cls, "bl_label"):
            yield "", cls.bl_label, cls.__name__
        yield "", getattr(cls, "bl_description", ""), cls.__name__
        rna = kind.bl_rna if isinstance(kind, type) else kind
        for name in {*getattr(cls, "__annotations__", {}), *_annotated(cls)} & set(rna.properties.keys()):
            yield from _of_property(rna.properties[name], f"{cls.__name__}.{name}")


def _annotated(cls):
    return [name for base in cls.__mro__ for name in vars(base).get("__annotations__", {})]


def _of_property(prop, place):
    for item in (prop, *(prop.enum_items if prop.type == "ENUM" else ())):
        yield "", item.name, place
        yield "", item.description, place


def _below(cls):
    """All subclasses, in order of their names."""
    for each in sorted(cls.__subclasses__(), key=lambda each: each.__name__):
        yield each
        yield from _below(each)


def _written():
    """Messages in the code."""
    for path in (path for room in ROOMS for path in sorted((PACKAGE / room).rglob("*.py"))):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        nodes = list(ast.walk(tree))
        words = _words(nodes)
        left_out = {id(part) for node in nodes for part in _no_message(node)}
        for node in nodes:
            if id(node) in left_out:
                continue
            text = template(node)
            if text is not None and (_MESSAGE.fullmatch(text) or id(node) in words) and not _CODE.search(text):
                yield "", text, f"{path.relative_to(ROOT).as_posix()}:{node.lineno}"


def template(node):
    """The text of a literal, or of an f-string with {0}, {1} for its values; None for anything else."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if not isinstance(node, ast.JoinedStr):
        return None
    count, parts = 0, []
    for part in node.values:
        if isinstance(part, ast.Constant):
            parts.append(str(part.value))
        else:
            parts.append(f"{{{count}}}")
            count += 1
    return "".join(parts)


def _no_message(node):
    """Literals that are no messages: docstrings, parts of f-strings, and what operators' classes say of themselves."""
    if isinstance(node, ast.Expr):
        yield node.value
    if isinstance(node, ast.JoinedStr):
        yield from (part for part in node.values if isinstance(part, ast.Constant))
    if isinstance(node, ast.FormattedValue) and node.format_spec:
        yield node.format_spec
        yield from ast.walk(node.format_spec)
    if isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id.startswith("bl_") for t in node.targets):
        yield from ast.walk(node.value)


def _words(nodes):
    assigned = (node for node in nodes if isinstance(node, ast.Assign))
    return {id(node.value) for node in assigned if any(isinstance(t, ast.Name) and t.id in WORDS for t in node.targets)}


def catalogue(found) -> str:
    """The .pot file of these texts."""
    head = 'msgid ""\nmsgstr "Content-Type: text/plain; charset=UTF-8\\n"\n'
    entries = []
    for (context, text), places in sorted(found.items()):
        lines = [f"#: {place}" for place in dict.fromkeys(places)]
        lines += [f"msgctxt {json.dumps(context)}"] if context else []
        entries.append("\n".join([*lines, f"msgid {json.dumps(text, ensure_ascii=False)}", 'msgstr ""']) + "\n")
    return "\n".join([head, *entries])


def main():
    enter("blender")
    import ik_triangulation

    ik_triangulation.register()
    print(catalogue(messages()), end="")


if __name__ == "__main__":
    main()

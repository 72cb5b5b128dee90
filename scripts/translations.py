# SPDX-License-Identifier: GPL-3.0-or-later
"""The texts of the extension for translators, in gettext's format.

python scripts/translations.py               a template with the places of all texts (.pot), on standard output
python scripts/translations.py de_DE         makes or updates ik_triangulation/locale/de_DE.po, and counts what is left

Names and descriptions are read from what the extension registers, messages from the code: literals with a space in
them, labels, and f-strings with {0}, {1} in the places of their values.
"""

import ast
import json
import re
import sys

from environment import ROOT, enter

PACKAGE = ROOT / "ik_triangulation"
ROOMS = ("jobs", "maps", "motion", "goals", "kinematics", "presets", "rig", "solvers", "ui")
LOCALES = PACKAGE / "locale"
TABLES = {PACKAGE / "rig" / "anatomy" / "names.py"}  # of parts of bones' names, which are no texts
LABELS = {"text", "heading", "title"}  # arguments that are shown, texts of a single word too
OPERATOR = "Operator"  # the context in which Blender translates the names of operators
CONTEXT = "bl_translation_context"  # that of an operator or a panel with another one
WORDS = {"doing", "parts"}  # variables with texts of a single word
_MESSAGE = re.compile(r"(?=[^\n]*[A-Za-z]{2})[^\n]* [^\n]*")  # letters, and a space
_CODE = re.compile(r'^[\w.]+\["|^\S+\.\S+\($|^\w+\[.+\]$|^[<^]')  # a data path, a call, a type, a tag, a pattern


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
            yield vars(cls).get(CONTEXT, OPERATOR), cls.bl_label, cls.__name__
        elif hasattr(cls, "bl_label"):
            yield vars(cls).get(CONTEXT, ""), cls.bl_label, cls.__name__
        yield "", getattr(cls, "bl_description", ""), cls.__name__
        rna = kind.bl_rna if isinstance(kind, type) else kind
        for name in {*getattr(cls, "__annotations__", {}), *_annotated(cls)} & set(rna.properties.keys()):
            yield from _of_property(rna.properties[name], f"{cls.__name__}.{name}")


def _annotated(cls):
    return [name for base in cls.__mro__ for name in vars(base).get("__annotations__", {})]


def _of_property(prop, place):
    for item in (prop, *(prop.enum_items if prop.type == "ENUM" else ())):
        yield prop.translation_context.strip("*"), item.name, place
        yield "", item.description, place


def _below(cls):
    """All subclasses, in order of their names."""
    for each in sorted(cls.__subclasses__(), key=lambda each: each.__name__):
        yield each
        yield from _below(each)


def _written():
    """Messages in the code."""
    for path in (path for room in ROOMS for path in sorted((PACKAGE / room).rglob("*.py")) if path not in TABLES):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        nodes = list(ast.walk(tree))
        words, buttons = _words(nodes), _buttons(nodes)
        left_out = {id(part) for node in nodes for part in _no_message(node)}
        for node in nodes:
            if id(node) in left_out:
                continue
            text = template(node)
            if text is not None and (_MESSAGE.fullmatch(text) or id(node) in words) and not _CODE.search(text):
                yield (
                    OPERATOR if id(node) in buttons else "",
                    text,
                    f"{path.relative_to(ROOT).as_posix()}:{node.lineno}",
                )


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
    for kind in _types(node):
        yield from ast.walk(kind)


def _types(node):
    """Types in quotes: of arguments, results, variables and aliases."""
    if isinstance(node, (ast.arg, ast.AnnAssign)) and node.annotation:
        yield node.annotation
    if isinstance(node, ast.FunctionDef) and node.returns:
        yield node.returns
    if isinstance(node, ast.Subscript):
        yield node.slice
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "cast":
        yield node.args[0]


def _words(nodes):
    """Literals of a single word that are shown nevertheless."""
    assigned = (node for node in nodes if isinstance(node, ast.Assign))
    shown = [node.value for node in assigned if any(isinstance(t, ast.Name) and t.id in WORDS for t in node.targets)]
    labels = [node.value for node in nodes if isinstance(node, ast.keyword) and node.arg in LABELS]
    shown += [part for label in labels for part in _choices(label)]
    return {id(node) for node in shown if re.search("[A-Za-z]{2}", template(node) or "")}


def _choices(node):
    """The node, or the branches of a condition."""
    return [*_choices(node.body), *_choices(node.orelse)] if isinstance(node, ast.IfExp) else [node]


def _buttons(nodes):
    """Texts of operators' buttons, which Blender looks up as names of operators."""
    calls = (node for node in nodes if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute))
    words = (word for call in calls if call.func.attr == "operator" for word in call.keywords)
    return {id(part) for word in words if word.arg == "text" for part in _choices(word.value)}


def catalogue(found, translations=None) -> str:
    """The catalogue of these texts: with translations of them (.po), or with the places of the texts (.pot)."""
    head = 'msgid ""\nmsgstr "Content-Type: text/plain; charset=UTF-8\\n"\n'
    entries = []
    for (context, text), places in sorted(found.items()):
        lines = [] if translations is not None else [f"#: {place}" for place in dict.fromkeys(places)]
        lines += [f"msgctxt {json.dumps(context)}"] if context else []
        lines += [f"msgid {json.dumps(text, ensure_ascii=False)}"]
        lines += [f"msgstr {json.dumps((translations or {}).get((context or '*', text), ''), ensure_ascii=False)}"]
        entries.append("\n".join(lines) + "\n")
    return "\n".join([head, *entries])


def update(locale):
    """Bring the catalogue of a language up to date: new texts are empty, those that are gone go."""
    from ik_triangulation.ui.translation import read_catalogue

    path = LOCALES / f"{locale}.po"
    known = read_catalogue(path.read_text(encoding="utf-8")) if path.exists() else {}
    found = messages()
    LOCALES.mkdir(exist_ok=True)
    path.write_text(catalogue(found, known), encoding="utf-8", newline="\n")
    left = sum((context or "*", text) not in known for context, text in found)
    print(f"{path.relative_to(ROOT).as_posix()}: {len(found)} texts, {left} to translate")


def main():
    enter("blender")
    import ik_triangulation

    ik_triangulation.register()
    if len(sys.argv) > 1:
        update(sys.argv[1])
    else:
        print(catalogue(messages()), end="")


if __name__ == "__main__":
    main()

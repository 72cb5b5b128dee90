# SPDX-License-Identifier: GPL-3.0-or-later
"""Translation of the interface and its messages, by catalogues of gettext's format (.po) in the folder `locale`.

Blender itself translates names and descriptions of operators, panels and properties once they are registered here.
Messages with values in them, such as "Deleted 12 keys", come from rooms that know nothing of languages, and are
translated where they are shown: by the template "Deleted {0} keys", which scripts/translations.py reads from the code.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Callable, Iterable
from pathlib import Path

import bpy

FOLDER = Path(__file__).resolve().parents[1] / "locale"  # of de_DE.po and others
_ANY = bpy.app.translations.contexts.default
_PLACE = re.compile(r"\{(\d+)\}")  # of a value in a template
_MARKS = re.compile(r"[;,.] +(?=.)")  # before a message that is added to another
_NEXT = re.compile(r"; +(?=.)")  # between messages that are told as one
_QUOTED = re.compile(r'^(msgctxt|msgid|msgstr)? ?(".*")$')

Entry = tuple[str, str]  # context and text, as bpy.app.translations takes them
_catalogues: dict[str, dict[Entry, str]] = {}  # by language


def read_catalogue(text: str) -> dict[Entry, str]:
    """Return the translations in a .po file; entries that are fuzzy, obsolete or empty are left out."""
    found = {}
    for block in re.split(r"\n\s*\n", text):
        parts = {"msgctxt": "", "msgid": "", "msgstr": ""}
        name = ""
        for line in block.splitlines():
            match = _QUOTED.match(line.strip())
            if match:
                name = match[1] or name
                parts[name] += json.loads(match[2])  # a .po file escapes as JSON does
        if parts["msgid"] and parts["msgstr"] and not re.search(r"^#,.*\bfuzzy\b", block, re.MULTILINE):
            found[parts["msgctxt"] or _ANY, parts["msgid"]] = parts["msgstr"]
    return found


def templates_of(texts: Iterable[str]) -> list[tuple[re.Pattern[str], str]]:
    """Return patterns for the texts that have places for values, those with the most letters first."""
    found = {text for text in texts if _PLACE.search(text)}
    return [(_pattern(text), text) for text in sorted(found, key=lambda text: (-len(_PLACE.sub("", text)), text))]


def translated(text: str) -> str:
    """Return a message in the language of the interface; in English if there is no translation."""
    locale = bpy.app.translations.locale
    if not _has_catalogue(locale):  # panels ask for each label at each redraw
        return text
    return _in_language(locale, text)


@functools.lru_cache(1024)
def _in_language(locale: str, text: str) -> str:
    return filled_in(text, bpy.app.translations.pgettext_rpt, _templates(locale))


def _has_catalogue(locale: str) -> bool:
    """Register the catalogue of a language where it is used first; return False if there is none."""
    if locale not in _catalogues:
        path = FOLDER / f"{locale}.po"
        _catalogues[locale] = read_catalogue(path.read_text(encoding="utf-8")) if locale and path.exists() else {}
        bpy.app.translations.unregister(__package__)
        bpy.app.translations.register(__package__, {each: known for each, known in _catalogues.items() if known})
    return bool(_catalogues[locale])


@functools.cache
def _templates(locale: str) -> list[tuple[re.Pattern[str], str]]:
    """Return the templates of a language, made where it is used first."""
    return templates_of(text for _, text in _catalogues[locale])


def filled_in(text: str, look_up: Callable[[str], str], templates: list[tuple[re.Pattern[str], str]]) -> str:
    """Return a message as `look_up` translates it or its template, with the values put in.

    Values are messages themselves at times, and are translated as well, but for names, which are in quotes.
    """
    whole = look_up(text)
    if whole != text:
        return whole
    for pattern, template in templates:
        match = pattern.fullmatch(text)
        if match:
            values = {
                place: value if f"'{{{place}}}'" in template else filled_in(value, look_up, templates)
                for place, value in zip(_PLACE.findall(template), match.groups(), strict=True)
            }
            return _PLACE.sub(lambda place, values=values: values.get(place[1], place[0]), look_up(template))
    mark = _MARKS.match(text) or _NEXT.search(text)
    if mark is None:
        return text
    before, after = text[: mark.start()], text[mark.end() :]
    return filled_in(before, look_up, templates) + mark[0] + filled_in(after, look_up, templates)


def _pattern(template: str) -> re.Pattern[str]:
    """Return the pattern of a template's messages. The second of two values side by side adds a message.

    Where it begins with a value, "; " ends the message: several that are told as one are not one of these.
    """
    first, *others = (re.escape(text) for text in re.split(r"\{\d+\}", template))
    value = "(.*?)" if first else "((?:(?!; ).)*?)"
    values = [value if number == 0 or others[number - 1] else "((?:[;,.] .*)?)" for number in range(len(others))]
    return re.compile(first + "".join(map("".join, zip(values, others, strict=True))), re.DOTALL)


def register() -> None:
    _has_catalogue(bpy.app.translations.locale)


def unregister() -> None:
    bpy.app.translations.unregister(__package__)
    _catalogues.clear()
    _templates.cache_clear()
    _in_language.cache_clear()

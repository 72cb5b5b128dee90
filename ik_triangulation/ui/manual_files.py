# SPDX-License-Identifier: GPL-3.0-or-later
"""Files in which the manual can be read without a network, and URLs with which every system opens them.

Windows, macOS and xdg-open turn a file:// URL into a path before they look for a browser, and drop the anchor after its
"#". So a link to a heading goes by a small file without an anchor, which sends the browser on to the heading.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from functools import cache
from html import escape
from pathlib import Path
from urllib.parse import unquote

import bpy

from .manual_text import html_page, title_of

_PACKAGE = Path(__file__).resolve().parents[1]
PAGES = _PACKAGE / "pages"  # built pages, in a release
DOCS = _PACKAGE.parent / "docs"  # their source, where the extension was installed from it
START = ("index.html", "first_bake.html")  # the first of these is the start page
_ADDON = __package__.rsplit(".", 2)[0]
_DOOR = """<!doctype html>
<meta charset="utf-8"><title>IK Triangulation</title><meta http-equiv="refresh" content="0; url={0}">
<a href="{0}">Go on to the manual</a>
"""


@cache
def prepare(links: tuple[str, ...]) -> dict[str, str]:
    """Write the files that these links need, and return the URL of each. Links are as page.html#heading.

    A link to a page that is not there gets the URL of the start page, which the link "" has as well. The result is
    empty if this installation came without the manual. Raises OSError if the files cannot be written.
    """
    home = _home()
    pages = _built() if PAGES.is_dir() else _written(home / "text")
    if not pages:
        return {}
    start = next((name for name in START if name in pages), min(pages))
    found = {"": file_url(pages[start])}
    for link in links:
        name, _, anchor = link.partition("#")
        if name not in pages:
            found[link] = found[""]
        elif not anchor:
            found[link] = file_url(pages[name])
        else:
            door = home / f"{re.sub(r'[^a-z0-9_]+', '-', link.lower())}.html"
            door.write_text(_DOOR.format(f"{escape(pages[name].as_uri())}#{anchor}"), encoding="utf-8")
            found[link] = file_url(door)
    return found


def file_url(path: Path) -> str:
    """Return the URL of a file for a program that opens it, in the form that its system decodes."""
    return _decoded(path.as_uri()) if os.name == "nt" else path.as_uri()


def _decoded(url: str) -> str:
    """Return the URL with only ASCII escaped: Windows takes other escapes for characters of the local code page."""
    return re.sub(r"(?:%[89A-F][0-9A-F])+", lambda found: unquote(found[0]), url)


def _home() -> Path:
    """Return the folder for the files that are written: the extension's own, which goes when it is uninstalled."""
    try:
        own = bpy.utils.extension_path_user(_ADDON, path="manual", create=True)
    except ValueError:  # not installed as an extension
        own = ""
    home = Path(own or Path(bpy.app.tempdir) / "ik_triangulation_manual").resolve()
    home.mkdir(exist_ok=True)
    return home


def _built() -> dict[str, Path]:
    return _by_name(PAGES, PAGES.rglob("*.html"))


def _written(folder: Path) -> dict[str, Path]:
    """Write the text of the manual as pages into a folder; return them by name."""
    sources = [DOCS / name for name in _names()] if (DOCS.parent / "blender_manifest.toml").is_file() else []
    texts = {source: source.read_text(encoding="utf-8") for source in sources}
    pages = {source: folder / source.relative_to(DOCS).with_suffix(".html") for source in sources}
    menu = [(title_of(text), pages[source].as_uri()) for source, text in texts.items()]
    for source, page in pages.items():
        page.parent.mkdir(parents=True, exist_ok=True)
        linked = {Path(os.path.relpath(other, source.parent)).as_posix(): pages[other].as_uri() for other in sources}
        html = html_page(texts[source], page.as_uri(), f"{source.parent.as_uri()}/", linked, menu)
        page.write_text(html, encoding="utf-8")
    return _by_name(folder, pages.values())


def _names() -> list[str]:
    """Return the names of the manual's sources in their order: that of the start page, whose lists name the others."""
    names = {path.name for path in DOCS.glob("*.md")} - {"contributing.md"}
    start = next((name for page in START if (name := page.replace(".html", ".md")) in names), "")
    listed = [f"{line}.md" for line in (DOCS / start).read_text(encoding="utf-8").splitlines()] if start else []
    return sorted(names, key=[start, *listed, *sorted(names)].index)


def _by_name(folder: Path, pages: Iterable[Path]) -> dict[str, Path]:
    return {page.relative_to(folder).as_posix(): page for page in pages}

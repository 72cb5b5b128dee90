# SPDX-License-Identifier: GPL-3.0-or-later
"""The manual: its pages for each *Online Manual* entry, a button, and files that are read without a network.

Text of the manual as pages for a browser, for an extension that was installed from its source. Releases come with pages
that are built beforehand, by a tool that Blender does not have. What is here knows as much Markdown as the manual needs
to be read: headings with their anchors, paragraphs, lists, tables, code, links, pictures.

Files in which the manual can be read without a network, and URLs with which every system opens them. Windows, macOS and
xdg-open turn a file:// URL into a path before they look for a browser, and drop the anchor after its "#". So a link to
a heading goes by a small file without an anchor, which sends the browser on to the heading.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from functools import cache
from html import escape
from pathlib import Path
from urllib.parse import unquote

import bpy
from bpy.types import Context, Operator

from ..maps.properties import MAP_TABLE
from ..settings import TABLE
from .preferences import ADDON

_BLOCKS = re.compile(
    r"^(?P<fence>```|~~~).*\n(?P<code>(?:.*\n)*?)(?P=fence)[ ]*$|^\#+[ ].*|^.*\S.*(?:\n.*\S.*)*", re.MULTILINE
)
_HEADING = re.compile(r"(#+)[ ]+(.*?)[ ]*#*[ ]*(?:\{[^}]*#([\w-]+)[^}]*\})?[ ]*$")
_ITEM = re.compile(r"^[ ]*(?:[-*+]|\d+\.)[ ]+", re.MULTILINE)
_INLINE = re.compile(
    r"(?P<html><br>)"
    r"|`(?P<code>[^`]+)`"
    r"|!\[(?P<alt>[^\]]*)\]\((?P<image>[^)\s]+)[^)]*\)"
    r"|\[(?P<text>[^\]]+)\]\((?P<link>[^)\s]+)[^)]*\)"
    r"|\*\*(?P<strong>.+?)\*\*"
    r"|\*(?P<em>[^*\s][^*]*)\*",
    re.DOTALL,
)
_PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><base href="{base}">
<title>{title} - IK Triangulation</title>
<style>
:root {{ color-scheme: light dark }}
body {{ max-width: 46rem; margin: 2rem auto; padding: 0 1rem; font: 16px/1.55 system-ui, sans-serif }}
nav a {{ margin-right: 1em }}
pre {{ overflow-x: auto; padding: .8em; background: #8881; border-radius: 4px }}
table {{ border-collapse: collapse }}
td, th {{ border: 1px solid #8886; padding: .3em .6em; text-align: left; vertical-align: top }}
img, video {{ max-width: 100% }}
</style>
<nav>{links}</nav>
{body}
</html>
"""

_PACKAGE = Path(__file__).resolve().parents[1]
PAGES = _PACKAGE / "pages"  # built pages, in a release
DOCS = _PACKAGE.parent / "docs"  # their source, where the extension was installed from it
START = ("index.html", "first_bake.html")  # the first of these is the start page
_DOOR = """<!doctype html>
<meta charset="utf-8"><title>IK Triangulation</title><meta http-equiv="refresh" content="0; url={0}">
<a href="{0}">Go on to the manual</a>
"""

WEB = ""  # address of the manual on the web, ending in "/", once it has one; until then its files are opened

# Blender uses the first pattern that matches; it looks up these names in lower case.
_TYPE, _OPERATOR = "bpy.types.", "bpy.ops.pose.ik_triangulation_"
_SETTINGS = tuple(
    (f"{_TYPE}{kind.__name__}.{name}".lower(), row.page)
    for kind, rows in (TABLE | MAP_TABLE).items()
    for name, row in rows.items()
)
MAPPING = (
    *_SETTINGS,
    (_TYPE + "ikt_pg_lists.joint*", "joints.html#the-list-of-joints"),
    (_TYPE + "ikt_pg_lists.space", "edit.html#spaces"),
    (_TYPE + "ikt_pg_duel*", "compare.html#compare-solvers"),
    (_TYPE + "ikt_pg_overlay*", "pose.html#overlay"),
    (_TYPE + "ikt_pg_trail*", "edit.html#trail"),
    (_TYPE + "ikt_pg_ghosts*", "edit.html#ghosts"),
    (_TYPE + "ikt_pg_*", "pose.html#add-a-limb"),
    (_OPERATOR + "stop*", "reach.html#stops"),
    (_OPERATOR + "solve*", "pose.html#solve-once"),
    (_OPERATOR + "live*", "pose.html#live"),
    (_OPERATOR + "duel*", "compare.html#compare-solvers"),
    (_OPERATOR + "map*", "compare.html#metric-maps"),
    (_OPERATOR + "show_reach", "compare.html#show-reach"),
    (_OPERATOR + "joint*", "joints.html#tools"),
    (_OPERATOR + "preset*", "joints.html#presets"),
    (_OPERATOR + "offset*", "goals.html#keep-offset"),
    (_OPERATOR + "reach*", "reach.html#settings"),
    (_OPERATOR + "bake_all*", "several_limbs.html#bake-all"),
    (_OPERATOR + "rebake*", "baking.html#bake-again"),
    (_OPERATOR + "*bake*", "baking.html#bake"),
    (_OPERATOR + "follow_rig", "rigs.html#follow-another-rig"),
    (_OPERATOR + "follow*", "rigs.html#the-switch"),
    (_OPERATOR + "generated*", "baking.html#delete-generated-keys"),
    (_OPERATOR + "remove_everything", "several_limbs.html#removing-what-was-made"),
    (_OPERATOR + "body*", "body.html#set-up-a-body"),
    (_OPERATOR + "contacts_find", "contacts.html#find-contacts"),
    (_OPERATOR + "contact*", "contacts.html#correct-the-list"),
    (_OPERATOR + "limb*", "pose.html#add-a-limb"),
    (_OPERATOR + "target_move", "pose.html#drag-the-target"),
    (_OPERATOR + "mirror", "edit.html#mirror"),
    (_OPERATOR + "breakdown", "edit.html#breakdown"),
    (_OPERATOR + "pull", "edit.html#pull"),
    (_OPERATOR + "retime", "edit.html#retime"),
    (_OPERATOR + "space_*", "edit.html#spaces"),
    (_OPERATOR + "targets_remove", "engines.html#remove-targets"),
    (_OPERATOR + "grasp", "tails.html#grasp"),
    (_OPERATOR + "transfer", "rigs.html#fk-and-ik-both-ways"),
    (_OPERATOR + "trail*", "edit.html#trail"),
    (_OPERATOR + "drag", "pose.html#drag-without-a-set-up"),
    (_OPERATOR + "target_to_tip", "edit.html#target-to-tip"),
    (_OPERATOR + "target_rotate", "pose.html#drag-the-target"),
    (_OPERATOR + "target*", "pose.html#add-a-limb"),
    ("bpy.ops.object.ik_triangulation_demo_add", "first_bake.html#without-a-rig"),
    ("bpy.ops.wm.ik_triangulation_*", ""),
)


def html_page(text: str, address: str, base: str, pages: dict[str, str], menu: Iterable[tuple[str, str]]) -> str:
    """Return a page of Markdown as HTML.

    `address` is the URL that the page itself gets, `base` that of the folder of its source, from which its pictures
    come. `pages` has the URLs of all pages by the names that links have for them, such as goals.md, and `menu` has
    titles with URLs.
    """
    links = " ".join(f'<a href="{url}">{escape(title)}</a>' for title, url in menu)
    body = "\n".join(_blocks(text, {"": address} | pages))
    return _PAGE.format(title=escape(title_of(text)), base=base, links=links, body=body)


def title_of(text: str) -> str:
    """Return the first heading of a page of Markdown."""
    headings = (_HEADING.match(line) for line in text.splitlines())
    return next((found[2] for found in headings if found), "")


def slug(heading: str) -> str:
    """Return the anchor of a heading, as GitHub makes it."""
    return re.sub(r"[^\w -]", "", heading.strip().lower()).replace(" ", "-")


def _blocks(text: str, pages: dict[str, str]) -> Iterator[str]:
    taken: set[str] = set()
    for found in _BLOCKS.finditer(text):
        block = found[0]
        heading = _HEADING.match(block)
        if block.startswith("```{"):  # for the tool that builds the pages
            continue
        if found["fence"]:
            yield f"<pre>{escape(found['code'])}</pre>"
        elif block.startswith("    "):
            yield f"<pre>{escape(block)}</pre>"
        elif heading:
            level, title, own = heading.groups()
            anchor = own or _unused(slug(re.sub(r"[*`]", "", title)), taken)
            yield f'<h{len(level)} id="{anchor}">{_inline(title, pages)}</h{len(level)}>'
        elif block.startswith("|"):
            yield f"<table>{''.join(_rows(block, pages))}</table>"
        elif block.startswith("<"):
            yield block
        elif _ITEM.match(block):
            items = _ITEM.split(block)[1:]
            kind = "ul" if block.lstrip()[0] in "-*+" else "ol"
            yield f"<{kind}>{''.join(f'<li>{_inline(item, pages)}</li>' for item in items)}</{kind}>"
        else:
            yield f"<p>{_inline(block, pages)}</p>"


def _unused(anchor: str, taken: set[str]) -> str:
    """Return the anchor, with a number if it is taken, and take it."""
    number, found = 0, anchor
    while found in taken:
        number += 1
        found = f"{anchor}-{number}"
    taken.add(found)
    return found


def _rows(block: str, pages: dict[str, str]) -> Iterator[str]:
    for number, line in enumerate(block.splitlines()):
        if not re.fullmatch(r"[|:\s-]+", line):
            kind = "td" if number else "th"
            cells = re.split(r"(?<!\\)\|", line.strip().strip("|"))
            yield f"<tr>{''.join(f'<{kind}>{_inline(cell.strip(), pages)}</{kind}>' for cell in cells)}</tr>"


def _inline(text: str, pages: dict[str, str]) -> str:
    """Return the text between other marks as HTML, in which links to pages of the manual lead to their URLs."""
    out, end = "", 0
    for found in _INLINE.finditer(text):
        out += escape(text[end : found.start()])
        end = found.end()
        if found["html"]:
            out += found["html"]
        elif found["code"]:
            out += f"<code>{escape(found['code'])}</code>"
        elif found["image"]:
            out += f'<img src="{escape(found["image"])}" alt="{escape(found["alt"])}">'
        elif found["link"]:
            page, mark, anchor = found["link"].partition("#")
            out += f'<a href="{escape(pages.get(page, page) + mark + anchor)}">{_inline(found["text"], pages)}</a>'
        elif found["strong"]:
            out += f"<strong>{_inline(found['strong'], pages)}</strong>"
        else:
            out += f"<em>{_inline(found['em'], pages)}</em>"
    return out + escape(text[end:])


@cache
def prepare(links: tuple[str, ...]) -> dict[str, str]:
    """Write the files that these links need, and return the URL of each. Links are as page.html#heading.

    A link to a page that is not there gets the URL of the start page, which the link "" has as well. The result is
    empty if this installation came without the manual. Raises OSError if the files cannot be written.
    """
    home = _home()
    pages = _by_name(PAGES, PAGES.rglob("*.html")) if PAGES.is_dir() else _written(home / "text")
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
        own = bpy.utils.extension_path_user(ADDON, path="manual", create=True)
    except ValueError:  # not installed as an extension
        own = ""
    home = Path(own or Path(bpy.app.tempdir) / "ik_triangulation_manual").resolve()
    home.mkdir(exist_ok=True)
    return home


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


def urls() -> dict[str, str]:
    """Return the URL of each link of MAPPING, and that of the start page for "". Writes the files that they need.

    The result is empty if the manual is not there. Raises OSError if the files cannot be written.
    """
    links = {link for _, link in MAPPING}
    return {link: WEB + link for link in ("", *links)} if WEB else prepare(tuple(sorted(links)))


def address() -> str:
    """Return the URL of the manual's start page; empty if the manual is not there. Raises OSError as urls() does."""
    return urls().get("", "")


def manual_map() -> tuple[str, list[tuple[str, str]]]:
    """Return a URL prefix and (pattern, rest of the URL) pairs, as bpy.utils.register_manual_map() expects them."""
    found = urls()
    return "", [(pattern, found[link]) for pattern, link in MAPPING if link in found]


class WM_OT_ik_triangulation_manual(Operator):
    bl_idname = "wm.ik_triangulation_manual"
    bl_label = "IK Triangulation Manual"
    bl_description = "Open the manual in the web browser"

    def execute(self, context: Context) -> set[str]:
        try:
            url = address()
        except OSError as error:
            self.report({"ERROR"}, f"IK Triangulation: The manual cannot be prepared: {error}")
            return {"CANCELLED"}
        if not url:
            self.report({"ERROR"}, "IK Triangulation: This installation has no manual. Install the extension's zip.")
            return {"CANCELLED"}
        return bpy.ops.wm.url_open(url=url)


def register() -> None:
    bpy.utils.register_class(WM_OT_ik_triangulation_manual)
    bpy.utils.register_manual_map(manual_map)


def unregister() -> None:
    bpy.utils.unregister_manual_map(manual_map)
    bpy.utils.unregister_class(WM_OT_ik_triangulation_manual)

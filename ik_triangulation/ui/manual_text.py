# SPDX-License-Identifier: GPL-3.0-or-later
"""Text of the manual as pages for a browser, for an extension that was installed from its source.

Releases come with pages that are built beforehand, by a tool that Blender does not have. What is here knows as much
Markdown as the manual needs to be read: headings with their anchors, paragraphs, lists, tables, code, links, pictures.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from html import escape

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

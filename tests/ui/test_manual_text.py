# SPDX-License-Identifier: GPL-3.0-or-later
"""Markdown of the manual becomes HTML that says the same."""

import re
from pathlib import Path

import pytest
from markdown import markdown

from ik_triangulation.ui.manual_text import html_page, slug, title_of

DOCS = sorted((Path(__file__).resolve().parents[2] / "docs").rglob("*.md"))
PAGES = {"goals.md": "file:///m/goals.html", "joints.md": "file:///m/joints.html"}


def html(text):
    return html_page(text, "file:///m/goals.html", "file:///docs/", PAGES).partition("</nav>\n")[2]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("## What is *reached*", '<h2 id="what-is-reached">What is <em>reached</em></h2>'),
        ("# Keys {#own}", '<h1 id="own">Keys</h1>'),
        ("# A\n\n# A", '<h1 id="a">A</h1>\n<h1 id="a_1">A</h1>'),
        ("a `*b*` **c**\nd", "<p>a <code>*b*</code> <strong>c</strong>\nd</p>"),
        ("- a\n- b\n  c", "<ul><li>a\n</li><li>b\n  c</li></ul>"),
        ("1. a\n2. b", "<ol><li>a\n</li><li>b</li></ol>"),
        ("| a | b |\n|---|:-:|\n| 1 | `x` |", "<table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td><code>x</code>"),
        ("```python\n# no heading\n\n*a*\n```", "<pre># no heading\n\n*a*\n</pre>"),
        ("    a < b", "<pre>    a &lt; b</pre>"),
        ("[limits](joints.md#hinges)", '<p><a href="file:///m/joints.html#hinges">limits</a></p>'),
        ("[below](#keys)", '<p><a href="file:///m/goals.html#keys">below</a></p>'),
        ("[x](https://x.org)", '<p><a href="https://x.org">x</a></p>'),
        ('![a "b"](a.png)', '<p><img src="a.png" alt="a &quot;b&quot;"></p>'),
        ('<video src="a.webm"></video>', '<video src="a.webm"></video>'),
        ("2 * 3 * 4 < 5", "<p>2 * 3 * 4 &lt; 5</p>"),
    ],
)
def test_markdown(text, expected):
    assert html(text).startswith(expected)


@pytest.mark.parametrize("source", DOCS, ids=lambda path: path.name)
def test_headings_and_anchors_are_those_of_the_built_pages(source):
    text = source.read_text("utf-8")
    there = re.findall(r'<h\d id="([^"]+)"', markdown(text, extensions=["tables", "fenced_code", "toc", "attr_list"]))
    assert re.findall(r'<h\d id="([^"]+)"', html(text)) == there
    assert title_of(text)


def test_anchors_are_ascii():
    assert slug("Près, d'un - 2nd  joint?") == "pres-dun-2nd-joint"

# SPDX-License-Identifier: GPL-3.0-or-later
"""Markdown of the manual becomes HTML that says the same."""

import re
from pathlib import Path

import pytest

from ik_triangulation.ui.manual import html_page, slug, title_of

DOCS = sorted((Path(__file__).resolve().parents[2] / "docs").rglob("*.md"))
PAGES = {"goals.md": "file:///m/goals.html", "joints.md": "file:///m/joints.html"}


def html(text):
    return html_page(text, "file:///m/goals.html", "file:///docs/", PAGES, [("Goals", PAGES["goals.md"])]).partition(
        "</nav>\n"
    )[2]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("## What is *reached*", '<h2 id="what-is-reached">What is <em>reached</em></h2>'),
        ("# Keys {#own}", '<h1 id="own">Keys</h1>'),
        ("# A\n\n# A", '<h1 id="a">A</h1>\n<h1 id="a-1">A</h1>'),
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
        ("```{toctree}\nfirst_bake\n```\n\nx", "<p>x</p>"),
        ("a<br>b<i>", "<p>a<br>b&lt;i&gt;</p>"),
        ("2 * 3 * 4 < 5", "<p>2 * 3 * 4 &lt; 5</p>"),
    ],
)
def test_markdown(text, expected):
    assert html(text).startswith(expected)


@pytest.mark.parametrize("source", DOCS, ids=lambda path: path.name)
def test_a_page_has_its_title_and_no_mark_is_left(source):
    text = source.read_text("utf-8")
    page = html(text)
    assert title_of(text)
    assert re.findall(r"^#|[*]{2}|```|\]\(", re.sub(r"(?s)<(pre|code)>.*?</\1>", "", page), re.MULTILINE) == []
    assert len(re.findall(r"<h\d ", page)) == len(re.findall(r"^#+ ", re.sub(r"(?s)```.*?```", "", text), re.MULTILINE))


def test_anchors_are_those_of_github():
    assert slug("Près, d'un - 2nd joint?") == "près-dun---2nd-joint"

# SPDX-License-Identifier: GPL-3.0-or-later
"""The manual that ships with the extension: docs/ as pages for a browser, in ik_triangulation/pages.

python scripts/manual.py        prints the path of the first page; scripts/build.py makes them as well
"""

import re
import shutil
from html import escape
from pathlib import Path

from environment import enter

ROOT = Path(__file__).resolve().parent.parent
DOCS, PAGES = ROOT / "docs", ROOT / "ik_triangulation" / "pages"
ORDER = ("first_bake", "sidebar", "goals", "posture", "joints", "baking", "solvers", "command_line", "python")
_LINK = re.compile(r'<a href="(\w+)\.md(#[\w-]*)?">(.*?)</a>', re.DOTALL)
_IMAGE = re.compile(r'<img [^>]*src="([^"]+)"')
_PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>{title} - IK Triangulation</title>
<style>
:root {{ color-scheme: light dark }}
body {{ max-width: 46rem; margin: 2rem auto; padding: 0 1rem; font: 16px/1.55 system-ui, sans-serif }}
nav a {{ margin-right: 1em }}
pre {{ overflow-x: auto; padding: .8em; background: #8881; border-radius: 4px }}
table {{ border-collapse: collapse }}
td, th {{ border: 1px solid #8886; padding: .3em .6em; text-align: left; vertical-align: top }}
img {{ max-width: 100% }}
</style>
<nav>{links}</nav>
{body}
</html>
"""


def make() -> Path:
    """Write all pages anew; returns the path of the first."""
    from markdown import markdown

    shutil.rmtree(PAGES, ignore_errors=True)
    PAGES.mkdir()
    texts = {name: (DOCS / f"{name}.md").read_text(encoding="utf-8") for name in ORDER}
    titles = {name: text.partition("\n")[0].removeprefix("# ") for name, text in texts.items()}
    links = " ".join(f'<a href="{name}.html">{escape(title)}</a>' for name, title in titles.items())
    for name, text in texts.items():
        body = _LINK.sub(_page_link, markdown(text, extensions=["tables", "fenced_code", "toc"]))
        for image in _IMAGE.findall(body):
            (PAGES / image).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(DOCS / image, PAGES / image)
        page = _PAGE.format(title=escape(titles[name]), links=links, body=body)
        (PAGES / f"{name}.html").write_text(page, encoding="utf-8")
    return PAGES / f"{ORDER[0]}.html"


def _page_link(found: "re.Match") -> str:
    """A link from one page to another; only its text if that page does not ship."""
    name, anchor, text = found.groups()
    return f'<a href="{name}.html{anchor or ""}">{text}</a>' if name in ORDER else text


if __name__ == "__main__":
    enter("manual")
    print(make())

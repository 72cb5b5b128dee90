# SPDX-License-Identifier: GPL-3.0-or-later
"""The manual that ships: every link in it leads somewhere."""

import re

import pytest

from scripts.manual import ORDER, PAGES, make


@pytest.fixture(scope="module")
def pages():
    make()
    return {path.name: path.read_text(encoding="utf-8") for path in PAGES.glob("*.html")}


def leads_somewhere(pages, link):
    page, _, anchor = link.partition("#")
    return page in pages and (not anchor or f'id="{anchor}"' in pages[page])


def test_there_is_a_page_for_each_document(pages):
    assert list(pages) != []
    assert set(pages) == {f"{name}.html" for name in ORDER}


def test_every_link_and_picture_leads_somewhere(pages):
    for name, text in pages.items():
        for link in re.findall(r'href="([^"]+)"', text):
            assert leads_somewhere(pages, link if not link.startswith("#") else name + link), (name, link)
        for picture in re.findall(r'src="([^"]+)"', text):
            assert (PAGES / picture).is_file(), (name, picture)


def test_the_python_in_the_documents_is_python():
    for name in ORDER:
        text = (PAGES.parent.parent / "docs" / f"{name}.md").read_text(encoding="utf-8")
        for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL):
            compile(block, name, "exec")

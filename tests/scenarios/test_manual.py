# SPDX-License-Identifier: GPL-3.0-or-later
"""The manual that ships: every link in it leads somewhere, and Blender finds a page for all that people see."""

import re
from urllib.parse import unquote, urlparse

import bpy
import pytest

from ik_triangulation.ui import manual
from scripts.manual import ORDER, PAGES, make

from ..registered import our_types


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


def test_every_address_of_the_mapping_leads_somewhere(pages):
    assert [link for _, link in manual.MAPPING if not leads_somewhere(pages, link)] == []


def test_blender_finds_a_page_for_every_operator_and_setting(addon, pages):
    find = bpy.types.WM_OT_doc_view_manual._lookup_rna_url
    names = []
    for cls in our_types():
        if issubclass(cls, bpy.types.Operator):
            names.append(f"bpy.ops.{cls.bl_idname}")
        elif issubclass(cls, bpy.types.PropertyGroup):
            names += [f"bpy.types.{cls.__name__}.{name}" for name in cls.__annotations__]
    assert len(names) > 80
    for name in names:
        url = urlparse(find(name, verbose=False) or "")
        assert url.scheme == "file", f"{name} has no page of the manual. Add it to MAPPING in ui/manual.py."
        path = unquote(url.path)
        assert path.rpartition("/")[2] in pages, name


def test_the_python_in_the_documents_is_python():
    for name in ORDER:
        text = (PAGES.parent.parent / "docs" / f"{name}.md").read_text(encoding="utf-8")
        for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL):
            compile(block, name, "exec")

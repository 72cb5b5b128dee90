# SPDX-License-Identifier: GPL-3.0-or-later
"""The manual that ships: it is built whole, needs no network, and Blender finds a page for all that people see."""

import re
import shutil
from urllib.parse import unquote, urlparse

import bpy
import pytest

from ik_triangulation.ui import manual
from scripts import manual as build
from scripts.manual import DOCS, PAGES, ROOT, make

from ..registered import our_types

NOT_SHIPPED = {"contributing"}
NAMES = {path.stem for path in DOCS.glob("*.md")} - NOT_SHIPPED


@pytest.fixture(scope="module")
def pages():
    make()
    return {path.name: path.read_text(encoding="utf-8") for path in PAGES.glob("*.html")}


def leads_somewhere(pages, link):
    page, _, anchor = link.partition("#")
    return page in pages and (not anchor or f'id="{anchor}"' in pages[page])


def test_there_is_a_page_for_each_document_and_one_for_searching(pages):
    assert set(pages) == {f"{name}.html" for name in (*NAMES, "search")}
    assert "elbow" in (PAGES / "searchindex.js").read_text("utf-8")


def test_every_page_is_in_the_navigation(pages):
    for name in NAMES - {"index"}:
        assert f'href="{name}.html"' in pages["index.html"], f"Add {name} to a toctree of docs/index.md."


def test_the_pages_load_nothing_from_elsewhere(pages):
    for name, text in pages.items():
        assert re.findall(r'(?:<link[^>]* href|src)="(?:https?:)?//[^"]*"', text) == [], name


@pytest.mark.parametrize("fault", ["[gone](first_bake.md#gone)", "[gone](gone.md)", "![gone](gone.png)"])
def test_what_leads_nowhere_stops_the_build(fault, tmp_path, monkeypatch):
    shutil.copytree(DOCS, tmp_path / "docs", ignore=shutil.ignore_patterns("*.webp", "*.png"))
    shutil.copy(ROOT / "blender_manifest.toml", tmp_path)
    (tmp_path / "docs" / "goals.md").write_text(f"# Goals\n\n{fault}\n", "utf-8")
    monkeypatch.setattr(build, "DOCS", tmp_path / "docs")
    with pytest.raises(RuntimeError, match=r"goals\.md:3: .*gone"):
        make(tmp_path / "pages")


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
    for name in NAMES:
        for block in re.findall(r"```python\n(.*?)```", (DOCS / f"{name}.md").read_text("utf-8"), re.DOTALL):
            compile(block, name, "exec")

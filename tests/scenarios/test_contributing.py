# SPDX-License-Identifier: GPL-3.0-or-later
"""docs/contributing.md names rooms and files that are there, and a file for each term."""

import re

import pytest

from ..sources import PACKAGE, ROOT, told

TEXT = (ROOT / "docs" / "contributing.md").read_text(encoding="utf-8")
PATHS = sorted({path for path in re.findall(r"`([\w./]+(?:\.\w+|/))`", TEXT) if "/" in path})


def test_a_file_that_is_named_is_there():
    gone = [path for path in PATHS if not any((folder / path).exists() for folder in (ROOT, PACKAGE))]
    assert not gone, f"docs/contributing.md names files that are gone. Name what took their place:{told(gone)}"


def test_every_room_has_its_sentence():
    table = TEXT.partition("## Rooms")[2].partition("## The way")[0]
    rooms = {path.name for path in PACKAGE.iterdir() if (path / "__init__.py").exists()}
    assert set(re.findall(r"^\| `(\w+)/` \|", table, re.MULTILINE)) == rooms


@pytest.mark.parametrize("recipe", ["solver", "target shape", "setting", "preset", "panel", "kind of limit", "job"])
def test_there_is_a_recipe(recipe):
    assert f"### A {recipe}\n\n1. " in TEXT

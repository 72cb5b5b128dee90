# SPDX-License-Identifier: GPL-3.0-or-later
"""The zip: what it holds, and that Blender installs it, works with it and is rid of it again."""

import re
import tomllib
from pathlib import Path
from zipfile import ZipFile

import pytest

from .own_blender import run_alone

ROOT = Path(__file__).resolve().parents[2]


def test_the_zip_holds_what_ships(archive):
    with ZipFile(archive) as file:
        names = [name for name in file.namelist() if not name.endswith("/")]
    beside = {name for name in names if not name.startswith("ik_triangulation/")}
    assert beside == {"blender_manifest.toml", "__init__.py", "LICENSE"}
    assert "ik_triangulation/__init__.py" in names
    assert not [name for name in names if "__pycache__" in name or name.endswith(".pyc")]


def test_the_changelog_starts_with_this_version():
    version = tomllib.loads((ROOT / "blender_manifest.toml").read_text(encoding="utf-8"))["version"]
    headings = re.findall(r"^## \[?(\d[^\s\]]*)", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert headings[0] == version


# Both zips are installed in the window as well, by hand: tests/window/install.py.
@pytest.mark.parametrize("kind", ["archive", pytest.param("source_archive", marks=pytest.mark.long)])
def test_installed_from_a_zip_it_works_and_leaves_nothing(kind, request, tmp_path):
    """In a Blender of its own, with empty settings, and in a folder from which the checkout cannot be imported."""
    assert "used and removed" in run_alone("use_installed.py", tmp_path, request.getfixturevalue(kind))


def test_the_zip_is_small_and_has_the_manual_once(archive):
    assert archive.stat().st_size < 4e6
    with ZipFile(archive) as file:
        names = file.namelist()
    assert not [name for name in names if name.endswith(".md")]
    pictures = [name.rpartition("/")[2] for name in names if name.endswith((".png", ".webp", ".gif", ".svg"))]
    assert len(pictures) == len(set(pictures))

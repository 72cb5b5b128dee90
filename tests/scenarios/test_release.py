# SPDX-License-Identifier: GPL-3.0-or-later
"""What is released is the same whoever builds it, and is refused while it lacks something."""

import tomllib
from zipfile import ZipFile

import pytest

from scripts import build

VERSION = tomllib.loads((build.ROOT / "blender_manifest.toml").read_text("utf-8"))["version"]
DATE = 2026, 1, 2, 3, 4, 6


def _zip(file, held):
    with ZipFile(file, "w") as archive:
        for name, text in held.items():
            archive.writestr(name, text)
    return file


def test_zips_of_the_same_files_are_the_same_bit_for_bit(tmp_path):
    held = {"b.py": "b" * 1000, "a/": "", "a/a.py": "a"}
    one = _zip(tmp_path / "one.zip", held)
    with ZipFile(tmp_path / "two.zip", "w", compression=8) as archive:  # another order, another time, compressed
        for name in reversed(list(held)):
            archive.writestr(name, held[name])
    for archive in (one, tmp_path / "two.zip"):
        build._pack_again(archive, DATE)
    assert one.read_bytes() == (tmp_path / "two.zip").read_bytes()
    with ZipFile(one) as archive:
        assert {name: archive.read(name).decode() for name in archive.namelist()} == {"a/a.py": "a", "b.py": "b" * 1000}
        assert {info.date_time for info in archive.infolist()} == {DATE}


def test_the_date_of_a_zip_is_the_one_that_is_given(monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    assert build._date() == (2023, 11, 14, 22, 13, 20)


@pytest.mark.parametrize(
    ("manifest", "changes", "lacking"),
    [
        ({"version": VERSION}, "", "no `website`"),
        ({"version": "77.0.0", "website": "https://example.org"}, "", "no section `## 77.0.0`"),
        ({"version": VERSION, "website": "https://example.org"}, " M README.md\n", "not committed"),
    ],
)
def test_a_release_that_lacks_something_is_refused_with_the_remedy(manifest, changes, lacking, monkeypatch):
    monkeypatch.setattr(build, "_git", lambda *words: changes)
    with pytest.raises(RuntimeError, match=lacking):
        build._require_release(manifest)

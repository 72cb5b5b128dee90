# SPDX-License-Identifier: GPL-3.0-or-later
"""URLs of the manual's files are such that each system finds the file."""

from pathlib import PureWindowsPath

import pytest

from ik_triangulation.ui import manual


@pytest.mark.parametrize(
    ("path", "url"),
    [
        (r"C:\Users\Ann Lee\x.html", "file:///C:/Users/Ann%20Lee/x.html"),
        (r"C:\Users\Jörg\50% #1\x.html", "file:///C:/Users/Jörg/50%25%20%231/x.html"),
        (r"\\studio\home\Zoë\x.html", "file://studio/home/Zoë/x.html"),
    ],
)
def test_on_windows_only_ascii_is_escaped(path, url):
    assert manual._decoded(PureWindowsPath(path).as_uri()) == url


def test_a_folder_that_cannot_be_written_raises_an_oserror(tmp_path, addon, monkeypatch):
    monkeypatch.setattr(manual, "_home", lambda: tmp_path / "not" / "there")
    manual.prepare.cache_clear()
    with pytest.raises(OSError, match="not"):
        manual.prepare(("goals.html#goals", "goals.html#what-is-reached"))

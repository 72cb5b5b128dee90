# SPDX-License-Identifier: GPL-3.0-or-later
"""Fixtures of the scenarios."""

import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from scripts import build


@pytest.fixture(scope="session")
def archive(tmp_path_factory, manual_pages):
    """The extension's zip. Where it would make the manual, the one is there that all tests read."""
    made = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(build, "make_manual", lambda: made.append(manual_pages))
        found = build.build(tmp_path_factory.mktemp("build with a space"))
    assert len(made) == 1
    return found


@pytest.fixture(scope="session")
def source_archive(tmp_path_factory):
    """A zip of the source as GitHub makes it for *Download ZIP*: of this working tree, in a folder of any name."""
    try:
        return build.source_archive(tmp_path_factory.mktemp("source (1)"))
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("this is no clone, or there is no git")


@pytest.fixture(scope="session")
def rigify_file(tmp_path_factory, long):
    """Call it with "basic", "whole" or "metarig" for a file with that rig of Rigify's. The first call makes all.

    The whole rig has the controls of a face, and all fingers, with --long only.
    """
    folder, script = tmp_path_factory.mktemp("rigify"), Path(__file__).with_name("generate_rigify.py")

    @cache
    def made():
        words = [sys.executable, str(script), str(folder), *(["--long"] if long else [])]
        run = subprocess.run(words, capture_output=True, text=True, timeout=240, check=False)
        assert run.returncode == 0, run.stdout + run.stderr
        return folder

    return lambda kind: made() / f"{kind}.blend"

# SPDX-License-Identifier: GPL-3.0-or-later
"""Fixtures of the scenarios."""

import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from scripts.build import build
from scripts.build import source_archive as make_source_archive


@pytest.fixture(scope="session")
def archive(tmp_path_factory):
    """The extension's zip."""
    return build(tmp_path_factory.mktemp("build with a space"))


@pytest.fixture(scope="session")
def source_archive(tmp_path_factory):
    """A zip of the source as GitHub makes it for *Download ZIP*: of this working tree, in a folder of any name."""
    try:
        return make_source_archive(tmp_path_factory.mktemp("source (1)"))
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("this is no clone, or there is no git")


@pytest.fixture(scope="session")
def rigify_file(tmp_path_factory, long):
    """Call it with "basic", "whole" or "metarig" for a file with that rig of Rigify's, each made once.

    The whole rig has the controls of a face with --long only.
    """
    folder, script = tmp_path_factory.mktemp("rigify"), Path(__file__).with_name("generate_rigify.py")

    @cache
    def made(kind):
        path = folder / f"{kind}.blend"
        made_as = "faceless" if kind == "whole" and not long else kind
        run = subprocess.run(
            [sys.executable, str(script), made_as, str(path)], capture_output=True, text=True, timeout=240, check=False
        )
        assert run.returncode == 0, run.stdout + run.stderr
        return path

    return made

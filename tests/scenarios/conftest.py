# SPDX-License-Identifier: GPL-3.0-or-later
"""Fixtures of the scenarios."""

import os
import subprocess
from pathlib import Path

import addon_utils
import bpy
import pytest

from scripts.build import build

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def archive(tmp_path_factory):
    """The extension's zip."""
    return build(tmp_path_factory.mktemp("build with a space"))


@pytest.fixture(scope="session")
def source_archive(tmp_path_factory):
    """A zip of the source as GitHub makes it for *Download ZIP*: of this working tree, in a folder of any name."""
    folder = tmp_path_factory.mktemp("source")
    (folder / "objects").mkdir()

    def git(*words):
        return subprocess.run(["git", *words], cwd=ROOT, env=env, capture_output=True, text=True, check=True).stdout

    env = dict(os.environ)
    try:
        objects = Path(git("rev-parse", "--path-format=absolute", "--git-path", "objects").strip())
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("this is no clone, or there is no git")
    # An index and objects of its own: the repository stays as it is.
    env |= {"GIT_INDEX_FILE": str(folder / "index"), "GIT_OBJECT_DIRECTORY": str(folder / "objects")}
    env |= {"GIT_ALTERNATE_OBJECT_DIRECTORIES": str(objects)}
    git("add", "--all")
    archive = folder / "any name-main (1).zip"
    git("archive", "--format=zip", "--prefix=any-name-main/", f"--output={archive}", git("write-tree").strip())
    return archive


@pytest.fixture(scope="module", autouse=True)
def rigify_left_off():
    """Scripts that need Rigify's human enable its add-on, which other tests would see."""
    yield
    if "rigify" in bpy.context.preferences.addons:
        addon_utils.disable("rigify", default_set=True)

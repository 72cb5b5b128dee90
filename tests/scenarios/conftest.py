# SPDX-License-Identifier: GPL-3.0-or-later
"""Fixtures of the scenarios."""

import addon_utils
import bpy
import pytest

from scripts.build import build


@pytest.fixture(scope="session")
def archive(tmp_path_factory):
    """The extension's zip."""
    return build(tmp_path_factory.mktemp("build with a space"))


@pytest.fixture(scope="module", autouse=True)
def rigify_left_off():
    """Scripts that need Rigify's human enable its add-on, which other tests would see."""
    yield
    if "rigify" in bpy.context.preferences.addons:
        addon_utils.disable("rigify", default_set=True)

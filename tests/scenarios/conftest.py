# SPDX-License-Identifier: GPL-3.0-or-later
"""Fixtures of the scenarios."""

import pytest

from scripts.build import build


@pytest.fixture(scope="session")
def archive(tmp_path_factory):
    """The extension's zip."""
    return build(tmp_path_factory.mktemp("build with a space"))

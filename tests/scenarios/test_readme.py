# SPDX-License-Identifier: GPL-3.0-or-later
"""The Python of README and manual runs unchanged, wherever the extension is."""

from pathlib import Path

import bpy
import pytest

from ..rigs import chain_rig, empty, key_location
from .own_blender import run_alone

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def shot(empty_scene, tmp_path):
    """A file with the arm and the moving cup that they speak of."""
    chain_rig(3, names=("upper_arm.L", "forearm.L", "hand.L"))
    key_location(empty("Cup"), range(1, 122, 5))
    empty_scene.frame_end = 120
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    return tmp_path / "shot.blend"


# In short each document runs in one of the two ways, with --long in every way.
@pytest.mark.parametrize("document", ["README.md", pytest.param("docs/python.md", marks=pytest.mark.long)])
def test_from_a_checkout_with_nothing_registered(document, shot, tmp_path):
    said = run_alone("use_readme.py", tmp_path, ROOT / document, shot, path=ROOT)
    assert "imported from ik_triangulation." in said


@pytest.mark.parametrize(
    ("repository", "document"),
    [pytest.param("user_default", "README.md", marks=pytest.mark.long), ("studio", "docs/python.md")],
)
def test_installed_in_a_repository(repository, document, archive, shot, tmp_path):
    said = run_alone("use_readme.py", tmp_path, ROOT / document, shot, archive, repository)
    assert f"imported from bl_ext.{repository}.ik_triangulation." in said

# SPDX-License-Identifier: GPL-3.0-or-later
"""The main job on rigs nobody here wrote: Rigify's human, as metarig and generated (see use_rigify.py)."""

import subprocess
import sys
from pathlib import Path

import pytest


@pytest.fixture(scope="module")
def said(tmp_path_factory):
    """What the script says of each rig, all used in one Blender."""
    words = [sys.executable, Path(__file__).with_name("use_rigify.py"), tmp_path_factory.mktemp("used")]
    run = subprocess.run(list(map(str, words)), capture_output=True, text=True, timeout=240, check=False)
    return run.stdout + run.stderr


@pytest.mark.parametrize("rig", ["metarig", "generated"])
def test_both_arms_and_legs_of_rigifys_human_follow_their_targets(rig, said):
    assert f"{rig}: as it should be" in said, said


def test_its_arm_does_not_flick_when_the_target_goes_out_of_reach(said):
    assert "stretched: as it should be" in said, said

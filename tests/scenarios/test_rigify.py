# SPDX-License-Identifier: GPL-3.0-or-later
"""The main job on rigs nobody here wrote: Rigify's human, as metarig and generated (see use_rigify.py)."""

import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.parametrize("rig", ["metarig", "generated"])
def test_both_arms_and_legs_of_rigifys_human_follow_their_targets(rig, tmp_path):
    use(rig, tmp_path)


def test_its_arm_does_not_flick_when_the_target_goes_out_of_reach(tmp_path):
    use("stretched", tmp_path)


def use(rig, tmp_path):
    script = Path(__file__).with_name("use_rigify.py")
    run = subprocess.run(
        [sys.executable, str(script), rig, str(tmp_path)], capture_output=True, text=True, timeout=120, check=False
    )
    assert run.returncode == 0, run.stdout + run.stderr

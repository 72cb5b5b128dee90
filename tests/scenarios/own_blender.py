# SPDX-License-Identifier: GPL-3.0-or-later
"""A Blender of its own for one script of the tests."""

import os
import subprocess
import sys
from pathlib import Path

import bpy

HERE = Path(__file__).resolve().parent


def run_alone(script, folder, *words, path=""):
    """Run a script of this folder with `words` after `--` and return its standard output; it has to succeed.

    Its settings are empty and live in `folder`, from where only what is on `path` can be imported.
    """
    blender = [bpy.app.binary_path, "-b", "--factory-startup", "--python-exit-code", "1", "--python"]
    command = [*(blender if bpy.app.binary_path else [sys.executable]), HERE / script, "--", *words]
    done = subprocess.run(
        list(map(str, command)),
        env=os.environ | {"BLENDER_USER_RESOURCES": str(folder), "PYTHONPATH": str(path)},
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout

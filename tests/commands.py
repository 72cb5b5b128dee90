# SPDX-License-Identifier: GPL-3.0-or-later
"""The command line in tests: its process, a file for it to work on, and its report."""

import json
import subprocess
import sys
from pathlib import Path

import bpy
import pytest

from .rigs import chain_rig, configure, empty, key_location

ROOT = Path(__file__).resolve().parent.parent
DONE, FAILED, USAGE, MISSED = 0, 1, 2, 3


def started(*words, **how):
    """The process of the command line on the bpy module, which the caller waits for."""
    if bpy.app.binary_path:
        pytest.skip("the command line of the bpy module")
    run = [sys.executable, "-m", "ik_triangulation", *map(str, words)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen(run, cwd=ROOT, text=True, encoding="utf-8", **(pipes | how))


def command(*words, **how):
    """The same when it has ended: its exit code, standard output and standard error."""
    with started(*words, **how) as process:
        out, said = process.communicate(timeout=120)
    return subprocess.CompletedProcess(process.args, process.returncode, out, said)


def save_rig(scene, path):
    """Save a rig of four bones and a moving target, with settings on the tip bone; the scene has frames 1 to 6."""
    rig, target = chain_rig(4), key_location(empty(), range(1, 42, 4))
    configure(rig, "Bone 3", target=target, chain_count=3)
    far = empty("Far", (0.0, 0.0, 50.0))
    assert far.name == "Far"
    empty("Pole", (3.0, -1.0, 1.0))
    scene.frame_end = 6
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    return path


def told(out):
    """The report on standard output; Blender in this process writes there as well."""
    return json.loads(out[out.index("{\n") :])


def only_limb(out):
    (limb,) = told(out)["limbs"]
    return limb


def opened(path):
    bpy.ops.wm.open_mainfile(filepath=str(path))
    return bpy.data.objects["Rig"]

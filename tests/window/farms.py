# SPDX-License-Identifier: GPL-3.0-or-later
"""The Blender program as the farms start it, with factory settings and the extension by its name, on three shots.

The commands are those of the template of Open Job Description and of Flamenco's job type (tests/scenarios/test_farms.py
holds that they are).
"""

import json
import subprocess
from pathlib import Path
from tempfile import mkdtemp

import bpy

from scripts.windowed.inside.scene import clear
from tests.farm import FLAMENCO_START, MISSED, SHOTS, START, SUMMARY, save_shots, worker_script

PYTHON = "python3"


def ran(*words):
    """Run a command to its end; its exit code and all that it wrote."""
    pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    done = subprocess.run(list(map(str, words)), **pipes, text=True, timeout=60, check=False)
    print(done.stdout, flush=True)
    return done.returncode, done.stdout


def script():
    blender, folder = bpy.app.binary_path, Path(mkdtemp())
    shots, script, template, flamenco = folder / "shots", folder / "start.py", folder / "template", folder / "flamenco"
    clear()
    save_shots(shots)
    script.write_text(worker_script())
    yield 0.1
    listed = ["--accept-misses", shots / "shots.txt", "--output", template]
    found = [ran(PYTHON, script, " ".join(["blender", *START]), "--all", *listed)]
    yield 0.1
    found.append(
        ran(
            blender,
            *FLAMENCO_START,
            "bake-list",
            shots,
            "--output",
            flamenco,
            "--accept-misses",
            "--all",
            "--shots",
            *SHOTS,
        )
    )
    yield 0.1
    assert [code for code, _ in found] == [1, 1]
    assert all(MISSED in said and "broken.blend' cannot be opened" in said for _, said in found)
    for output in (template, flamenco):
        assert sorted(path.name for path in output.rglob("*.blend")) == ["missed.blend", "reached.blend"]
        assert json.loads((output / "broken.json").read_text())["error"]
        code, said = ran(PYTHON, SUMMARY, output, shots / "shots.txt")
        assert (code, said.splitlines()[-1]) == (1, "3 shots: 1 reached, 1 missed, 1 failed")

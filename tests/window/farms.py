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
from tests.farm import FLAMENCO_START, MISSED, NAMES, SHOTS, START, SUMMARY, save_shots, worker_script

PYTHON = "python3"


def ran(*words):
    """Run a command to its end; its exit code and all that it wrote."""
    pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    done = subprocess.run(list(map(str, words)), **pipes, text=True, timeout=60, check=False)
    print(done.stdout, flush=True)
    return done.returncode, done.stdout


def script():
    blender, folder = bpy.app.binary_path, Path(mkdtemp())
    shots, script, template, flamenco = folder / "shots", folder / "shot.py", folder / "template", folder / "flamenco"
    clear()
    save_shots(shots)
    script.write_text(worker_script())
    flamenco.mkdir()
    yield 0.1
    found = []
    for number, (shot, name) in enumerate(zip(SHOTS, NAMES, strict=True), 1):
        found.append(ran(PYTHON, script, number, shots, "shots.txt", template, " ".join(["blender", *START]), "--all"))
        saved = ["--make-folders", "--output", flamenco / f"{name}.blend", "--json", flamenco / f"{name}.json"]
        found.append(ran(blender, *FLAMENCO_START, "bake", shots / shot, "--all", "--accept-misses", *saved))
        yield 0.1
    assert [code for code, _ in found] == [0, 0, 0, 0, 1, 1]
    assert all(MISSED in said for _, said in found[2:4])
    assert all("broken.blend' cannot be opened" in said for _, said in found[4:])
    for output in (template, flamenco):
        assert sorted(path.name for path in output.rglob("*.blend")) == ["missed.blend", "reached.blend"]
        assert json.loads((output / "broken.json").read_text())["error"]
        code, said = ran(PYTHON, SUMMARY, output, shots / "shots.txt")
        assert (code, said.splitlines()[-1]) == (1, "3 shots: 1 reached, 1 missed, 1 failed")

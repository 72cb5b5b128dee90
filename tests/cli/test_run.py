# SPDX-License-Identifier: GPL-3.0-or-later
"""One run of a command: words, misses, faults and being stopped."""

import json
import os

import pytest

from ..commands import DONE, FAILED, MISSED, started, told

LIMB = ["--tip", "Bone 3"]


def test_a_fault_of_ours_is_in_the_report_too_and_leaves_the_file(run, rig_file, monkeypatch):
    before = rig_file.read_bytes()
    monkeypatch.setattr("ik_triangulation.cli.solving.result_of", lambda *_, **more: 1 / 0)
    code, out, said = run("bake", rig_file, *LIMB, "--overwrite", "--json")
    assert code == FAILED
    assert told(out)["error"] == "Internal error (ZeroDivisionError: division by zero). No file was changed."
    assert "Traceback" in said
    assert rig_file.read_bytes() == before


def test_misses_are_accepted_when_told_to(run, rig_file):
    words = "bake", rig_file, *LIMB, "--target", "Far", "--frame-end", "2", "--discard"
    assert run(*words)[0] == MISSED
    code, _, said = run(*words, "--accept-misses")
    assert code == DONE
    assert "Reached 0 of 2 frames" in said
    assert run("compare", rig_file, *LIMB, "--target", "Far", "--solvers", "ccd", "--accept-misses")[0] == DONE
    assert run("bake", rig_file, "--tip", "hand", "--discard", "--accept-misses")[0] == FAILED


@pytest.mark.parametrize("words", [["-q", "bake"], ["bake", "-q"], ["bake", "--quiet"]], ids=" ".join)
def test_quiet_says_only_errors(words, run, rig_file):
    code, _, said = run(*words, rig_file, *LIMB, "--target", "Far", "--frame-end", "2", "--discard")
    assert (code, said) == (MISSED, "")
    code, _, said = run(*words, rig_file, "--tip", "hand", "--discard")
    assert (code, len(said.splitlines())) == (FAILED, 1)


def test_a_run_that_is_stopped_leaves_the_file_and_nothing_else(rig_file):
    before = rig_file.read_bytes()
    (rig_file.parent / ".rig.blend.lock").write_text(
        json.dumps({"pid": os.getpid(), "host": os.uname().nodename, "token": "x"})
    )
    with started("bake", rig_file, *LIMB, "--overwrite") as process:
        while "Waiting for process" not in process.stderr.readline():
            assert process.poll() is None
        process.terminate()
        process.communicate(timeout=30)
    assert process.returncode == 143
    assert rig_file.read_bytes() == before
    assert {path.name for path in rig_file.parent.iterdir()} == {"rig.blend", ".rig.blend.lock"}

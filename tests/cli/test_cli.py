# SPDX-License-Identifier: GPL-3.0-or-later
"""Every command has its help, its usage and its exit codes."""

import pytest

from ..commands import DONE, FAILED, USAGE

WRONG_USAGE = {
    "nothing": [],
    "an unknown command": ["dance"],
    "no place to save to": ["bake", "FILE", "--tip", "Bone 3"],
    "two places to save to": ["bake", "FILE", "--tip", "Bone 3", "--overwrite", "--discard"],
    "an unknown solver": ["bake", "FILE", "--tip", "Bone 3", "--discard", "--solver", "magic"],
    "a tolerance of zero": ["bake", "FILE", "--tip", "Bone 3", "--discard", "--tolerance", "0"],
    "a tolerance that is no number": ["bake", "FILE", "--tip", "Bone 3", "--discard", "--tolerance", "nan"],
    "a stop without a frame": ["reach", "FILE", "--tip", "Bone 3", "--discard", "--stops", "Target"],
    "a stop after the last frame": ["reach", "FILE", "--tip", "Bone 3", "--discard", "--stops", "Target:1048575"],
    "a stop held for no number": ["reach", "FILE", "--tip", "Bone 3", "--discard", "--stops", "Target:3:x"],
    "an abbreviated option": ["bake", "FILE", "--tip", "Bone 3", "--disc"],
    "a frame that is no number": ["solve", "FILE", "--tip", "Bone 3", "--discard", "--frame", "one"],
}


@pytest.mark.long
def test_wrong_usage_is_told_with_exit_code_2(rig_file, command):
    done = command(*(rig_file if word == "FILE" else word for word in WRONG_USAGE["an unknown solver"]))
    assert done.returncode == USAGE
    assert "usage: ik_triangulation" in done.stderr


def test_a_failure_is_one_line_with_exit_code_1(rig_file, command):
    before = rig_file.read_bytes()
    done = command("bake", rig_file, "--tip", "hand", "--overwrite")
    assert done.returncode == FAILED
    lines = [line for line in done.stderr.splitlines() if line.startswith("IK Triangulation: ")]
    assert lines == [
        "IK Triangulation: Bone 'hand' does not exist. Choose one of 'Bone 0', 'Bone 1', 'Bone 2', 'Bone 3'."
    ]
    assert "Traceback" not in done.stderr
    assert rig_file.read_bytes() == before


@pytest.mark.parametrize("what", WRONG_USAGE)
def test_wrong_usage(what, run):
    code, _, said = run(*WRONG_USAGE[what])
    assert code == USAGE
    assert "usage: ik_triangulation" in said


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        (
            ["--help"],
            [
                "solve",
                "bake",
                "Exit codes: 0 done, 1 failed and no file changed, 2 wrong usage, 3 done but a target was missed",
            ],
        ),
        (["solve", "--help"], ["--frame", "--key", "--tip", "--tolerance", "--discard", "--json"]),
        (["bake", "--help"], ["--frame-start", "--frame-end", "--step", "--target", "--overwrite", "--output"]),
        (["reach", "--help"], ["--frame-start", "--stops", "--hold", "--return", "--path", "--onset", "--timing"]),
    ],
    ids=["top", "solve", "bake", "reach"],
)
def test_help_is_there_at_every_level(words, shown, run):
    code, said, _ = run(*words)
    assert code == DONE
    assert [word for word in shown if word not in " ".join(said.split())] == []

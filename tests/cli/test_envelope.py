# SPDX-License-Identifier: GPL-3.0-or-later
"""The command line's report: one JSON object for every command, alone on standard output, also when it fails."""

import json
import tomllib
from math import inf, nan

import pytest

from ik_triangulation.cli.run import CommandResult, report

from ..commands import DONE, FAILED, MISSED, ROOT, USAGE, command, told

LIMB = ["--tip", "Bone 3"]
VERSION = tomllib.loads((ROOT / "blender_manifest.toml").read_text("utf-8"))["version"]
SCHEMA = json.loads((ROOT / "docs/report.schema.json").read_text(encoding="utf-8"))


COMMANDS = {
    "solve": (["--discard"], DONE),
    "solve with an orientation": (["--discard", "--orientation", "direction"], DONE),
    "bake": (["--discard", "--target", "Far"], MISSED),
    "bake with fewer keys": (["--discard", "--frame-end", "40", "--reduce"], DONE),
    "reach": (["--discard", "--frame-end", "9", "--return", "4"], DONE),
    "target-from-animation": (["--discard"], DONE),
    "compare": (["--solvers", "ccd", "two_bone"], DONE),
    "map": (["--size", "4"], DONE),
    "map in space": (["--resolution", "2", "--volume", "PLACES"], DONE),
    "bake of no bone": (["--discard", "--target", "Cup"], FAILED),
    "map of no frame there is": (["--size", "4", "--scene", "Sea"], FAILED),
}


@pytest.mark.parametrize("what", COMMANDS)
def test_every_report_is_as_its_schema_says(what, run, rig_file, tmp_path):
    jsonschema = pytest.importorskip("jsonschema")
    words, expected = COMMANDS[what]
    name = what.split()[0]
    words = [word.replace("PLACES", str(tmp_path / "places.npy")) for word in words]
    code, out, said = run(name, rig_file, *LIMB, *words, "--json")
    assert code == expected, said
    found = told(out)
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    jsonschema.Draft202012Validator(SCHEMA).validate(found)
    assert (found["schema"], found["version"], found["command"], found["file"]) == (2, VERSION, name, str(rig_file))
    assert (found["error"] is None) == (code != FAILED)
    assert (found["error"] or "") in said
    assert len(found["limbs"]) == (name in {"solve", "bake", "reach"} and code != FAILED)
    assert found["reached"] == (code == DONE)
    assert found["tips"] == [tip for limb in found["limbs"] for tip in limb["tips"]]
    assert found["missed"] == ([1, 2, 3, 4, 5, 6] if code == MISSED else [])


def test_a_failure_is_in_the_report_that_was_asked_for_and_leaves_all_other_files(run, rig_file, tmp_path):
    before, where = rig_file.read_bytes(), tmp_path / "report.json"
    code, _, said = run("bake", rig_file, "--tip", "hand", "--overwrite", "--json", where)
    assert code == FAILED
    assert json.loads(where.read_text(encoding="utf-8"))["error"] in said
    assert rig_file.read_bytes() == before
    where.write_text("as it was", encoding="utf-8")
    code, _, said = run("map", rig_file, *LIMB, "--png", where, "--json", where)
    assert (code, where.read_text(encoding="utf-8")) == (FAILED, "as it was"), "no report onto another output"


def test_numbers_that_are_none_are_null():
    made = json.loads(report("compare", None, CommandResult(parts={"solvers": [{"error": inf, "travel": (nan, 1.0)}]})))
    assert made["solvers"] == [{"error": None, "travel": [None, 1.0]}]


def test_wrong_usage_is_words_on_standard_error_alone(run, rig_file):
    code, out, said = run("bake", rig_file, *LIMB, "--discard", "--json", "--seed", "-1")
    assert (code, out) == (USAGE, "")
    assert "argument --seed: -1 is not a number from 0 to 2147483647" in said


def test_the_version_is_told(run):
    code, out, _ = run("--version")
    assert (code, out) == (DONE, f"IK Triangulation {VERSION}\n")


def test_standard_output_is_for_results_alone_in_a_process_of_its_own(rig_file, long):
    done = command("compare", rig_file, *LIMB, "--solvers", "ccd")
    assert done.returncode == DONE, done.stderr
    assert [line.split()[0] for line in done.stdout.splitlines()] == ["solver", "CCD"]
    assert "Read blend" in done.stderr
    if not long:
        return
    done = command("bake", rig_file, *LIMB, "--overwrite", "--json", "-q")
    assert json.loads(done.stdout)["limbs"][0]["reached"] == 6
    assert (done.returncode, done.stderr) == (DONE, "")

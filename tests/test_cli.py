# SPDX-License-Identifier: GPL-3.0-or-later
"""The command line, in a process of its own: exit codes, files, JSON and messages."""

import json
import re
import subprocess
import sys
from pathlib import Path

import bpy
import pytest

from ik_triangulation.cli import main

from .rigs import all_keys, chain_rig, configure, curves_of, empty, key_frames, key_location

ROOT = Path(__file__).resolve().parent.parent
DONE, FAILED, USAGE, OUT_OF_TOLERANCE = 0, 1, 2, 3


def command(*words):
    """The command line's process: Blender's own where the tests run in Blender, else Python's."""
    words = [str(word) for word in words]
    if bpy.app.binary_path:
        pytest.skip("the command line of the bpy module")
    run = [sys.executable, "-m", "ik_triangulation", *words]
    return subprocess.run(run, cwd=ROOT, capture_output=True, text=True, encoding="utf-8", timeout=120, check=False)


@pytest.fixture
def rig_file(empty_scene, tmp_path):
    """A rig of four bones and a moving target, saved, with settings on the tip bone; the scene has frames 1 to 6."""
    rig, target = chain_rig(4), key_location(empty(), range(1, 42, 4))
    configure(rig, "Bone 3", target=target, chain_count=3)
    far = empty("Far", (0.0, 0.0, 50.0))
    assert far.name == "Far"
    empty_scene.frame_end = 6
    path = tmp_path / "rig.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    return path


def opened(path):
    bpy.ops.wm.open_mainfile(filepath=str(path))
    return bpy.data.objects["Rig"]


def test_a_bake_is_saved_to_another_file_and_the_input_stays(rig_file, tmp_path):
    before = rig_file.read_bytes()
    output = tmp_path / "baked with a space.blend"
    done = command("bake", rig_file, "--tip", "Bone 3", "--output", output)
    assert (done.returncode, done.stdout) == (DONE, "" if "Saved" not in done.stdout else done.stdout), done.stderr
    assert "Reached 6 of 6 frames" in done.stderr
    assert rig_file.read_bytes() == before
    rig = opened(output)
    assert key_frames(curves_of(rig)[0]) == [1, 2, 3, 4, 5, 6]
    keys = repr(all_keys(rig))
    opened(rig_file)
    bpy.ops.pose.ik_triangulation_bake()
    assert repr(all_keys(bpy.data.objects["Rig"])) == keys, "the operator writes other keys"


def test_a_bake_overwrites_its_input_only_when_told_to(rig_file):
    done = command(
        "bake", rig_file, "--tip", "Bone 3", "--frame-start", 2, "--frame-end", 8, "--step", 3, "--overwrite"
    )
    assert done.returncode == DONE, done.stderr
    assert key_frames(curves_of(opened(rig_file))[0]) == [2, 5, 8]


def test_a_report_is_given_as_json_on_standard_output_alone(rig_file):
    before = rig_file.read_bytes()
    done = command("bake", rig_file, "--tip", "Bone 3", "--target", "Far", "--discard", "--json")
    assert done.returncode == OUT_OF_TOLERANCE, done.stderr
    start = done.stdout.index("{")
    report = json.loads(done.stdout[start:])
    assert (report["frames"], report["reached"], report["target"]) == (6, 0, "Far")
    assert report["largest_distance"] == pytest.approx(50.0 - 0.98 * 4, abs=0.2)
    assert [frame["frame"] for frame in report["per_frame"]] == [1, 2, 3, 4, 5, 6]
    assert rig_file.read_bytes() == before


def test_a_solve_is_keyed_and_reported_to_a_file(rig_file, tmp_path):
    output, report = tmp_path / "posed.blend", tmp_path / "report.json"
    done = command(
        *("solve", rig_file, "--bones", "Bone 1", "Bone 3", "--target", "Target", "--solver", "ccd", "--frame", 4),
        *("--key", "--tolerance", 0.01, "--seed", 5, "--iterations", 200, "--output", output, "--json", report),
    )
    assert done.returncode == DONE, done.stderr
    told = json.loads(report.read_text(encoding="utf-8"))
    assert (told["solver"], told["frames"], told["keys"], told["tolerance"]) == ("CCD", 1, 8, 0.01)
    rig = opened(output)
    assert {curve.group.name for curve in curves_of(rig)} == {"Bone 1", "Bone 3"}
    assert {tuple(key_frames(curve)) for curve in curves_of(rig)} == {(4.0,)}


WRONG_USAGE = {
    "nothing": [],
    "an unknown command": ["dance"],
    "no place to save to": ["bake", "FILE", "--tip", "Bone 3"],
    "two places to save to": ["bake", "FILE", "--tip", "Bone 3", "--overwrite", "--discard"],
    "an unknown solver": ["bake", "FILE", "--tip", "Bone 3", "--discard", "--solver", "magic"],
    "a tolerance of zero": ["bake", "FILE", "--tip", "Bone 3", "--discard", "--tolerance", "0"],
    "a tolerance that is no number": ["bake", "FILE", "--tip", "Bone 3", "--discard", "--tolerance", "nan"],
    "a frame that is no number": ["solve", "FILE", "--tip", "Bone 3", "--discard", "--frame", "one"],
}
FAILURES = {
    "a file that is not there": (
        ["bake", "gone.blend", "--tip", "Bone 3", "--discard"],
        "There is no file 'gone.blend'",
    ),
    "no Blender file": (["bake", "README", "--tip", "Bone 3", "--discard"], "cannot be opened"),
    "the input as output": (["bake", "FILE", "--tip", "Bone 3", "--output", "FILE"], "is the input.*--overwrite"),
    "a folder that is not there": (
        ["bake", "FILE", "--tip", "Bone 3", "--output", "no/out.blend"],
        "cannot be written",
    ),
    "JSON into a folder": (["bake", "FILE", "--tip", "Bone 3", "--discard", "--json", "."], "cannot be written"),
    "an unknown bone": (["bake", "FILE", "--tip", "hand", "--discard"], "Bone 'hand' is not there.*'Bone 0', 'Bone 1'"),
    "an unknown target": (["bake", "FILE", "--tip", "Bone 3", "--target", "Cup", "--discard"], "'Cup'.*'Far'"),
    "an unknown armature": (["bake", "FILE", "--armature", "Bob", "--tip", "x", "--discard"], "'Bob'.*'Rig'"),
    "an unknown scene": (["bake", "FILE", "--scene", "Sea", "--tip", "Bone 3", "--discard"], "'Sea'.*'Scene'"),
    "no bones": (["bake", "FILE", "--discard"], "No bones are named. Say --tip BONE"),
    "no target": (["bake", "FILE", "--tip", "Bone 2", "--discard"], "No target is set"),
    "too long a chain": (["bake", "FILE", "--tip", "Bone 3", "--chain-length", "9", "--discard"], "Chain length 9"),
    "an empty range": (
        ["bake", "FILE", "--tip", "Bone 3", "--frame-start", "9", "--discard"],
        "The range ends at frame 6",
    ),
    "all limbs and one": (["bake", "FILE", "--all", "--tip", "Bone 3", "--discard"], "--all bakes every limb"),
    "nothing to overwrite": (["bake", "--tip", "Bone 3", "--overwrite"], "There is no file to overwrite"),
}


def in_place(words, rig_file):
    (rig_file.parent / "README").write_text("no .blend file", encoding="utf-8")
    names = {
        "FILE": rig_file,
        "README": rig_file.parent / "README",
        ".": rig_file.parent,
        "no/out.blend": "/no/out.blend",
    }
    return [names.get(word, word) for word in words]


@pytest.mark.parametrize("what", ["nothing", "two places to save to", "an unknown solver"])
def test_wrong_usage_is_told_with_exit_code_2(what, rig_file):
    done = command(*in_place(WRONG_USAGE[what], rig_file))
    assert done.returncode == USAGE
    assert "usage: ik_triangulation" in done.stderr


def test_a_failure_is_one_line_with_exit_code_1(rig_file):
    before = rig_file.read_bytes()
    done = command("bake", rig_file, "--tip", "hand", "--overwrite")
    assert done.returncode == FAILED
    lines = [line for line in done.stderr.splitlines() if line.startswith("IK Triangulation: ")]
    assert lines == [
        "IK Triangulation: Bone 'hand' is not there. Choose one of 'Bone 0', 'Bone 1', 'Bone 2', 'Bone 3'."
    ]
    assert "Traceback" not in done.stderr
    assert rig_file.read_bytes() == before


# The rest in this process: starting Blender takes a second each time.


@pytest.fixture
def run(addon, rig_file, capfd):
    """Run the command line here; exit code, standard output and standard error."""

    def here(words):
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        capfd.readouterr()
        code = main([str(word) for word in in_place(words, rig_file)])
        return code, *capfd.readouterr()

    return here


@pytest.mark.parametrize("what", WRONG_USAGE)
def test_wrong_usage(what, run):
    code, _, said = run(WRONG_USAGE[what])
    assert code == USAGE
    assert "usage: ik_triangulation" in said


@pytest.mark.parametrize("what", FAILURES)
def test_failures_are_told_in_one_line_and_leave_the_file(what, run, rig_file):
    words, message = FAILURES[what]
    before = rig_file.read_bytes()
    code, _, said = run(words)
    assert code == FAILED, said
    lines = [line for line in said.splitlines() if line.startswith("IK Triangulation: ")]
    assert len(lines) == 1
    assert re.search(message, lines[0]), lines[0]
    assert rig_file.read_bytes() == before


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        (["--help"], ["solve", "bake", "Exit codes: 0 done, 1 failed, 2 wrong usage, 3 done but out of tolerance"]),
        (["solve", "--help"], ["--frame", "--key", "--tip", "--tolerance", "--discard", "--json"]),
        (["bake", "--help"], ["--frame-start", "--frame-end", "--step", "--target", "--overwrite", "--output"]),
    ],
    ids=["top", "solve", "bake"],
)
def test_help_is_there_at_every_level(words, shown, run):
    code, said, _ = run(words)
    assert code == DONE
    assert [word for word in shown if word not in " ".join(said.split())] == []


def test_a_bake_out_of_tolerance_is_saved_all_the_same(run, rig_file, tmp_path):
    output = tmp_path / "far.blend"
    code, _, said = run(["bake", "FILE", "--tip", "Bone 3", "--target", "Far", "--output", output])
    assert code == OUT_OF_TOLERANCE
    assert "Reached 0 of 6 frames" in said
    assert len(curves_of(opened(output))) == 12


def test_the_open_file_is_worked_on_where_none_is_named(addon, rig_file, capfd):
    """As in blender --command, after Blender has read its file."""
    rig = opened(rig_file)
    assert main(["bake", "--tip", "Bone 3", "--no-finish", "--discard"]) == DONE
    assert len(curves_of(rig)) == 12
    assert "Reached 6 of 6" in capfd.readouterr().err


def test_another_scene_of_the_file_is_worked_in_when_named(run, rig_file):
    rig = opened(rig_file)
    second = bpy.data.scenes.new("Second")
    second.collection.objects.link(rig)
    second.collection.objects.link(bpy.data.objects["Target"])
    second.frame_end = 3
    bpy.ops.wm.save_mainfile()
    code, out, said = run(["bake", "FILE", "--scene", "Second", "--tip", "Bone 3", "--discard", "--json"])
    assert code == DONE, said
    assert json.loads(out[out.index("{") :])["frames"] == 3
    code, out, said = run(
        ["solve", "FILE", "--scene", "Second", "--tip", "Bone 3", "--frame", "9", "--discard", "--json"]
    )
    assert code == DONE, said
    assert json.loads(out[out.index("{") :])["per_frame"][0]["frame"] == 9


def test_all_limbs_are_baked_as_one(run, rig_file):
    rig = opened(rig_file)
    other = rig.pose.bones["Bone 0"].ik_triangulation
    other.target, other.chain_count, other.enabled = bpy.data.objects["Far"], 0, False
    rig.pose.bones["Bone 3"].ik_triangulation.interpolation = "CONSTANT"
    bpy.ops.wm.save_mainfile()
    code, out, said = run(["bake", "FILE", "--all", "--discard", "--json"])
    assert code == DONE, said
    assert "1 limbs reached 6 of 6 frames" in said
    assert [limb["tip"] for limb in json.loads(out[out.index("{") :])["limbs"]] == ["Bone 3"]
    assert {key.interpolation for c in curves_of(bpy.data.objects["Rig"]) for key in c.keyframe_points} == {"CONSTANT"}
    rig = opened(rig_file)
    rig.pose.bones["Bone 0"].ik_triangulation.enabled = True
    bpy.ops.wm.save_mainfile()
    code, out, said = run(["bake", "FILE", "--all", "--frame-end", "3", "--discard", "--json"])
    assert code == OUT_OF_TOLERANCE, said
    assert "2 limbs reached 3 of 6 frames" in said
    assert "Bone 0: Reached 0 of 3 frames" in said
    assert [limb["reached"] for limb in json.loads(out[out.index("{") :])["limbs"]] == [0, 3]


def test_several_armatures_ask_for_one(run, rig_file):
    opened(rig_file)
    chain_rig(2, name="Other")
    bpy.ops.wm.save_mainfile()
    code, _, said = run(["bake", "FILE", "--tip", "Bone 3", "--discard"])
    assert code == FAILED
    assert "has 2 armatures ('Rig', 'Other'). Say which with --armature NAME" in said
    assert run(["bake", "FILE", "--armature", "Rig", "--tip", "Bone 3", "--discard"])[0] == DONE


def test_a_target_that_is_given_has_no_bone_of_the_stored_one(run, rig_file):
    rig = opened(rig_file)
    other = chain_rig(2, name="Other")
    settings = rig.pose.bones["Bone 3"].ik_triangulation
    settings.target, settings.subtarget = other, "Bone 1"
    bpy.ops.wm.save_mainfile()
    words = ["bake", "FILE", "--armature", "Rig", "--tip", "Bone 3", "--target", "Target", "--discard", "--json"]
    code, out, said = run(words)
    assert code == DONE, said
    assert json.loads(out[out.index("{") :])["target"] == "Target"

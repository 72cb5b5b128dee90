# SPDX-License-Identifier: GPL-3.0-or-later
"""A list of shots is baked by one worker: what breaks costs its own line, and nothing is written over."""

import json
import shutil
import signal
import sys
from io import StringIO

import bpy
import pytest

from ik_triangulation.cli import bake_list, main
from ik_triangulation.cli.bake_list import ListedShot, line_numbers, shots_of, worker_start

from ..commands import DONE, FAILED, MISSED, ROOT, USAGE, opened
from ..rigs import curves_of

# The worker, in which a file of this name takes the process down as a crash of Blender does.
CRASHING = """
import os, sys
import bpy
import ik_triangulation
from ik_triangulation import cli
from ik_triangulation.cli import bake_list
executed = bake_list.execute
def execute(arguments, console):
    if "crash" in arguments.file.name:
        os.kill(os.getpid(), 9)
    return executed(arguments, console)
bake_list.execute = execute
ik_triangulation.register()
sys.exit(cli.main(sys.argv[1:]))
"""


@pytest.fixture
def shots(rig_file):
    """A folder with one shot, which others are copies of."""
    return rig_file.parent


@pytest.fixture
def baked(shots, tmp_path, capfd, monkeypatch):
    """Bake a list of these lines; exit code, standard output, standard error."""
    monkeypatch.setattr(bake_list, "worker_start", lambda: [sys.executable, "-c", CRASHING])
    monkeypatch.chdir(ROOT)

    def run(lines, *words):
        (shots / "shots.txt").write_text("\n".join(lines), encoding="utf-8")
        capfd.readouterr()
        code = main(["bake-list", str(shots / "shots.txt"), "--output", str(tmp_path / "baked"), "--all", *words])
        return code, *capfd.readouterr()

    return run


def report(path):
    return json.loads(path.read_text(encoding="utf-8"))


@pytest.mark.skipif(sys.platform == "win32", reason="signals as on Unix")
def test_a_crash_and_a_broken_file_cost_one_shot_each(addon, shots, baked, tmp_path):
    for name in ("a/ä b.blend", "a_ä b.blend", "crash.blend", "z.blend"):
        (shots / name).parent.mkdir(exist_ok=True)
        shutil.copy(shots / "rig.blend", shots / name)
    (shots / "broken.blend").write_text("no .blend file")
    before = (shots / "z.blend").read_bytes()
    out = tmp_path / "baked"
    out.mkdir()
    (out / "crash.json").write_text("of a run before")
    lines = [
        "\ufeff# the episode",
        "a\\ä b.blend",
        "",
        "a_ä b.blend",
        "crash.blend",
        "broken.blend",
        "none.blend",
        "../x.blend",
    ]
    code, _, said = baked([*lines, "z.blend", "z.blend"])
    assert code == FAILED
    assert said.splitlines()[-1] == "7 shots: 3 reached, 0 missed, 4 failed", said
    assert {path.relative_to(out).as_posix() for path in out.rglob("*.blend")} == {
        "a/ä b.blend",
        "a_ä b.blend",
        "z.blend",
    }
    for name in ("a/ä b", "a_ä b", "z"):
        found = report(out / f"{name}.json")
        assert (found["command"], found["file"], found["reached"]) == ("bake", str(shots / f"{name}.blend"), True)
        assert curves_of(opened(out / f"{name}.blend"))
    failed = {name: report(out / f"{name}.json")["error"] for name in ("crash", "broken", "none")}
    assert failed["crash"].startswith("Blender ended with exit code -9 while it baked")
    assert "cannot be opened" in failed["broken"]
    assert failed["none"].startswith("There is no file")
    assert "Line 8 of shots.txt is '../x.blend'. Name a .blend file in the folder of the list." in said
    assert (shots / "z.blend").read_bytes() == before


def test_the_exit_code_is_the_worst_and_lines_or_shots_are_chosen(addon, shots, baked, capfd, monkeypatch):
    lines = ["rig.blend", "#", "none.blend"]
    far = ["--target", "Far", "--tip", "Bone 3"]
    words = ["bake-list", str(shots / "shots.txt"), "--output", str(shots.parent / "baked")]
    (shots / "shots.txt").write_text("\n".join(lines), encoding="utf-8")
    assert main([*words, *far, "--lines", "1-2", "--openjd"]) == MISSED
    out, said = capfd.readouterr()
    assert said.splitlines()[-1] == "1 shots: 0 reached, 1 missed, 0 failed"
    assert out.split("\n")[:3] == [
        "openjd_status: rig.blend",
        "openjd_progress: 100.0",
        "openjd_status: rig.blend: missed: Bone 3 at 6 frames",
    ]
    told = iter([(DONE, ""), (MISSED, ""), (MISSED, "")])
    monkeypatch.setattr(bake_list, "_bake", lambda *_: next(told))  # what a worker says; each starts a Blender
    code, out, said = baked(lines, "--lines", "1-2", "--openjd")
    assert (code, said.splitlines()[-1]) == (DONE, "1 shots: 1 reached, 0 missed, 0 failed")
    assert out.split("\n")[2] == "openjd_status: rig.blend: reached"
    assert main([*words, *far, "--lines", "1"]) == MISSED
    assert main([*words, *far, "--shots", "rig.blend", "--accept-misses"]) == DONE


@pytest.mark.parametrize(
    "wrong", ["../a.blend", "a\\..\\..\\a.blend", "/srv/a.blend", "C:\\a.blend", "C:a.blend", "a.fbx"]
)
def test_a_line_that_names_no_file_in_the_folder_is_refused_with_the_reason(wrong, tmp_path):
    (tmp_path / "shots.txt").write_text(f"\ufeff# shots\n{wrong}\nb.blend\n", encoding="utf-8")
    reason = f"Line 2 of shots.txt is '{wrong}'. Name a .blend file in the folder of the list."
    assert shots_of(tmp_path / "shots.txt", None, None)[1] == [ListedShot(wrong, reason), ListedShot("b.blend")]
    assert shots_of(tmp_path, None, [wrong])[1][0].reason == reason.replace("Line 2 of shots.txt", "Shot 1")


def test_no_shot_is_written_over_another_one(addon, shots, baked, monkeypatch):
    monkeypatch.setattr(bake_list, "_bake", lambda *_: (DONE, ""))
    (shots / "sub").mkdir()
    shutil.copy(shots / "rig.blend", shots / "sub/rig.blend")
    before = (shots / "sub/rig.blend").read_bytes()
    (shots / "shots.txt").write_text("rig.blend\nsub/rig.blend")
    assert (
        main(["bake-list", str(shots / "shots.txt"), "--output", str(shots / "sub"), "--all", "--lines", "1"]) == FAILED
    )
    assert (shots / "sub/rig.blend").read_bytes() == before
    code, _, said = baked(["Rig.blend", "rig.blend"], "--lines", "2-3")
    assert code == FAILED
    assert "there is no line 3" in said
    code, _, said = baked([])
    assert (code, said) == (
        FAILED,
        f"IK Triangulation: '{shots / 'shots.txt'}' names no shots. Write the path of a .blend file on each line.\n",
    )


def test_a_worker_that_does_not_start_is_a_failure_with_its_reason(addon, baked, monkeypatch):
    for start, reason in (
        (["no such program"], "cannot be started"),
        ([sys.executable, "-c", "1"], "exit code 0 before"),
    ):
        monkeypatch.setattr(bake_list, "worker_start", lambda start=start: start)
        code, _, said = baked(["rig.blend"])
        assert code == FAILED
        assert reason in said


def test_a_worker_is_started_as_the_program_was(monkeypatch):
    assert bpy.app.binary_path or worker_start() == [sys.executable, "-m", "ik_triangulation"]
    monkeypatch.setattr(bpy.app, "binary_path", "/a/blender")
    for words, start in (
        (["blender", "-b", "-c", "ik_triangulation", "bake-list", "x"], ["-b", "-c", "ik_triangulation"]),
        (["blender", "-b", "x.blend", "-P", "script.py"], ["-b", "--command", "ik_triangulation"]),
    ):
        monkeypatch.setattr(sys, "argv", words)
        assert worker_start() == ["/a/blender", *start]


def test_lines_are_numbers_spans_and_steps(run):
    assert line_numbers("1-3,7, 10-14:2") == {1, 2, 3, 7, 10, 12, 14}
    for wrong in ("0", "3-1", "a", "1-9:0", ""):
        code, _, said = run("bake-list", "x.txt", "--output", "y", "--lines", wrong)
        assert code == USAGE
        assert "names no lines. Write them as 7, 1-20 or 3-5,9." in said


def test_a_worker_bakes_the_shots_that_come_on_its_input_and_answers_each(addon, shots, tmp_path, capfd, monkeypatch):
    out, about = tmp_path / "out/rig.blend", tmp_path / "out/rig.json"
    rows = [(shots / "rig.blend", out, about), (shots / "none.blend", tmp_path / "none.blend", tmp_path / "none.json")]
    lines = [json.dumps([str(path) for path in row]) for row in rows]
    monkeypatch.setattr(sys, "stdin", StringIO("\n".join(lines)))
    words = ["bake-list", "list.txt", "--output", str(tmp_path), "--worker", "WORD", "--tip", "Bone 3"]
    capfd.readouterr()
    assert main([*words, "--target", "Far", "--accept-misses"]) == DONE
    answers = [json.loads(row[4:]) for row in capfd.readouterr().out.splitlines() if row.startswith("WORD")]
    failure = f"There is no file '{shots / 'none.blend'}'. Name a .blend file."
    assert answers == [[DONE, ""], [MISSED, "Bone 3 at 6 frames"], [FAILED, failure]]
    assert (report(about)["reached"], report(about)["command"]) == (False, "bake")
    assert out.exists()
    assert report(tmp_path / "none.json")["error"] == failure
    assert not bpy.data.filepath, "what failed is closed"


def test_a_list_that_cannot_be_read_is_a_failure_of_the_job(addon, tmp_path, capfd):
    listed = tmp_path / "shots.txt"
    for content, reason in ((None, "No such file or directory"), (b"\xff", "codec can't decode byte")):
        if content:
            listed.write_bytes(content)
        for words in ([], ["--openjd"]):
            assert main(["bake-list", str(listed), "--output", str(tmp_path), "--all", *words]) == FAILED
            out, said = capfd.readouterr()
            assert f"IK Triangulation: The list of shots '{listed}' cannot be read: " in said
            assert reason in said
            assert out == (f"openjd_fail: {said.removeprefix('IK Triangulation: ')}" if words else "")


def test_a_shot_whose_folder_cannot_be_made_fails_alone_and_the_job_is_told(addon, shots, baked, tmp_path):
    (tmp_path / "baked").mkdir()
    (tmp_path / "baked/a").write_text("no folder")
    code, out, said = baked(["a/rig.blend", "b.fbx"], "--openjd")
    assert code == FAILED
    first = f"a/rig.blend: failed: '{tmp_path / 'baked/a'}' cannot be written: File exists."
    other = "b.fbx: failed: Line 2 of shots.txt is 'b.fbx'. Name a .blend file in the folder of the list."
    assert out.splitlines() == [
        "openjd_status: a/rig.blend", "openjd_progress: 50.0", f"openjd_status: {first}", f"openjd_fail: {first}",
        "openjd_status: b.fbx", "openjd_progress: 100.0", f"openjd_status: {other}", f"openjd_fail: {other}",
    ]  # fmt: skip
    assert said.splitlines() == [f"1 of 2: {first}", f"2 of 2: {other}", "2 shots: 0 reached, 0 missed, 2 failed"]


@pytest.mark.skipif(sys.platform == "win32", reason="signals as on Unix")
def test_a_list_that_is_stopped_leaves_by_the_signal_and_gives_it_back(addon, baked, monkeypatch):
    before = signal.getsignal(signal.SIGTERM)
    monkeypatch.setattr(bake_list, "_bake", lambda *_: signal.raise_signal(signal.SIGTERM))
    with pytest.raises(SystemExit) as left:
        baked(["rig.blend"])
    assert left.value.code == 128 + signal.SIGTERM
    assert signal.getsignal(signal.SIGTERM) == before

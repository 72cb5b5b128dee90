# SPDX-License-Identifier: GPL-3.0-or-later
"""The command line, in a process of its own: exit codes, files, JSON and messages."""

import json
import re
from math import pi
from pathlib import Path

import bpy
import pytest

from ik_triangulation.cli import main

from ..commands import DONE, FAILED, MISSED, USAGE, only_limb, opened
from ..rigs import all_keys, curves_of, empty, evaluated_tip, key_frames
from ..terrains import terrain


def test_a_bake_is_saved_to_another_file_and_the_input_stays(rig_file, tmp_path, command):
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


def test_a_bake_overwrites_its_input_only_when_told_to(rig_file, command):
    done = command(
        "bake", rig_file, "--tip", "Bone 3", "--frame-start", 2, "--frame-end", 8, "--step", 3, "--overwrite"
    )
    assert done.returncode == DONE, done.stderr
    assert key_frames(curves_of(opened(rig_file))[0]) == [2, 5, 8]


@pytest.mark.parametrize(("words", "within"), [([], 0.005 * 3.0), ([0.04], 0.04)], ids=["default", "distance"])
def test_a_bake_drops_keys_when_told_to(rig_file, words, within, command):
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


def test_a_bake_keeps_every_key_when_told_to(rig_file, command):
    rig = opened(rig_file)
    rig.pose.bones["Bone 3"].ik_triangulation.reduce = True
    bpy.ops.wm.save_mainfile()
    assert command("bake", rig_file, "--tip", "Bone 3", "--overwrite", "--no-reduce").returncode == DONE
    assert key_frames(curves_of(opened(rig_file))[0]) == [1, 2, 3, 4, 5, 6]


def test_a_report_is_given_as_json_on_standard_output_alone(rig_file, command):
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


def test_a_solve_is_keyed_and_reported_to_a_file(rig_file, tmp_path, command):
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


HERE = Path(__file__).parent
FAILURES = {
    "a file that is not there": (
        ["bake", "gone.blend", "--tip", "Bone 3", "--discard"],
        "There is no file 'gone.blend'",
    ),
    "no Blender file": (["bake", __file__, "--tip", "Bone 3", "--discard"], "cannot be opened"),
    "the input as output": (["bake", "FILE", "--tip", "Bone 3", "--output", "FILE"], "is the input.*--overwrite"),
    "a folder that is not there": (
        ["bake", "FILE", "--tip", "Bone 3", "--output", "/no/out.blend"],
        "cannot be written",
    ),
    "JSON into a folder": (
        ["bake", "FILE", "--tip", "Bone 3", "--discard", "--json", Path(__file__).parent],
        "cannot be written",
    ),
    "an unknown bone": (["bake", "FILE", "--tip", "hand", "--discard"], "'hand' does not exist.*'Bone 0', 'Bone 1'"),
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
    "a tip above the last bone": (
        ["bake", "FILE", "--bones", "Bone 2", "Bone 3", "--tip", "Bone 2", "--discard"],
        "'Bone 2' is not the last of the bones named. Use either --tip or --bones",
    ),
    "a body that is none": (["bake", "FILE", "--body", "--discard"], "No limbs of 'Rig' are solved together"),
    "a body and a setting of limbs": (
        ["bake", "FILE", "--body", "--pole-weight", "0.5", "--discard"],
        "--pole-weight is for single limbs",
    ),
    "a body and a chain": (["reach", "FILE", "--body", "--chain-length", "2", "--discard"], "--chain-length is for"),
    "an unknown preset": (["bake", "FILE", "--tip", "Bone 3", "--preset", "Tail of", "--discard"], "'Tail of'"),
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


@pytest.mark.parametrize("command_words", [["solve"], ["bake"]], ids=["solve", "bake"])
def test_json_tells_angles_limits_and_costs(command_words, run):
    words = [*command_words, "FILE", "--tip", "Bone 3", "--orientation", "direction", "--discard", "--json"]
    code, out, said = run(*words)
    assert code == DONE, said
    report = only_limb(out)
    assert 0.0 <= report["largest_angle"] < pi
    assert report["on_limits"] == {}
    assert set(report["cost"]) == {"turns", "total_angle", "travel"}
    assert report["cost"]["turns"] == sum(frame["cost"]["turns"] for frame in report["per_frame"])
    assert report["cost"]["total_angle"] > 0.0
    assert all({"angle", "on_limits", "cost", "distance", "reached"} <= set(frame) for frame in report["per_frame"])
    code, out, said = run(*command_words, "FILE", "--tip", "Bone 3", "--discard", "--json")
    assert only_limb(out)["largest_angle"] is None
    assert "orientation" not in said


def test_a_pose_outside_its_limits_is_warned_of(run, rig_file):
    rig = opened(rig_file)
    bone = rig.pose.bones["Bone 2"]
    bone.lock_ik_y = bone.lock_ik_z = True
    bone.rotation_quaternion = (0.8, 0.0, 0.0, 0.6)
    bpy.ops.wm.save_mainfile()
    code, out, said = run("solve", "FILE", "--tip", "Bone 3", "--discard", "--json")
    assert code == DONE, said
    assert "Warning: 'Bone 2' stood outside the limits at frame 1 and had to be moved inside." in said
    assert len(only_limb(out)["warnings"]) == 1


@pytest.mark.parametrize("what", FAILURES)
def test_failures_are_told_in_one_line_and_leave_the_file(what, run, rig_file):
    words, message = FAILURES[what]
    before = rig_file.read_bytes()
    code, _, said = run(*words)
    assert code == FAILED, said
    lines = [line for line in said.splitlines() if line.startswith("IK Triangulation: ")]
    assert len(lines) == 1
    assert re.search(message, lines[0]), lines[0]
    assert rig_file.read_bytes() == before


def test_a_bake_out_of_tolerance_is_saved_all_the_same(run, rig_file, tmp_path):
    output = tmp_path / "far.blend"
    code, _, said = run("bake", "FILE", "--tip", "Bone 3", "--target", "Far", "--output", output)
    assert code == MISSED
    assert "Reached 0 of 6 frames" in said
    assert len(curves_of(opened(output))) == 12


def test_a_reach_is_saved_with_the_keys_of_the_operator(run, rig_file, tmp_path):
    output = tmp_path / "reached.blend"
    when = ["--frame-start", 2, "--frame-end", 9, "--hold", 3, "--return", 4]
    how = ["--path", "arc", "--onset", 0.5, "--timing", "sine", "--easing", "ease_in"]
    code, out, said = run("reach", "FILE", "--tip", "Bone 3", *when, *how, "--output", output, "--json")
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
    code, out, said = run(*words, "--output", output, "--json")
    assert code == DONE, said
    report = only_limb(out)
    assert report["target"] == "Target, Cup:2, Target"
    assert [frame["frame"] for frame in report["per_frame"] if frame["due"]] == [10, *range(20, 26), 40]
    assert report["reached"] == 8
    assert key_frames(curves_of(opened(output))[0]) == list(range(1, 41))


@pytest.mark.parametrize("by", ["constraint", "keys"])
def test_a_target_is_taken_and_let_go(run, rig_file, tmp_path, by):
    output = tmp_path / "reached.blend"
    empty("Cup", (0.5, -0.8, 2.0))
    bpy.ops.wm.save_mainfile()
    words = ["reach", "FILE", "--tip", "Bone 3", "--stops", "Cup:10:take", "Target:20:2:give", "--prop-by", by]
    code, _, said = run(*words, "--output", output)
    assert code == DONE, said
    opened(output)
    cup, places = bpy.data.objects["Cup"], []
    for frame in (1, 10, 20, 40):
        bpy.context.scene.frame_set(frame)
        places.append(cup.matrix_world.translation.copy())
    assert (places[1] - places[0]).length < 1e-5
    assert (places[2] - places[1]).length > 0.1
    assert (places[3] - places[2]).length < 1e-5
    assert len(cup.constraints) == (by == "constraint")


def test_a_reach_out_of_reach_is_told(run):
    code, _, said = run("reach", "FILE", "--tip", "Bone 3", "--target", "Far", "--frame-end", 9, "--discard")
    assert code == MISSED
    assert "Not reached, distance" in said


def test_the_open_file_is_worked_on_where_none_is_named(addon, rig_file, capfd):
    """As in blender --command, after Blender has read its file."""
    rig = opened(rig_file)
    assert main(["bake", "--tip", "Bone 3", "--no-finish", "--discard"]) == DONE
    assert len(curves_of(rig)) == 12
    assert "Reached 6 of 6" in capfd.readouterr().err


def test_a_hand_that_is_turned_wrong_is_a_miss_unless_the_angle_is_tolerated(rig_file, command):
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


def test_an_influence_below_1_at_every_frame_is_no_miss_and_told(rig_file, command):
    done = command("bake", rig_file, "--tip", "Bone 3", "--influence", 0.5, "--discard", "--json")
    assert done.returncode == DONE, done.stderr
    assert "Influence is below 1 at every frame" in done.stderr
    report = only_limb(done.stdout)
    assert (report["due"], report["reached"]) == (0, 0)
    assert report["largest_distance"] == max(frame["distance"] for frame in report["per_frame"]) > 0.01


def test_an_influence_that_is_keyed_is_followed_unless_one_is_given(rig_file, command):
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


def test_a_mesh_is_reached_by_its_surface_when_told_to(rig_file, tmp_path, command):
    opened(rig_file)
    ground = terrain(lambda x, y: 2.5)
    bpy.ops.wm.save_mainfile()
    output = tmp_path / "on the ground.blend"
    words = ("--target", ground.name, "--shape", "surface", "--surface-offset", 0.25, "--output", output)
    done = command("bake", rig_file, "--tip", "Bone 3", *words)
    assert done.returncode == DONE, done.stderr
    rig = opened(output)
    for frame in range(1, 7):
        bpy.context.scene.frame_set(frame)
        assert evaluated_tip(rig, "Bone 3").z == pytest.approx(2.75, abs=1e-3)

# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies on the command line: held tips, hips and balance, and a part of the report for each tip."""

import json

import bpy
import pytest

from ..bodies import FEET, HANDS, SMALL, set_up_rig, sliding_rig, tails
from ..commands import DONE, FAILED, MISSED, ROOT, opened, told
from ..rigs import chain_rig, configure, curves_of, empty, key_location

LAST = 12
SCHEMA = json.loads((ROOT / "docs/report.schema.json").read_text(encoding="utf-8"))


@pytest.fixture
def body_file(empty_scene, tmp_path):
    set_up_rig(LAST, SMALL)
    path = tmp_path / "body.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    return path


def test_a_body_is_baked_with_a_part_of_the_report_for_each_tip(body_file, tmp_path, command):
    done = command("bake", body_file, "--body", "--output", tmp_path / "out.blend", "--json")
    assert done.returncode == DONE, done.stderr
    part = told(done.stdout)["body"]
    assert [tip["tip"] for tip in part["tips"]] == [*FEET, *HANDS]
    assert [tip["held"] for tip in part["tips"]] == [True, True, False, False]
    assert all(tip["reached"] for tip in part["tips"])
    assert (part["hips"], part["frames"], part["centre_of_mass_outside"]) == ("spine", LAST, 0.0)
    assert f"Reached {LAST} of {LAST} frames" in done.stderr
    paths = {curve.data_path for curve in curves_of(opened(tmp_path / "out.blend"))}
    assert 'pose.bones["spine"].location' in paths


def test_a_body_that_misses_is_at_the_top_of_the_report_as_limbs_are(body_file, command):
    jsonschema = pytest.importorskip("jsonschema")
    opened(body_file)
    target = bpy.data.objects["hand.L Target"]
    target.animation_data_clear()
    target.location.x += 9.0
    bpy.ops.wm.save_mainfile()
    done = command("bake", body_file, "--body", "--frame-end", "2", "--discard", "--json")
    assert done.returncode == MISSED, done.stderr
    report = told(done.stdout)
    jsonschema.Draft202012Validator(SCHEMA).validate(report)
    tips = {tip["tip"]: tip for tip in report["tips"]}
    assert [*tips] == [*FEET, *HANDS]
    assert (report["reached"], report["missed"]) == (False, [1, 2])
    assert (tips["hand.L"]["reached"], tips["hand.L"]["missed"]) == (False, [1, 2])
    assert tips["hand.L"]["largest_distance"] >= tips["hand.L"]["median_distance"] > 7.0
    assert tips["hand.L"]["worst_frame"] in (1, 2)
    assert all(tips[name]["held"] and tips[name]["largest_angle"] is not None for name in FEET)
    part = report["body"]
    assert (part["reached"], part["missed"]) == (False, [1, 2])
    assert [tip["largest_distance"] for tip in part["tips"]] == [tip["largest_distance"] for tip in report["tips"]]


def test_held_tips_hips_and_balance_can_be_given(body_file, tmp_path, command):
    rig = opened(body_file)
    for name in FEET:
        rig.pose.bones[name].ik_triangulation.hold = False
    bpy.ops.wm.save_mainfile()
    words = ["--hold", *FEET, "--hips", "spine", "--hips-motion", "up_down", "--no-balance"]
    done = command("bake", body_file, *words, "--discard", "--json", tmp_path / "report.json")
    assert done.returncode == DONE, done.stderr
    part = json.loads((tmp_path / "report.json").read_text())["body"]
    assert [tip["tip"] for tip in part["tips"] if tip["held"]] == list(FEET)
    assert part["centre_of_mass_outside"] is None


def test_the_options_of_keys_are_those_of_limbs(body_file, tmp_path, command):
    words = ["--step", "3", "--frame-end", "10", "--interpolation", "linear", "--destination", "nla_track"]
    done = command("bake", body_file, "--body", *words, "--output", tmp_path / "out.blend", "--json")
    assert done.returncode == DONE, done.stderr
    part = told(done.stdout)["body"]
    assert (part["frames"], part["keys"], part["full_keys"]) == (4, part["full_keys"], part["keys"])
    rig = opened(tmp_path / "out.blend")
    assert not curves_of(rig)
    assert len(rig.animation_data.nla_tracks) == 1
    done = command("bake", body_file, "--body", "--reduce", "0.05", "--discard", "--accept-misses", "--json")
    assert done.returncode == DONE, done.stderr
    part = told(done.stdout)["body"]
    assert part["keys"] < 0.5 * part["full_keys"]
    assert all(tip["largest_distance"] < 0.052 for tip in part["tips"])


def test_obstacles_and_comfort_are_given_to_all_limbs_of_a_body(body_file, tmp_path, command):
    opened(body_file)
    ball = empty("Ball", (0.3, -0.1, 1.2))
    ball.empty_display_type, ball.empty_display_size = "SPHERE", 0.1
    bpy.data.collections.new("Balls").objects.link(ball)
    bpy.data.collections["Balls"].use_fake_user = True
    bpy.ops.wm.save_mainfile()
    keys = []
    for words in ((), ("--obstacles", "Balls", "--obstacle-margin", "0.05"), ("--effort-weight", "0.5")):
        words = ["--body", "--frame-end", "6", *words, "--accept-misses"]
        done = command("bake", body_file, *words, "--output", tmp_path / "out.blend", "--json")
        assert done.returncode == DONE, done.stderr
        curves = curves_of(opened(tmp_path / "out.blend"))
        keys.append([tuple(key.co) for curve in curves for key in curve.keyframe_points])
    assert keys[1] != keys[0] != keys[2] != keys[1]


def test_all_bakes_the_body_and_the_limbs_beside_it(body_file, tmp_path, command):
    rig = opened(body_file)
    other, target = chain_rig(3, "Crane"), key_location(empty("Hook", (0.3, 0.2, 1.5)), (1, 12))
    configure(other, "Bone 2", target=target, chain_count=3)
    assert rig.name == "Rig"
    bpy.ops.wm.save_mainfile()
    done = command("bake", body_file, "--all", "--accept-misses", "--output", tmp_path / "out.blend", "--json")
    assert done.returncode == DONE, done.stderr
    report = told(done.stdout)
    assert [tip["tip"] for body in report["bodies"] for tip in body["tips"]] == [*FEET, *HANDS]
    assert [limb["tip"] for limb in report["limbs"]] == ["Bone 2"]
    assert curves_of(opened(tmp_path / "out.blend"))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--body", "--target", "Cup"], "--target is for single limbs"),
        (["--body", "--hips", "hand.L"], "'hand.L' is not above all tips"),
        (["--hold", "nose"], "nose"),
        (["--body", "--solver", "ccd"], "--solver is for single limbs"),
        (["--body", "--obstacles", "Walls"], "Collection 'Walls'"),
    ],
)
def test_what_cannot_be_done_is_told_and_no_file_is_changed(body_file, words, said, command):
    before = body_file.read_bytes()
    done = command("bake", body_file, *words, "--overwrite")
    assert (done.returncode, said in done.stderr) == (FAILED, True), done.stderr
    assert body_file.read_bytes() == before


def test_a_body_reaches_for_its_targets_with_a_part_of_the_report_for_each_tip(body_file, tmp_path, command):
    words = ["--body", "--tip", "hand.L", "--frame-start", "1", "--frame-end", "10", "--hold", "2", "--return", "6"]
    done = command("reach", body_file, *words, "--output", tmp_path / "out.blend", "--json")
    assert done.returncode == DONE, done.stderr
    part = told(done.stdout)["body"]
    assert [tip["held"] for tip in part["tips"]] == [True, True, False, False]
    assert all(tip["reached"] for tip in part["tips"])
    assert part["frames"] == 18
    paths = {curve.data_path for curve in curves_of(opened(tmp_path / "out.blend"))}
    assert 'pose.bones["spine"].location' in paths


def test_a_reach_of_a_body_names_what_it_cannot_do(body_file, command):
    done = command("reach", body_file, "--body", "--solver", "ccd", "--overwrite")
    assert (done.returncode, "--solver is for single limbs" in done.stderr) == (FAILED, True), done.stderr


def test_contacts_are_found_held_and_reported(empty_scene, tmp_path, command):
    sliding_rig(24)
    path, out = tmp_path / "recorded.blend", tmp_path / "out.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    done = command("bake", path, "--contacts", "--output", out, "--json", "--frame-end", "20")
    assert done.returncode == DONE, done.stderr
    part = told(done.stdout)["body"]
    assert [tip["tip"] for tip in part["tips"]] == list(FEET)
    assert {contact["tip"] for contact in part["contacts"]} == set(FEET)
    assert max(contact["frame_end"] for contact in part["contacts"]) == 20
    places = tails(opened(out), "foot.R", range(1, 21))
    assert max((place - places[0]).length for place in places) < 1e-3


def test_meshes_that_contacts_are_looked_for_on_are_named(empty_scene, tmp_path, command):
    sliding_rig(6)
    path, out = tmp_path / "recorded.blend", tmp_path / "out.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    done = command("bake", path, "--contacts", "--on", "Cart", "--output", out)
    assert (done.returncode, "'Cart' is not in this scene" in done.stderr) == (FAILED, True), done.stderr
    done = command("bake", path, "--body", "--on", "Cart", "--output", out)
    assert (done.returncode, "Give --contacts as well" in done.stderr) == (FAILED, True), done.stderr


def test_a_foot_that_slips_is_missed_whatever_else_is_reached(body_file, tmp_path, command):
    """The exit code, the report and the markers say so, with the reason."""
    rig = opened(body_file)
    limit = rig.pose.bones["shin.L"].constraints.new("LIMIT_ROTATION")
    limit.owner_space, limit.use_limit_x = "LOCAL", True
    for name in (*FEET, *HANDS):
        rig.pose.bones[name].ik_triangulation.mark_misses = True
    bpy.ops.wm.save_mainfile()
    done = command("bake", body_file, "--body", "--output", tmp_path / "out.blend", "--json")
    assert done.returncode == MISSED, done.stderr
    said = told(done.stdout)
    by_tip = {tip["tip"]: tip for tip in said["body"]["tips"]}
    assert (by_tip["foot.L"]["reached"], by_tip["foot.R"]["reached"]) == (False, True)
    assert by_tip["foot.L"]["missed"]
    assert any("'Limit Rotation' on 'shin.L' moves the tip of 'foot.L'" in warning for warning in said["warnings"])
    assert "foot.L slips" in done.stderr
    opened(tmp_path / "out.blend")
    assert any(marker.name.startswith("Rig: foot.L misses") for marker in bpy.context.scene.timeline_markers)

# SPDX-License-Identifier: GPL-3.0-or-later
"""Comparing solvers and mapping a chain: from Python, as an operator and on the command line; nothing is changed."""

import json
import re

import bpy
import numpy as np
import pytest
from mathutils import Vector

from ik_triangulation.cli import main
from ik_triangulation.cooperative import run_through
from ik_triangulation.errors import IKError, RigError, SettingError, TargetError
from ik_triangulation.goals import Point
from ik_triangulation.jobs import compare as analyse
from ik_triangulation.jobs.bake import solve_pose
from ik_triangulation.maps import chain_map
from ik_triangulation.maps import properties as map_properties
from ik_triangulation.maps.colours import SCALES
from ik_triangulation.maps.images import show
from ik_triangulation.maps.metric_map import METRICS, map_plane, map_pose
from ik_triangulation.rig.limb import Limb
from ik_triangulation.solvers import SOLVERS, SolverSettings, solve, solve_goal
from ik_triangulation.solvers import compare as compare_module
from ik_triangulation.solvers.compare import COSTS
from ik_triangulation.solvers.compare import compare_solvers as compare_pose

from .chains import GENERAL
from .rigs import (
    chain_rig,
    configure,
    empty,
    evaluated_tip,
    key_location,
    nothing_lost,
    path_point,
    place,
    select,
)

DONE, FAILED, USAGE, OUT_OF_TOLERANCE = 0, 1, 2, 3
QUICK = ["CCD", "TRIANGULATION", "FABRIK"]

pytestmark = pytest.mark.usefixtures("empty_scene")


def standard(bones=4, **settings):
    """A rig and a moving target, with settings on the tip bone; a target out of reach is there as well."""
    rig, target = chain_rig(bones), key_location(empty(), range(1, 42, 4))
    configure(rig, f"Bone {bones - 1}", target=target, chain_count=3, **settings)
    empty("Far", (0.0, 0.0, 50.0))
    bpy.context.scene.frame_set(1)
    return rig, target


def limb_of(rig, target, **settings):
    return Limb.from_tip(rig, rig.pose.bones[-1].name, target, 3, **settings)


def without_time(rows):
    return [row._replace(seconds=0.0) for row in rows]


# Compare


def test_the_present_frame_is_compared_and_nothing_changed():
    rig, target = standard()
    bpy.context.scene.frame_set(9, subframe=0.5)
    bpy.context.view_layer.update()
    limb = limb_of(rig, target)
    with nothing_lost():
        rows = analyse.compare(limb)
    assert {row.solver for row in rows} == set(SOLVERS)
    assert rows[-1].solver == "TWO_BONE"
    assert "two" in rows[-1].refusal.lower()
    assert {(row.tasks, row.reached) for row in rows[:-1]} == {(1, 1)}
    assert [row.total_angle for row in rows[:-1]] == sorted(row.total_angle for row in rows[:-1])
    start = chain_map.pose_of(rig, limb.bones, bpy.context.view_layer)
    there = Point(target.matrix_world.translation)
    again = compare_pose(start, there, tolerance=limb.tolerance, iterations=limb.iterations)
    assert without_time(rows) == without_time(again)


def test_what_is_compared_is_what_a_solve_does():
    rig, target = standard()
    row = analyse.compare(limb_of(rig, target, solver="CCD"), solvers=["CCD"])[0]
    report = solve_pose(limb_of(rig, target, solver="CCD"))
    assert (row.error, row.total_angle) == pytest.approx((report.worst.error, report.cost.total_angle), abs=1e-6)


def test_several_frames_are_summed_up_and_nothing_changed():
    rig, target = standard()
    bone = rig.pose.bones["Bone 1"]
    bone.rotation_quaternion = (0.9, 0.3, 0.1, 0.0)
    bone.keyframe_insert("rotation_quaternion", frame=1)
    bone.rotation_quaternion = (0.7, -0.3, 0.1, 0.4)
    bone.keyframe_insert("rotation_quaternion", frame=15)
    bpy.context.scene.frame_set(7)
    limb, frames = limb_of(rig, target), range(3, 16, 4)
    with nothing_lost():
        rows = analyse.compare(limb, frames, QUICK)
    summed = dict.fromkeys(QUICK, 0.0)
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        start = chain_map.pose_of(rig, limb.bones, bpy.context.view_layer)
        for solver in QUICK:
            summed[solver] += solve(start, Point(path_at(target)), solver=solver).cost.total_angle
    assert {row.solver: row.total_angle for row in rows} == pytest.approx(summed, rel=1e-3)
    assert {(row.tasks, row.reached) for row in rows} == {(4, 4)}


def path_at(target):
    return target.evaluated_get(bpy.context.evaluated_depsgraph_get()).matrix_world.translation.copy()


def test_a_frame_of_a_range_is_the_same_as_that_frame_alone():
    rig, target = standard()
    limb = limb_of(rig, target)
    bpy.context.scene.frame_set(5)
    alone = analyse.compare(limb, solvers=QUICK)
    bpy.context.scene.frame_set(30)
    assert without_time(analyse.compare(limb, [5], QUICK)) == without_time(alone)


def test_reading_for_a_moment_at_a_time_changes_nothing():
    rig, target = standard()
    limb, frames = limb_of(rig, target), range(1, 12)
    at_once = analyse.compare(limb, frames, QUICK)
    with nothing_lost():
        in_parts = run_through(analyse.comparing(limb, frames, QUICK, seconds=0.0))
    assert without_time(in_parts) == without_time(at_once)


@pytest.mark.parametrize("by", COSTS)
def test_the_cheapest_by_any_cost_comes_first(by):
    rig, target = standard()
    values = [getattr(row, by) for row in analyse.compare(limb_of(rig, target), solvers=GENERAL[:6], by=by)]
    assert values == sorted(values)


def test_the_seed_of_the_limb_is_taken(monkeypatch):
    rig, target = standard()
    seeds = []
    monkeypatch.setattr(compare_module, "solve_goal", lambda *words: seeds.append(words[-1].seed) or solve_goal(*words))
    analyse.compare(limb_of(rig, target, seed=7), [1, 2], QUICK)
    assert seeds == [7] * 6


def test_rigs_elsewhere_are_compared_where_they_are():
    rig, target = standard()
    rig.location, rig.rotation_euler, rig.scale = (1.0, 2.0, 3.0), (0.4, 0.5, 0.6), (2.0, 2.0, 2.0)
    target.animation_data_clear()
    bpy.context.view_layer.update()
    target.location = rig.matrix_world @ Vector((0.5, 0.3, 2.5))
    row = analyse.compare(limb_of(rig, target), solvers=["CCD"])[0]
    assert row.reached == 1


@pytest.mark.parametrize(
    ("how", "error", "message"),
    [
        ("no frames", SettingError, "There is no frame to compare at. Give one"),
        ("unknown cost", SettingError, "Cost 'beauty' is unknown. Choose one of error"),
        ("unknown solver", SettingError, "Solver 'MAGIC' is unknown. Choose one of"),
        ("rest position", RigError, "'Rig' shows its Rest Position"),
        ("no such shape", TargetError, "'Target' has no force field"),
        ("flat rig", RigError, "'Rig' .* has zero scale on X"),
        ("target elsewhere", TargetError, "Target 'Target' is not in this scene"),
    ],
)
def test_what_cannot_be_compared_is_refused_and_leaves_everything(how, error, message):
    rig, target = standard()
    limb, words = limb_of(rig, target, shape="FIELD" if how == "no such shape" else "AUTO"), {}
    if how == "no frames":
        words["frames"] = []
    elif how == "unknown cost":
        words["by"] = "beauty"
    elif how == "unknown solver":
        words["solvers"] = ["MAGIC"]
    elif how == "rest position":
        rig.data.pose_position = "REST"
    elif how == "flat rig":
        rig.scale.x = 0.0
    elif how == "target elsewhere":
        bpy.context.scene.collection.objects.unlink(target)
    with nothing_lost(), pytest.raises(error, match=message):
        analyse.compare(limb, **words)
    if how != "no frames":
        with nothing_lost(), pytest.raises(error, match=message):
            analyse.compare(limb, **{"frames": [1, 2], **words})


# Map


def test_a_chain_is_mapped_as_it_is_posed_and_nothing_changed():
    rig, _ = standard(3)
    rig.pose.bones["Bone 1"].rotation_quaternion = (0.9, 0.4, 0.0, 0.0)
    bpy.context.view_layer.update()
    names = [bone.name for bone in rig.pose.bones]
    told = []
    with nothing_lost():
        found = chain_map.map_chain(rig, names, "CCD", 12, finish=False, progress=told.append)
    start = chain_map.pose_of(rig, names, bpy.context.view_layer)
    alone = map_pose(
        start, *map_plane(start), SolverSettings(solver="CCD", iterations=20, finish=False), size=12, tolerance=0.01
    )
    for metric in METRICS:
        assert np.array_equal(found.metric(metric), alone.metric(metric))
    assert told == pytest.approx([(n + 1) / 12 for n in range(12)])
    assert (start.tip - evaluated_tip(rig, "Bone 2")).length < 1e-5


def test_a_map_that_is_stopped_changes_nothing():
    rig, _ = standard(3)

    class StopError(Exception):
        pass

    def stop(share):
        raise StopError

    with nothing_lost(), pytest.raises(StopError):
        chain_map.map_chain(rig, ["Bone 0", "Bone 1"], "CCD", 8, progress=stop)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"bones": ["Bone 0", "hand"]}, "Bone 'hand' is not in 'Rig'"),
        ({"bones": []}, "No bones are selected"),
        ({"bones": ["Bone 1", "Other"]}, "is not a descendant of"),
        ({"solver": "TWO_BONE"}, "two"),
        ({"solver": "MAGIC"}, "Solver 'MAGIC' is unknown"),
        ({"size": 0}, "0 pixels make no map. Give it"),
        ({"tolerance": 0.0}, "Tolerance 0.0 is not a distance"),
        ({"iterations": -1}, "-1 iterations cannot be done"),
    ],
)
def test_what_cannot_be_mapped_is_refused(words, message):
    rig, _ = standard(3)
    bpy.ops.object.mode_set(mode="EDIT")
    rig.data.edit_bones.new("Other").tail = (0.0, 0.0, 1.0)
    bpy.ops.object.mode_set(mode="POSE")
    with nothing_lost(), pytest.raises(IKError, match=message):
        chain_map.map_chain(rig, **{"bones": ["Bone 0", "Bone 1", "Bone 2"], "size": 8, **words})


# Images


def pixels(image):
    """Pixels as Blender has them, the bottom row first, as bytes."""
    values = np.empty(len(image.pixels), dtype=np.float32)
    image.pixels.foreach_get(values)
    width, height = image.size
    return np.rint(values.reshape(height, width, 4) * 255.0).astype(np.uint8)


def colours(height, width, seed=0):
    return np.random.default_rng(seed).integers(0, 256, (height, width, 4), dtype=np.uint8)


def test_an_image_has_the_top_row_of_the_array_at_its_top():
    array = colours(3, 5)
    image = show("Picture", array)
    assert tuple(image.size) == (5, 3)
    assert np.array_equal(pixels(image)[::-1], array)
    assert image.packed_file is not None


def test_an_image_is_replaced_whatever_its_size_and_users_see_the_new_one():
    image = show("Picture", colours(4, 4))
    texture = bpy.data.textures.new("Texture", "IMAGE")
    texture.image = image
    for number, (height, width) in enumerate([(4, 4), (4, 4), (6, 3), (2, 2)], 1):
        array = colours(height, width, number)
        assert show("Picture", array) == image
        assert tuple(image.size) == (width, height)
        assert np.array_equal(pixels(image)[::-1], array)
    assert [image.name for image in bpy.data.images] == ["Picture"]
    assert texture.image == image


def test_an_image_stays_in_the_file(tmp_path):
    array = colours(5, 4)
    show("Picture", colours(8, 8)).use_fake_user = True
    show("Picture", array)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "file.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "file.blend"))
    image = bpy.data.images["Picture"]
    assert tuple(image.size) == (4, 5)
    opaque = array[..., 3:] == 255
    assert np.array_equal(np.where(opaque, pixels(image)[::-1], 0), np.where(opaque, array, 0))
    assert show("Picture", array) == image


def test_an_image_that_was_read_from_a_file_is_not_painted_over(tmp_path):
    drawn = bpy.data.images.new("Drawn", 4, 4)
    drawn.filepath_raw, drawn.file_format = str(tmp_path / "drawn.png"), "PNG"
    drawn.save()
    own = bpy.data.images.load(str(tmp_path / "drawn.png"))
    own.name = "Map of Bone 2"
    before = pixels(own)
    made = show("Map of Bone 2", colours(4, 4))
    assert made != own
    assert made.name == "Map of Bone 2.001"
    assert np.array_equal(pixels(own), before)


# The operator


def test_the_operator_makes_an_image_of_the_map(capfd):
    rig, _ = standard(3)
    with nothing_lost_but_images():
        assert bpy.ops.pose.ik_triangulation_map(solver="CCD", size=16, finish=False) == {"FINISHED"}
    said = capfd.readouterr().out
    found = chain_map.map_chain(rig, ["Bone 0", "Bone 1", "Bone 2"], "CCD", 16, finish=False)
    image = bpy.data.images["Map of Rig: Bone 2"]
    assert np.array_equal(pixels(image)[::-1][:16], found.image())
    assert f"Info: Image 'Map of Rig: Bone 2': {found.coverage:.1f} % of the disc is reached" in said


def nothing_lost_but_images():
    """As nothing_lost(), with a first image already there."""
    bpy.ops.pose.ik_triangulation_map(solver="CCD", size=8, finish=False)
    return nothing_lost()


@pytest.mark.parametrize("metric", [item[0] for item in map_properties.METRIC_ITEMS])
@pytest.mark.parametrize("scale", [item[0] for item in map_properties.SCALE_ITEMS])
def test_every_metric_and_scale_is_shown_in_the_same_image(metric, scale):
    rig, _ = standard(3)
    words = {"solver": "CCD", "finish": False, "metric": metric, "scale": scale}
    bpy.ops.pose.ik_triangulation_map(size=10, **words)
    bpy.ops.pose.ik_triangulation_map(size=8, **words)
    assert [image.name for image in bpy.data.images] == ["Map of Rig: Bone 2"]
    found = chain_map.map_chain(rig, ["Bone 0", "Bone 1", "Bone 2"], "CCD", 8, finish=False)
    assert np.array_equal(pixels(bpy.data.images[0])[::-1][:8], found.image(metric, scale))


def test_the_operator_offers_all_that_there_is():
    assert {item[0] for item in map_properties.METRIC_ITEMS} == set(METRICS)
    assert {item[0] for item in map_properties.SCALE_ITEMS} == set(SCALES)


def test_bones_between_those_named_keep_their_pose():
    rig, _ = standard(4)
    rig.pose.bones["Bone 2"].rotation_quaternion = (0.9, 0.4, 0.0, 0.0)
    pose = chain_map.pose_of(rig, ["Bone 3", "Bone 1"], bpy.context.view_layer)
    assert [joint.name for joint in pose.chain.joints] == ["Bone 1", "Bone 3"]
    assert (pose.tip - evaluated_tip(rig, "Bone 3")).length < 1e-5


def test_the_operator_maps_the_selected_bones_where_the_limb_says_so():
    rig, _ = standard(4, use_selected=True)
    select(rig, "Bone 1", "Bone 3")
    rig.data.bones.active = rig.data.bones["Bone 3"]
    bpy.ops.pose.ik_triangulation_map(solver="CCD", size=8, finish=False)
    found = chain_map.map_chain(rig, ["Bone 1", "Bone 3"], "CCD", 8, finish=False)
    assert np.array_equal(pixels(bpy.data.images["Map of Rig: Bone 3"])[::-1][:8], found.image())


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ("no bone", "Make the bone at the end of the limb active"),
        ("no armature", "Select an armature"),
        ("edit mode", "Leave Edit Mode first"),
        ("rest position", "'Rig' shows its Rest Position"),
        ("refused", "IK Triangulation: .*two"),
        ("too long", "Chain length 9"),
    ],
)
def test_what_cannot_be_pressed_says_why_and_leaves_no_image(how, message):
    rig, _ = standard(3)
    if how == "no bone":
        rig.data.bones.active = None
    elif how == "no armature":
        bpy.ops.object.mode_set(mode="OBJECT")
        bpy.context.view_layer.objects.active = None
    elif how == "edit mode":
        bpy.ops.object.mode_set(mode="EDIT")
    elif how == "rest position":
        rig.data.pose_position = "REST"
    elif how == "too long":
        rig.pose.bones["Bone 2"].ik_triangulation.chain_count = 9
    with nothing_lost(), pytest.raises(RuntimeError, match=message):
        bpy.ops.pose.ik_triangulation_map(size=8, solver="TWO_BONE" if how == "refused" else "CCD")


# The command line, in this process


@pytest.fixture
def run(tmp_path, capfd):
    """Run the command line on a saved rig; exit code, standard output and standard error. FILE stands for the rig's."""
    rig, _ = standard()
    wall = place(bpy.data.objects.new("Wall", None))
    wall.location = (1.0, 0.0, 1.0)
    bpy.context.scene.frame_end = 6
    rig.data.bones.active = None
    path = tmp_path / "rig.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    before = path.read_bytes()

    def here(*words):
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        capfd.readouterr()
        code = main([str(path) if word == "FILE" else str(word) for word in words])
        assert path.read_bytes() == before
        return code, *capfd.readouterr()

    return here


def table_of(out):
    """The lines of the table with their first words."""
    lines = out[out.index("solver ") :].splitlines()
    return lines[0].split(), [line.split() for line in lines[1:] if line.strip() and line.split()[0] in SOLVERS]


def test_compare_prints_a_table(run):
    code, out, said = run("compare", "FILE", "--tip", "Bone 3")
    assert code == DONE, said
    heading, lines = table_of(out)
    assert heading == ["solver", "reached", "error", "iterations", "turns", "angle", "travel", "ms"]
    assert {line[0] for line in lines} == set(SOLVERS)
    angles = [float(line[5]) for line in lines if line[0] != "TWO_BONE"]
    assert angles == sorted(angles)


def test_compare_sorts_by_the_cost_asked_for_and_takes_the_solvers_named(run):
    code, out, said = run(
        "compare", "FILE", "--tip", "Bone 3", "--by", "travel", "--solvers", "ccd", "FABRIK", "simplex", "--no-finish"
    )
    assert code == DONE, said
    _, lines = table_of(out)
    assert {line[0] for line in lines} == {"CCD", "FABRIK", "SIMPLEX"}
    reached = [float(line[6]) for line in lines if line[1] == "1/1"]
    assert reached == sorted(reached)


def test_compare_writes_json_alone_to_standard_output_or_to_a_file(run, tmp_path):
    words = ["compare", "FILE", "--tip", "Bone 3", "--solvers", *QUICK, "--frame-start", 2, "--frame-end", 6]
    code, out, said = run(*words, "--step", 2, "--json")
    assert code == DONE, said
    assert "solver " not in out
    rows = json.loads(out[out.index("{\n") :])["solvers"]
    assert {row["solver"] for row in rows} == set(QUICK)
    assert {(row["tasks"], row["reached"]) for row in rows} == {(3, 3)}
    assert all(row["seconds"] > 0.0 and row["refusal"] == "" for row in rows)
    code, out, _ = run(*words, "--json", tmp_path / "rows.json")
    written = json.loads((tmp_path / "rows.json").read_text(encoding="utf-8"))["solvers"]
    assert [len(written), written[0]["tasks"]] == [3, 5]
    assert len(table_of(out)[1]) == 3


def test_compare_at_a_frame_is_the_call_at_that_frame(run):
    code, out, said = run("compare", "FILE", "--tip", "Bone 3", "--frame", 5, "--solvers", *QUICK, "--json")
    assert code == DONE, said
    rows = json.loads(out[out.index("{\n") :])["solvers"]
    rig = bpy.data.objects["Rig"]
    assert (bpy.data.objects["Target"].location - path_point(5)).length < 1e-5
    found = analyse.compare(Limb.of(rig.pose.bones["Bone 3"]), solvers=QUICK)
    assert [row | {"seconds": 0.0} for row in rows] == [row._asdict() for row in without_time(found)]


def test_compare_out_of_reach_says_so(run):
    code, out, _ = run("compare", "FILE", "--tip", "Bone 3", "--target", "Far", "--solvers", *QUICK)
    assert code == OUT_OF_TOLERANCE
    assert {line[1] for line in table_of(out)[1]} == {"0/1"}


WRONG_COMPARISONS = {
    "an unknown cost": (["--by", "beauty"], USAGE, "invalid choice: 'beauty'"),
    "an unknown solver": (["--solvers", "magic"], USAGE, "invalid choice: 'MAGIC'"),
    "a step that is no number": (["--step", "x"], USAGE, "'x' is not a whole number"),
    "a step of none": (["--step", "0"], USAGE, "0 is not a number from 1 to"),
    "an empty range": (["--frame-start", "9"], FAILED, "The range ends at frame 6, before its start at 9"),
    "an unknown bone": (["--tip", "hand"], FAILED, "Bone 'hand' does not exist"),
    "an unknown target": (["--target", "Cup"], FAILED, "Target 'Cup' does not exist"),
    "an unknown collection": (["--obstacles", "Crates"], FAILED, "Collection 'Crates' does not exist"),
    "no target": (["--tip", "Bone 2"], FAILED, "No target is set"),
    "JSON into a folder": (["--json", "/"], FAILED, "'/' cannot be written"),
    "a negative margin": (["--obstacle-margin", "-1"], USAGE, "-1 is not a number from 0 up"),
    "a weight that is no number": (["--effort-weight", "nan"], USAGE, "nan is not finite"),
}


@pytest.mark.parametrize("what", WRONG_COMPARISONS)
def test_what_cannot_be_compared_is_told(what, run):
    words, exit_code, message = WRONG_COMPARISONS[what]
    code, _, said = run("compare", "FILE", "--tip", "Bone 3", *words)
    assert (code, bool(re.search(message, said))) == (exit_code, True), said
    assert "Traceback" not in said
    if code == FAILED:
        assert len([line for line in said.splitlines() if line.startswith("IK Triangulation: ")]) == 1


def test_a_map_is_written_as_picture_and_numbers(run, tmp_path):
    png, npy = tmp_path / "a map.png", tmp_path / "a map"  # numpy would add a suffix of its own
    words = ["--solver", "ccd", "--size", 20, "--frame", 3, "--png", png, "--npy", npy]
    code, _, said = run("map", "FILE", "--tip", "Bone 3", *words)
    assert code == DONE, said
    found = chain_map.map_chain(bpy.data.objects["Rig"], ["Bone 1", "Bone 2", "Bone 3"], "CCD", 20, finish=False)
    assert f"{found.coverage:.1f} % of the disc is reached" in said
    numbers = np.load(npy)
    assert np.array_equal(np.nan_to_num(numbers), found.metric("iterations"))
    assert np.array_equal(np.isnan(numbers), ~found.inside)
    image = bpy.data.images.load(str(png))
    assert tuple(image.size) == (20, 20)
    read, shown = pixels(image)[::-1], found.image()
    assert np.array_equal(read[..., 3], shown[..., 3])
    assert np.array_equal(read[shown[..., 3] > 0], shown[shown[..., 3] > 0])


@pytest.mark.parametrize(("metric", "scale"), [("error", "VIOLET_YELLOW"), ("travel", "plum_cream")])
def test_a_map_shows_the_metric_and_colours_asked_for(metric, scale, run, tmp_path):
    png = tmp_path / "map.png"
    words = ["--size", 8, "--metric", metric, "--scale", scale, "--png", png, "--chain-length", 2, "--solver", "CCD"]
    code, _, said = run("map", "FILE", "--tip", "Bone 3", *words)
    assert code == DONE, said
    found = chain_map.map_chain(bpy.data.objects["Rig"], ["Bone 2", "Bone 3"], "CCD", 8)
    read, shown = pixels(bpy.data.images.load(str(png)))[::-1], found.image(metric, scale.upper())
    assert np.array_equal(read[found.inside], shown[found.inside])


def test_a_map_needs_no_target_and_takes_bones_by_name(run, tmp_path):
    npy = tmp_path / "map.npy"
    code, _, said = run("map", "FILE", "--bones", "Bone 2", "Bone 0", "--size", 6, "--iterations", 3, "--npy", npy)
    assert code == DONE, said
    found = chain_map.map_chain(bpy.data.objects["Rig"], ["Bone 0", "Bone 2"], size=6, iterations=3)
    assert np.array_equal(np.nan_to_num(np.load(npy)), found.metric("iterations"))


WRONG_MAPS = {
    "a size of none": (["--size", "0"], USAGE, "0 is not a number from 1 to 4096"),
    "too large a size": (["--size", "5000"], USAGE, "5000 is not a number from 1 to 4096"),
    "a size that is no number": (["--size", "large"], USAGE, "'large' is not a whole number"),
    "a negative size": (["--size", "-3"], USAGE, "-3 is not a number|expected one argument"),
    "an unknown metric": (["--metric", "beauty"], USAGE, "invalid choice: 'beauty'"),
    "unknown colours": (["--scale", "grey"], USAGE, "invalid choice: 'grey'"),
    "an unknown solver": (["--solver", "magic"], USAGE, "invalid choice: 'magic'"),
    "an unknown bone": (["--tip", "hand"], FAILED, "Bone 'hand' does not exist"),
    "bones that are no chain": (["--bones", "hand"], FAILED, "Bone 'hand' does not exist"),
    "too long a chain": (["--chain-length", "9"], FAILED, "Chain length 9"),
    "a solver that refuses": (["--solver", "TWO_BONE"], FAILED, "two"),
    "a picture where none can be": (["--png", "/no/map.png"], FAILED, "'/no/map.png' cannot be written"),
    "numbers where none can be": (["--npy", "/no/map.npy"], FAILED, "'/no/map.npy' cannot be written"),
    "a picture over a folder": (["--png", "/"], FAILED, "'/' cannot be written"),
    "a tolerance of none": (["--tolerance", "0"], USAGE, "0 is not a number from 1e-05 up"),
    "a tolerance that is no number": (["--tolerance", "nan"], USAGE, "nan is not finite"),
    "iterations below none": (["--iterations", "-1"], USAGE, "-1 is not a number from 1 to"),
    "an unknown scene": (["--scene", "Sea"], FAILED, "Scene 'Sea' does not exist"),
}


@pytest.mark.parametrize("what", WRONG_MAPS)
def test_what_cannot_be_mapped_is_told(what, run):
    words, exit_code, message = WRONG_MAPS[what]
    code, _, said = run("map", "FILE", "--tip", "Bone 3", *(["--size", "6"] if "--size" not in words else []), *words)
    assert (code, bool(re.search(message, said))) == (exit_code, True), said
    assert "Traceback" not in said


def test_no_bones_and_no_file_are_told(run):
    assert run("map", "FILE")[::2] == (
        FAILED,
        "IK Triangulation: No bones are named. Use --tip BONE, or --bones with all of them.\n",
    )
    code, _, said = run("map", "gone.blend", "--tip", "Bone 3")
    assert (code, "There is no file 'gone.blend'" in said) == (FAILED, True)


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        (["--help"], ["compare", "map"]),
        (["compare", "--help"], ["--solvers", "--by", "--json", "--frame-start", "--obstacles", "--seed"]),
        (["map", "--help"], ["--png", "--npy", "--metric", "--scale", "--size", "--tolerance"]),
    ],
)
def test_help_is_there(words, shown, run):
    code, out, _ = run(*words)
    assert code == DONE
    assert [word for word in shown if word not in out] == []

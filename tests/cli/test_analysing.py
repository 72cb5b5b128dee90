# SPDX-License-Identifier: GPL-3.0-or-later
"""Comparing and mapping on the command line."""

import json
import re

import bpy
import numpy as np
import pytest

from ik_triangulation.cli import main
from ik_triangulation.jobs import compare as analyse
from ik_triangulation.maps import metric_map
from ik_triangulation.rig.limb import Limb
from ik_triangulation.solvers import SOLVERS

from ..mapped import QUICK, pixels, standard, without_time
from ..rigs import (
    path_point,
    place,
)

DONE, FAILED, USAGE, OUT_OF_TOLERANCE = 0, 1, 2, 3


pytestmark = pytest.mark.usefixtures("empty_scene")


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
    assert heading == ["solver", "reached", "naturalness", "error", "iterations", "turns", "angle", "travel", "ms"]
    assert {line[0] for line in lines} == set(SOLVERS)
    natural = [float(line[2]) for line in lines if line[0] != "TWO_BONE"]
    assert natural == sorted(natural)


def test_compare_sorts_by_the_cost_asked_for_and_takes_the_solvers_named(run):
    code, out, said = run(
        "compare", "FILE", "--tip", "Bone 3", "--by", "travel", "--solvers", "ccd", "FABRIK", "simplex", "--no-finish"
    )
    assert code == DONE, said
    _, lines = table_of(out)
    assert {line[0] for line in lines} == {"CCD", "FABRIK", "SIMPLEX"}
    reached = [float(line[7]) for line in lines if line[1] == "1/1"]
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
    words = ["--solver", "ccd", "--no-finish", "--size", 20, "--frame", 3, "--png", png, "--npy", npy]
    code, _, said = run("map", "FILE", "--tip", "Bone 3", *words)
    assert code == DONE, said
    found = metric_map.map_chain(bpy.data.objects["Rig"], ["Bone 1", "Bone 2", "Bone 3"], "CCD", 20, finish=False)
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
    found = metric_map.map_chain(bpy.data.objects["Rig"], ["Bone 2", "Bone 3"], "CCD", 8)
    read, shown = pixels(bpy.data.images.load(str(png)))[::-1], found.image(metric, scale.upper())
    assert np.array_equal(read[found.inside], shown[found.inside])


def test_a_map_needs_no_target_and_takes_bones_by_name(run, tmp_path):
    npy = tmp_path / "map.npy"
    code, _, said = run("map", "FILE", "--bones", "Bone 2", "Bone 0", "--size", 6, "--iterations", 3, "--npy", npy)
    assert code == DONE, said
    found = metric_map.map_chain(bpy.data.objects["Rig"], ["Bone 0", "Bone 2"], size=6, iterations=3)
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

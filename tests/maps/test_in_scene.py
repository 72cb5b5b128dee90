# SPDX-License-Identifier: GPL-3.0-or-later
"""Maps in the scene: to scale, in place, one of a kind for each limb, watched and cancelled in a window."""

import re
from random import Random

import bpy
import numpy as np
import pytest
from mathutils import Vector

from ik_triangulation.cli import main
from ik_triangulation.errors import ChainError, SettingError
from ik_triangulation.goals import Point
from ik_triangulation.maps import in_scene as mapping
from ik_triangulation.maps.metric_map import SCALES, pose_of
from ik_triangulation.rig.scene_objects import PICTURE, VOLUME, legend_of, shown_map
from ik_triangulation.solvers import solve
from ik_triangulation.ui.operators.map import (
    POSE_OT_ik_triangulation_map,
    POSE_OT_ik_triangulation_map_volume,
    POSE_OT_ik_triangulation_show_reach,
)

from ..mapped import BONES, FAST, rig_in_space
from ..rigs import nothing_lost, random_rotation
from ..ui.test_modal_job import Recorder, event, pressed

pytestmark = pytest.mark.usefixtures("empty_scene")


def place_of(ob, image, row, column):
    """Where a pixel of an image empty's picture is shown, its rows counted from the top; world space."""
    width, height = image.size
    unit = ob.empty_display_size / max(width, height)
    x = (column + 0.5 + ob.empty_image_offset[0] * width) * unit
    y = (height - row - 0.5 + ob.empty_image_offset[1] * height) * unit
    return ob.matrix_world @ Vector((x, y, 0.0))


def test_a_pixel_stands_where_its_target_was():
    rig = rig_in_space()
    mapped = mapping.map_in_scene(rig, BONES, **FAST, size=12, metric="error", finish=False)
    bpy.context.view_layer.update()
    image, made = mapped.shown.data, mapped.made
    start = pose_of(rig, BONES, bpy.context.view_layer)
    reach, checked = start.chain.reach, 0
    for row in range(12):
        for column in range(12):
            if not made.inside[row, column]:
                continue
            target = rig.matrix_world.inverted() @ place_of(mapped.shown, image, row, column)
            solution = solve(start, Point(target), solver="CCD", tolerance=0.01 * reach, iterations=15, finish=False)
            assert solution.error / reach == pytest.approx(made.metrics.error[row, column], abs=2e-4)
            checked += 1
    assert checked > 100
    assert (place_of(mapped.shown, image, 5.5, 5.5) - rig.matrix_world @ start.head(0)).length < 1e-4


@pytest.mark.parametrize("turn", range(4))
def test_the_picture_is_read_from_above_or_from_the_front(turn):
    rig = rig_in_space()
    rig.rotation_euler = random_rotation(Random(turn)).to_euler()
    bpy.context.view_layer.update()
    mapped = mapping.map_in_scene(rig, BONES, **FAST, size=4)
    bpy.context.view_layer.update()
    x, y = (mapped.shown.matrix_world.col[i].xyz for i in range(2))
    assert x.cross(y).dot((0.0, -1.0, 1.0)) > 0.0


def test_the_picture_is_that_of_the_map_with_the_colours_explained_below():
    rig = rig_in_space()
    mapped = mapping.map_in_scene(rig, BONES, **FAST, size=12, metric="total_angle", scale="PLUM_CREAM")
    image = mapped.shown.data
    rows = np.rint(np.array(image.pixels[:]).reshape(image.size[1], 12, 4)[::-1] * 255.0).astype(np.uint8)
    assert np.array_equal(rows[:12], mapped.made.image("total_angle", "PLUM_CREAM"))
    assert (rows[12:, :, 3] == 255).all()
    assert tuple(rows[12, 0, :3]) == tuple(np.rint(255.0 * SCALES["PLUM_CREAM"](np.zeros(1)))[0])
    least, greatest = mapped.made.ends("total_angle")
    assert legend_of(mapped.shown).splitlines() == [
        f"Total Angle: 0° (plum) to {np.degrees(greatest):.3g}° (cream)",
        f"{mapped.made.coverage:.1f} % of the disc is reached",
    ]
    assert least == 0.0


def test_a_map_without_finish_says_so():
    mapped = mapping.map_in_scene(rig_in_space(), BONES, **FAST, size=8, finish=False)
    assert legend_of(mapped.shown).endswith("of the disc is reached, not refined")


@pytest.mark.parametrize(
    ("words", "error", "message"),
    [
        ({"metric": "beauty"}, SettingError, "Metric 'beauty' is unknown"),
        ({"scale": "GREY"}, SettingError, "Color scale 'GREY' is unknown"),
        ({"solver": "MAGIC"}, SettingError, "Solver 'MAGIC' is unknown"),
        ({"bones": ["gone"]}, ChainError, "'gone' is not in"),
        ({"tolerance": 0.0}, SettingError, "Tolerance 0.0 is not a distance"),
    ],
)
@pytest.mark.parametrize("how", [mapping.map_in_scene, mapping.volume_in_scene])
def test_what_cannot_be_mapped_is_refused_and_leaves_nothing(how, words, error, message):
    rig = rig_in_space()
    small = {"size": 8} if how is mapping.map_in_scene else {"resolution": 3}
    with nothing_lost(), pytest.raises(error, match=message):
        how(rig, **{"bones": BONES, **small, **words})


def test_a_map_that_is_stopped_by_its_progress_leaves_nothing():
    rig = rig_in_space()

    def stop(done, of):
        assert of == 8
        if done == 4:
            raise KeyboardInterrupt

    with nothing_lost(), pytest.raises(KeyboardInterrupt):
        mapping.map_in_scene(rig, BONES, **FAST, size=8, progress=stop)


# Legends


# In a window


def begun(cls, rig, **given):
    recorder = Recorder()
    values = {name: getattr(bpy.context.scene.ik_triangulation_map, name) for name in ("metric", "scale", "tolerance")}
    small = {"size": 8, **FAST} if cls is POSE_OT_ik_triangulation_map else {"resolution": 4}
    operator, context = pressed(cls, recorder, **(values | small | given))
    context.space_data = None
    assert operator.begin(context) == {"RUNNING_MODAL"}
    return operator, context, recorder


BOTH = pytest.mark.parametrize("cls", [POSE_OT_ik_triangulation_map, POSE_OT_ik_triangulation_map_volume])
EVERY = pytest.mark.parametrize(
    "cls",
    [POSE_OT_ik_triangulation_map, POSE_OT_ik_triangulation_map_volume, POSE_OT_ik_triangulation_show_reach],
)


@BOTH
def test_in_a_window_it_shows_how_far_it_is_and_ends_as_the_call_does(cls, monkeypatch):
    monkeypatch.setattr("ik_triangulation.ui.operators.base._SLICE", 0.0)
    monkeypatch.setattr("ik_triangulation.ui.operators.base._NEWS", 0.0)
    rig = rig_in_space()
    operator, context, recorder = begun(cls, rig)
    while (result := operator.modal(context, event())) == {"RUNNING_MODAL"}:
        pass
    assert result == {"FINISHED"}
    assert recorder.is_clean
    of = "8 rows" if cls is POSE_OT_ik_triangulation_map else "32 points"
    assert any(
        re.fullmatch(rf"Mapping: [1-9]\d* of {of}\. Esc or right click: cancel", text or "") for text in recorder.texts
    )
    kind = PICTURE if cls is POSE_OT_ik_triangulation_map else VOLUME
    ob = shown_map(rig, "Bone 2", kind)
    if kind == PICTURE:
        pixels = ob.data.pixels[:]
        assert mapping.map_in_scene(rig, BONES, **FAST, size=8).shown.data.pixels[:] == pixels
    else:
        count = len(ob.data.vertices)
        assert len(mapping.volume_in_scene(rig, BONES, resolution=4).shown.data.vertices) == count


@EVERY
def test_esc_leaves_nothing(cls, monkeypatch):
    monkeypatch.setattr("ik_triangulation.ui.operators.base._SLICE", 0.0)
    rig = rig_in_space()
    with nothing_lost():
        operator, context, recorder = begun(cls, rig)
        for _ in range(3):
            assert operator.modal(context, event()) == {"RUNNING_MODAL"}
        assert operator.modal(context, event("ESC")) == {"CANCELLED"}
    assert recorder.is_clean
    assert operator.said == [("INFO", f"{cls.bl_label} cancelled, nothing was changed")]


def test_the_armature_may_go_meanwhile(monkeypatch):
    monkeypatch.setattr("ik_triangulation.ui.operators.base._SLICE", 0.0)
    rig = rig_in_space()
    operator, context, recorder = begun(POSE_OT_ik_triangulation_map_volume, rig)
    operator.modal(context, event())
    bpy.data.objects.remove(rig)
    while (result := operator.modal(context, event())) == {"RUNNING_MODAL"}:
        pass
    assert result == {"CANCELLED"}
    assert recorder.is_clean
    assert "has been removed in the meantime" in operator.said[-1][1]
    assert not bpy.data.meshes.get("Reach of Bone 2")


def test_without_a_window_the_operators_take_the_settings_of_the_scene(capfd):
    rig = rig_in_space()
    settings = bpy.context.scene.ik_triangulation_map
    settings.size, settings.solver, settings.resolution, settings.metric = 8, "CCD", 4, "turns"
    assert bpy.ops.pose.ik_triangulation_map() == {"FINISHED"}
    assert shown_map(rig, "Bone 2", PICTURE).data.size[0] == 8
    assert bpy.ops.pose.ik_triangulation_map(size=9) == {"FINISHED"}
    assert shown_map(rig, "Bone 2", PICTURE).data.size[0] == 9
    assert bpy.ops.pose.ik_triangulation_map_volume() == {"FINISHED"}
    shell = shown_map(rig, "Bone 2", VOLUME)
    colours, share = legend_of(shell).splitlines()
    assert re.fullmatch(r"Turns: 0 \(blue\) to \d+ \(red\)( and more)?", colours)
    assert re.fullmatch(r"[\d.]+ % of the points are reached", share)
    assert f"({share.split()[0]} %)" in capfd.readouterr().out
    assert shell.data.attributes["turns"].domain == "POINT"


def test_the_command_line_writes_what_is_reached(tmp_path, capsys):
    rig = rig_in_space()
    words = ["--tip", "Bone 2", "--solver", "CCD", "--iterations", "15", "--resolution", "4", "--metric", "travel"]
    assert main(["map", *words, "--volume", str(tmp_path / "reach.npy")]) == 0
    made = mapping.volume_in_scene(rig, BONES, **FAST, resolution=4).made
    assert np.array_equal(np.load(tmp_path / "reach.npy"), np.column_stack((made.places, made.metric("travel"))))
    assert f"{len(made.places)} of 32 points are reached" in capsys.readouterr().err
    assert main(["map", *words, "--volume", "/no/reach.npy"]) == 1
    assert "'/no/reach.npy' cannot be written" in capsys.readouterr().err

# SPDX-License-Identifier: GPL-3.0-or-later
"""Pressed, a map becomes an image in the scene."""

import re

import bpy
import numpy as np
import pytest

from ik_triangulation.maps import metric_map
from ik_triangulation.maps import properties as map_properties
from ik_triangulation.maps.metric_map import METRICS, SCALES
from ik_triangulation.presets import find_preset
from ik_triangulation.presets.file import read_preset
from ik_triangulation.presets.limb import apply_preset
from ik_triangulation.rig.scene_objects import PICTURE, VOLUME, legend_of, shown_map
from ik_triangulation.ui.operators import map as map_operators

from ...mapped import pixels, standard
from ...presets.arms import arm
from ...rigs import (
    nothing_lost,
    select,
)

pytestmark = pytest.mark.usefixtures("empty_scene")


def test_the_operator_makes_an_image_of_the_map(capfd):
    rig, _ = standard(3)
    with nothing_lost_but_images():
        assert bpy.ops.pose.ik_triangulation_map(solver="CCD", size=16, finish=False) == {"FINISHED"}
    said = capfd.readouterr().out
    found = metric_map.map_chain(rig, ["Bone 0", "Bone 1", "Bone 2"], "CCD", 16, finish=False)
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
    found = metric_map.map_chain(rig, ["Bone 0", "Bone 1", "Bone 2"], "CCD", 8, finish=False)
    assert np.array_equal(pixels(bpy.data.images[0])[::-1][:8], found.image(metric, scale))


def test_the_operator_offers_all_that_there_is():
    assert {item[0] for item in map_properties.METRIC_ITEMS} == set(METRICS)
    assert {item[0] for item in map_properties.SCALE_ITEMS} == set(SCALES)


def test_the_operator_maps_the_selected_bones_where_the_limb_says_so():
    rig, _ = standard(4, use_selected=True)
    select(rig, "Bone 1", "Bone 3")
    rig.data.bones.active = rig.data.bones["Bone 3"]
    bpy.ops.pose.ik_triangulation_map(solver="CCD", size=8, finish=False)
    found = metric_map.map_chain(rig, ["Bone 1", "Bone 3"], "CCD", 8, finish=False)
    assert np.array_equal(pixels(bpy.data.images["Map of Rig: Bone 3"])[::-1][:8], found.image())


def human_arm(preset="Human Arm"):
    rig, bones = arm()
    apply_preset(rig, bones, read_preset(find_preset(preset)))
    bpy.ops.object.mode_set(mode="POSE")
    select(rig, *bones)
    rig.data.bones.active = rig.data.bones[bones[-1]]
    return rig, bones


def test_show_reach_shows_all_that_is_reached_whatever_the_settings_of_maps(capfd, monkeypatch):
    monkeypatch.setattr(map_operators, "_RESOLUTION", 7)
    rig, _ = human_arm()
    settings = bpy.context.scene.ik_triangulation_map
    settings.resolution, settings.metric, settings.tolerance, settings.finish = 3, "travel", 1e-5, False
    assert bpy.ops.pose.ik_triangulation_show_reach() == {"FINISHED"}
    shell = shown_map(rig, "hand", VOLUME)
    (share,) = legend_of(shell).splitlines()
    assert float(share.split()[0]) > 60.0
    assert f"({share.split()[0]} %)" in capfd.readouterr().out
    assert len(shell.data.materials) == 1
    with nothing_lost():
        bpy.ops.pose.ik_triangulation_show_reach()
    assert [ob for ob in rig.children if "Reach" in ob.name] == [shell]
    assert bpy.context.mode == "POSE"
    assert bpy.context.view_layer.objects.active == rig


def test_a_map_that_nobody_has_set_up_shows_what_can_be_reached_at_all(capfd, monkeypatch):
    human_arm("Human Arm (Hinge)")  # of whose places most are missed without Finish
    settings = bpy.context.scene.ik_triangulation_map
    settings.size, settings.resolution = 10, 5
    monkeypatch.setattr(map_operators, "_RESOLUTION", 5)

    def share(operator, **given):
        assert getattr(bpy.ops.pose, f"ik_triangulation_{operator}")(**given) == {"FINISHED"}
        return float(re.search(r"([\d.]+) %", capfd.readouterr().out)[1])

    assert share("map") == pytest.approx(share("map", iterations=100, solver="GAUSS_NEWTON"), abs=1.0)
    assert share("map") > share("map", finish=False) + 15.0
    assert share("map_volume") == pytest.approx(share("show_reach"), abs=3.0)


@pytest.mark.parametrize("operator", ["map", "map_volume", "show_reach"])
@pytest.mark.parametrize(
    ("how", "message"),
    [
        ("no bone", "Make the bone at the end of the limb active"),
        ("no armature", "Select an armature"),
        ("edit mode", "Leave Edit Mode first"),
        ("rest position", "'Rig' is in Rest Position"),
        ("too long", "Chain length 9"),
    ],
)
def test_what_cannot_be_pressed_says_why_and_leaves_nothing(how, message, operator):
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
        getattr(bpy.ops.pose, f"ik_triangulation_{operator}")()


def test_a_solver_that_refuses_the_limb_says_so_and_leaves_no_image():
    standard(3)
    with nothing_lost(), pytest.raises(RuntimeError, match=r"IK Triangulation: .*two"):
        bpy.ops.pose.ik_triangulation_map(size=8, solver="TWO_BONE")


@pytest.mark.parametrize(
    ("kind", "left"), [("ALL", []), ("REACH", [PICTURE]), ("MAP", [VOLUME])], ids=["all", "shell", "map"]
)
def test_maps_are_removed_by_their_button(kind, left, capfd):
    rig, _ = standard(3)
    bpy.ops.pose.ik_triangulation_map(solver="CCD", size=8, finish=False)
    bpy.ops.pose.ik_triangulation_map_volume(metric="reached", resolution=5)
    bpy.ops.ed.undo_push(message="Mapped")
    capfd.readouterr()
    assert bpy.ops.pose.ik_triangulation_map_remove(kind=kind) == {"FINISHED"}
    assert [each for each in (PICTURE, VOLUME) if shown_map(rig, "Bone 2", each)] == left
    assert "Info: Removed '" in capfd.readouterr().out
    assert bpy.context.mode == "POSE"


def test_there_is_nothing_to_remove_without_a_map():
    standard(3)
    with nothing_lost(), pytest.raises(RuntimeError, match="There is no map of 'Bone 2'"):
        bpy.ops.pose.ik_triangulation_map_remove()


def test_a_map_of_a_kind_is_removed_or_there_is_none(capfd):
    standard(3)
    remove = bpy.ops.pose.ik_triangulation_map_remove
    with pytest.raises(RuntimeError, match="There is no map of 'Bone 2'"):
        remove()
    bpy.ops.pose.ik_triangulation_map(solver="CCD", size=8, finish=False)
    capfd.readouterr()
    assert remove(kind="REACH") == {"CANCELLED"}
    assert "There is no such map of 'Bone 2'" in capfd.readouterr().out
    assert len(bpy.data.images) == 1
    assert remove(kind="MAP") == {"FINISHED"}
    assert not bpy.data.images
    bpy.context.active_object.data.bones.active = None
    with pytest.raises(RuntimeError, match="Make the bone at the end of the limb active"):
        remove()

# SPDX-License-Identifier: GPL-3.0-or-later
"""Reaches that are pressed: stops, their order and what is in the way."""

import bpy
import numpy as np
import pytest

from ik_triangulation.jobs.reach import reach
from ik_triangulation.ui.panels.keys import VIEW3D_PT_ik_triangulation_reach

from ...jobs.reaching import TOLERANCE, limb, posed, rotations, tips
from ...layouts import drawn
from ...rigs import (
    all_keys,
    configure,
    empty,
    nothing_lost,
)

pytestmark = pytest.mark.usefixtures("empty_scene")


HOW = {"hold": 3, "return_frames": 5, "timing": "CUBIC", "easing": "EASE_OUT", "path": "ARC", "onset": 0.5}


def test_the_operator_writes_the_keys_of_the_call():
    rig, target = posed()
    reach(limb(rig, target, chain_count=3), 2, 15, **HOW)
    wanted = repr(all_keys(rig))
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    rig, target = posed()
    configure(rig, "Bone 3", target=target, chain_count=3)
    assert bpy.ops.pose.ik_triangulation_reach(frame_start=2, frame_end=15, **HOW) == {"FINISHED"}
    assert repr(all_keys(rig)) == wanted


def test_what_is_not_given_to_the_operator_is_that_of_the_limb(capfd):
    rig, target = posed()
    reach(limb(rig, target, chain_count=3), 2, 15, **HOW)
    wanted = repr(all_keys(rig))
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    rig, target = posed()
    saved = {f"reach_{name}": value for name, value in HOW.items() if name != "return_frames"}
    configure(rig, "Bone 3", target=target, reach_start=2, reach_end=15, reach_return=5, **saved)
    assert bpy.ops.pose.ik_triangulation_reach() == {"FINISHED"}
    assert repr(all_keys(rig)) == wanted
    assert "Info: Reached 4 of 4 frames, largest distance" in capfd.readouterr().out


def test_the_operator_says_what_is_in_the_way():
    rig, target = posed()
    configure(rig, "Bone 3", target=target)
    with nothing_lost(), pytest.raises(RuntimeError, match="IK Triangulation: The reach to 'Target' at frame 3"):
        bpy.ops.pose.ik_triangulation_reach(frame_start=9, frame_end=3)


def with_stops():
    rig, target = posed()
    configure(rig, "Bone 3", target=target, chain_count=3, tolerance=TOLERANCE, reach_start=1, reach_end=15)
    second = empty("Second", (-1.0, 1.2, 2.0))
    assert bpy.ops.pose.ik_triangulation_stop_add() == {"FINISHED"}
    second.select_set(True)
    bpy.ops.pose.ik_triangulation_stop_add()
    return rig, target, second


def test_a_stop_is_the_other_selected_object_or_the_target_and_comes_after_those_there_are():
    rig, target, second = with_stops()
    stored = rig.pose.bones["Bone 3"].ik_triangulation
    assert [(stop.target, stop.frame, stop.hold) for stop in stored.reach_stops] == [(target, 15, 0), (second, 39, 0)]
    assert stored.reach_stop == 1
    assert bpy.ops.pose.ik_triangulation_stop_remove() == {"FINISHED"}
    assert (len(stored.reach_stops), stored.reach_stop) == (1, 0)
    bpy.ops.pose.ik_triangulation_stop_remove()
    with pytest.raises(RuntimeError, match="The list of stops is empty"):
        bpy.ops.pose.ik_triangulation_stop_remove()


def test_the_operator_goes_through_the_stops_in_the_order_of_their_frames(capfd):
    rig, target, second = with_stops()
    stops = rig.pose.bones["Bone 3"].ik_triangulation.reach_stops
    stops[0].frame, stops[0].hold, stops[1].frame = 40, 3, 20
    assert bpy.ops.pose.ik_triangulation_reach() == {"FINISHED"}
    assert "Info: Reached 5 of 5 frames" in capfd.readouterr().out
    places = dict(zip(range(1, 44), tips(rig, range(1, 44)), strict=True))
    for frame, goal in ((20, second), (40, target), (43, target)):
        assert np.linalg.norm(places[frame] - goal.location) < 1.1 * TOLERANCE


def test_with_an_end_of_its_own_the_operator_reaches_for_the_target_alone(capfd):
    rig, _, _ = with_stops()
    assert bpy.ops.pose.ik_triangulation_reach(frame_end=12) == {"FINISHED"}
    assert "Info: Reached, distance" in capfd.readouterr().out
    assert len(rotations(rig, "Bone 3")) == 12


def test_a_stop_without_a_target_is_refused():
    rig, _, _ = with_stops()
    rig.pose.bones["Bone 3"].ik_triangulation.reach_stops[1].target = None
    with nothing_lost(), pytest.raises(RuntimeError, match="Stop 2 has no target"):
        bpy.ops.pose.ik_triangulation_reach()


def test_the_stops_are_saved_and_shown(tmp_path):
    with_stops()
    path = str(tmp_path / "stops.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    said = drawn(VIEW3D_PT_ik_triangulation_reach)
    assert [name for name in said if name in {"Target", "Second"}] == ["Target", "Second"]
    assert "reach_start" in said
    assert "reach_end" not in said, "each stop has its own"


def test_the_operator_takes_a_prop_and_lets_it_go():
    rig, target, _ = with_stops()
    stored = rig.pose.bones["Bone 3"].ik_triangulation
    stored.reach_stops[0].take, stored.reach_stops[1].take = "TAKE", "GIVE"
    bpy.context.view_layer.update()
    before = target.matrix_world.translation.copy()
    assert bpy.ops.pose.ik_triangulation_reach() == {"FINISHED"}
    assert [constraint.name for constraint in target.constraints] == ["Held by Bone 3"]
    places = {}
    for frame in (1, 15, 39, 50):
        bpy.context.scene.frame_set(frame)
        places[frame] = target.matrix_world.translation.copy()
    assert max((places[1] - before).length, (places[15] - before).length, (places[50] - places[39]).length) < 1e-5
    assert (places[39] - before).length > 0.5

# SPDX-License-Identifier: GPL-3.0-or-later
"""What the manual's films show is true: every frame that has to reach does."""

from math import radians

import bpy
import numpy as np
import pytest
from stage import cat  # as scenes.py imports it

from ik_triangulation.api import enabled_limbs
from ik_triangulation.rig.retargeting import Figure
from scripts import scenes
from scripts.stage import buttons, farm, following, grasping, handing, path, terrain

from ..bodies import tails

pytestmark = pytest.mark.usefixtures("addon", "empty_scene")


def test_the_tail_is_at_the_ball_in_every_frame_and_its_file_has_the_limb_to_bake_again(tmp_path, monkeypatch, long):
    found, make = [], cat.make
    monkeypatch.setattr(cat, "make", lambda: found.append(make()) or found[0])
    if not long:  # its coat takes longer than its keys
        monkeypatch.setattr(cat, "skin", lambda *_: None)
        monkeypatch.setattr(cat, "weigh", lambda *_: None)
    assert scenes.write("tail", tmp_path)
    assert [(report.due_count, report.missed) for report in found] == [(120, [])]
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "tail.blend"))
    rigs = [ob for ob in bpy.data.objects if ob.type == "ARMATURE"]
    assert [limb.target.name for rig in rigs for limb in enabled_limbs(rig)] == ["Ball"]


@pytest.mark.long
def test_the_fist_is_at_every_button_when_it_is_pressed():
    report = buttons.make()
    assert (report.due_count, report.missed) == (3 * (buttons.STAY + 1), [])


@pytest.mark.long
def test_the_cup_is_taken_handed_over_and_put_down_without_a_jump():
    reports, cup = handing.make()
    assert [report.missed for report in reports] == [[], []]
    assert [report.due_count for report in reports] == [12, 12]
    places = []
    for frame in range(1, handing.FRAMES + 1):
        bpy.context.scene.frame_set(frame)
        places.append(np.array(cup.evaluated_get(bpy.context.view_layer.depsgraph).matrix_world.translation))
    assert np.allclose(places[0], handing.HERE, atol=1e-6)
    assert np.allclose(places[-1], handing.THERE, atol=2e-3)
    assert np.linalg.norm(np.diff(places, axis=0), axis=1).max() < 0.04


@pytest.mark.long
def test_the_walk_stands_on_the_terrain_and_slides_nowhere():
    rig, ground = terrain.make()
    report = terrain.stand(rig, ground)
    assert report.reached
    assert report.warnings == []
    contacts = [each for each in rig.ik_triangulation.contacts if each.frame_end > each.frame_start]
    assert len(contacts) >= 6
    for each in contacts:
        places = np.array(tails(rig, each.tip, range(each.frame_start, each.frame_end + 1)))
        assert np.linalg.norm(places - places[0], axis=1).max() < 2e-3


@pytest.mark.long
def test_the_edited_path_is_reached_and_the_rest_of_the_wave_stays():
    actor, limb = path.make()
    before = tails(actor.rig, "hand.L", range(1, path.FRAMES + 1))
    report = path.edit(limb)
    assert report.missed == []
    assert report.warnings == []
    after = tails(actor.rig, "hand.L", range(1, path.FRAMES + 1))
    moved = [(a - b).length for a, b in zip(before, after, strict=True)]
    assert moved[path.AT - 1] == pytest.approx(path.EDIT.length, abs=2e-3)
    assert max(moved[: path.AT - path.WIDTH - 1] + moved[path.AT + path.WIDTH :]) < 1e-4


@pytest.mark.long
def test_the_farm_shows_a_shot_of_each_kind():
    rows, summary = farm.run()
    assert [(task, status.partition(":")[0]) for _, task, status in rows[:2]] == [
        ("completed", "Reached"),
        ("completed", "Missed"),
    ]
    assert rows[2][1:] == ("failed", "Failed: '/srv/shots/broken.blend' cannot be opened")
    assert summary[-1] == "3 shots: 1 reached, 1 missed, 1 failed"


@pytest.mark.long
def test_the_fingers_hold_the_cup_and_are_not_in_it():
    reach, grasp, _ = grasping.make()
    assert reach.missed == []
    assert grasp.fingers == 4
    assert grasp.opposition > radians(100.0)
    assert grasp.penetration < 1e-3
    assert grasp.warnings == ()


@pytest.mark.long
def test_the_other_character_walks_and_claps_without_sliding():
    leader, follower, found, report = following.make()
    assert report.reached
    feet = [each for each in found.contacts if each.frame_end - each.frame_start > 2]
    assert len(feet) >= 6
    for each in feet:
        places = np.array(tails(follower, each.tip, range(int(each.frame_start), int(each.frame_end) + 1)))
        assert np.linalg.norm(places - places[0], axis=1).max() < 2e-3
    gaps = [_between_palms(rig) for rig in (leader, follower)]
    claps = gaps[0] < gaps[0].min() + 0.02
    assert np.abs(gaps[1] - gaps[0])[claps].max() < 0.01


def _between_palms(rig):
    """The distance of both palms at each frame, as Blender shows it [m]."""
    figure, found = Figure(rig), []
    for frame in range(1, following.FRAMES + 1):
        bpy.context.scene.frame_set(frame)
        shown = figure.see(bpy.context.evaluated_depsgraph_get())
        left, right = (shown[end].carries(figure.point(end)) for end in ("hand.L", "hand.R"))
        found.append((left - right).length)
    return np.array(found)

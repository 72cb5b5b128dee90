# SPDX-License-Identifier: GPL-3.0-or-later
"""The panel of a reach shows its stops by their frames, and what a path or a timing makes idle is greyed out."""

import bpy
import pytest

from ik_triangulation.ui.panels.keys import VIEW3D_PT_ik_triangulation_reach as PANEL

from ...layouts import drawn
from ...rigs import chain_rig, empty
from .states import standard

pytestmark = pytest.mark.usefixtures("empty_scene")


def stops(limb, *given):
    for target, frame in given:
        stop = limb.reach_stops.add()
        stop.target, stop.frame = target, frame


def limb():
    rig, _ = standard()[:2]
    return rig.pose.bones["Bone 3"].ik_triangulation


def test_end_and_hold_are_those_of_the_target_where_there_are_no_stops():
    stored = limb()
    assert {"reach_end", "reach"} <= set(drawn(PANEL))
    assert "reach_hold" not in drawn(PANEL), "it is for what goes back"
    stored.reach_return = 10
    assert "reach_hold" in drawn(PANEL)
    stops(stored, (empty("Cup"), 20))
    assert "reach_start" in drawn(PANEL)
    assert not {"reach_end", "reach_hold"}.intersection(drawn(PANEL)), "each stop has its own"


def test_stops_without_a_target_say_so():
    stored = limb()
    stops(stored, (empty("Cup"), 30), (None, 10), (empty("Jug"), 20))
    shown = drawn(PANEL)
    assert [text for text in shown if text in {"Cup", "Jug", "No Target"}] == ["Cup", "No Target", "Jug"]


@pytest.mark.parametrize(("path", "onset", "shown"), [("ARC", 0.5, True), ("ARC", 0.0, False), ("LINE", 0.5, False)])
def test_an_onset_counts_on_an_arc(path, onset, shown):
    stored = limb()
    stored.reach_path, stored.reach_onset = path, onset
    assert ("reach_onset" in drawn(PANEL)) == shown


def test_a_bone_can_be_chosen_for_a_stop_that_is_an_armature():
    stored = limb()
    rig = stored.id_data
    stops(stored, (empty("Cup"), 10))
    assert "subtarget" not in drawn(PANEL)
    other = chain_rig(2, name="Other")
    bpy.context.view_layer.objects.active = rig
    stored.reach_stops[0].target = other
    assert "subtarget" in drawn(PANEL)


def test_in_a_narrow_sidebar_the_hold_gives_way():
    stored = limb()
    stops(stored, (empty("Cup"), 10))
    assert drawn(PANEL, 400).count("hold") > drawn(PANEL, 150).count("hold")

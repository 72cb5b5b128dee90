# SPDX-License-Identifier: GPL-3.0-or-later
"""The main panel in every state of the active object: few fields, the limb, its target, Bake and the result."""

import bpy
import pytest

from ik_triangulation.jobs.live import following as live
from ik_triangulation.ui.context import choose_limb

from ...layouts import drawn, recorded
from ...rigs import armature, chain_rig, configure, empty
from .states import MAIN, PANELS, out_of_reach, shown, standard

pytestmark = pytest.mark.usefixtures("empty_scene")
MOST_FIELDS = 6  # that are open at first


def activate(ob):
    bpy.ops.object.mode_set(mode="OBJECT")
    for each in bpy.context.selected_objects:
        each.select_set(False)
    bpy.context.view_layer.objects.active = ob


def no_active_object():
    standard()
    activate(None)


def another_object():
    standard()
    activate(empty("Another"))


def empty_armature():
    armature("Bare", [])


def no_active_bone():
    standard()[0].data.bones.active = None


def no_limb():
    chain_rig(3)


SAID = {
    no_active_object: ["Select an armature, or the target of a limb"],
    another_object: ["Select an armature, or the target of a limb"],
    empty_armature: ["Click a hand or foot in Pose Mode", "body_add", "limb_add"],
    no_active_bone: ["Click a hand or foot in Pose Mode", "limb_add"],
    no_limb: ["'Bone 2' is in no limb yet", "body_add", "limb_add"],
}


@pytest.mark.parametrize("build", SAID)
def test_without_a_limb_the_main_panel_alone_says_what_to_do(build):
    build()
    assert list(shown()) == [MAIN]
    assert drawn(MAIN, 900)[-len(SAID[build]) :] == SAID[build]


@pytest.mark.parametrize("limbs", [1, 2, 4])
def test_few_fields_are_open_at_first(limbs):
    rig, target, _ = standard()
    for number in range(1, limbs):
        configure(rig, f"Bone {number - 1}", target=target, chain_count=1)
    bpy.ops.pose.ik_triangulation_bake(frame_start=1, frame_end=3)
    fields, closed = set(), {each.__name__ for each in PANELS if "DEFAULT_CLOSED" in getattr(each, "bl_options", ())}
    for panel in PANELS:
        if panel.bl_region_type == "UI" and not closed & {panel.__name__, getattr(panel, "bl_parent_id", "")}:
            fields |= recorded(panel).properties
    found = {name for _, name in fields - {("Pose", "bones"), ("IKT_PG_lists", "limb")}}
    assert found == {"target", "keys", "enabled"}
    assert len(found) <= MOST_FIELDS


def test_the_limbs_that_share_the_active_target_are_there_to_choose_from():
    rig, target, _ = standard()
    other = chain_rig(2, name="Other")
    configure(other, "Bone 1", target=target, chain_count=2)
    activate(target)
    choose_limb(other, "Bone 1")
    said = drawn(MAIN)
    assert said.count("limb_choose") == 2
    assert "(target_select)" in said, "it is selected already"
    assert bpy.ops.pose.ik_triangulation_bake(frame_start=1, frame_end=2) == {"FINISHED"}
    assert other.animation_data.action
    assert rig.animation_data is None or rig.animation_data.action is None


def test_all_limbs_can_be_baked_where_there_are_several():
    rig, target, _ = standard()
    assert "bake_all" not in drawn(MAIN)
    limb = configure(rig, "Bone 0", target=target, chain_count=1).ik_triangulation
    bpy.context.view_layer.update()  # as Blender does before it draws
    assert "bake_all" in drawn(MAIN)
    limb.enabled = False
    assert "bake_all" not in drawn(MAIN)


def test_only_a_bake_that_replaces_keys_is_called_bake_again():
    rig, _, limb = standard()
    assert recorded(MAIN).labels["bake"] == "Bake"
    bpy.ops.pose.ik_triangulation_bake(frame_start=1, frame_end=2)
    assert recorded(MAIN).labels["bake"] == "Bake Again"
    limb.destination = "LAYER"
    for label in ("Bake", "Bake Again"):  # above the action, which is on a track of its own
        assert recorded(MAIN).labels["bake"] == label
        bpy.ops.pose.ik_triangulation_bake(frame_start=1, frame_end=2)
        assert len(rig.animation_data.nla_tracks) == 2


def test_the_last_result_is_one_line():
    standard()
    before = drawn(MAIN)
    bpy.ops.pose.ik_triangulation_bake(frame_start=1, frame_end=4)
    assert drawn(MAIN) == [*before, "Reached 4 of 4 frames"]
    out_of_reach()
    assert drawn(MAIN)[-1].startswith("Not reached: distance 9")


def test_a_live_limb_of_another_rig_can_be_stopped():
    rig, _, _ = standard()
    live.start(rig, "Bone 3")
    chain_rig(2, name="Other")
    assert drawn(MAIN)[:2] == ["Live: Rig: Bone 3", "live_stop"]
    live.stop_all()

# SPDX-License-Identifier: GPL-3.0-or-later
"""Spaces of the active limb's target are added from the selection, ended, listed and removed."""

import bpy
import pytest

from ik_triangulation.jobs.edits.spaces import spaces_of
from ik_triangulation.ui.operators.target import chosen_space, target_owner
from ik_triangulation.ui.panels.keys import VIEW3D_PT_ik_triangulation_spaces as PANEL

from ...bodies import followed_rig, human_rig
from ...layouts import drawn
from ...rigs import chain_rig, empty, select
from .led import DONE

pytestmark = pytest.mark.usefixtures("empty_scene", "addon")


def listed(rig):
    return [(each.name, each.frame_start, each.frame_end) for each in spaces_of(rig, "hand.L")]


def test_a_space_goes_from_the_selected_table_to_the_selected_hips_and_ends():
    rig, scene = followed_rig(60), bpy.context.scene
    scene.frame_end = 60
    table = empty("Table", (0.5, -0.5, 1.0))
    select(rig, "hand.L")
    assert any("table" in text for text in drawn(PANEL))
    table.select_set(True)
    scene.frame_set(10)
    assert bpy.ops.pose.ik_triangulation_space_add() == {"FINISHED"}
    assert listed(rig) == [("Table", 10, 60)]
    table.select_set(False)
    select(rig, "hand.L", "spine", active="hand.L")
    scene.frame_set(30)
    with pytest.raises(RuntimeError, match="End that space first"):  # it would cut the table's in two
        bpy.ops.pose.ik_triangulation_space_add(frame_end=50)
    assert bpy.ops.pose.ik_triangulation_space_add() == {"FINISHED"}
    assert listed(rig) == [("Table", 10, 29), ("spine", 30, 60)]
    scene.frame_set(45)
    assert bpy.ops.pose.ik_triangulation_space_end() == {"FINISHED"}
    assert bpy.ops.pose.ik_triangulation_space_go() == {"FINISHED"}
    assert scene.frame_current == 30
    assert {"Table", "10 - 29", "spine", "30 - 44"} <= {*drawn(PANEL)}
    assert bpy.ops.pose.ik_triangulation_space_remove() == {"FINISHED"}
    assert listed(rig) == [("Table", 10, 29)]


def test_without_a_selection_it_is_asked_for():
    rig = followed_rig(60)
    select(rig, "hand.L")
    with pytest.raises(RuntimeError, match="Select the object or bone"):
        bpy.ops.pose.ik_triangulation_space_add()
    assert listed(rig) == []


class Asked:
    """Stands for the window manager that asks for the properties of an operator."""

    def __init__(self, context):
        self.asked, self._context = [], context

    @property
    def window_manager(self):
        return self

    def invoke_props_dialog(self, operator):
        self.asked.append(operator)
        return {"RUNNING_MODAL"}

    def __getattr__(self, name):
        return getattr(self._context, name)


def test_pressed_it_asks_for_the_object_only_where_none_is_selected(led):
    rig = followed_rig(60)
    select(rig, "hand.L")
    table = empty("Table", (0.5, -0.5, 1.0))
    for chosen in (False, True):
        table.select_set(chosen)

        def scenario(hand, operator, chosen=chosen):
            context = Asked(hand.context)
            operator.execute = lambda context: DONE
            assert type(operator).invoke(operator, context, None) == (DONE if chosen else {"RUNNING_MODAL"})
            assert context.asked == ([] if chosen else [operator])

        led("pose.ik_triangulation_space_add", scenario)


def test_what_is_chosen_is_one_object_or_one_bone_or_it_is_named():
    rig = followed_rig(60)
    table, other = empty("Table", (0.5, -0.5, 1.0)), human_rig("Other")
    other.select_set(False)
    bpy.context.view_layer.objects.active = rig
    rig.select_set(True)
    bpy.ops.object.mode_set(mode="POSE")
    select(rig, "hand.L")
    add, frames = bpy.ops.pose.ik_triangulation_space_add, iter(range(1, 60, 10))

    def added(**given):
        frame = next(frames)
        bpy.context.scene.frame_set(frame)
        try:
            add(frame_end=frame + 5, **given)
        except RuntimeError:
            return None
        owner = target_owner(bpy.context)
        newest = chosen_space(bpy.context)
        assert newest in list(owner.constraints)
        return newest.target.name, newest.subtarget

    table.select_set(True)
    assert added() == ("Table", "")
    other.select_set(True)
    assert added() is None, "two objects"
    table.select_set(False)
    other.data.bones.active = other.data.bones["head"] if "head" in other.data.bones else other.data.bones["spine"]
    assert added() == ("Other", other.data.bones.active.name)
    assert added(space="Other", bone="hand.R") == ("Other", "hand.R")
    assert added(space="Table") == ("Table", "")
    assert added(space="Nothing") is None


def test_spaces_are_of_a_limb_that_has_a_target_and_one_is_removed_that_is_chosen():
    ops, chain = bpy.ops.pose, chain_rig(2, name="Bare")
    select(chain, "Bone 1")
    assert not ops.ik_triangulation_space_add.poll()
    rig = followed_rig(60)
    select(rig, "hand.L")
    owner, lists = target_owner(bpy.context), bpy.context.window_manager.ik_triangulation_lists
    assert owner == rig.pose.bones["hand.L"].ik_triangulation.target
    assert ops.ik_triangulation_space_add.poll()
    assert not ops.ik_triangulation_space_remove.poll()
    owner.constraints.new("COPY_SCALE")
    ops.ik_triangulation_space_add(space=empty("Table").name)
    for number, found in ((-1, None), (0, None), (1, owner.constraints[1]), (2, None)):
        lists.space = number
        assert chosen_space(bpy.context) == found
        assert ops.ik_triangulation_space_remove.poll() == (found is not None)
    lists.space = 1
    assert ops.ik_triangulation_space_remove() == {"FINISHED"}
    assert [each.type for each in owner.constraints] == ["COPY_SCALE"]
    rig.pose.bones["hand.L"].ik_triangulation.hold = True
    assert target_owner(bpy.context) is None


def test_it_goes_to_the_first_frame_of_a_space_and_from_there_to_its_last_one():
    rig, scene = followed_rig(60), bpy.context.scene
    select(rig, "hand.L")
    bpy.ops.pose.ik_triangulation_space_add(space=empty("Table").name, frame_start=10, frame_end=40)
    for now, then in ((25, 10), (10, 40), (40, 10), (1, 10), (50, 10)):
        scene.frame_set(now)
        assert bpy.ops.pose.ik_triangulation_space_go() == {"FINISHED"}
        assert scene.frame_current == then

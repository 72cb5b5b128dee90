# SPDX-License-Identifier: GPL-3.0-or-later
"""Move Target and Rotate Target without a mouse: from a script, and as Adjust Last Operation runs them again."""

import bpy
import pytest
from mathutils import Vector

from ik_triangulation.jobs.live import following as live

from ...jobs.dragging import PLACE, TIP, apart, rotations, standard, update
from ...rigs import evaluated_tip, nothing_lost

pytestmark = pytest.mark.usefixtures("empty_scene")

MOVES = ("pose.ik_triangulation_target_move", "pose.ik_triangulation_target_rotate")


def test_move_target_takes_the_limb_along():
    rig, target = standard()
    start = target.location.copy()
    assert bpy.ops.pose.ik_triangulation_target_move(value=PLACE - start) == {"FINISHED"}
    update()
    assert (target.location - PLACE).length < 1e-6
    assert apart(rig, target) < 1e-4
    assert live.under_way() == []


def test_rotate_target_turns_it_about_its_own_origin():
    rig, target = standard(shape="SEGMENT")
    target.location, target.empty_display_size = (0.0, 0.6, 1.8), 0.5
    place = target.location.copy()
    bpy.ops.pose.ik_triangulation_target_rotate(value=0.5, axis=(1.0, 0.0, 0.0))
    update()
    assert target.location == place
    assert tuple(target.rotation_euler) == pytest.approx((0.5, 0.0, 0.0), abs=1e-6)
    local = target.matrix_world.inverted() @ evaluated_tip(rig, TIP)
    assert local.xy.length < 1e-3
    assert -1e-3 < local.z < 0.501


@pytest.mark.parametrize("name", MOVES)
def test_each_is_one_step_of_undo_that_can_be_adjusted(name):
    assert {"REGISTER", "UNDO"} <= getattr(bpy.types, name.replace("pose.", "POSE_OT_")).bl_options


def test_in_object_mode_it_works_as_well():
    rig, target = standard()
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.ops.pose.ik_triangulation_target_move(value=PLACE - target.location)
    update()
    assert apart(rig, target) < 1e-4


def test_what_cannot_be_followed_is_refused_and_nothing_changes():
    rig, target = standard()
    target.parent, target.parent_type, target.parent_bone = rig, "BONE", "Bone 2"
    before = rotations(rig)
    with nothing_lost(), pytest.raises(RuntimeError, match="follows chain bone"):
        bpy.ops.pose.ik_triangulation_target_move(value=Vector((0.1, 0.0, 0.0)))
    assert rotations(rig) == before
    rig.pose.bones[TIP].ik_triangulation.target = None
    with pytest.raises(RuntimeError, match=f"Choose a target for '{TIP}'"):
        bpy.ops.pose.ik_triangulation_target_move(value=(0.1, 0.0, 0.0))


def test_a_target_that_cannot_be_followed_to_its_new_place_is_put_back():
    _, target = standard(orientation="FULL")
    for driven in target.driver_add("scale"):
        place = driven.driver.variables.new()
        place.name = "place"
        place.targets[0].id, place.targets[0].data_path = target, "location.x"
        driven.driver.expression = "place < 1.0"
    with nothing_lost(), pytest.raises(RuntimeError, match="'Target' is scaled to zero"):
        bpy.ops.pose.ik_triangulation_target_move(value=(0.5, 0.0, 0.0))

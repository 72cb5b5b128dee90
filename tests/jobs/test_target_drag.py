# SPDX-License-Identifier: GPL-3.0-or-later
"""A drag of the target poses the limb at each move, ends as Auto Keying asks, and cancelled has never been."""

import bpy
import pytest
from mathutils import Quaternion, Vector

from ik_triangulation.errors import TargetError
from ik_triangulation.jobs.live import following as live
from ik_triangulation.jobs.targets import TargetDrag
from ik_triangulation.rig.by_hand.keys import values_before_writing
from ik_triangulation.ui.last_result import latest

from ..rigs import chain_rig, configure, curves_of, evaluated_tip, key_frames, key_location, nothing_lost, rotate
from .dragging import TIP, apart, rotations, standard, update

pytestmark = pytest.mark.usefixtures("empty_scene")

BY = Vector((-0.4, 0.2, 0.8))


@pytest.fixture(autouse=True)
def ends(addon):
    yield
    live.stop_all()


def drag(rig, tip=TIP):
    return TargetDrag(rig, tip, bpy.context.scene, bpy.context.view_layer)


def memories(rig):
    return [(m.mode, tuple(m.before), tuple(m.written)) for m in (b.ik_triangulation_posed for b in rig.pose.bones)]


def test_the_limb_follows_each_move_and_nothing_before_the_first():
    rig, target = standard()
    before, start = rotations(rig), target.location.copy()
    held = drag(rig)
    update()
    assert rotations(rig) == before
    for step in range(1, 11):
        held.move(BY * step / 10)
        assert (target.location - start - BY * step / 10).length < 1e-6
        update()
        assert apart(rig, target) < 1e-4
    assert held.finish() == ""
    assert live.under_way() == []
    assert latest(rig, TIP).reached
    assert curves_of(rig) == curves_of(target) == []


def test_it_poses_as_solve_pose_does():
    rig, _ = standard()
    held = drag(rig)
    held.move(BY)
    held.finish()
    dragged = rotations(rig)
    bpy.ops.pose.ik_triangulation_solve()
    for now, then in zip(rotations(rig), dragged, strict=True):
        assert now == pytest.approx(then, abs=1e-4)


def test_a_target_that_turns_turns_the_tip():
    rig, target = standard(orientation="FULL")
    target.matrix_world = rig.matrix_world @ rig.pose.bones[TIP].matrix
    target.location = evaluated_tip(rig, TIP)
    bpy.ops.pose.ik_triangulation_solve()
    held = drag(rig)
    held.turn(Quaternion((0.0, 0.0, 1.0), 0.3))
    held.finish()
    update()
    turned = (rig.matrix_world @ rig.pose.bones[TIP].matrix).to_quaternion()
    assert turned.rotation_difference(target.matrix_world.to_quaternion()).angle < 0.02
    assert apart(rig, target) < 1e-4


def test_a_bone_is_a_target_as_well():
    rig, other = chain_rig(4), chain_rig(1, name="Prop")
    configure(rig, TIP, target=other, subtarget="Bone 0", chain_count=3, tolerance=1e-4)
    other.location, other.rotation_euler = (0.5, 0.3, 2.0), (0.3, 0.1, 0.9)
    held = drag(rig)
    held.move(BY / 4)
    held.finish()
    update()
    place = other.matrix_world @ other.pose.bones["Bone 0"].head
    assert (place - other.location - BY / 4).length < 1e-5
    assert (evaluated_tip(rig, TIP) - place).length < 1e-4


@pytest.mark.parametrize("is_live", [False, True])
def test_cancelled_it_gives_back_target_pose_and_memory(is_live):
    rig, target = standard()
    rotate(rig.pose.bones["Bone 2"], (0.9, 0.3, 0.0, 0.1))
    if is_live:
        live.start(rig, TIP)
        rotate(rig.pose.bones["Bone 1"], (0.9, 0.0, 0.2, 0.1))  # by hand, since
        update()
    remembered, made = memories(rig), [values_before_writing(bone) for bone in rig.pose.bones]
    with nothing_lost():
        held = drag(rig)
        held.move(BY)
        held.turn(Quaternion((1.0, 0.0, 0.0), 0.4))
        held.cancel()
    assert memories(rig) == remembered
    assert [values_before_writing(bone) for bone in rig.pose.bones] == made
    assert live.is_live(rig, TIP) == is_live
    if is_live:
        target.location += BY
        update()
        assert apart(rig, target) < 1e-4


def test_other_live_limbs_follow_and_come_back():
    rig, target = standard()
    other = chain_rig(3, name="Other")
    configure(other, "Bone 2", target=target, chain_count=3, tolerance=1e-4)
    live.start(other, "Bone 2")
    before = rotations(other)
    held = drag(rig)
    held.move(BY)
    assert rotations(other) != before
    held.cancel()
    assert rotations(other) == before
    assert live.is_live(other, "Bone 2")


@pytest.mark.parametrize("is_live", [False, True])
def test_auto_keying_keys_target_and_limb_at_the_end_and_only_once(is_live):
    rig, target = standard()
    key_location(target, (1, 21))
    bpy.context.scene.frame_set(11)
    if is_live:
        live.start(rig, TIP)
    bpy.context.scene.tool_settings.use_keyframe_insert_auto = True
    held = drag(rig)
    held.move(BY)
    assert curves_of(rig) == []
    assert held.finish() == ""
    assert {tuple(key_frames(curve)) for curve in curves_of(target)} == {(1, 11, 21)}
    assert {tuple(key_frames(curve)) for curve in curves_of(rig)} == {(11,)}
    assert live._key() is None, "it waits to be keyed once more"
    update()
    assert apart(rig, target) < 1e-4


def test_a_target_that_is_animated_stays_where_it_is_put_until_the_frame_changes():
    rig, target = standard()
    key_location(target, (1, 21))
    bpy.context.scene.frame_set(11)
    shown = target.location.copy()
    held = drag(rig)
    held.move(BY)
    held.finish()
    update()
    assert (target.location - shown - BY).length < 1e-6
    assert apart(rig, target) < 1e-4
    bpy.context.scene.frame_set(11)
    assert (target.location - shown).length < 1e-6


def test_a_limb_that_cannot_be_solved_begins_no_drag():
    rig, target = standard()
    target.parent, target.parent_type, target.parent_bone = rig, "BONE", "Bone 2"
    with nothing_lost(), pytest.raises(TargetError, match="follows chain bone 'Bone 2'"):
        drag(rig)
    assert live.under_way() == []


def test_what_keeps_the_limb_from_following_is_told():
    rig, _ = standard()
    held = drag(rig)
    assert held.problem == ""
    held.move(Vector((float("inf"), 0.0, 0.0)))
    assert held.problem.startswith("Target 'Target' has an invalid position")
    held.cancel()

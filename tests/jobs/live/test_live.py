# SPDX-License-Identifier: GPL-3.0-or-later
"""A live limb follows its target whenever that moves, fights nobody, keys nothing unasked, and leaves no handlers."""

from time import sleep

import bpy
import numpy as np
import pytest
from mathutils import Quaternion, Vector

from ik_triangulation.errors import TargetError
from ik_triangulation.jobs.bake import bake
from ik_triangulation.jobs.live import following as live
from ik_triangulation.rig.frames import samples
from ik_triangulation.rig.limb import Limb
from ik_triangulation.ui.last_result import latest

from ...rigs import chain_rig, configure, curves_of, empty, key_location, nothing_lost, push_down, rotate
from ..dragging import PLACE, TIP, apart, begin, rotations, standard, update

pytestmark = pytest.mark.usefixtures("empty_scene")


@pytest.fixture(autouse=True)
def ends(addon):
    yield
    live.stop_all()


def listening():
    found = (getattr(bpy.app.handlers, name) for name in dir(bpy.app.handlers))
    lists = [value for value in found if isinstance(value, list)]
    return sum(getattr(each, "__module__", "").endswith(".live.following") for handlers in lists for each in handlers)


def test_it_solves_at_once_and_then_whenever_the_target_has_moved():
    rig, target = begin()
    assert apart(rig, target) < 1e-4
    for step in range(20):
        target.location = PLACE + 0.03 * step * Vector((1.0, -1.0, -0.5))
        update()
        assert apart(rig, target) < 1e-4
    assert curves_of(rig) == []
    assert latest(rig, TIP).reached


def test_baked_keys_are_shown_as_they_are():
    rig, target = standard()
    key_location(target, range(1, 41, 10))
    bake(Limb.of(rig.pose.bones[TIP]), 1, 20)
    target.animation_data_clear()
    bpy.context.scene.frame_set(5)
    bpy.ops.pose.ik_triangulation_live()
    for frame in (6, 7, 15):
        bpy.context.scene.frame_set(frame)
        shown = [curve.evaluate(frame) for curve in curves_of(rig)]
        values = [value for bone in list(rig.pose.bones)[1:] for value in bone.rotation_quaternion]
        assert sorted(shown) == pytest.approx(sorted(values), abs=1e-6)
        update()
        assert sorted(shown) == pytest.approx(
            sorted(value for bone in list(rig.pose.bones)[1:] for value in bone.rotation_quaternion), abs=1e-6
        )


@pytest.mark.parametrize("blend", ["REPLACE", "ADD"])
def test_over_a_strip_each_frame_shows_what_a_bake_keys_also_where_nothing_but_the_strip_moves(blend):
    rig, target = standard()
    key_location(target, (1, 11, 21))
    for frame in (1, 20, 40):
        for turn, bone in enumerate(list(rig.pose.bones)[1:]):
            rotate(bone, Quaternion((1.0, 0.01 * frame * turn, 0.1, 0.01 * (20 - frame))).normalized())
            bone.keyframe_insert("rotation_quaternion", frame=frame)
    push_down(rig, blend)
    bpy.context.scene.frame_end = 40
    bpy.context.scene.frame_set(5)
    live.start(rig, TIP)
    seen = {}
    for frame in (5, 14, 28, 33, 7):
        bpy.context.scene.frame_set(frame)
        update()
        assert apart(rig, target) < 1e-4
        seen[frame] = rotations(rig)
    live.stop_all()
    bake(Limb.of(rig.pose.bones[TIP]), 1, 40)
    for frame, before in seen.items():
        bpy.context.scene.frame_set(frame)
        assert np.abs(np.array(rotations(rig)) - before).max() < 1e-4


def test_a_bake_does_not_disturb_it_and_it_does_not_disturb_a_bake():
    rig, target = standard()
    key_location(target, range(1, 41, 10))
    bpy.context.scene.frame_set(12)
    assert bake(Limb.of(rig.pose.bones[TIP]), 1, 40).all_reached
    baked = [[tuple(key.co) for key in curve.keyframe_points] for curve in curves_of(rig)]
    rig.animation_data_clear()
    bpy.context.scene.frame_set(12)
    bpy.ops.pose.ik_triangulation_live()
    assert bake(Limb.of(rig.pose.bones[TIP]), 1, 40).all_reached
    again = [[tuple(key.co) for key in curve.keyframe_points] for curve in curves_of(rig)]
    assert [[x for x, _ in keys] for keys in again] == [[x for x, _ in keys] for keys in baked]
    assert bpy.context.scene.frame_current == 12


def test_without_auto_keying_nothing_is_keyed_and_with_it_the_pose_is_once_it_rests():
    rig, target = begin()
    target.location = PLACE
    update()
    assert live._key() is None
    assert curves_of(rig) == []
    bpy.context.scene.tool_settings.use_keyframe_insert_auto = True
    target.location = PLACE + Vector((0.1, 0.0, 0.0))
    update()
    assert live._key() == live._SETTLED
    assert curves_of(rig) == []
    sleep(1.1 * live._SETTLED)
    assert live._key() is None
    assert {len(curve.keyframe_points) for curve in curves_of(rig)} == {1}
    assert len(curves_of(rig)) == 12
    assert apart(rig, target) < 1e-4


def test_undo_brings_back_what_was_and_it_goes_on_from_there():
    rig, target = standard()
    rotate(rig.pose.bones["Bone 2"], (0.9, 0.3, 0.0, 0.1))
    bpy.ops.ed.undo_push(message="Before")
    bpy.ops.pose.ik_triangulation_live()
    bpy.ops.ed.undo_push(message="Live")
    target.location = PLACE
    update()
    bpy.ops.ed.undo_push(message="Moved")
    moved = rotations(rig)
    bpy.ops.ed.undo()
    bpy.ops.ed.undo()
    rig, target = bpy.data.objects["Rig"], bpy.data.objects["Target"]
    update()
    assert rotations(rig)[2] == pytest.approx((0.9, 0.3, 0.0, 0.1), abs=1e-6)
    bpy.ops.ed.redo()
    bpy.ops.ed.redo()
    rig, target = bpy.data.objects["Rig"], bpy.data.objects["Target"]
    update()
    assert rotations(rig) == moved
    target.location = PLACE + Vector((0.0, 0.0, -0.2))
    update()
    assert apart(rig, target) < 1e-4


def test_what_is_in_the_way_is_said_and_when_it_is_gone_it_goes_on():
    rig, target = begin()
    target.scale = (0.0, 0.0, 0.0)
    limb = rig.pose.bones[TIP].ik_triangulation
    limb.orientation = "FULL"
    rig.update_tag()
    update()
    assert live.problem(rig, TIP).startswith("Target 'Target' is scaled to zero")
    target.scale = (1.0, 1.0, 1.0)
    target.location = PLACE
    update()
    assert live.problem(rig, TIP) == ""
    assert apart(rig, target) < 1e-4


def test_without_a_target_nothing_becomes_live():
    """F47"""
    rig, target = standard()
    rig.pose.bones[TIP].ik_triangulation.target = None
    with nothing_lost(), pytest.raises(RuntimeError, match=f"Choose a target for '{TIP}'"):
        bpy.ops.pose.ik_triangulation_live()
    with nothing_lost(), pytest.raises(TargetError, match=r"No target is set\. Choose an object to reach for\."):
        live.start(rig, TIP)
    configure(rig, "Bone 1", target=target, chain_count=2)
    with nothing_lost(), pytest.raises(RuntimeError, match="No target is set"):
        bpy.ops.pose.ik_triangulation_live(tip=TIP)
    assert not live.is_live(rig, TIP)
    assert listening() == 0


def test_a_live_limb_that_lost_its_target_can_be_stopped():
    rig, _ = begin()
    rig.pose.bones[TIP].ik_triangulation.target = None
    bpy.ops.pose.ik_triangulation_live()
    assert not live.is_live(rig, TIP)


def test_any_limb_can_be_switched_by_name():
    rig, target = standard()
    configure(rig, "Bone 1", target=target, chain_count=2)
    configure(rig, TIP, chain_count=2)
    for tip in ("Bone 1", TIP):
        bpy.ops.pose.ik_triangulation_live(tip=tip)
    assert live.is_live(rig, "Bone 1")
    assert live.is_live(rig, TIP)
    bpy.ops.pose.ik_triangulation_live(tip="Bone 1")
    assert not live.is_live(rig, "Bone 1")
    assert live.is_live(rig, TIP)
    with pytest.raises(RuntimeError, match="'Rig' has no bone 'Lost'"):
        bpy.ops.pose.ik_triangulation_live(tip="Lost")


def switch_off():
    bpy.ops.pose.ik_triangulation_live()


def load():
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)


def lose_the_armature():
    bpy.data.objects.remove(bpy.data.objects["Rig"])
    empty("Something").location = (1.0, 0.0, 0.0)
    update()


def rename_the_tip():
    bpy.data.objects["Rig"].pose.bones[TIP].name = "Other"
    bpy.data.objects["Target"].location = PLACE
    update()


def disable():
    live.unregister()


@pytest.mark.parametrize("end", [switch_off, load, lose_the_armature, rename_the_tip, disable])
def test_when_it_ends_it_leaves_no_handlers(end):
    begin()
    assert listening() == 7
    end()
    assert listening() == 0
    assert not bpy.app.timers.is_registered(live._key)


def test_switching_20_times_leaves_what_there_was(registered):
    standard()
    before = registered()
    for _ in range(20):
        bpy.ops.pose.ik_triangulation_live()
        bpy.ops.pose.ik_triangulation_live()
    assert registered() == before


def test_a_renamed_armature_is_still_followed():
    rig, target = begin()
    rig.name = "Renamed"
    chain_rig(1)
    target.location = PLACE
    update()
    assert apart(rig, target) < 1e-4


def test_a_bake_that_steps_the_scene_is_not_followed_frame_by_frame():
    rig, target = standard()
    driver = target.driver_add("location", 0).driver
    variable = driver.variables.new()
    variable.name, variable.type = "frame", "CONTEXT_PROP"
    variable.targets[0].context_property, variable.targets[0].data_path = "ACTIVE_SCENE", "frame_current"
    driver.expression = "0.3 * sin(frame / 9)"
    bpy.context.scene.frame_set(3)
    bpy.ops.pose.ik_triangulation_live()
    report = bake(Limb.of(rig.pose.bones[TIP]), 1, 12)
    shown = rotations(rig)
    bpy.context.scene.frame_set(3)
    assert any("stepped" in warning for warning in report.warnings)
    assert report.all_reached
    assert live.is_live(rig, TIP)
    assert listening() == 7
    assert all(now == pytest.approx(then, abs=1e-3) for now, then in zip(rotations(rig), shown, strict=True))


def test_live_limbs_alone_are_no_reason_to_step_the_scene():
    rig, target = begin()
    key_location(target, range(1, 41, 10))
    bpy.context.scene.frame_set(1)
    assert samples.others_follow_frame() is False
    assert not bake(Limb.of(rig.pose.bones[TIP]), 1, 12).warnings


def test_a_pose_that_was_left_before_it_rested_is_not_keyed_at_another_frame():
    rig, target = begin()
    bpy.context.scene.tool_settings.use_keyframe_insert_auto = True
    target.location = PLACE
    update()
    bpy.context.scene.frame_set(20)
    sleep(1.1 * live._SETTLED)
    assert live._key() is None
    assert curves_of(rig) == []


def test_what_is_keyed_is_what_is_shown():
    rig, target = begin(influence=0.5)
    bpy.context.scene.tool_settings.use_keyframe_insert_auto = True
    target.location = PLACE
    update()
    shown = rotations(rig)
    sleep(1.1 * live._SETTLED)
    live._key()
    assert rotations(rig) == shown
    bpy.context.scene.frame_set(5)
    assert all(now == pytest.approx(then, abs=1e-6) for now, then in zip(rotations(rig), shown, strict=True))


def test_stopped_from_elsewhere_nothing_is_live():
    _, target = begin()
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.context.view_layer.objects.active = target
    assert live.under_way() == ["Rig: Bone 3"]
    assert bpy.ops.pose.ik_triangulation_live_stop() == {"FINISHED"}
    assert listening() == 0
    with pytest.raises(RuntimeError, match="No limb is live"):
        bpy.ops.pose.ik_triangulation_live_stop()


def test_a_removed_limb_is_not_live():
    begin()
    bpy.ops.pose.ik_triangulation_limb_remove()
    assert listening() == 0


def test_where_a_key_would_not_show_none_is_set_and_the_panel_says_why():
    rig, target = begin()
    solo = rig.animation_data_create().nla_tracks.new()
    solo.is_solo = True
    bpy.context.scene.tool_settings.use_keyframe_insert_auto = True
    target.location = PLACE
    update()
    sleep(1.1 * live._SETTLED)
    assert live._key() is None
    assert curves_of(rig) == []
    assert "is solo" in live.problem(rig, TIP)


def test_the_target_may_be_taken_away_before_the_pose_is_keyed():
    rig, target = begin()
    bpy.context.scene.tool_settings.use_keyframe_insert_auto = True
    target.location = PLACE
    update()
    rig.pose.bones[TIP].ik_triangulation.target = None
    sleep(1.1 * live._SETTLED)
    assert live._key() is None
    assert curves_of(rig) == []
    assert live.problem(rig, TIP)


def test_a_limb_is_live_in_the_scene_in_which_it_was_made_so():
    rig, target = begin()
    other = bpy.data.scenes.new("Other")
    for ob in (rig, target):
        other.collection.objects.link(ob)
    before = rotations(rig)
    target.location = PLACE
    other.view_layers[0].update()
    assert rotations(rig) == before
    update()
    assert apart(rig, target) < 1e-4

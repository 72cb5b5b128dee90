# SPDX-License-Identifier: GPL-3.0-or-later
"""At every frame that is shown, an empty of a body that nobody has touched is at its hand, and nothing else changes."""

import bpy
import pytest
from mathutils import Vector

from ik_triangulation.jobs.bake import bake_body
from ik_triangulation.jobs.live import following as live
from ik_triangulation.jobs.setup import set_up_body
from ik_triangulation.jobs.shots.problem import body_of
from ik_triangulation.rig.targets.untouched import is_waiting
from ik_triangulation.ui.overlay.updates import edits

from ..bodies import human_rig
from ..rigs import contents, key_location, select

pytestmark = pytest.mark.usefixtures("empty_scene", "addon")
LAST = 12


@pytest.fixture
def rig():
    """A body that bows by keys; nobody has touched an empty."""
    rig = human_rig(with_head=True)
    bpy.context.view_layer.objects.active = rig
    bpy.context.scene.frame_end = LAST
    set_up_body(rig)
    for frame, turn in ((1, 0.0), (LAST, 0.6)):
        rig.pose.bones["spine.001"].rotation_quaternion = (1.0, turn, 0.0, 0.0)
        rig.pose.bones["spine.001"].keyframe_insert("rotation_quaternion", frame=frame)
    bpy.context.scene.frame_set(1)
    return rig


def target_of(rig, tip):
    return rig.pose.bones[tip].ik_triangulation.target


def apart(rig, tip):
    """The distance that is shown between a tip and its target."""
    shown = (each.evaluated_get(bpy.context.view_layer.depsgraph) for each in (rig, target_of(rig, tip)))
    armature, target = shown
    return (armature.matrix_world @ armature.pose.bones[tip].tail - target.matrix_world.translation).length


def test_it_is_at_the_hand_at_each_frame_and_still_waits(rig):
    place, ahead = target_of(rig, "hand.R").location.copy(), apart(rig, "head")
    for frame in (LAST, 5.5, 8):
        bpy.context.scene.frame_set(int(frame), subframe=frame % 1.0)
        assert max(apart(rig, "hand.L"), apart(rig, "hand.R")) < 1e-5
        assert apart(rig, "head") == pytest.approx(ahead, abs=1e-5)
        assert (target_of(rig, "hand.R").location - place).length > 5e-3
    assert all(is_waiting(rig.pose.bones[tip]) for tip in ("hand.L", "hand.R", "head"))


def test_one_that_was_moved_or_keyed_stays_and_the_other_still_goes_along(rig):
    target_of(rig, "hand.R").location += Vector((0.0, -0.1, 0.0))
    place = target_of(rig, "hand.R").location.copy()
    key_location(target_of(rig, "head"), (1,), lambda _: (0.0, -1.0, 1.5))
    bpy.context.scene.frame_set(LAST)
    assert target_of(rig, "hand.R").location == place
    assert target_of(rig, "head").location == Vector((0.0, -1.0, 1.5))
    assert apart(rig, "hand.L") < 1e-5


def test_after_a_bake_it_is_where_the_hand_is_baked_to(rig):
    key_location(target_of(rig, "hand.L"), (1, LAST), lambda frame: (0.5, -0.3, 1.2 - 0.05 * frame))
    bake_body(body_of(rig, "hand.L"), 1, LAST)
    for frame in (LAST, 4):
        bpy.context.scene.frame_set(frame)
        assert apart(rig, "hand.R") < 1e-5


def test_in_live_it_is_at_the_hand_as_solved(rig):
    rig.animation_data_clear()
    key_location(target_of(rig, "hand.L"), (1, LAST), lambda frame: (0.5, -0.3, 1.2 - 0.05 * frame))
    live.start(rig, "hand.L")
    try:
        for frame in (LAST, 4):
            bpy.context.scene.frame_set(frame)
            bpy.context.view_layer.update()
            assert apart(rig, "hand.R") < 1e-4
    finally:
        live.stop_all()


def test_it_is_found_after_a_file_was_loaded_and_after_undo(rig, tmp_path):
    bpy.ops.object.mode_set(mode="POSE")
    select(rig, "hand.L")
    bpy.ops.ed.undo_push(message="Set up")
    bpy.context.scene.frame_set(LAST)
    bpy.ops.ed.undo_push(message="Later")
    bpy.ops.ed.undo()
    rig = bpy.data.objects["Rig"]
    bpy.context.scene.frame_set(6)
    assert apart(rig, "hand.R") < 1e-5
    assert is_waiting(rig.pose.bones["hand.R"])
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "waits.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "waits.blend"))
    rig = bpy.data.objects["Rig"]
    bpy.context.scene.frame_set(LAST)
    assert apart(rig, "hand.R") < 1e-5


def test_nothing_else_changes_and_no_edit_is_seen(rig):
    bpy.context.view_layer.update()
    seen, before = edits(), contents()
    bpy.context.scene.frame_set(LAST)
    bpy.context.scene.frame_set(1)
    assert edits() == seen
    after = contents()
    places = {f"{target_of(rig, tip).name}: place" for tip in ("hand.L", "hand.R", "head")}  # but for rounding
    assert {name for name in before if before[name] != after[name]} <= places
    temporary = bpy.data.scenes.new("Another")
    temporary.collection.objects.link(rig)
    places = [target_of(rig, tip).location.copy() for tip in ("hand.L", "hand.R")]
    temporary.frame_set(LAST)  # as reading of frames does
    assert [target_of(rig, tip).location for tip in ("hand.L", "hand.R")] == places

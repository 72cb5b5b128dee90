# SPDX-License-Identifier: GPL-3.0-or-later
"""What the overlay keeps from one redraw to the next is never shown once it is out of date."""

from math import radians

import bpy
import numpy as np
import pytest
from mathutils import Vector

from ik_triangulation.jobs.live import following as live
from ik_triangulation.ui.overlay import draw
from ik_triangulation.ui.overlay import draw as kept
from ik_triangulation.ui.overlay.draw import forget_limbs
from ik_triangulation.ui.overlay.updates import updates

from ...rigs import empty
from .seen import drawn, layers, settings, standard

pytestmark = pytest.mark.usefixtures("empty_scene")


def picture():
    return [np.concatenate(part, axis=1) for layer in layers() for part in layer[1:]]


def same(one, other):
    return len(one) == len(other) and all(
        a.shape == b.shape and (a == b).all() for a, b in zip(one, other, strict=True)
    )


def as_new():
    """The picture made from nothing."""
    forget_limbs()
    return picture()


def test_a_view_that_turns_makes_nothing_anew(monkeypatch):
    standard()
    before = picture()
    monkeypatch.setattr(kept, "displayed_limb", None)
    monkeypatch.setattr(draw, "eye_of", lambda view: Vector((5.0, -4.0, 3.0, 1.0)))
    assert not same(picture(), before)  # outlines face the viewer


def test_each_evaluation_counts():
    _, target = standard()
    before = updates()
    target.location.x += 0.1
    bpy.context.view_layer.update()
    assert updates() > before


def posed(rig, target):
    rig.pose.bones["Bone 1"].rotation_quaternion = (0.9, 0.3, 0.1, 0.1)


def parent_posed(rig, target):
    rig.pose.bones["Bone 0"].rotation_quaternion = (0.9, 0.3, 0.1, 0.1)


def limits(rig, target):
    rig.pose.bones["Bone 2"].ik_triangulation_joint.upper = radians(20.0)


def kind(rig, target):
    rig.pose.bones["Bone 2"].ik_triangulation_joint.kind = "CONE"


def blenders_limits(rig, target):
    bone = rig.pose.bones["Bone 2"]
    bone.ik_triangulation_joint.source = "BLENDER"
    bone.use_ik_limit_x, bone.ik_max_x = True, 0.4


def locked(rig, target):
    rig.pose.bones["Bone 2"].ik_triangulation_joint.kind = "LOCKED"


def length(rig, target):
    rig.pose.bones["Bone 3"].ik_triangulation.chain_count = 2


def tolerance(rig, target):
    rig.pose.bones["Bone 3"].ik_triangulation.tolerance = 50.0


def no_target(rig, target):
    rig.pose.bones["Bone 3"].ik_triangulation.target = None


def another_target(rig, target):
    rig.pose.bones["Bone 3"].ik_triangulation.target = empty("Another", (2.0, 0.0, 0.0))


def target_moved(rig, target):
    target.location = (1.0, 1.0, 1.0)


def target_parented(rig, target):
    target.parent = empty("Parent", (1.0, 0.0, 0.0))


def target_looks(rig, target):
    target.empty_display_type = "PLAIN_AXES"


def target_size(rig, target):
    target.empty_display_size = 0.5


def target_deleted(rig, target):
    bpy.data.objects.remove(target)


def another_bone(rig, target):
    rig.data.bones.active = rig.data.bones["Bone 3"]


def scaled(rig, target):
    rig.pose.bones["Bone 2"].scale = (1.5, 1.5, 1.5)


def moved(rig, target):
    rig.location = (1.0, 0.0, 0.0)


def edit_mode(rig, target):
    bpy.ops.object.mode_set(mode="EDIT")


def rest_position(rig, target):
    rig.data.pose_position = "REST"


def joints_off(rig, target):
    settings().show_joints = False


def edited(rig, target):
    bpy.ops.object.mode_set(mode="EDIT")
    rig.data.edit_bones["Bone 3"].tail.z += 0.5
    bpy.ops.object.mode_set(mode="POSE")


def live_posed(rig, target):
    live.start(rig, "Bone 3")
    picture()
    target.location = (0.5, 0.5, 1.5)


@pytest.mark.parametrize(
    "change",
    [
        posed,
        parent_posed,
        limits,
        kind,
        blenders_limits,
        locked,
        length,
        tolerance,
        no_target,
        another_target,
        target_moved,
        target_parented,
        target_looks,
        target_size,
        target_deleted,
        another_bone,
        scaled,
        moved,
        edit_mode,
        rest_position,
        joints_off,
        edited,
        live_posed,
    ],
    ids=lambda change: change.__name__,
)
def test_whatever_changes_is_drawn_as_it_is(change):
    rig, target = standard()
    rig.data.bones.active = rig.data.bones["Bone 2"]
    before = picture()
    try:
        change(rig, target)
        after = picture()
        assert same(after, as_new())
        assert change is moved or not same(after, before)
    finally:
        live.stop_all()


def test_what_is_moved_as_a_whole_is_drawn_there():
    rig, _ = standard()
    layers()
    rig.location = (1.0, 2.0, 3.0)
    assert layers()[0].world == rig.matrix_world


def test_a_frame_change_is_drawn():
    rig, target = standard()
    bone = rig.pose.bones["Bone 1"]
    for frame, value in ((1, 0.0), (20, 0.4)):
        bone.rotation_quaternion = (1.0, value, 0.0, 0.0)
        bone.keyframe_insert("rotation_quaternion", frame=frame)
        target.location.x = value
        target.keyframe_insert("location", frame=frame)
    bpy.context.scene.frame_set(1)
    first = picture()
    bpy.context.scene.frame_set(20)
    assert not same(picture(), first)
    bpy.context.scene.frame_set(1)
    assert same(picture(), first)
    bpy.context.scene.frame_set(4, subframe=0.5)
    assert same(picture(), as_new())


def test_undo_and_redo_are_drawn():
    rig, _ = standard()
    bpy.ops.ed.undo_push(message="Before")
    before = picture()
    rig.pose.bones["Bone 1"].rotation_quaternion = (0.9, 0.3, 0.1, 0.1)
    bpy.ops.ed.undo_push(message="Posed")
    after = picture()
    assert not same(after, before)
    bpy.ops.ed.undo()
    assert same(picture(), before)
    bpy.ops.ed.redo()
    assert same(picture(), after)


def test_nothing_of_another_file_is_drawn():
    standard()
    assert drawn() > 0
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    settings().show = True
    assert drawn() == 0

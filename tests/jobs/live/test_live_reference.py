# SPDX-License-Identifier: GPL-3.0-or-later
"""A live limb has the reference of before it was live, or the pose that somebody gave it since."""

import bpy
import numpy as np
import pytest

from ik_triangulation.jobs.live import following as live
from ik_triangulation.rig.by_hand.reference import reference_rotations
from ik_triangulation.rig.limb import Limb

from ...rigs import rotate
from ..dragging import PLACE, TIP, begin, rotations, standard, update

pytestmark = pytest.mark.usefixtures("empty_scene")

BENT = (0.9, 0.3, 0.0, 0.1)


@pytest.fixture(autouse=True)
def ends(addon):
    yield
    live.stop_all()


def reference():
    limb = Limb.of(bpy.data.objects["Rig"].pose.bones[TIP])
    return reference_rotations(limb, [1], bpy.context.scene)[:, :, 0]


def moved(target, *places):
    for place in places:
        target.location = place
        update()


def test_it_stays_what_it_was_while_the_target_is_moved_and_after():
    rig, target = standard()
    rotate(rig.pose.bones["Bone 2"], BENT)
    before, posed = reference(), rotations(rig)
    bpy.ops.pose.ik_triangulation_live()
    moved(target, PLACE, (0.5, 0.2, 2.0), PLACE)
    assert rotations(rig) != posed
    assert np.abs(reference() - before).max() < 1e-6
    live.stop(rig, TIP)
    assert np.abs(reference() - before).max() < 1e-6


def test_bones_posed_by_hand_are_the_new_one():
    rig, target = begin()
    moved(target, PLACE)
    rotate(rig.pose.bones["Bone 2"], BENT)
    update()
    posed = reference()
    assert np.abs(posed[1] - np.array(BENT) / np.linalg.norm(BENT)).max() < 1e-6
    assert (
        np.abs(posed - np.array([tuple(bone.rotation_quaternion.normalized()) for bone in rig.pose.bones][1:])).max()
        < 1e-6
    )
    moved(target, (0.5, 0.2, 2.0), PLACE)
    assert np.abs(reference() - posed).max() < 1e-6


def test_undo_of_a_move_leaves_no_live_pose_as_one_by_hand():
    _, target = standard()
    before = reference()
    bpy.ops.ed.undo_push(message="Before")
    bpy.ops.pose.ik_triangulation_live()
    bpy.ops.ed.undo_push(message="Live")
    moved(target, PLACE)
    bpy.ops.ed.undo_push(message="Moved")
    moved(target, (0.5, 0.2, 2.0))
    bpy.ops.ed.undo_push(message="Moved again")
    for _ in range(2):
        bpy.ops.ed.undo()
        assert np.abs(reference() - before).max() < 1e-6
    live.stop_all()
    rotate(bpy.data.objects["Rig"].pose.bones["Bone 2"], BENT)
    assert np.abs(reference()[1] - np.array(BENT) / np.linalg.norm(BENT)).max() < 1e-6


def test_a_drag_that_is_cancelled_leaves_no_pose_by_hand(monkeypatch):
    dragging = [False]
    monkeypatch.setattr(live, "_is_dragging", lambda: dragging[0])
    rig, target = begin()
    before, posed, place = reference(), rotations(rig), tuple(target.location)
    dragging[0] = True
    moved(target, PLACE, (0.5, 0.2, 2.0))
    dragging[0] = False
    moved(target, place)
    assert rotations(rig) == posed
    assert np.abs(reference() - before).max() < 1e-6

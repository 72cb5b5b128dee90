# SPDX-License-Identifier: GPL-3.0-or-later
"""One live limb: it solves when what it aims at has moved, and keeps what others have posed."""

import bpy
import pytest
from mathutils import Quaternion, Vector

from ik_triangulation.jobs.live import following as live
from ik_triangulation.kinematics.rotation import rotation_angle

from ...rigs import empty, key_location, rotate
from ..dragging import PLACE, TIP, apart, begin, rotations, standard, update

pytestmark = pytest.mark.usefixtures("empty_scene")


@pytest.fixture(autouse=True)
def ends(addon):
    yield
    live.stop_all()


def test_it_follows_what_the_target_follows():
    rig, target = standard()
    parent = empty("Hand", (0.0, 0.0, 0.0))
    target.parent = parent
    bpy.ops.pose.ik_triangulation_live()
    parent.location = (0.1, 0.2, 0.3)
    update()
    assert apart(rig, target) < 1e-4
    rig.location = (0.2, -0.1, 0.0)
    update()
    assert apart(rig, target) < 1e-4


def test_it_follows_a_new_setting():
    rig, _ = begin()
    other = empty("Other", PLACE)
    rig.pose.bones[TIP].ik_triangulation.target = other
    rig.update_tag()
    update()
    assert apart(rig, other) < 1e-4


def test_bones_posed_by_hand_stay_until_the_target_moves():
    rig, target = begin()
    rotate(rig.pose.bones["Bone 2"], (0.9, 0.3, 0.0, 0.1))
    update()
    posed = rotations(rig)
    empty("Bystander").location = (5.0, 0.0, 0.0)
    update()
    assert rotations(rig) == posed
    target.location = PLACE
    update()
    assert apart(rig, target) < 1e-4


def test_on_the_timeline_it_follows_where_it_has_no_keys():
    rig, target = standard()
    key_location(target, range(1, 41, 10))
    bpy.context.scene.frame_set(1)
    bpy.ops.pose.ik_triangulation_live()
    for frame in (5, 10, 11, 30):
        bpy.context.scene.frame_set(frame)
        assert apart(rig, target) < 1e-4


def test_a_target_that_is_put_back_while_it_is_dragged_brings_the_pose_back(monkeypatch):
    rig, target = begin()
    before, place = rotations(rig), target.location.copy()
    monkeypatch.setattr(live, "_is_dragging", lambda: True)
    for step in range(1, 6):
        target.location = place + step * Vector((0.1, 0.1, -0.1))
        update()
    assert rotations(rig) != before
    monkeypatch.setattr(live, "_is_dragging", lambda: False)
    target.location = place
    update()
    assert rotations(rig) == before


def test_an_influence_below_1_stays_half_way_however_often_the_target_moves():
    rig, target = standard(influence=0.5)
    before = rotations(rig)
    bpy.ops.pose.ik_triangulation_live()
    for step in range(8):
        target.location = PLACE + Vector((0.0, 0.0, 0.01 * (step % 2)))
        update()
    here = rotations(rig)
    bpy.ops.pose.ik_triangulation_live()
    for bone, values in zip(rig.pose.bones, before, strict=True):
        bone.rotation_quaternion = values
    update()
    target.location = PLACE + Vector((0.0, 0.0, 0.01))
    update()
    bpy.ops.pose.ik_triangulation_solve()
    for bone, values in zip(rig.pose.bones, here, strict=True):
        assert rotation_angle(bone.rotation_quaternion, Quaternion(values)) < 0.02


@pytest.mark.parametrize("how", ["keys", "hand"])
def test_an_influence_below_1_keeps_to_what_others_have_posed_since(how):
    rig, target = begin(influence=0.1)
    turned = Quaternion((1.0, 0.0, 0.0), 1.0)
    for name in ("Bone 1", "Bone 2", "Bone 3"):
        rotate(rig.pose.bones[name], turned)
        if how == "keys":
            rig.pose.bones[name].keyframe_insert("rotation_quaternion", frame=10)
    if how == "keys":
        bpy.context.scene.frame_set(10)
    update()
    target.location += Vector((0.0, 0.0, 0.01))
    update()
    for name in ("Bone 1", "Bone 2", "Bone 3"):
        assert rotation_angle(rig.pose.bones[name].rotation_quaternion, turned) < 0.3


@pytest.mark.parametrize("mode", ["XYZ", "AXIS_ANGLE"])
def test_the_rotation_mode_may_change_while_a_limb_is_live(mode):
    rig, target = begin(influence=0.5)
    for bone in rig.pose.bones:
        bone.rotation_mode = mode
    for _ in range(2):
        target.location += Vector((0.0, 0.0, 0.01))
        update()
    assert live.is_live(rig, TIP)
    assert live.problem(rig, TIP) == ""

# SPDX-License-Identifier: GPL-3.0-or-later
"""How a limb was baked is kept with it, and read again."""

import json

import bpy
import pytest

from ik_triangulation.jobs.bake import bake, rebake
from ik_triangulation.rig.by_hand.record import recorded_bake, recorded_span
from ik_triangulation.rig.limb import Limb

from ..jobs.baked import OTHERS, baked
from ..rigs import (
    all_keys,
    configure,
    curves_of,
    empty,
    key_frames,
)

pytestmark = pytest.mark.usefixtures("empty_scene")


def test_it_goes_by_what_was_kept_and_not_by_what_is_set():
    rig, _ = baked(**OTHERS)
    configure(rig, "Bone 2", target=empty("Elsewhere"), chain_count=1, solver="FABRIK")
    assert bpy.ops.pose.ik_triangulation_rebake() == {"FINISHED"}
    pressed = repr(all_keys(rig))
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    rig, _ = baked(**OTHERS)
    rebake(rig, "Bone 2")
    assert repr(all_keys(rig)) == pressed


def test_it_is_kept_in_the_file_with_the_pole_and_the_obstacles(tmp_path):
    rig, target = baked()
    box = bpy.data.collections.new("Furniture")
    pole = empty("Pole", (2.0, 0.0, 1.0))
    bake(Limb.from_tip(rig, "Bone 2", target, 2, pole_target=pole, obstacles=box, use_offset=True), 3, 20, 2)
    box.use_fake_user = True
    path = str(tmp_path / "rig.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    rig = bpy.data.objects["Rig"]
    limb, span, _ = recorded_bake(rig, "Bone 2", bpy.context.scene)
    assert (limb.in_order, span) == (("Bone 1", "Bone 2"), (3, 20, 2))
    assert (limb.target.name, limb.pole_target.name, limb.obstacles.name) == ("Target", "Pole", "Furniture")
    assert (limb.use_offset, tuple(limb.offset_rotation)) == (True, (1.0, 0.0, 0.0, 0.0))
    rebake(rig, "Bone 2")
    assert key_frames(curves_of(rig)[0]) == list(range(3, 21, 2))


def test_what_the_limb_reaches_for_may_have_been_renamed_since():
    rig, target = baked(pole_target=empty("Pole", (3.0, 0.0, 0.0)))
    configure(rig, "Bone 2", target=target, pole_target=bpy.data.objects["Pole"])
    target.name, bpy.data.objects["Pole"].name = "Cup", "Knee"
    report = rebake(rig, "Bone 2")
    assert report.target == "Cup"
    said = "'{}', which the last bake was made with, is not there: '{}' took its place."
    assert report.warnings == [said.format("Pole", "Knee"), said.format("Target", "Cup")]


def test_records_of_many_limbs_are_one_text_whatever_was_stored_between():
    """Each is turned to text once; an action that somebody else wrote to is read again."""
    rig, target = baked()
    action = rig.animation_data.action
    for tip in ("Bone 0", "Bone 2", "Bone 1", "Bone 2"):
        bake(Limb.from_tip(rig, tip, target, 1), 1, 3)
    text = action["ik_triangulation"]
    (records,) = json.loads(text).values()
    assert [*records] == ["Bone 2", "Bone 0", "Bone 1"]
    assert records["Bone 2"]["span"] == [1, 3, 1]
    assert json.dumps(json.loads(text)) == text
    del action["ik_triangulation"]
    bake(Limb.from_tip(rig, "Bone 1", target, 1), 1, 3)
    (records,) = json.loads(action["ik_triangulation"]).values()
    assert [*records] == ["Bone 1"]


def test_the_span_of_the_last_bake_is_told():
    rig, _ = baked()
    assert recorded_span(rig, "Bone 2") == (3, 20)
    assert recorded_span(rig, "Bone 1") is None
    rig.animation_data.action["ik_triangulation"] = "damaged"
    assert recorded_span(rig, "Bone 2") is None
    rig.animation_data_clear()
    assert recorded_span(rig, "Bone 2") is None


def test_settings_that_followed_their_animation_do_so_again():
    rig, target = baked()
    bone = configure(rig, "Bone 2", target=target, chain_count=2)
    rig.keyframe_insert(f"{bone.path_from_id()}.ik_triangulation.influence", frame=1)
    for prop in ("scale", "rotation_quaternion"):  # which are no settings
        bone.keyframe_insert(prop, frame=1)
    limb = Limb.of(bone)
    assert "influence" in limb.followed
    bake(limb, 3, 20)
    (records,) = json.loads(rig.animation_data.action["ik_triangulation"]).values()
    assert "influence" not in records["Bone 2"]["settings"]
    again, *_ = recorded_bake(rig, "Bone 2", bpy.context.scene)
    assert again.followed == limb.followed
    assert again.influence == bone.ik_triangulation.influence
    fixed = Limb.from_tip(rig, "Bone 2", target, 2, influence=0.5)
    assert "influence" not in fixed.followed
    bake(fixed, 3, 20)
    again, *_ = recorded_bake(rig, "Bone 2", bpy.context.scene)
    assert ("influence" in again.followed, again.influence) == (False, 0.5)

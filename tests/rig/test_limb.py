# SPDX-License-Identifier: GPL-3.0-or-later
"""A limb for one call: its bones from root to tip, with settings given, saved, or followed where they are animated."""

import bpy
import pytest

from ik_triangulation.errors import ChainError, TargetError
from ik_triangulation.rig.limb import (
    Limb,
    check_lowest,
    enabled_limbs,
    enabled_tips,
    has_limbs,
    saved_range,
    saved_reach,
    select_only,
    selected_bones,
    selected_limb,
)

from ..rigs import chain_rig, configure, empty

pytestmark = pytest.mark.usefixtures("empty_scene")


def test_bones_are_counted_up_from_the_tip():
    rig, target = chain_rig(4), empty()
    limb = Limb.from_tip(rig, "Bone 3", target, 2)
    assert (limb.bones, limb.tip, limb.in_order) == (("Bone 2", "Bone 3"), "Bone 3", ("Bone 2", "Bone 3"))
    assert Limb.from_tip(rig, "Bone 3", target).bones == ("Bone 0", "Bone 1", "Bone 2", "Bone 3")


def test_bones_between_those_that_are_named_are_there_but_not_solved():
    limb = Limb.from_bones(chain_rig(4), ["Bone 3", "Bone 1"], empty())
    assert limb.bones == ("Bone 1", "Bone 2", "Bone 3")
    assert limb.in_order == ("Bone 1", "Bone 3")
    assert [bone.name for bone in limb.pose_bones] == ["Bone 1", "Bone 3"]


def test_no_limb_is_without_a_target():
    rig = chain_rig(2)
    for make in (lambda: Limb.from_tip(rig, "Bone 1", None), lambda: Limb.from_bones(rig, ["Bone 1"], None)):
        with pytest.raises(TargetError, match="No target is set"):
            make()
    with pytest.raises(ChainError, match="Bone 'hand' is not in 'Rig'"):
        Limb.from_tip(rig, "hand", empty())


def test_the_saved_settings_are_those_of_the_tip_bone():
    rig, target = chain_rig(3), empty()
    bone = configure(rig, "Bone 2", target=target, chain_count=2, solver="CCD", tolerance=0.02)
    limb = Limb.of(bone)
    assert (limb.bones, limb.target, limb.solver) == (("Bone 1", "Bone 2"), target, "CCD")
    assert limb.tolerance == pytest.approx(0.02)
    bone.ik_triangulation.use_selected = True
    assert Limb.of(bone, ["Bone 0", "Bone 2"]).in_order == ("Bone 0", "Bone 2")


def test_what_is_given_is_not_followed_and_what_is_left_open_is():
    rig, target = chain_rig(2), empty()
    stored = configure(rig, "Bone 1", target=target).ik_triangulation
    for frame, value in ((1, 0.0), (5, 1.0)):
        stored.influence = value
        rig.keyframe_insert('pose.bones["Bone 1"].ik_triangulation.influence', frame=frame)
    assert Limb.from_tip(rig, "Bone 1", target).followed == {"influence"}
    assert Limb.from_tip(rig, "Bone 1", target, influence=0.5).followed == frozenset()
    still = Limb.from_tip(rig, "Bone 1", target, influence=0.5)
    assert still.at(rig) is still


def test_a_limb_at_a_frame_has_the_values_of_that_frame():
    rig, target = chain_rig(2), empty()
    stored = configure(rig, "Bone 1", target=target).ik_triangulation
    for frame, value in ((1, 0.0), (5, 1.0)):
        stored.influence = value
        rig.keyframe_insert('pose.bones["Bone 1"].ik_triangulation.influence', frame=frame)
    limb = Limb.from_tip(rig, "Bone 1", target)
    for frame, value in ((1, 0.0), (5, 1.0)):
        bpy.context.scene.frame_set(frame)
        assert limb.at(rig).influence == value


def test_a_bone_is_named_with_its_target():
    rig, other = chain_rig(2), chain_rig(2, name="Other")
    assert Limb.from_tip(rig, "Bone 1", other, subtarget="Bone 0").target_name == "Other: Bone 0"
    assert Limb.from_tip(rig, "Bone 1", other).target_name == "Other"


def test_the_range_is_that_of_the_scene_its_preview_or_the_limb():
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, 50
    scene.use_preview_range = True
    for _ in range(2):  # Blender keeps each end beside the other
        scene.frame_preview_end, scene.frame_preview_start = 20, 10
    stored = configure(chain_rig(2), "Bone 1", frame_start=3, frame_end=7, step=2).ik_triangulation
    assert saved_range(stored, scene, preview=True) == (10, 20, 2)
    assert saved_range(stored, scene, preview=False) == (1, 50, 2)
    stored.use_scene_range = False
    assert saved_range(stored, scene, preview=True) == (3, 7, 2)


def test_a_reach_is_saved_by_the_names_that_the_call_takes():
    stored = configure(chain_rig(2), "Bone 1", reach_path="ARC", reach_hold=4).ik_triangulation
    saved = saved_reach(stored)
    assert (saved["path"], saved["hold"]) == ("ARC", 4)


def test_the_limbs_of_an_armature_are_those_that_are_enabled_and_have_a_target():
    rig, target = chain_rig(4), empty()
    assert not has_limbs(rig)
    with pytest.raises(ChainError, match="No limb of 'Rig' is enabled and has a target"):
        enabled_tips(rig)
    first, last = (configure(rig, tip, target=target, chain_count=2) for tip in ("Bone 1", "Bone 3"))
    configure(rig, "Bone 2")
    assert has_limbs(rig)
    assert enabled_tips(rig) == ["Bone 1", "Bone 3"]
    assert [limb.bones for limb in enabled_limbs(rig)] == [("Bone 0", "Bone 1"), ("Bone 2", "Bone 3")]
    last.ik_triangulation.enabled = False
    first.ik_triangulation.use_selected = True
    (limb,) = enabled_limbs(rig, ["Bone 1", "Bone 3"])  # those that are not above the tip are of other limbs
    assert limb.bones == ("Bone 1",)


def test_selected_bones_that_end_elsewhere_than_in_the_tip_are_refused():
    rig = chain_rig(3)
    check_lowest(rig.pose.bones["Bone 1"], ["Bone 0", "Bone 1"])
    with pytest.raises(ChainError, match=r"selected bones end in 'Bone 2'\. Make that the active one"):
        check_lowest(rig.pose.bones["Bone 1"], ["Bone 1", "Bone 2"])


def test_bones_are_selected_alone_and_those_that_are_hidden_are_not_selected():
    rig, target = chain_rig(4), empty()
    select_only(rig, ["Bone 3", "Bone 1"])
    assert (selected_bones(rig), rig.data.bones.active.name) == (["Bone 1", "Bone 3"], "Bone 1")
    flagged = rig.pose.bones["Bone 1"] if hasattr(rig.pose.bones[0], "hide") else rig.data.bones["Bone 1"]
    flagged.hide = True
    assert selected_bones(rig) == ["Bone 3"]
    layer = rig.data.collections.new("Layer")
    layer.assign(rig.pose.bones["Bone 3"])
    assert selected_bones(rig) == ["Bone 3"]
    layer.is_visible = False
    assert selected_bones(rig) == []
    layer.is_visible = True
    tip = configure(rig, "Bone 3", chain_count=2)
    assert selected_limb(tip, target).bones == ("Bone 2", "Bone 3")
    tip.ik_triangulation.use_selected = True
    assert selected_limb(tip, target).bones == ("Bone 3",)

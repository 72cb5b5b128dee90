# SPDX-License-Identifier: GPL-3.0-or-later
"""Which limbs a command works on: one, all of an armature, all of the scene."""

import re

import bpy

from ..commands import DONE, FAILED, MISSED, only_limb, opened, told
from ..rigs import chain_rig, configure, curves_of


def test_another_scene_of_the_file_is_worked_in_when_named(run, rig_file):
    rig = opened(rig_file)
    second = bpy.data.scenes.new("Second")
    second.collection.objects.link(rig)
    second.collection.objects.link(bpy.data.objects["Target"])
    second.frame_end = 3
    bpy.ops.wm.save_mainfile()
    code, out, said = run("bake", "FILE", "--scene", "Second", "--tip", "Bone 3", "--discard", "--json")
    assert code == DONE, said
    assert only_limb(out)["frames"] == 3
    code, out, said = run(
        "solve", "FILE", "--scene", "Second", "--tip", "Bone 3", "--frame", "9", "--discard", "--json"
    )
    assert code == DONE, said
    assert only_limb(out)["per_frame"][0]["frame"] == 9


def test_all_limbs_are_baked_as_one(run, rig_file):
    rig = opened(rig_file)
    other = rig.pose.bones["Bone 0"].ik_triangulation
    other.target, other.chain_count, other.enabled = bpy.data.objects["Far"], 0, False
    rig.pose.bones["Bone 3"].ik_triangulation.interpolation = "CONSTANT"
    bpy.ops.wm.save_mainfile()
    code, out, said = run("bake", "FILE", "--all", "--discard", "--json")
    assert code == DONE, said
    assert "1 limb reached 6 of 6 frames" in said
    assert [limb["tip"] for limb in told(out)["limbs"]] == ["Bone 3"]
    assert {key.interpolation for c in curves_of(bpy.data.objects["Rig"]) for key in c.keyframe_points} == {"CONSTANT"}
    rig = opened(rig_file)
    rig.pose.bones["Bone 0"].ik_triangulation.enabled = True
    bpy.ops.wm.save_mainfile()
    code, out, said = run("bake", "FILE", "--all", "--frame-end", "3", "--discard", "--json")
    assert code == MISSED, said
    assert "2 limbs reached 3 of 6 frames" in said
    assert "Bone 0: Reached 0 of 3 frames" in said
    assert [limb["reached"] for limb in told(out)["limbs"]] == [0, 3]


def test_several_armatures_ask_for_one_unless_only_one_has_the_bone(run, rig_file):
    opened(rig_file)
    chain_rig(2, name="Other")
    bpy.ops.wm.save_mainfile()
    code, _, said = run("bake", "FILE", "--tip", "Bone 1", "--discard")
    assert code == FAILED
    assert "has 2 armatures, 2 with 'Bone 1' ('Rig', 'Other'). Name one with --armature NAME" in said
    code, _, said = run("bake", "FILE", "--tip", "hand", "--discard")
    assert code == FAILED
    assert "has 2 armatures, 0 with 'hand' ('Rig', 'Other'). Name one with --armature NAME" in said
    for words in (["--tip", "Bone 3"], ["--armature", "Rig", "--tip", "Bone 3"], ["--bones", "Bone 2", "Bone 3"]):
        assert run("bake", "FILE", *words, "--target", "Target", "--discard")[0] in {DONE, MISSED}


def test_the_limbs_of_all_armatures_are_baked_as_one(run, rig_file):
    rig = opened(rig_file)
    other = chain_rig(3, name="Other")
    configure(other, "Bone 2", target=bpy.data.objects["Far"], chain_count=3)
    chain_rig(2, name="Without limbs")
    bpy.ops.wm.save_mainfile()
    code, out, said = run("bake", "FILE", "--all", "--overwrite", "--json")
    assert code == MISSED, said
    assert [(limb["armature"], limb["tip"], limb["reached"]) for limb in told(out)["limbs"]] == [
        ("Rig", "Bone 3", 6),
        ("Other", "Bone 2", 0),
    ]
    assert "Other, Bone 2: Reached 0 of 6 frames" in said
    rig = opened(rig_file)
    assert [len(curves_of(each)) for each in (rig, bpy.data.objects["Other"])] == [12, 12]
    code, out, said = run("bake", "FILE", "--all", "--armature", "Rig", "--discard", "--json")
    assert (code, only_limb(out)["armature"]) == (DONE, "Rig"), said


def test_armatures_that_cannot_be_baked_are_left_out_with_a_word_and_fail_when_they_are_named(run, rig_file):
    opened(rig_file)
    other = chain_rig(3, name="Other")
    configure(other, "Bone 2", target=bpy.data.objects["Far"], chain_count=3)
    other.hide_viewport = True
    bpy.ops.wm.save_mainfile()
    code, out, said = run("bake", "FILE", "--all", "--discard", "--json")
    assert (code, only_limb(out)["armature"]) == (DONE, "Rig"), said
    (warning,) = told(out)["warnings"]
    assert re.match("Left out: 'Other' is ", warning)
    assert warning in said
    code, _, said = run("bake", "FILE", "--all", "--armature", "Other", "--discard")
    assert code == FAILED
    rig = opened(rig_file)
    rig.data.pose_position = "REST"
    bpy.ops.wm.save_mainfile()
    code, _, said = run("bake", "FILE", "--all", "--discard")
    assert code == FAILED
    assert "No limb in scene 'Scene' is enabled, has a target and can be baked. Left out: 'Rig' is in Rest" in said


def test_one_limb_that_fails_leaves_all_armatures_as_they_were(run, rig_file):
    rig = opened(rig_file)
    other = chain_rig(3, name="Other")
    configure(other, "Bone 2", target=rig, chain_count=3)
    other.pose.bones["Bone 2"].ik_triangulation.subtarget = "no such bone"
    bpy.ops.wm.save_mainfile()
    before = rig_file.read_bytes()
    code, _, said = run("bake", "FILE", "--all", "--overwrite")
    assert code == FAILED, said
    assert rig_file.read_bytes() == before

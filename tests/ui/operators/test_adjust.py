# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings of an operator: those of the limb at first, others for one run, presets for good."""

import bpy
import pytest

from ik_triangulation.errors import TargetError
from ik_triangulation.presets import find_preset
from ik_triangulation.presets.file import read_preset
from ik_triangulation.presets.limb import apply_preset
from ik_triangulation.rig.by_hand.record import recorded_bake
from ik_triangulation.ui.operators import bake

from ...presets.arms import arm, values
from ...rigs import all_keys, configure, curves_of, empty, key_frames, key_location, nothing_lost
from .rebuilt import standard

pytestmark = pytest.mark.usefixtures("empty_scene")

CHANGES = {"smoothing": 0.6, "soft_edge": False, "effort_weight": 0.3, "rest_weight": 0.4, "rest_pose": "START"}
CHANGES |= {"reduce": True}


def fresh(**settings):
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    rig, _ = standard(**settings)
    return rig, rig.pose.bones["Bone 3"].ik_triangulation


def test_a_bake_with_other_settings_is_that_of_a_limb_which_has_them():
    rig, _ = fresh(**CHANGES)
    bpy.ops.pose.ik_triangulation_bake(frame_start=1, frame_end=12)
    wanted = repr(all_keys(rig))
    rig, stored = fresh()
    bpy.ops.pose.ik_triangulation_bake(frame_start=1, frame_end=12, **CHANGES)
    assert repr(all_keys(rig)) == wanted
    assert not stored.reduce, "the limb has kept its own settings"
    assert stored.smoothing == 0.0
    assert stored.soft_edge
    limb, span, _ = recorded_bake(rig, "Bone 3", bpy.context.scene)
    assert (limb.smoothing, limb.reduce, span) == (pytest.approx(0.6), True, (1, 12, 1))


@pytest.mark.parametrize("name", ["bake", "reach", "solve"])
def test_undone_and_run_with_other_settings_it_makes_what_a_first_run_makes(name):
    run = getattr(bpy.ops.pose, f"ik_triangulation_{name}")
    own = {"rest_weight": 0.8} | ({"frame_end": 9, "reduce": True} if name != "solve" else {})

    def made(rig):
        action = rig.animation_data and rig.animation_data.action
        kept = [(key, getattr(v, "to_dict", lambda v=v: v)()) for key, v in action.items()] if action else []
        return repr((all_keys(rig), [tuple(bone.rotation_quaternion) for bone in rig.pose.bones], kept))

    rig, _ = fresh()
    rig.pose.bones["Bone 2"].rotation_quaternion = (0.9, 0.1, 0.0, 0.2)
    rig.pose.bones["Bone 2"].keyframe_insert("rotation_quaternion", frame=5)
    run("EXEC_DEFAULT", True, **own)
    wanted = made(rig)
    rig, _ = fresh()
    rig.pose.bones["Bone 2"].rotation_quaternion = (0.9, 0.1, 0.0, 0.2)
    rig.pose.bones["Bone 2"].keyframe_insert("rotation_quaternion", frame=5)
    bpy.ops.ed.undo_push(message="Set up")
    run("EXEC_DEFAULT", True)
    assert made(bpy.data.objects["Rig"]) != wanted
    bpy.ops.ed.undo()
    run("EXEC_DEFAULT", True, **own)
    assert made(bpy.data.objects["Rig"]) == wanted


def test_all_limbs_get_what_was_changed_and_keep_the_rest():
    rig, target = standard(bones=4, use_scene_range=False, frame_start=2, frame_end=8)
    configure(rig, "Bone 0", target=target, chain_count=1, use_scene_range=False, frame_start=3, frame_end=20)
    bpy.ops.pose.ik_triangulation_bake_all(frame_end=6)
    curves = {curve.data_path: key_frames(curve) for curve in curves_of(rig)}
    assert curves['pose.bones["Bone 3"].rotation_quaternion'] == [2, 3, 4, 5, 6]
    assert curves['pose.bones["Bone 0"].rotation_quaternion'] == [3, 4, 5, 6]


def arm_to_bake():
    rig, bones = arm()
    configure(rig, "hand", chain_count=3, target=key_location(empty(), range(1, 42, 4)))
    return rig, bones


@pytest.mark.parametrize("name", ["solve", "bake", "reach"])
def test_a_preset_is_loaded_for_the_limb(name):
    rig, bones = arm_to_bake()
    before = repr(values(rig))
    assert getattr(bpy.ops.pose, f"ik_triangulation_{name}")(preset="Human Arm") == {"FINISHED"}
    loaded = repr(values(rig))
    assert loaded != before
    apply_preset(rig, bones, read_preset(find_preset("Human Arm")))
    assert repr(values(rig)) == loaded


def test_what_fails_leaves_no_preset_behind():
    arm_to_bake()
    with nothing_lost(), pytest.raises(RuntimeError, match="The range ends"):
        bpy.ops.pose.ik_triangulation_bake(preset="Human Arm", frame_start=9, frame_end=2)
    with nothing_lost(), pytest.raises(RuntimeError, match="Preset 'Claw' is not there"):
        bpy.ops.pose.ik_triangulation_bake(preset="Claw")


@pytest.mark.parametrize("name", ["solve", "bake", "reach"])
def test_what_fails_after_a_preset_was_loaded_gives_all_settings_back(name, monkeypatch):
    rig, bones = arm_to_bake()
    loaded = []
    for bone in bones:
        joint = rig.pose.bones[bone].ik_triangulation_joint
        joint.source, joint.kind, joint.minimum, joint.axis = "OWN", "EULER", (-0.1, -0.2, -0.3), (0.0, 1.0, 0.0)
    before = repr(values(rig))

    def fail(*_):
        loaded.append(repr(values(rig)))
        raise TargetError("It went wrong")

    monkeypatch.setattr(bake, "adjusted", fail)
    with nothing_lost(), pytest.raises(RuntimeError, match="It went wrong"):
        getattr(bpy.ops.pose, f"ik_triangulation_{name}")(preset="Human Arm")
    assert loaded != [before]
    assert repr(values(rig)) == before

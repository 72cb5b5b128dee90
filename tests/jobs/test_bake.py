# SPDX-License-Identifier: GPL-3.0-or-later
"""Baked frames show the tip at the target; the rest of the file is as it was."""

import bpy
import pytest
from mathutils import Quaternion, Vector

from ik_triangulation.jobs.bake import bake
from ik_triangulation.jobs.pose import solve_pose

from ..rigs import (
    all_keys,
    chain_rig,
    curves_of,
    empty,
    evaluated_tip,
    nothing_lost,
)
from .moving import animated, bits, limb, moving

pytestmark = pytest.mark.usefixtures("empty_scene")


def test_between_the_keys_of_a_coarse_bake_the_tip_stays_near_the_target():
    """The handles follow the motion: with straight lines or level handles it strays 2 to 5 times as far."""
    rig, target = moving(frames=range(1, 42))
    bake(limb(rig, target), 1, 41, step=4)
    worst = 0.0
    for frame in range(1, 42):
        bpy.context.scene.frame_set(frame)
        worst = max(worst, (evaluated_tip(rig, "Bone 2") - target.matrix_world.translation).length)
    assert worst < 0.05


def test_every_baked_frame_shows_the_tip_at_the_target():
    rig, target = moving(frames=range(1, 42))
    report = bake(limb(rig, target), 1, 41)
    assert report.all_reached
    assert report.keys == 3 * 4 * 41 == sum(len(curve.keyframe_points) for curve in curves_of(rig))
    for frame in range(1, 42):
        bpy.context.scene.frame_set(frame)
        assert (evaluated_tip(rig, "Bone 2") - target.matrix_world.translation).length < 1.1e-3


def test_baking_twice_gives_the_same_keys():
    rig, target = moving()
    bake(limb(rig, target), 1, 20)
    first = repr(all_keys(rig))
    bake(limb(rig, target), 1, 20)
    assert repr(all_keys(rig)) == first


def test_solving_keys_only_the_present_frame():
    rig, target = moving()
    scene = bpy.context.scene
    bake(limb(rig, target), 1, 20)
    before = all_keys(rig)
    scene.frame_set(7, subframe=0.5)
    report = solve_pose(limb(rig, target), key=True)
    after = all_keys(rig)
    assert report.keys == 12
    for path, keys in before.items():
        assert repr([key for key in after[path] if key[0][0] != 7.5]) == repr(keys)
        assert len(after[path]) == len(keys) + 1


def test_a_single_key_is_eased_like_one_made_by_hand():
    """Linear keys are for frames baked one by one."""
    rig, target = moving()
    solve_pose(limb(rig, target), key=True)
    assert {key.interpolation for curve in curves_of(rig) for key in curve.keyframe_points} == {"BEZIER"}


def test_solving_without_a_key_makes_no_animation():
    rig = chain_rig(3)
    assert solve_pose(limb(rig, empty())).keys == 0
    assert rig.animation_data is None


def test_the_frame_and_poses_without_keys_are_as_before():
    rig, target = moving(4)
    other = rig.pose.bones["Bone 0"]
    other.keyframe_insert("rotation_quaternion", frame=1)
    scene = bpy.context.scene
    scene.frame_set(6, subframe=0.25)
    loose = Quaternion((0.9, 0.1, 0.2, 0.3)).normalized()
    other.rotation_quaternion, other.location = loose, (0.1, 0.2, 0.3)
    target.rotation_euler = (0.3, 0.2, 0.1)
    kept = bits(other.rotation_quaternion), bits(other.location)
    bake(limb(rig, target, chain_count=3), 1, 12)
    assert (scene.frame_current, scene.frame_subframe) == (6, 0.25)
    assert (bits(other.rotation_quaternion), bits(other.location)) == kept
    assert bits(target.rotation_euler) == bits((0.3, 0.2, 0.1))
    assert len(bpy.data.scenes) == 1


@pytest.mark.parametrize("frame", [1, 6, 6.5, 20, 60])
def test_the_present_frame_shows_the_baked_pose(frame):
    rig, target = moving()
    scene = bpy.context.scene
    scene.frame_set(int(frame), subframe=frame % 1.0)
    bake(limb(rig, target), 1, 20)
    shown = [bits(bone.rotation_quaternion) for bone in rig.pose.bones], evaluated_tip(rig, "Bone 2")
    scene.frame_set(int(frame), subframe=frame % 1.0)
    assert shown == ([bits(bone.rotation_quaternion) for bone in rig.pose.bones], evaluated_tip(rig, "Bone 2"))


def test_animated_values_that_were_changed_without_a_key_stay():
    """Of whatever kind: Blender evaluates an action anew when keys are added to it."""
    rig, target = moving(4)
    other = rig.pose.bones["Bone 0"]
    other['odd "name"'] = 1.0
    other["list"] = [1.0, 2.0, 3.0]
    follow = other.constraints.new("COPY_SCALE")
    animated = [(rig, "location"), (other, "scale"), (follow, "influence"), (rig, "hide_render")]
    animated += [(other, '["odd \\"name\\""]'), (other, '["list"]'), (rig, "rotation_mode")]
    for owner, path in animated:
        owner.keyframe_insert(path, frame=1)
    other.keyframe_insert("custom_shape_scale_xyz", frame=1)
    bpy.context.view_layer.update()
    rig.location, other.scale, follow.influence, rig.hide_render = (1, 2, 3), (2, 2, 2), 0.25, True
    other['odd "name"'], other["list"], rig.rotation_mode = 0.5, [4.0, 5.0, 6.0], "ZXY"
    bake(limb(rig, target, chain_count=3), 1, 12)
    assert (rig.location, other.scale, follow.influence) == (Vector((1, 2, 3)), Vector((2, 2, 2)), 0.25)
    assert (other['odd "name"'], list(other["list"]), rig.hide_render) == (0.5, [4.0, 5.0, 6.0], True)
    assert rig.rotation_mode == "ZXY"


def test_keys_of_something_that_is_gone_are_no_hindrance():
    rig, target = moving()
    rig.pose.bones["Bone 0"].keyframe_insert("location", frame=1)
    curves_of(rig)[0].data_path = 'pose.bones["Gone"].location'
    curves_of(rig)[1].data_path = "nonsense["
    assert bake(limb(rig, target), 1, 5).all_reached


def test_selection_mode_and_active_bone_stay():
    rig, target = moving()
    rig.data.bones.active = rig.data.bones["Bone 1"]
    bpy.ops.object.mode_set(mode="OBJECT")
    target.select_set(True)
    bpy.context.view_layer.objects.active = target
    bake(limb(rig, target), 1, 5)
    assert (bpy.context.mode, bpy.context.view_layer.objects.active) == ("OBJECT", target)
    assert rig.data.bones.active.name == "Bone 1"
    assert set(bpy.context.selected_objects) == {rig, target}


def test_a_progress_that_raises_cancels_and_changes_nothing():
    rig, target = animated("keys")

    def cancel(done, of):
        if done >= 7:
            raise KeyboardInterrupt

    with nothing_lost(), pytest.raises(KeyboardInterrupt):
        bake(limb(rig, target), 1, 10, progress=cancel)


def test_progress_is_told_up_to_the_last_frame():
    rig, target = moving()
    told = []
    bake(limb(rig, target), 3, 11, step=2, progress=lambda done, of: told.append((done, of)))
    assert told[-1] == (5, 5)
    assert told == sorted(told)

# SPDX-License-Identifier: GPL-3.0-or-later
"""Gravity and Keep Pose count for the limbs of a body, in what their goals leave free."""

from math import degrees

import bpy
import pytest
from mathutils import Quaternion, Vector

from ik_triangulation.jobs.bake import bake_body
from ik_triangulation.jobs.pose import solve_body_pose
from ik_triangulation.jobs.setup import set_up_body
from ik_triangulation.jobs.shots.problem import body_of
from ik_triangulation.kinematics.rotation import rotation_angle

from ...bodies import human_rig
from ...rigs import empty

pytestmark = pytest.mark.usefixtures("empty_scene")
LAST, ARM = 17, ("upper_arm.L", "forearm.L", "hand.L")


def set_up(**settings):
    """A rig whose left hand goes up before its chest."""
    rig = human_rig()
    rig.pose.bones["upper_arm.L"].rotation_quaternion = Quaternion((0.0, 1.0, 0.3), 1.2)
    set_up_body(rig)
    stored = rig.pose.bones["hand.L"].ik_triangulation
    for name, value in settings.items():
        setattr(stored, name, value)
    for frame, place in ((1, (0.3, -0.25, 1.0)), (9, (0.1, -0.35, 1.25)), (LAST, (0.28, -0.3, 1.45))):
        stored.target.location = place
        stored.target.keyframe_insert("location", frame=frame)
    return rig


def shown(rig):
    """Heights of the left elbow, squared turns of the arm off rest, and the largest of a frame [degrees]."""
    heights, off, steps, before = [], [], [], None
    for frame in range(1, LAST + 1):
        bpy.context.scene.frame_set(frame)
        now = [rig.pose.bones[name].matrix_basis.to_quaternion() for name in ARM]
        heights.append(rig.pose.bones["forearm.L"].head.z)
        off.append(sum(rotation_angle(each, Quaternion()) ** 2 for each in now))
        steps.append(max(map(rotation_angle, before or now, now)))
        before = now
    return heights, off, degrees(max(steps))


def baked(**settings):
    """The same of a body that is baked, which reaches without a warning."""
    rig = set_up(**settings)
    report = bake_body(body_of(rig, "hand.L"), 1, LAST)
    assert report.reached, report.text
    assert not report.warnings
    return shown(rig)


def test_an_elbow_hangs_with_gravity_and_an_arm_is_nearer_to_its_rest_with_keep_pose():
    heights, off, _ = baked()
    hanging, _, fastest = baked(effort_weight=0.5)
    assert all(low < high - 0.01 for low, high in zip(hanging, heights, strict=True))
    assert fastest < 12.0
    _, kept, fastest = baked(rest_weight=1.0)
    assert sum(kept) < 0.98 * sum(off)
    assert fastest < 12.0


def test_a_pose_has_gravity_as_the_bake_and_an_animated_weight_is_named():
    rig = set_up(effort_weight=0.5)
    bpy.context.scene.frame_set(9)
    body = body_of(rig, "hand.L")
    rig.pose.bones["hand.L"].ik_triangulation.effort_weight = 0.0
    solve_body_pose(body_of(rig, "hand.L"))
    before = rig.pose.bones["forearm.L"].head.z
    assert solve_body_pose(body).reached
    assert rig.pose.bones["forearm.L"].head.z < before - 0.01
    bone = rig.pose.bones["hand.L"]
    for frame, weight in ((1, 0.2), (LAST, 0.6)):
        bone.ik_triangulation.effort_weight = weight
        rig.keyframe_insert(f"{bone.path_from_id()}.ik_triangulation.effort_weight", frame=frame)
    told = bake_body(body_of(rig, "hand.L"), 1, LAST).warnings
    assert told == ["'hand.L': Gravity and Keep Pose do not count, as their weights are animated."]


def test_an_arm_without_influence_is_as_it_is_with_gravity_and_obstacles():
    rig = set_up(effort_weight=0.5, influence=0.0)
    cart = empty("Cart", rig.pose.bones["forearm.L"].head)
    cart.empty_display_type, cart.empty_display_size = "CUBE", 0.2
    stored = rig.pose.bones["hand.L"].ik_triangulation
    stored.obstacles = bpy.data.collections.new("Obstacles")
    stored.obstacles.objects.link(cart)
    bpy.context.view_layer.update()
    before = [rig.pose.bones[name].matrix_basis.to_quaternion() for name in ARM]
    report = bake_body(body_of(rig, "hand.L"), 1, LAST)
    assert not report.warnings
    _, _, fastest = shown(rig)
    now = [rig.pose.bones[name].matrix_basis.to_quaternion() for name in ARM]
    assert max(map(rotation_angle, before, now)) < 1e-4
    assert fastest < 0.01


def test_a_single_frame_whose_goals_are_met_already_is_comfortable_too():
    rig = set_up(effort_weight=0.5)
    bpy.context.scene.frame_set(9)
    stored = rig.pose.bones["hand.L"].ik_triangulation
    stored.target.animation_data_clear()
    stored.target.location = rig.matrix_world @ rig.pose.bones["hand.L"].tail
    stored.target.keyframe_insert("location", frame=9)
    before = rig.pose.bones["forearm.L"].head.z
    assert bake_body(body_of(rig, "hand.L"), 9, 9).reached
    bpy.context.scene.frame_set(9)
    assert rig.pose.bones["forearm.L"].head.z < before - 0.01


def test_a_head_with_gravity_goes_on_to_look():
    rig = human_rig(with_head=True)
    set_up_body(rig)
    stored = rig.pose.bones["head"].ik_triangulation
    stored.effort_weight, stored.target.location = 0.5, stored.target.location + Vector((0.8, 0.0, 0.3))
    bpy.context.view_layer.update()
    assert bake_body(body_of(rig, "head"), 1, 3).reached

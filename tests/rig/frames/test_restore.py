# SPDX-License-Identifier: GPL-3.0-or-later
"""What was posed without a key is put back after animation was evaluated; what is gone meanwhile is no hindrance."""

import bpy
import pytest

from ik_triangulation.rig.keyframes.unkeyed import AnimatedValues, parts_of, scene_shown, set_value, values_shown

from ...rigs import chain_rig, curves_of, empty

pytestmark = pytest.mark.usefixtures("empty_scene")


def step(*frames):
    for frame in frames:
        bpy.context.scene.frame_set(frame)


def test_animated_values_that_were_changed_come_back():
    ob = empty()
    for frame in (1, 10):
        ob.location = (frame, 0.0, 0.0)
        ob.keyframe_insert("location", frame=frame)
    step(1)
    ob.location = (7.0, 8.0, 9.0)
    calls = scene_shown(bpy.context.scene)
    step(5, 1)
    assert ob.location.x == 1.0
    for call in calls:
        call()
    assert tuple(ob.location) == (7.0, 8.0, 9.0)


def test_bones_custom_properties_and_the_camera_come_back():
    rig, scene = chain_rig(2), bpy.context.scene
    bone, camera = rig.pose.bones["Bone 1"], bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    scene.collection.objects.link(camera)
    rig["on"] = 0
    for frame, value in ((1, 0), (10, 1)):
        rig["on"] = value
        rig.keyframe_insert('["on"]', frame=frame)
    step(1)
    bone.rotation_quaternion, rig["on"], scene.camera = (0.6, 0.8, 0.0, 0.0), 5, camera
    before = tuple(bone.rotation_quaternion)
    calls = scene_shown(scene)
    bone.rotation_quaternion, rig["on"], scene.camera = (1.0, 0.0, 0.0, 0.0), 0, None
    for call in calls:
        call()
    assert (tuple(bone.rotation_quaternion), rig["on"], scene.camera) == (before, 5, camera)


def test_values_are_remembered_as_they_are_and_not_as_they_will_be():
    ob = empty(location=(1.0, 2.0, 3.0))
    (call,) = values_shown(ob, ["location", "location"])
    ob.location = (0.0, 0.0, 0.0)
    call()
    assert tuple(ob.location) == (1.0, 2.0, 3.0)


def test_paths_that_lead_nowhere_are_left_out():
    assert values_shown(empty(), ["nowhere", '["nothing"]', "constraints[3].influence"]) == []


def test_what_was_removed_meanwhile_is_left_alone():
    ob = empty()
    calls = values_shown(ob, ["location"])
    bpy.data.objects.remove(ob)
    for call in calls:
        call()
    other = empty("Other")
    set_value(other, '["gone"]', 3)
    assert "gone" not in other


def test_a_path_is_taken_apart():
    rig = chain_rig(1)
    bone = rig.pose.bones["Bone 0"]
    bone['a "name"'] = 1.0
    path = bone.path_from_id() + '["a \\"name\\""]'
    assert parts_of(rig, path) == (bone, 'a "name"', True)
    assert parts_of(rig, "location") == (rig, "location", False)
    assert parts_of(rig, bone.path_from_id("scale")) == (bone, "scale", False)


def test_of_what_is_evaluated_anew_only_the_paths_that_are_named_are_shown_as_keyed():
    rig, layer = chain_rig(2), bpy.context.view_layer
    bone = rig.pose.bones["Bone 1"]
    for path in ("location", "rotation_quaternion"):
        bone.keyframe_insert(path, frame=1)
        rig.keyframe_insert("location", frame=1)
    bone.location, bone.rotation_quaternion, rig.location = (1.0, 2.0, 3.0), (0.6, 0.8, 0.0, 0.0), (4.0, 5.0, 6.0)
    saved = AnimatedValues(rig, [])
    rig.update_tag()
    for curve in curves_of(rig):
        curve.keyframe_points[0].co.y += 0.5
    saved.show_keyed([bone.path_from_id("location")], layer)
    assert tuple(bone.location) == (0.5, 0.5, 0.5)
    assert tuple(bone.rotation_quaternion) == pytest.approx((0.6, 0.8, 0.0, 0.0))
    assert tuple(rig.location) == (4.0, 5.0, 6.0)
    saved.restore([(bone.path_from_id("location"), 1)])
    assert tuple(bone.location) == (1.0, 0.5, 3.0)
    rig.update_tag()
    saved.update_and_restore(layer)
    assert (tuple(bone.location), tuple(rig.location)) == ((1.0, 2.0, 3.0), (4.0, 5.0, 6.0))

# SPDX-License-Identifier: GPL-3.0-or-later
"""What is read of a rig: which bones, what they may do, and where they and the target are at every frame."""

from contextlib import contextmanager
from time import sleep

import bpy
import pytest
from mathutils import Matrix

from ik_triangulation.cooperative import finished
from ik_triangulation.jobs.bake import bake
from ik_triangulation.rig.armature import base_of, channels_of
from ik_triangulation.rig.frames import samples as sampling
from ik_triangulation.rig.frames.keyed_motion import read_keyed, stands_still
from ik_triangulation.rig.frames.reader import FrameReader
from ik_triangulation.rig.frames.samples import frame_of, temporary_scene
from ik_triangulation.rig.limb import Limb

from ...rigs import (
    armature,
    chain_rig,
    curves_of,
    empty,
    evaluated_tip,
    key_location,
    matrix_close,
    nothing_lost,
    path_point,
    place,
)
from ..reading import turn_bone

pytestmark = pytest.mark.usefixtures("empty_scene")


def test_reading_in_parts_that_are_shorter_than_making_a_scene_makes_few_of_them(monkeypatch):
    limb = Limb.from_tip(chain_rig(4), "Bone 3", key_location(empty(), range(1, 42)), 2)
    made = []

    @contextmanager
    def slow(*where):
        made.append(where)
        sleep(0.03)
        with temporary_scene(*where) as staged:
            yield staged

    monkeypatch.setattr(sampling, "temporary_scene", slow)
    read = finished(sampling.read_in_parts(limb, bpy.context.scene, range(1, 101), 0.0, False, []))
    assert [now.frame for now in read] == list(range(1, 101))
    assert len(made) < 20


# Which bones


# What bones may do


# The target


def other_rig(name="Other"):
    """An armature of two bones, with the first rig active again."""
    active = bpy.context.view_layer.objects.active
    rig = chain_rig(2, name=name)
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.context.view_layer.objects.active = active
    return rig


def test_a_target_object_is_reached_at_its_origin():
    target = empty(location=(0.5, 0.5, 1.5))
    bpy.context.view_layer.update()
    assert frame_of(target, "", bpy.context.view_layer.depsgraph).to_translation() == target.location


def test_a_target_bone_is_reached_at_its_head():
    rig = chain_rig(3)
    goal = other_rig()
    goal.location, goal.scale = (0.5, 0.5, 0.25), (0.5, 0.5, 0.5)
    bpy.context.view_layer.update()
    limb = Limb.from_tip(rig, "Bone 2", goal, subtarget="Bone 1")
    expected = goal.matrix_world @ goal.pose.bones["Bone 1"].head
    assert (frame_of(goal, "Bone 1", bpy.context.view_layer.depsgraph).to_translation() - expected).length < 1e-6
    report = bake(limb, 1, 2)
    assert report.all_reached
    assert (evaluated_tip(rig, "Bone 2") - expected).length < 1.1e-3


def test_a_bone_of_the_same_armature_outside_the_chain_can_be_the_target():
    rig = armature(
        "Rig",
        [
            {"name": "a", "head": (0, 0, 0), "tail": (0, 0.1, 1)},
            {"name": "b", "head": (0, 0.1, 1), "tail": (0, 0, 2), "parent": "a", "connect": True},
            {"name": "control", "head": (1, 0.5, 0.5), "tail": (1, 0.5, 1)},
        ],
    )
    control = rig.pose.bones["control"]
    for frame in range(1, 21):
        control.location = (0.01 * frame, 0.0, -0.02 * frame)
        control.keyframe_insert("location", frame=frame)
    report = bake(Limb.from_tip(rig, "b", rig, subtarget="control", orientation="NONE"), 1, 20)
    assert report.all_reached
    for frame in (1, 10, 20):
        bpy.context.scene.frame_set(frame)
        head = rig.matrix_world @ rig.pose.bones["control"].head
        assert (evaluated_tip(rig, "b") - head).length < 1.1e-3


# Sampling


def follow_path(target):
    curve = bpy.data.curves.new("Path", "CURVE")
    curve.dimensions, curve.use_path, curve.path_duration = "3D", True, 40
    spline = curve.splines.new("POLY")
    spline.points.add(3)
    for point, place_ in zip(spline.points, ((0, 0, 0), (2, 0, 1), (2, 2, 0), (0, 2, 1)), strict=True):
        point.co = (*place_, 1.0)
    path = place(bpy.data.objects.new("Path", curve))
    constraint = target.constraints.new("FOLLOW_PATH")
    constraint.target, constraint.use_fixed_location = path, True
    constraint.offset_factor = 0.0
    constraint.keyframe_insert("offset_factor", frame=1)
    constraint.offset_factor = 1.0
    constraint.keyframe_insert("offset_factor", frame=20)


def parented(target):
    parent = key_location(empty("Parent"), range(1, 21, 4))
    parent.rotation_euler = (0.2, 0.0, 0.5)
    target.parent = parent
    target.matrix_parent_inverse = Matrix.Translation((1.0, 0.0, 0.0))


def parented_to_a_bone(target):
    rig = other_rig()
    key_location(rig, range(1, 21, 4))
    rig.pose.bones["Bone 1"].keyframe_insert("rotation_quaternion", frame=1)
    rig.pose.bones["Bone 1"].rotation_quaternion = (0.6, 0.8, 0.0, 0.0)
    rig.pose.bones["Bone 1"].keyframe_insert("rotation_quaternion", frame=20)
    target.parent, target.parent_type, target.parent_bone = rig, "BONE", "Bone 1"


def copying(target):
    target.constraints.new("COPY_LOCATION").target = key_location(empty("Leader"), range(1, 21, 4))


def driven(target):
    curve = target.driver_add("location", 2)
    curve.driver.expression = "sin(frame / 5)"


def driven_by_another(target):
    leader = key_location(empty("Leader"), range(1, 21, 4))
    curve = target.driver_add("location", 0)
    variable = curve.driver.variables.new()
    variable.targets[0].id, variable.targets[0].data_path = leader, "location.x"
    curve.driver.expression = "2 * var"


def with_delta(target):
    key_location(target, range(1, 21, 3))
    target.delta_location = (0.5, -0.25, 0.125)


def with_moving_delta(target):
    key_location(target, range(1, 21, 3))
    target.keyframe_insert("delta_location", frame=1)
    target.delta_location = (1.0, 0.0, 0.0)
    target.keyframe_insert("delta_location", frame=20)


def with_a_muted_curve(target):
    key_location(target, range(1, 21, 3))
    curves_of(target)[1].mute = True


def with_a_muted_group(target):
    key_location(target, range(1, 21, 3))
    curves_of(target)[0].group.mute = True


def with_one_curve(target):
    target.keyframe_insert("location", index=1, frame=1)
    target.location.y = 3.0
    target.keyframe_insert("location", index=1, frame=20)


def with_modifiers(target):
    key_location(target, range(1, 21, 3))
    noise = curves_of(target)[0].modifiers.new("NOISE")
    noise.strength = 0.5
    curves_of(target)[1].modifiers.new("CYCLES")


def with_a_muted_track(target):
    key_location(target, range(1, 21, 3))
    animation = target.animation_data
    track = animation.nla_tracks.new()
    track.strips.new("Strip", 1, animation.action)
    animation.action = None
    track.strips[0].action_frame_start = 5


def scaled_by_a_rotated_parent(target):
    grandparent = empty("Grandparent")
    grandparent.scale, grandparent.rotation_euler = (1.0, 2.0, 0.5), (0.3, 0.4, 0.5)
    parent = key_location(empty("Parent"), range(1, 21, 5))
    parent.parent, target.parent = grandparent, parent
    grandparent.keyframe_insert("rotation_euler", frame=1)
    grandparent.rotation_euler.z = 2.0
    grandparent.keyframe_insert("rotation_euler", frame=20)


TARGETS = {
    "still": lambda target: None,
    "plain curves": lambda target: key_location(target, range(1, 21, 3)),
    "a parent": parented,
    "a bone as parent": parented_to_a_bone,
    "Copy Location": copying,
    "Follow Path": follow_path,
    "a driver": driven,
    "another object's driver": driven_by_another,
    "delta location": with_delta,
    "moving delta location": with_moving_delta,
    "a muted curve": with_a_muted_curve,
    "a muted group": with_a_muted_group,
    "one curve of three": with_one_curve,
    "curve modifiers": with_modifiers,
    "an NLA strip": with_a_muted_track,
    "a turning and scaled grandparent": scaled_by_a_rotated_parent,
}


def animated_object(rig):
    key_location(rig, range(1, 21, 5))


def animated_scale(rig):
    rig.keyframe_insert("scale", frame=1)
    rig.scale = (2.0, 1.0, 0.5)
    rig.keyframe_insert("scale", frame=20)


def animated_parent(rig):
    rig.parent = key_location(empty("Carrier"), range(1, 21, 5))


def animated_ancestor(rig):
    turn_bone(rig, "Bone 0")


def animated_held_bone(rig):
    turn_bone(rig, "Bone 2")


def animated_place_of_a_chain_bone(rig):
    rig.pose.bones["Bone 1"].keyframe_insert("location", frame=1)
    rig.pose.bones["Bone 1"].location = (0.5, 0.0, 0.25)
    rig.pose.bones["Bone 1"].keyframe_insert("location", frame=20)


def constrained_ancestor(rig):
    rig.pose.bones["Bone 0"].constraints.new("DAMPED_TRACK").target = key_location(empty("Look"), range(1, 21, 5))


def driven_ancestor(rig):
    curve = rig.driver_add('pose.bones["Bone 0"].rotation_quaternion', 1)
    curve.driver.expression = "frame / 40"


def keyed_armature_data(rig):
    rig.data["angle"] = 0.0
    rig.data.keyframe_insert('["angle"]', frame=1)
    rig.data["angle"] = 1.0
    rig.data.keyframe_insert('["angle"]', frame=20)
    curve = rig.driver_add('pose.bones["Bone 0"].rotation_quaternion', 1)
    variable = curve.driver.variables.new()
    variable.targets[0].id_type, variable.targets[0].id = "ARMATURE", rig.data
    variable.targets[0].data_path = '["angle"]'
    curve.driver.expression = variable.name


def in_the_nla(rig):
    turn_bone(rig, "Bone 0")
    animation = rig.animation_data
    animation.nla_tracks.new().strips.new("Strip", 1, animation.action)
    animation.action = None


RIGS = {
    "still": lambda rig: None,
    "an animated object": animated_object,
    "an animated scale": animated_scale,
    "an animated parent": animated_parent,
    "an animated ancestor": animated_ancestor,
    "an animated held bone": animated_held_bone,
    "an animated place of a chain bone": animated_place_of_a_chain_bone,
    "a constrained ancestor": constrained_ancestor,
    "a driven ancestor": driven_ancestor,
    "a driver on an animated armature": keyed_armature_data,
    "an NLA strip": in_the_nla,
}


def sampled_equals_stepped(limb, frames):
    """Compare what is sampled with what Blender shows when the user's scene is stepped frame by frame."""
    scene, view_layer = bpy.context.scene, bpy.context.view_layer
    scene.frame_set(3, subframe=0.5)
    with nothing_lost():
        sampled = list(finished(FrameReader(limb, scene, view_layer, frames).read()))
    assert len(sampled) == len(frames)
    for frame, now in zip(frames, sampled, strict=True):
        scene.frame_set(int(frame), subframe=frame % 1.0)
        shown = limb.armature.evaluated_get(view_layer.depsgraph)
        assert now.frame == frame
        assert matrix_close(now.rig.world, shown.matrix_world, 1e-6)
        assert matrix_close(now.rig.base, base_of(shown, limb.bones[0]), 1e-6)
        assert matrix_close(now.target, frame_of(limb.target, limb.subtarget, view_layer.depsgraph), 1e-5)
        held = [i for i, name in enumerate(limb.bones) if name not in limb.solved]
        for i, channels in enumerate(channels_of(shown, limb.bones)):
            assert (now.rig.channels[i].location - channels.location).length < 1e-6
            assert (now.rig.channels[i].scale - channels.scale).length < 1e-6
            if i in held:
                assert now.rig.channels[i].rotation.rotation_difference(channels.rotation).angle < 1e-3
    return sampled


@pytest.mark.parametrize("kind", TARGETS)
def test_a_sampled_target_is_where_blender_shows_it(kind):
    rig, target = chain_rig(3), empty()
    TARGETS[kind](target)
    sampled = sampled_equals_stepped(Limb.from_tip(rig, "Bone 2", target), [1, 2, 3.5, 8, 13, 20, 25])
    assert kind == "still" or (sampled[0].target.translation - sampled[4].target.translation).length > 1e-3, (
        "the target does not move at all"
    )


@pytest.mark.parametrize("kind", RIGS)
def test_a_sampled_rig_is_where_blender_shows_it(kind):
    rig, target = chain_rig(4), key_location(empty(), range(1, 21, 4))
    RIGS[kind](rig)
    limb = Limb.from_bones(rig, ["Bone 1", "Bone 3"], target)
    sampled = sampled_equals_stepped(limb, [1, 2, 3.5, 8, 13, 20, 25])
    moved = len({id(now.rig) for now in sampled}) > 1
    assert moved == (kind != "still")


@pytest.mark.parametrize("kind", RIGS)
def test_a_rig_in_motion_is_baked_as_blender_shows_it(kind):
    rig, target = chain_rig(4), key_location(empty(), range(1, 21, 4), lambda frame: 0.6 * path_point(frame))
    RIGS[kind](rig)
    report = bake(Limb.from_bones(rig, ["Bone 1", "Bone 3"], target, tolerance=0.01), 1, 20)
    for result in report.frames[::6]:
        bpy.context.scene.frame_set(int(result.frame))
        apart = (evaluated_tip(rig, "Bone 3") - target.matrix_world.translation).length
        assert apart == pytest.approx(result.error, abs=1e-4)


def test_a_still_rig_is_not_read_at_every_frame():
    """What makes a bake fast: as long as only the chain's own keys and the target's plain curves move anything."""
    rig, target = chain_rig(3), key_location(empty(), range(1, 21, 4))
    limb = Limb.from_tip(rig, "Bone 2", target)
    bake(limb, 1, 20)
    samples = read_keyed(limb, bpy.context.scene, bpy.context.view_layer, range(1, 21))
    assert len({id(now.rig) for now in samples}) == 1
    assert (samples.worlds.shape, samples.targets.shape) == ((4, 4, 1), (4, 4, 20))


@pytest.mark.parametrize("kind", [kind for kind in RIGS if kind != "still"])
def test_a_rig_in_motion_is_known_as_such(kind):
    rig = chain_rig(4)
    RIGS[kind](rig)
    limb = Limb.from_bones(rig, ["Bone 1", "Bone 3"], empty())
    assert not stands_still(limb, bpy.context.scene, range(1, 21))


def test_the_staged_scene_has_the_time_of_the_users_scene():
    scene = bpy.context.scene
    scene.render.fps, scene.render.fps_base, scene.unit_settings.scale_length = 25, 1.001, 0.01
    rig, target = chain_rig(2), empty()
    target.driver_add("location", 0).driver.expression = "frame"
    with temporary_scene(Limb.from_tip(rig, "Bone 1", target), scene) as staged:
        assert (staged.render.fps, staged.render.fps_base) == (25, pytest.approx(1.001))
        assert staged.unit_settings.scale_length == pytest.approx(0.01)
        assert set(staged.objects) == {rig, target}
    assert len(bpy.data.scenes) == 1


def test_a_driver_that_reads_the_scene_is_followed():
    """It names the user's own scene, and reads what that says."""
    scene = bpy.context.scene
    scene["height"] = 0.75
    rig, target = chain_rig(2), empty()
    curve = target.driver_add("location", 2)
    variable = curve.driver.variables.new()
    variable.targets[0].id_type, variable.targets[0].id = "SCENE", scene
    variable.targets[0].data_path, curve.driver.expression = '["height"]', variable.name
    sampled = sampled_equals_stepped(Limb.from_tip(rig, "Bone 1", target), [1, 5])
    assert sampled[0].target.translation.z == 0.75


def test_many_turns_of_the_target_are_followed():
    rig, target = chain_rig(3), key_location(empty(), range(1, 101))
    report = bake(Limb.from_tip(rig, "Bone 2", target), 1, 100)
    assert report.reached == 100
    values = [key.co.y for curve in curves_of(rig) for key in curve.keyframe_points]
    assert max(map(abs, values)) <= 1.0 + 1e-6

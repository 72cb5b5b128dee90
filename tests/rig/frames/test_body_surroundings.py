# SPDX-License-Identifier: GPL-3.0-or-later
"""What is around a body is read as Blender shows it: what carries its targets and its feet, and what it hangs in."""

import bpy
import numpy as np
import pytest
from mathutils import Quaternion

from ik_triangulation.cooperative import finished
from ik_triangulation.errors import RigError
from ik_triangulation.kinematics import Locked
from ik_triangulation.rig.body import Contact, RigBody
from ik_triangulation.rig.frames.body_samples import (
    as_below,
    body_now,
    read_between,
    read_body,
    sampled_body,
    with_shown,
)
from ik_triangulation.rig.limb import Limb

from ...bodies import FEET, human_rig, keyed_target
from ...rigs import empty, key_location

pytestmark = pytest.mark.usefixtures("empty_scene")
FRAMES = [1, 4, 6]


def rooted_rig(size=1.2):
    """A human on a root that is scaled, of which the object stands somewhere."""
    rig = human_rig()
    rig.location, rig.rotation_euler = (1.0, -2.0, 0.5), (0.0, 0.1, 0.8)
    bpy.ops.object.mode_set(mode="EDIT")
    root = rig.data.edit_bones.new("root")
    root.head, root.tail = (0.0, 0.3, 0.0), (0.0, 0.6, 0.1)
    rig.data.edit_bones["spine"].parent = root
    bpy.ops.object.mode_set(mode="POSE")
    rig.pose.bones["root"].scale = (size,) * 3
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 6
    return rig


def turn(rig, bone, frames, angles, kind="KEYFRAME"):
    for frame, angle in zip(frames, angles, strict=True):
        rig.pose.bones[bone].rotation_quaternion = Quaternion((1.0, 0.5, 0.2), angle)
        rig.pose.bones[bone].keyframe_insert("rotation_quaternion", frame=frame, keytype=kind)


def surrounded(rig):
    """A body on a turning root: a hand on its own shin, the other one on a keyed target, a foot on a cart."""
    turn(rig, "root", (1, 6), (0.0, 0.4))
    turn(rig, "shin.R", (1, 6), (0.2, 0.7))
    cart, on_shin = key_location(empty("Cart"), (1, 3, 6)), empty("On Shin")
    cart.rotation_euler, cart.scale = (0.2, 0.1, 0.3), (2.0, 2.0, 2.0)
    on_shin.parent, on_shin.parent_type, on_shin.parent_bone = rig, "BONE", "shin.R"
    on_shin.location = (0.1, -0.2, 0.05)
    bpy.context.view_layer.update()
    limbs = (
        Limb.from_tip(rig, "hand.L", on_shin),
        Limb.from_tip(rig, "hand.R", keyed_target(rig, "hand.R", {1: (0.0, 0.0, 0.0), 6: (0.1, -0.3, 0.2)})),
    )
    return RigBody(rig, limbs, FEET, "spine", contacts=(Contact("foot.L", 2, 4, cart),), planted=("foot.R",)), cart


def close(one, other, within=1e-5):
    return np.abs(np.array(one, float) - np.array(other, float)).max() < within


def frame_without_scale(bone):
    """The frame (3, 4) of a pose bone whose tail is in place."""
    axes = np.array(bone.matrix.to_3x3().normalized(), float)
    length = (bone.tail - bone.head).length
    return np.column_stack((axes, np.array(bone.tail) - axes[:, 1] * length))


def as_shown(body, samples, k, cart):
    """Whether what samples say of the k-th frame, which is shown, is what Blender shows."""
    rig = body.armature
    shin, into = rig.pose.bones["shin.R"].matrix.normalized().inverted(), rig.matrix_world.inverted()
    places = {limb.tip: into @ limb.target.matrix_world.translation for limb in body.limbs}
    places["hand.L"] = shin @ places["hand.L"]
    goals = {tip: goal[k] for tip, goal in samples.goals.items()}
    assert {tip: goal.on for tip, goal in goals.items()} == {"hand.L": "shin.R", "hand.R": ""}
    assert all(close(goals[tip].target.location, place) for tip, place in places.items())
    assert close(samples.supports[cart, ""][..., k], cart.matrix_world)
    assert [*samples.supports] == [(cart, "")]
    return close(samples.worlds[..., k], rig.matrix_world) and close(
        samples.bases[..., k], rig.pose.bones["root"].matrix.normalized()
    )


def test_goals_supports_and_what_it_hangs_in_are_where_blender_shows_them_at_frames_and_between():
    body, cart = surrounded(rooted_rig())
    scene = bpy.context.scene
    scene.frame_set(1)
    planted = frame_without_scale(body.armature.pose.bones["foot.R"])
    samples = finished(read_body(body, scene, FRAMES))
    between = finished(read_between(body, samples, [2.5, 5.0], scene))
    assert (between.goals, between.frames, [*between.supports]) == ({}, [2.5, 5.0], [(cart, "")])
    for k, frame in enumerate(FRAMES):
        scene.frame_set(frame)
        assert as_shown(body, samples, k, cart)
        now = body_now(body, bpy.context.evaluated_depsgraph_get(), frame, scene)
        assert as_shown(body, now, 0, cart)
        for each in (samples, now):
            assert close(each.places["foot.R"], planted)
    for k, frame in enumerate(between.frames):
        scene.frame_set(int(frame), subframe=frame % 1.0)
        assert close(between.worlds[..., k], body.armature.matrix_world)
        assert close(between.bases[..., k], body.armature.pose.bones["root"].matrix.normalized())
        assert close(between.supports[cart, ""][..., k], cart.matrix_world)


def test_a_target_that_was_moved_since_it_was_read_is_noticed_unless_the_body_carries_it():
    body, _ = surrounded(rooted_rig())
    readers = finished(read_body(body, bpy.context.scene, FRAMES)).readers
    bpy.context.scene.frame_set(4)
    moved = {tip: reader.is_moved(bpy.context.evaluated_depsgraph_get(), 4) for tip, reader in readers.items()}
    assert moved == {"hand.L": False, "hand.R": False}
    assert {tip: reader.hangs for tip, reader in readers.items()} == {"hand.L": True, "hand.R": False}
    for limb in body.limbs:
        limb.target.location.x += 0.5
    bpy.context.view_layer.update()
    graph = bpy.context.evaluated_depsgraph_get()
    moved = {tip: reader.is_moved(graph, 4) for tip, reader in readers.items()}
    assert moved == {"hand.L": False, "hand.R": True}
    assert not readers["hand.R"].is_moved(graph, 3), "it was not read there"
    again = {tip: reader.again(graph, 4) for tip, reader in readers.items()}
    target = body.limbs[1].target.matrix_world.translation
    assert close(again["hand.R"].target.location, body.armature.matrix_world.inverted() @ target)
    assert again["hand.L"].on == "shin.R"


@pytest.mark.parametrize("baked", [False, True])
def test_what_constraints_make_of_an_animation_by_hand_is_read_and_baked_keys_do_not_count(baked):
    rig, scene = rooted_rig(), bpy.context.scene
    limb = Limb.from_tip(rig, "hand.R", keyed_target(rig, "hand.R", {1: (0.0, 0.0, 0.0)}))
    body = RigBody(rig, (limb,), FEET, "spine", planted=FEET)
    turn(rig, "thigh.L", (1, 6), (0.1, 0.4))
    leader = empty("Leader")
    for frame, angle in ((1, 0.0), (6, 0.8)):
        leader.rotation_euler.x = angle
        leader.keyframe_insert("rotation_euler", frame=frame)
    follows = rig.pose.bones["shin.L"].constraints.new("COPY_ROTATION")
    follows.target, follows.owner_space, follows.influence = leader, "LOCAL", 0.5
    wanted, feet = [], {}
    for frame in FRAMES:
        scene.frame_set(frame)
        wanted.append([frame_without_scale(rig.pose.bones[name]) for name in body.bones])
        feet = feet or {name: frame_without_scale(rig.pose.bones[name]) for name in FEET}
    wanted = np.moveaxis(np.array(wanted), 0, -1)
    if baked:
        turn(rig, "thigh.R", (1, 6), (0.3, 0.9), "GENERATED")
    samples = finished(read_body(body, scene, FRAMES))
    assert close(samples.shown, wanted, 2e-5)
    assert all(close(samples.places[name], feet[name], 2e-5) for name in FEET)
    below = finished(as_below(body, samples, scene, bpy.context.view_layer))
    assert (below is samples) == (not baked)
    thigh = body.bones.index("thigh.R")
    assert close(below.shown[thigh], wanted[thigh]) == (not baked)
    scene.frame_set(4)
    now = with_shown(body, body_now(body, bpy.context.evaluated_depsgraph_get(), 4, scene), scene, scene.view_layers[0])
    assert close(now.shown[..., 0], wanted[..., 1], 2e-5)
    assert all(close(now.places[name], feet[name], 2e-5) for name in FEET)


def test_a_body_whose_root_is_scaled_by_keys_is_refused_by_name():
    rig, scene = rooted_rig(), bpy.context.scene
    limb = Limb.from_tip(rig, "hand.R", keyed_target(rig, "hand.R", {1: (0.0, 0.0, 0.0)}))
    for frame, size in ((1, 1.2), (4, 1.2), (6, 1.21)):
        rig.pose.bones["root"].scale = (size,) * 3
        rig.pose.bones["root"].keyframe_insert("scale", frame=frame)
    scene.frame_set(1)
    with pytest.raises(RigError, match=r"above the hips 'spine' has another scale at frame 6 than now"):
        finished(read_body(RigBody(rig, (limb,), FEET, "spine"), scene, FRAMES))


def test_below_a_bone_that_inherits_no_scale_only_that_one_counts():
    rig = rooted_rig()
    rig.pose.bones["root"].scale, rig.data.bones["spine"].inherit_scale = (1.0, 2.0, 1.0), "NONE"
    rig.pose.bones["spine"].scale = (1.5, 1.5, 1.5)
    bpy.context.view_layer.update()
    limb = Limb.from_tip(rig, "hand.R", keyed_target(rig, "hand.R", {1: (0.0, 0.0, 0.0)}))
    body = RigBody(rig, (limb,), ("hand.L",), "spine.001")
    assert body.size_above == pytest.approx(1.5, abs=1e-5)
    assert body.length("hand.R") == pytest.approx(
        (rig.pose.bones["hand.R"].tail - rig.pose.bones["hand.R"].head).length
    )


def built(body):
    return sampled_body(body, finished(read_body(body, bpy.context.scene, [1])))


def test_bones_that_only_carry_contacts_and_toes_that_stay_are_locked():
    rig = human_rig()
    limb = Limb.from_tip(rig, "hand.R", keyed_target(rig, "hand.R", {1: (0.0, 0.0, 0.0)}))
    held = (*FEET, "hand.L")
    own, cart = Contact("hand.L", 1, 5, rig, "heel.R"), Contact("foot.L", 1, 5, empty("Cart"))
    body = RigBody(rig, (limb,), held, contacts=(own, cart), planted=FEET, heels=True)
    assert body.carrying == {"heel.R"}
    assert body.supports == ((cart.support, ""),)
    assert body.toes == {"foot.L": "toe.L", "foot.R": "toe.R"}
    locked = {joint.name for joint in built(body).joints if isinstance(joint.freedom, Locked)}
    assert locked == {"heel.R", "toe.L", "toe.R"}
    some = RigBody(rig, (limb,), held, solved=frozenset(("upper_arm.R", "forearm.R")), contacts=(own,))
    free = {joint.name for joint in built(some).joints if not isinstance(joint.freedom, Locked)}
    assert free == {"spine", "upper_arm.R", "forearm.R"}


def test_what_the_limbs_of_a_body_reach_for_and_avoid_is_listed():
    rig, crates, pole = human_rig(), bpy.data.collections.new("Crates"), empty("Pole")
    rock, crate = bpy.data.objects.new("Rock", bpy.data.meshes.new("Rock")), empty("Crate")
    crate.empty_display_type = "CUBE"
    crates.objects.link(crate)
    limbs = (
        Limb.from_tip(rig, "hand.L", rock, shape="SURFACE"),
        Limb.from_tip(rig, "hand.R", empty(), obstacles=crates, obstacle_weight=1.0, pole_target=pole),
    )
    body = RigBody(rig, limbs, FEET)
    assert body.surfaces == [rock]
    assert body.obstacle_objects == [crate]
    assert {ob.name for ob, _ in body.targets} == {"Rock", "Target", "Pole"}

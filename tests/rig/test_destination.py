# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a bake leaves its keys: the active action, a new one, or an NLA track; what was there before is kept."""

from random import Random

import bpy
import pytest
from mathutils import Vector

from ik_triangulation.errors import AnimationError
from ik_triangulation.jobs.bake import bake, bake_limbs, bake_spans
from ik_triangulation.rig.limb import Limb

from ..rigs import (
    all_keys,
    armature,
    chain_rig,
    contents,
    curves_of,
    empty,
    evaluated_tip,
    key_frames,
    key_location,
    nothing_lost,
    path_point,
    push_down,
    random_rotation,
    rotate,
)

pytestmark = pytest.mark.usefixtures("empty_scene")

KINDS = ("NEW_ACTION", "NLA_TRACK")


def limb(rig, target, **settings):
    return Limb.from_tip(rig, rig.pose.bones[-1].name, target, **settings)


def moving(kind="nothing"):
    """A rig and a target, the rig without animation, with keys on other channels, or with keys on those to be baked."""
    rig, target = chain_rig(3), key_location(empty(), range(1, 42))
    if kind == "an empty action":
        rig.animation_data_create().action = bpy.data.actions.new("Mine")
    if kind in {"other keys", "keys"}:
        for frame in (1, 30):
            rig.location = (0.01 * frame, 0.0, 0.0)
            rig.keyframe_insert("location", frame=frame)
    if kind == "keys":
        for bone in rig.pose.bones:
            for frame in (-5, 3, 12, 40):
                rotate(bone, random_rotation(Random(f"{bone.name}{frame}")))
                bone.keyframe_insert("rotation_quaternion", frame=frame)
    return rig, target


def animation_of(action):
    return {name: value for name, value in contents().items() if name.startswith(f"{action.name}: ") and "[" in name}


def follows(rig, target, frames):
    """How far the tip that Blender shows is from the target at most."""
    tip, worst = rig.pose.bones[-1].name, 0.0
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        worst = max(worst, (evaluated_tip(rig, tip) - target.matrix_world.translation).length)
    return worst


# A new action


@pytest.mark.parametrize("kind", ["other keys", "keys"])
def test_a_new_action_is_the_old_one_with_the_baked_keys_and_the_old_one_stays(kind):
    rig, target = moving(kind)
    old, before = rig.animation_data.action, animation_of(rig.animation_data.action)
    report = bake(limb(rig, target, destination="NEW_ACTION"), 5, 15)
    new = rig.animation_data.action
    assert report.all_reached
    assert not report.warnings
    assert new != old
    assert (old.use_fake_user, old.users, new.users) == (True, 1, 1)
    assert animation_of(old) == before
    assert rig.animation_data.action_slot.identifier == "OBRig"
    assert follows(rig, target, range(5, 16)) < 1.1e-3


def test_a_new_action_has_the_keys_that_the_active_action_would_have_got():
    rig, target = moving("keys")
    old = rig.animation_data.action
    bake(limb(rig, target, destination="NEW_ACTION"), 5, 15)
    keys = repr(all_keys(rig))
    rig.animation_data.action = old
    bake(limb(rig, target), 5, 15)
    assert repr(all_keys(rig)) == keys


@pytest.mark.parametrize("kind", ["nothing", "an empty action"])
def test_where_there_is_nothing_to_copy_a_new_action_is_made(kind):
    rig, target = moving(kind)
    bake(limb(rig, target, destination="NEW_ACTION"), 5, 15)
    assert len(curves_of(rig)) == 12
    assert follows(rig, target, range(5, 16)) < 1.1e-3


def test_a_new_action_is_the_way_round_an_action_that_others_use():
    rig, target = moving("keys")
    other = chain_rig(3, name="Other")
    other.animation_data_create().action = rig.animation_data.action
    other.animation_data.action_slot = rig.animation_data.action_slot
    with nothing_lost(), pytest.raises(AnimationError, match="also drives 'Other'"):
        bake(limb(rig, target), 5, 15)
    before = repr(all_keys(other))
    bpy.ops.object.mode_set(mode="OBJECT")
    assert bake(limb(rig, target, destination="NEW_ACTION"), 5, 15).all_reached
    assert repr(all_keys(other)) == before
    assert rig.animation_data.action != other.animation_data.action


def test_a_new_action_is_the_way_round_a_linked_action(tmp_path):
    rig, _ = moving("keys")
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "library.blend"))
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    rig, target = moving()
    with bpy.data.libraries.load(str(tmp_path / "library.blend"), link=True) as (_, wanted):
        wanted.actions = ["RigAction"]
    linked = next(action for action in bpy.data.actions if action.library)
    rig.animation_data_create().action = linked
    rig.animation_data.action_slot = linked.slots[0]
    with nothing_lost(), pytest.raises(AnimationError, match="is linked from"):
        bake(limb(rig, target), 5, 15)
    assert bake(limb(rig, target, destination="NEW_ACTION"), 5, 15).all_reached
    assert rig.animation_data.action.library is None
    assert follows(rig, target, range(5, 16)) < 1.1e-3


# An NLA track


@pytest.mark.parametrize("kind", ["nothing", "an empty action", "other keys"])
def test_an_nla_track_holds_nothing_but_the_baked_keys(kind):
    rig, target = moving(kind)
    had = rig.animation_data.action if rig.animation_data else None
    before = repr(all_keys(rig))
    report = bake(limb(rig, target, destination="NLA_TRACK"), 5, 15)
    assert report.all_reached
    assert not report.warnings
    animation = rig.animation_data
    assert animation.action == had
    assert repr(all_keys(rig)) == before
    (track,) = animation.nla_tracks
    (strip,) = track.strips
    assert (strip.frame_start, strip.frame_end, strip.extrapolation) == (5, 15, "NOTHING")
    assert (strip.action_frame_start, strip.action_frame_end, strip.scale, strip.repeat) == (5, 15, 1.0, 1.0)
    bag = strip.action.layers[0].strips[0].channelbag(strip.action_slot)
    assert {(curve.data_path[-19:], tuple(key_frames(curve))) for curve in bag.fcurves} == {
        ("rotation_quaternion", tuple(map(float, range(5, 16))))
    }
    assert follows(rig, target, range(5, 16)) < 1.1e-3


def test_an_nla_track_is_above_the_others():
    rig, target = moving("keys")
    animation = rig.animation_data
    action, slot = animation.action, animation.action_slot
    for name in ("Low", "High"):
        track = animation.nla_tracks.new()
        track.name = name
        track.strips.new(name, -5, action).action_slot = slot
    animation.action = None
    bake(limb(rig, target, destination="NLA_TRACK"), 5, 15)
    assert [track.name for track in animation.nla_tracks][:2] == ["Low", "High"]
    assert len(animation.nla_tracks) == 3
    assert follows(rig, target, range(5, 16)) < 1.1e-3


def test_an_active_action_that_would_hide_the_track_is_refused_until_it_is_pushed_down():
    rig, target = moving("keys")
    with nothing_lost(), pytest.raises(AnimationError, match="'RigAction' keys 'Bone 0' as well and hides a new NLA"):
        bake(limb(rig, target, destination="NLA_TRACK"), 5, 15)
    push_down(rig)
    assert bake(limb(rig, target, destination="NLA_TRACK"), 5, 15).all_reached
    assert follows(rig, target, range(5, 16)) < 1.1e-3


@pytest.mark.parametrize("frame", [3, 5, 10, 20])
@pytest.mark.parametrize("kind", ["nothing", "keys"])
@pytest.mark.parametrize("where", KINDS)
def test_the_present_frame_shows_the_baked_pose(where, kind, frame):
    rig, target = moving(kind)
    if (where, kind) == ("NLA_TRACK", "keys"):
        push_down(rig)
    scene = bpy.context.scene
    scene.frame_set(frame)
    rig.pose.bones["Bone 1"].location = (0.1, 0.0, 0.0)  # not keyed
    bake(limb(rig, target, destination=where), 5, 15)
    shown = [tuple(bone.rotation_quaternion) for bone in rig.pose.bones], evaluated_tip(rig, "Bone 2")
    scene.frame_set(frame)
    assert ([tuple(bone.rotation_quaternion) for bone in rig.pose.bones], evaluated_tip(rig, "Bone 2")) == shown
    assert rig.pose.bones["Bone 1"].location == Vector((0.1, 0.0, 0.0))


@pytest.mark.parametrize("where", KINDS)
def test_a_single_frame_can_be_baked(where):
    rig, target = moving("other keys")
    assert bake(limb(rig, target, destination=where), 7, 7).all_reached
    assert follows(rig, target, [7]) < 1.1e-3


@pytest.mark.parametrize("where", KINDS)
def test_both_can_be_baked_again(where):
    rig, target = moving("other keys")
    bake(limb(rig, target, destination=where), 5, 15)
    report = bake(limb(rig, target, destination=where), 5, 15)
    assert report.all_reached
    assert follows(rig, target, range(5, 16)) < 1.1e-3


# Several limbs


def two_arms():
    """An armature with two chains of two bones, each with a target."""
    specs = []
    for side, x in (("L", 1.0), ("R", -1.0)):
        specs.append({"name": f"Upper.{side}", "head": (x, 0, 0), "tail": (x, 0.1, 1)})
        hand = {"head": (x, 0.1, 1), "tail": (x, 0, 2), "parent": f"Upper.{side}", "connect": True}
        specs.append({"name": f"Hand.{side}", **hand})
    rig = armature("Rig", specs)
    rig.keyframe_insert("location", frame=1)
    points = {side: lambda f, x=x: Vector((x, 0.0, 0.0)) + path_point(f) * 0.7 for side, x in (("L", 1), ("R", -1))}
    targets = [key_location(empty(f"Target.{side}"), range(1, 31), points[side]) for side in "LR"]
    return rig, [(f"Hand.{side}", target) for side, target in zip("LR", targets, strict=True)]


@pytest.mark.parametrize("where", KINDS)
def test_limbs_of_one_armature_share_what_is_made(where):
    rig, arms = two_arms()
    actions = len(bpy.data.actions)
    reports = bake_limbs([Limb.from_tip(rig, tip, target, 2, destination=where) for tip, target in arms], 1, 12)
    assert all(report.all_reached and not report.warnings for report in reports)
    assert len(bpy.data.actions) == actions + 1
    assert len(rig.animation_data.nla_tracks) == (where == "NLA_TRACK")
    for tip, target in arms:
        for frame in (1, 6, 12):
            bpy.context.scene.frame_set(frame)
            assert (evaluated_tip(rig, tip) - target.matrix_world.translation).length < 1.1e-3


# Rolling back


@pytest.mark.parametrize("where", KINDS)
def test_a_bake_of_several_that_is_closed_at_any_frame_loses_nothing(where):
    rig, arms = two_arms()
    rig.pose.bones["Hand.L"].rotation_quaternion = (0.6, 0.0, 0.8, 0.0)
    limbs = [Limb.from_tip(rig, tip, target, 2, destination=where) for tip, target in arms]
    with nothing_lost():
        for frames in range(0, 24, 2):
            job = bake_spans.steps(limbs, [(1, 12, 1)] * 2)
            for _ in range(frames + 1):
                next(job)
            job.close()


def test_each_range_of_limbs_baked_as_one_has_a_track_of_its_own():
    rig, target = chain_rig(4), empty()
    first = Limb.from_tip(rig, "Bone 1", target, chain_count=2, destination="NLA_TRACK")
    second = Limb.from_tip(rig, "Bone 3", target, chain_count=2, destination="NLA_TRACK")
    bake_spans([first, second], [(1, 20, 1), (60, 80, 1)])
    strips = [strip for track in rig.animation_data.nla_tracks for strip in track.strips]
    assert sorted((strip.frame_start, strip.frame_end) for strip in strips) == [(1.0, 20.0), (60.0, 80.0)]


def test_a_track_may_end_before_frame_0():
    rig, target = chain_rig(3), empty()
    bake(Limb.from_tip(rig, "Bone 2", target, destination="NLA_TRACK"), -20, -10)
    (strip,) = rig.animation_data.nla_tracks[-1].strips
    assert (strip.frame_start, strip.frame_end) == (-20.0, -10.0)
    assert (strip.action_frame_start, strip.action_frame_end) == (-20.0, -10.0)

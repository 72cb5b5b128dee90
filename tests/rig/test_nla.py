# SPDX-License-Identifier: GPL-3.0-or-later
"""Keys land where Blender plays them at the frames that were meant: under time remapping, and in NLA tweak mode."""

from random import Random

import bpy
import pytest

from ik_triangulation.errors import AnimationError, SettingError
from ik_triangulation.jobs.bake import bake, delete_generated, rebake
from ik_triangulation.jobs.pose import solve_pose
from ik_triangulation.jobs.reach import reach
from ik_triangulation.rig.limb import Limb

from ..rigs import (
    all_keys,
    chain_rig,
    curves_of,
    empty,
    evaluated_tip,
    key_frames,
    key_location,
    nothing_lost,
    random_rotation,
    rotate,
)

pytestmark = pytest.mark.usefixtures("empty_scene")

LAST = 12


def moving(old=100, new=100, **settings):
    """A limb and its moving target, with the scene's time remapped."""
    rig, target = chain_rig(3), key_location(empty(), range(-20, 80, 3))
    render = bpy.context.scene.render
    render.frame_map_old, render.frame_map_new = old, new
    return Limb.from_tip(rig, "Bone 2", target, **settings)


def tweaked(scale=1.0, start=1.0, **changes):
    """A limb whose action is being tweaked in an NLA strip from frame `start` on, with keys at its ends, 1 and 41."""
    limb = moving()
    rig = limb.armature
    for frame in (1, 41):
        for bone in rig.pose.bones:
            bone.keyframe_insert("rotation_quaternion", frame=frame)
    animation = rig.animation_data
    strip = animation.nla_tracks.new().strips.new("Strip", int(start), animation.action)
    animation.action = None
    strip.scale = scale
    for name, value in changes.items():
        setattr(strip, name, value)
    animation.nla_tracks[0].select = True
    animation.nla_tracks.active = animation.nla_tracks[0]
    animation.use_tweak_mode = True
    assert animation.use_tweak_mode
    return limb, strip


def misses(limb, frames):
    """The largest distance from tip to target as Blender plays these frames."""
    scene, apart = bpy.context.scene, []
    for frame in frames:
        scene.frame_set(int(frame // 1), subframe=frame % 1)
        target = limb.target.evaluated_get(bpy.context.view_layer.depsgraph)
        apart.append((evaluated_tip(limb.armature, limb.tip) - target.matrix_world.translation).length)
    return max(apart)


every_speed = pytest.mark.parametrize(("old", "new"), [(100, 200), (200, 100), (100, 130), (30, 70)])


@every_speed
@pytest.mark.parametrize("destination", ["ACTION", "NEW_ACTION", "NLA_TRACK"])
def test_remapped_every_frame_of_the_timeline_shows_the_tip_at_the_target(old, new, destination):
    limb = moving(old, new, destination=destination)
    report = bake(limb, 3, LAST)
    assert report.all_reached
    assert report.warnings == []
    assert [result.frame for result in report.frames] == list(range(3, LAST + 1))
    assert misses(limb, range(3, LAST + 1)) < 1.1e-3
    if destination != "NLA_TRACK":
        times = key_frames(curves_of(limb.armature)[0])
        assert times == pytest.approx([frame * old / new for frame in range(3, LAST + 1)], abs=1e-4)
        assert curves_of(limb.armature)[0].keyframe_points[0].interpolation == "LINEAR"


@every_speed
def test_remapped_only_keys_of_those_frames_are_replaced(old, new):
    limb = moving(old, new)
    rig, times = limb.armature, [frame * old / new for frame in (2, 3, 7.5, LAST, LAST + 1)]
    for time in times:
        rig.pose.bones["Bone 1"].keyframe_insert("rotation_quaternion", frame=time)
    bake(limb, 3, LAST)
    found = key_frames(curves_of(rig)[0])
    assert found == pytest.approx([frame * old / new for frame in range(2, LAST + 2)], abs=1e-4)


def test_remapped_a_target_that_is_parented_is_read_at_the_same_time():
    limb = moving(100, 200)
    parent = key_location(empty("Parent"), range(1, 20, 4))
    limb.target.parent = parent
    limb.target.scale = parent.scale = (0.4, 0.4, 0.4)
    report = bake(limb, 3, LAST)
    frames = [result.frame for result in report.frames if result.reached]
    assert frames
    assert misses(limb, frames) < 1.1e-3


@every_speed
def test_remapped_the_keys_of_the_target_are_found(old, new):
    limb = moving(old, new, only_target_keys=True)
    report = bake(limb, 3, LAST)
    times = key_frames(curves_of(limb.armature)[0])
    wanted = [t for t in range(-20, 80, 3) if 3 * old / new <= t <= LAST * old / new]
    assert times == pytest.approx(wanted, abs=1e-4)
    assert misses(limb, [result.frame for result in report.frames]) < 1.1e-3


def test_remapped_fewer_keys_stay_near_the_full_bake():
    limb = moving(100, 200, reduce=True, reduce_tolerance=0.02)
    report = bake(limb, 1, 60)
    assert report.keys < report.full_keys
    assert misses(limb, range(1, 61)) < 0.022


def test_remapped_a_pose_is_keyed_where_it_is_seen():
    limb = moving(100, 200)
    bpy.context.scene.frame_set(9, subframe=0.5)
    report = solve_pose(limb, key=True)
    assert report.frames[0].frame == 9.5
    assert key_frames(curves_of(limb.armature)[0]) == [4.75]
    assert misses(limb, [9.5]) < 1.1e-3


def test_remapped_a_reach_arrives_at_its_frame():
    limb = moving(100, 200)
    assert reach(limb, 1, LAST).all_reached
    assert misses(limb, [LAST]) < 1.1e-3


def test_remapped_what_was_baked_can_be_baked_again_and_deleted():
    limb = moving(100, 200)
    bake(limb, 3, LAST)
    keys = repr(all_keys(limb.armature))
    assert rebake(limb.armature, limb.tip).all_reached
    assert repr(all_keys(limb.armature)) == keys
    assert delete_generated(limb.armature, limb.bones, 3, 4) == 3 * 4 * 2
    assert key_frames(curves_of(limb.armature)[0])[0] == 2.5
    assert delete_generated(limb.armature, limb.bones) == 3 * 4 * 8


def test_a_step_that_remapping_makes_too_small_is_refused():
    limb = moving(1, 100)
    with nothing_lost(), pytest.raises(SettingError, match=r"step of 0.5 frames is too small"):
        bake(limb, 1, 4, 0.5)


@pytest.mark.parametrize(("scale", "start"), [(1.0, 1), (1.0, 11), (2.0, 5), (0.5, 3)])
def test_in_tweak_mode_every_frame_shows_the_tip_at_the_target(scale, start):
    limb, strip = tweaked(scale, start)
    first, last = start + 2, int(strip.frame_end) - 2
    bpy.context.scene.frame_set(first + 3)
    report = bake(limb, first, last)
    assert report.all_reached
    assert report.warnings == []
    assert (evaluated_tip(limb.armature, limb.tip) - limb.target.matrix_world.translation).length < 1.1e-3
    assert misses(limb, range(first, last + 1)) < 1.1e-3
    times = key_frames(curves_of(limb.armature)[0])
    wanted = [1, *((frame - start) / scale + 1 for frame in range(first, last + 1)), 41]
    assert times == pytest.approx(wanted, abs=1e-4)
    limb.armature.animation_data.use_tweak_mode = False
    assert misses(limb, range(first, last + 1)) < 1.1e-3


def test_in_tweak_mode_and_remapped_every_frame_shows_the_tip_at_the_target():
    limb, _ = tweaked(2.0, 5)
    bpy.context.scene.render.frame_map_new = 200
    assert bake(limb, 12, 40).all_reached
    assert misses(limb, range(12, 41)) < 1.1e-3


def test_in_tweak_mode_a_pose_is_keyed_where_it_is_seen():
    limb, _ = tweaked(2.0, 5)
    bpy.context.scene.frame_set(25)
    solve_pose(limb, key=True)
    assert key_frames(curves_of(limb.armature)[0]) == [1, 11, 41]
    assert misses(limb, [25]) < 1.1e-3


def test_in_tweak_mode_what_was_baked_can_be_baked_again_and_deleted():
    limb, _ = tweaked(2.0, 5)
    bake(limb, 9, 20)
    keys = repr(all_keys(limb.armature))
    assert rebake(limb.armature, limb.tip).all_reached
    assert repr(all_keys(limb.armature)) == keys
    assert delete_generated(limb.armature, limb.bones, 9, 10) == 3 * 4 * 2
    assert delete_generated(limb.armature, limb.bones) == 3 * 4 * 10
    assert key_frames(curves_of(limb.armature)[0]) == [1, 41]


def test_in_tweak_mode_a_bake_runs_on_from_the_key_before():
    """Quaternions of both signs say the same rotation: those of a bake take the sign of the key before."""
    limb, _ = tweaked(2.0, 5)
    for bone in limb.armature.pose.bones:
        rotate(bone, -random_rotation(Random(1)))
        bone.keyframe_insert("rotation_quaternion", frame=7)
    bake(limb, 19, 30)
    for name in limb.bones:
        columns = [c for c in curves_of(limb.armature) if f'"{name}"' in c.data_path]
        before, first = ([c.keyframe_points[i].co.y for c in columns] for i in (1, 2))
        assert sum(a * b for a, b in zip(before, first, strict=True)) >= 0.0


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"blend_type": "COMBINE"}, "is blended with what is below it"),
        ({"blend_in": 4.0}, "is blended in or out"),
        ({"use_animated_influence": True}, "is blended in or out"),
        ({"use_reverse": True}, "runs backwards"),
        ({"use_animated_time": True}, "has a time of its own"),
        ({"mute": True}, "is muted"),
    ],
)
def test_in_tweak_mode_what_would_not_show_just_the_keys_is_refused(change, why):
    limb, _ = tweaked(**change)
    with nothing_lost(), pytest.raises(AnimationError, match=f"Strip 'Strip', .* {why}"):
        bake(limb, 5, 20)


def test_in_tweak_mode_frames_outside_the_strip_are_refused():
    limb, _ = tweaked(2.0, 5)
    for span in ((4, 20), (5, 90)):
        with nothing_lost(), pytest.raises(AnimationError, match="shows its action from frame 5 to 85 only"):
            bake(limb, *span)


def test_in_tweak_mode_a_strip_that_repeats_is_baked_in_its_first_round():
    limb, _ = tweaked(repeat=2.0)
    assert bake(limb, 5, 35).all_reached
    assert misses(limb, range(5, 36)) < 1.1e-3
    with pytest.raises(AnimationError, match="shows its action from frame 1 to 41 only"):
        bake(limb, 30, 50)


def test_with_the_nla_turned_off_the_action_is_keyed_as_it_is_seen():
    limb, _ = tweaked(2.0, 5)
    limb.armature.animation_data.use_nla = False
    assert bake(limb, 2, 9).all_reached
    assert key_frames(curves_of(limb.armature)[0]) == [1, *range(2, 10), 41]
    assert misses(limb, range(2, 10)) < 1.1e-3


@pytest.mark.parametrize("destination", ["ACTION", "NEW_ACTION", "NLA_TRACK"])
def test_beside_a_solo_track_nothing_is_keyed_that_would_not_show(destination):
    rig, target = chain_rig(3), empty()
    solo = rig.animation_data_create().nla_tracks.new()
    solo.strips.new("Other", 1, bpy.data.actions.new("Other"))
    solo.is_solo = True
    limb = Limb.from_tip(rig, "Bone 2", target, destination=destination)
    with nothing_lost(), pytest.raises(AnimationError, match=rf"NLA track '{solo.name}' of 'Rig' is solo.* star off"):
        bake(limb, 1, 5)
    solo.is_solo = False
    assert not bake(limb, 1, 5).warnings


def test_in_tweak_mode_another_solo_track_is_in_the_way_as_well():
    limb, _ = tweaked()
    tracks = limb.armature.animation_data.nla_tracks
    own, other = tracks.active, tracks.new()
    tracks.active, other.is_solo = own, True
    with nothing_lost(), pytest.raises(AnimationError, match=f"NLA track '{other.name}' of 'Rig' is solo"):
        bake(limb, 5, 20)


def test_with_the_nla_turned_off_no_track_is_baked():
    rig, target = chain_rig(3), empty()
    rig.animation_data_create().use_nla = False
    limb = Limb.from_tip(rig, "Bone 2", target, destination="NLA_TRACK")
    with nothing_lost(), pytest.raises(AnimationError, match=r"NLA of 'Rig' is switched off.* Switch it on"):
        bake(limb, 1, 5)


@pytest.mark.parametrize("destination", ["NEW_ACTION", "NLA_TRACK"])
def test_in_tweak_mode_keys_go_to_the_action_only(destination):
    limb, _ = tweaked()
    limb = Limb.from_tip(limb.armature, limb.tip, limb.target, destination=destination)
    with nothing_lost(), pytest.raises(AnimationError, match=r"in NLA tweak mode. Write to the active action"):
        bake(limb, 5, 20)


def test_of_two_strips_of_an_action_the_one_being_tweaked_counts():
    limb, strip = tweaked(2.0, 5)
    animation = limb.armature.animation_data
    animation.use_tweak_mode = False
    other = animation.nla_tracks.new().strips.new("Other", 201, strip.action)
    other.action_slot = strip.action_slot
    animation.nla_tracks[0].select, animation.nla_tracks[1].select = False, True
    animation.nla_tracks.active = animation.nla_tracks[1]
    for each, chosen in ((strip, False), (other, True)):
        each.select = chosen
    animation.use_tweak_mode = True
    assert bake(limb, 210, 220).all_reached
    assert key_frames(curves_of(limb.armature)[0]) == [1, *range(10, 21), 41]
    with pytest.raises(AnimationError, match=r"Strip 'Other', .* shows its action from frame 201 to 241 only"):
        bake(limb, 9, 20)

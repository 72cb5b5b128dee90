# SPDX-License-Identifier: GPL-3.0-or-later
"""A reduced bake as Blender plays it: near the full one at every frame and half frame, inside the limits, merged."""

from collections import Counter
from math import floor, radians, sin
from random import Random

import bpy
import numpy as np
import pytest

from ik_triangulation.items import REDUCED
from ik_triangulation.jobs.bake import bake, bake_limbs
from ik_triangulation.jobs.shots import keys as limb_keys
from ik_triangulation.jobs.shots.report import lines, summary
from ik_triangulation.kinematics.rotation import rotation_angle
from ik_triangulation.motion.frames import Curves
from ik_triangulation.rig.freedom import freedom_of
from ik_triangulation.rig.limb import Limb
from ik_triangulation.rig.rotation import rotation_of

from ..modes import every_mode
from ..rigs import (
    all_keys,
    chain_rig,
    configure,
    curve_of,
    curves_of,
    empty,
    evaluated_tip,
    key_frames,
    key_location,
    nothing_lost,
    path_point,
    random_rotation,
    rotate,
    rotation_property,
)

pytestmark = pytest.mark.usefixtures("empty_scene")

FIRST, LAST = 1, 40
REACH = 3.0  # of the default rig, about
OUTSIDE = 5e-6  # [rad] what single precision may leave of a limit between two keys


def slow(frame):
    """The way round the default rig in 80 frames."""
    return path_point(0.5 * frame)


def moving(mode="QUATERNION", point=slow):
    """A rig and a target that goes round it."""
    return chain_rig(3, mode=mode), key_location(empty(), range(FIRST, LAST + 21), point)


def limb(rig, target, **settings):
    """All bones of the rig."""
    return Limb.from_tip(rig, rig.pose.bones[-1].name, target, **settings)


def played(read, first=FIRST, last=LAST):
    """What `read` finds at every frame and half frame."""
    found = []
    for half in range(2 * first, 2 * last + 1):
        bpy.context.scene.frame_set(floor(half / 2), subframe=half % 2 / 2)
        found.append(read())
    return found


def tip(rig):
    return np.array(evaluated_tip(rig, "Bone 2"))


def both(make, read, step=1, smooth=True, **settings):
    """What is played after a full bake and after a reduced one, both on a fresh file, and the report of the latter."""
    full = bake(limb(*make(), smooth=smooth), FIRST, LAST, step)
    assert full.tip_deviation == 0.0
    before = played(lambda: read(bpy.data.objects["Rig"]))
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    report = bake(limb(*make(), reduce=True, smooth=smooth, **settings), FIRST, LAST, step)
    return before, played(lambda: read(bpy.data.objects["Rig"])), report


def farthest(full, reduced):
    return max(np.linalg.norm(after - before) for before, after in zip(full, reduced, strict=True))


def test_blender_draws_the_curves_that_are_reckoned_with():
    """Handles a third of the way to the next keys, of any slope, on keys at any distance."""
    random = np.random.default_rng(1)
    times = np.cumsum(random.integers(1, 12, 20)).astype(float)
    curves = Curves(times, *(random.normal(size=(20, 1)) for _ in range(3)))
    rig = chain_rig(1)
    rig.animation_data_create().action = bpy.data.actions.new("Curves")
    rig.keyframe_insert("location", index=0)
    curve = curves_of(rig)[0]
    curve.keyframe_points.clear()
    curve.keyframe_points.add(20)
    for i, key in enumerate(curve.keyframe_points):
        before, after = times[i] - times[max(i - 1, 0)], times[min(i + 1, 19)] - times[i]
        key.interpolation, key.handle_left_type, key.handle_right_type = "BEZIER", "FREE", "FREE"
        key.co = times[i], curves.values[i, 0]
        key.handle_left = times[i] - before / 3.0, curves.values[i, 0] - before / 3.0 * curves.left[i, 0]
        key.handle_right = times[i] + after / 3.0, curves.values[i, 0] + after / 3.0 * curves.right[i, 0]
    places = np.arange(times[0], times[-1] + 0.1, 0.25)
    drawn = np.array([curve.evaluate(place) for place in places])
    assert np.abs(drawn - curves.at(places)[:, 0]).max() < 2e-5  # of slopes up to 3 over 12 frames


@every_mode
def test_the_tip_stays_within_the_distance_asked_for_of_the_full_bake(mode):
    full, reduced, report = both(lambda: moving(mode), tip, reduce_tolerance=0.02)
    apart = farthest(full, reduced)
    assert apart <= 0.02 + 1e-5
    assert report.tip_deviation == pytest.approx(apart, abs=1e-5)
    assert report.full_keys > 2 * report.keys
    assert not report.warnings


@pytest.mark.parametrize("mode", ["QUATERNION", "YXZ"])
def test_half_a_percent_of_the_reach_keeps_at_most_a_fifth_of_the_keys(mode):
    full, reduced, report = both(lambda: moving(mode), tip)
    assert farthest(full, reduced) <= REDUCED * REACH
    assert 5 * report.keys <= report.full_keys


@pytest.mark.parametrize(
    "mode",
    ["QUATERNION", "YZX", *(pytest.param(mode, marks=pytest.mark.long) for mode in ("AXIS_ANGLE", "XYZ", "ZXY"))],
)
def test_limits_are_kept_at_every_frame_and_half_frame(mode):
    """Where the full bake is outside itself, on its way from frame to frame, the reduced one is no farther so."""

    def limited():
        rig, target = moving(mode, lambda frame: (1.0 - 0.4 * sin(0.15 * frame)) * slow(frame))
        for bone in list(rig.pose.bones)[1:]:
            bone.lock_ik_y = bone.lock_ik_z = bone.name == "Bone 1"
            for axis in "xyz":
                setattr(bone, f"use_ik_limit_{axis}", True)
                setattr(bone, f"ik_min_{axis}", radians(-20.0))
                setattr(bone, f"ik_max_{axis}", radians(50.0))
        return rig, target

    def beyond(rig):
        pairs = [(freedom_of(bone), rotation_of(bone)) for bone in rig.pose.bones]
        return [rotation_angle(freedom.nearest(rotation), rotation) for freedom, rotation in pairs]

    full, reduced, report = both(limited, beyond, reduce_tolerance=0.03, smooth=False)
    assert report.keys < report.full_keys
    assert report.on_limits, "no limit was ever met"
    assert (np.array(reduced) - full).max() <= OUTSIDE


def test_the_distance_is_one_of_world_space_while_the_rig_moves():
    """Scaled and turned by its parent, which is animated."""

    def carried():
        rig, target = moving()
        parent = empty("Parent", (0.0, 0.0, 0.0))
        parent.scale = (4.0, 4.0, 4.0)
        rig.parent = target.parent = parent
        for frame in (FIRST, LAST):
            parent.rotation_euler.z = 0.02 * frame
            parent.keyframe_insert("rotation_euler", frame=frame)
        return rig, target

    full, reduced, report = both(carried, tip, reduce_tolerance=0.05)
    apart = farthest(full, reduced)
    assert 0.02 < apart <= 0.05 + 1e-4
    assert report.tip_deviation == pytest.approx(apart, abs=1e-4)
    assert report.keys < report.full_keys


def test_a_bake_on_twos_is_reduced_against_the_curves_between_its_keys():
    full, reduced, report = both(moving, tip, step=2)
    rig = bpy.data.objects["Rig"]
    # Half a percent, and what the automatic handles of the full bake are off in single precision.
    assert farthest(full[:-2], reduced[:-2]) <= REDUCED * REACH + 1e-4  # its last key is at frame 39
    assert report.keys < 0.6 * report.full_keys
    assert {frame % 2 for frame in key_frames(curves_of(rig)[0])} == {1.0}


def test_all_channels_of_all_bones_have_their_keys_at_the_same_frames():
    rig, target = moving()
    report = bake(limb(rig, target, reduce=True), FIRST, LAST)
    frames = key_frames(curves_of(rig)[0])
    assert all(key_frames(curve) == frames for curve in curves_of(rig))
    assert (frames[0], frames[-1]) == (FIRST, LAST)
    assert report.keys == 12 * len(frames)
    assert report.full_keys == 12 * LAST
    keys = [key for curve in curves_of(rig) for key in curve.keyframe_points]
    assert {key.interpolation for key in keys} == {"BEZIER"}
    assert all(key.handle_left_type == key.handle_right_type for key in keys)
    count = Counter(key.handle_left_type for key in keys)
    assert set(count) == {"ALIGNED", "AUTO_CLAMPED"}
    assert count["AUTO_CLAMPED"] > 0.5 * 12 * (len(frames) - 2), count


def test_blender_leaves_the_handles_as_they_are():
    """Also when it works them out anew, as after every edit."""
    rig, target = moving()
    bake(limb(rig, target, reduce=True), FIRST, LAST)
    before = all_keys(rig)
    for curve in curves_of(rig):
        curve.update()
    for path, keys in all_keys(rig).items():
        for key, was in zip(keys, before[path], strict=True):
            for found, wanted in zip(key[:3], was[:3], strict=True):
                assert found == pytest.approx(wanted, abs=1e-5)


def test_keys_outside_the_range_are_kept_bit_by_bit():
    rig, target = moving()
    bone = rig.pose.bones["Bone 1"]
    for frame in (-7, 1, 4.5, 9, 10, 12.25, 40, 40.4, 41, 58):
        rotate(bone, random_rotation(Random(str(frame))))
        bone.keyframe_insert(rotation_property(bone), frame=frame)
    before = {path: [key for key in keys if not 10 <= key[0][0] <= 40] for path, keys in all_keys(rig).items()}
    bake(limb(rig, target, reduce=True), 10, 40)
    after = all_keys(rig)
    for path, outside in before.items():
        assert repr([key for key in after[path] if not 10 <= key[0][0] <= 40]) == repr(outside)
        inside = [key[0][0] for key in after[path] if 10 <= key[0][0] <= 40]
        assert (inside[0], inside[-1]) == (10, 40)
        assert len(inside) < 16


@every_mode
def test_a_reduced_bake_runs_on_from_the_keys_before_the_range(mode):
    rig, target = moving(mode)
    bake(limb(rig, target, reduce=True), 1, 20)
    bake(limb(rig, target, reduce=True), 21, 40)
    for bone in rig.pose.bones:
        count = len(getattr(bone, rotation_property(bone)))
        values = played(lambda bone=bone: np.array(getattr(bone, rotation_property(bone))), 19, 22)
        assert values[0].shape == (count,)
        assert np.abs(np.diff(values, axis=0)).max() < 0.5


def test_a_locked_channel_that_is_animated_stays_so():

    def locked():
        rig, target = moving("XYZ")
        bone = rig.pose.bones["Bone 1"]
        for frame, angle in ((1, -0.3), (20, 0.6), (40, 0.0)):
            bone.rotation_euler[1] = angle
            bone.keyframe_insert("rotation_euler", index=1, frame=frame)
        bone.lock_rotation[1] = True
        return rig, target

    full, reduced, report = both(locked, tip)
    rig = bpy.data.objects["Rig"]
    assert key_frames(curve_of(rig, "Bone 1", 1)) == [1, 20, 40]
    assert farthest(full, reduced) <= REDUCED * REACH + 1e-3  # its curve is known at the frames only
    assert report.full_keys == 8 * LAST


def test_a_bake_that_fails_while_it_is_reduced_changes_nothing(monkeypatch):
    rig, target = moving()
    bake(limb(rig, target), 5, 12)

    def broken(*_):
        raise ZeroDivisionError

    monkeypatch.setattr(limb_keys, "reduce", broken)
    with nothing_lost(), pytest.raises(ZeroDivisionError):
        bake(limb(rig, target, reduce=True), FIRST, LAST)


@pytest.mark.parametrize("last", [1, 2])
def test_a_bake_of_one_or_two_frames_keeps_its_keys(last):
    rig, target = moving()
    report = bake(limb(rig, target, reduce=True), 1, last)
    assert (report.keys, report.full_keys, report.tip_deviation) == (12 * last, 12 * last, 0.0)


def test_the_present_frame_shows_the_reduced_bake():
    rig, target = moving()
    scene = bpy.context.scene
    scene.frame_set(17, subframe=0.5)
    bake(limb(rig, target, reduce=True), FIRST, LAST)
    shown = tip(rig)
    scene.frame_set(17, subframe=0.5)
    assert np.abs(tip(rig) - shown).max() < 1e-6


def test_of_several_limbs_each_is_reduced_as_its_settings_say():
    rig, target = moving()
    other = chain_rig(3, name="Other")
    reduced, whole = bake_limbs([limb(rig, target, reduce=True), limb(other, target)], FIRST, LAST)
    assert reduced.keys < whole.keys == whole.full_keys
    assert {len(curve.keyframe_points) for curve in curves_of(other)} == {LAST}


def test_the_report_says_how_many_keys_are_left_and_how_far_the_tip_is_from_the_full_bake():
    rig, target = moving()
    report = bake(limb(rig, target, reduce=True), FIRST, LAST)
    keys = f"{report.keys} of {report.full_keys} keys, tip within "
    scene = bpy.context.scene
    assert keys in summary(report, scene)
    assert any(line.startswith(keys) for line in lines(report, scene))
    told = report.to_dict()
    assert (told["keys"], told["full_keys"]) == (report.keys, report.full_keys)
    assert 0.0 < told["largest_distance_from_full_bake"] <= REDUCED * REACH
    assert not any(" keys, " in line for line in lines(bake(limb(rig, target), FIRST, LAST), scene))


def test_the_operator_writes_the_keys_of_the_call():
    rig, target = moving()
    bake(limb(rig, target, reduce=True, reduce_tolerance=0.03125), FIRST, LAST)
    called = repr(all_keys(rig))
    rig, target = moving()
    configure(rig, "Bone 2", target=target, reduce=True, reduce_tolerance=0.03125)
    bpy.ops.pose.ik_triangulation_bake(frame_start=FIRST, frame_end=LAST)
    assert repr(all_keys(rig)) == called


def test_a_bake_in_which_a_scale_comes_and_goes_keeps_every_key():
    """A bone that is left out is a joint of its own only while something is scaled unequally: frames are not alike."""
    rig, target = moving("QUATERNION")
    held = rig.pose.bones["Bone 1"]
    for frame, scale in ((FIRST, 1.0), (LAST // 2, 1.5), (LAST, 1.0)):
        held.scale = (scale, 1.0, 1.0)
        held.keyframe_insert("scale", frame=frame)
    names = [bone.name for bone in rig.pose.bones if bone.name != "Bone 1"]
    report = bake(Limb.from_bones(rig, names, target, reduce=True), FIRST, LAST)
    assert report.all_reached
    assert report.keys == report.full_keys

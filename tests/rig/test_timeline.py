# SPDX-License-Identifier: GPL-3.0-or-later
"""Frames in a second, and markers that are put on frames and taken back."""

from contextlib import ExitStack
from typing import NamedTuple

import bpy
import numpy as np
import pytest

from ik_triangulation.errors import AnimationError
from ik_triangulation.rig.timeline import (
    actions_of,
    check_nla,
    curves_in,
    evaluated_time,
    fps_of,
    frames_from,
    keyed_curves,
    layered_strips,
    mark,
    moving_curves,
    scene_range,
    strip_times,
    strips_of,
)

from ..rigs import empty, nothing_lost

pytestmark = pytest.mark.usefixtures("empty_scene")


@pytest.mark.parametrize(
    ("frames", "fps"),
    [([1, 2, 3, 4], 50.0), ([1, 3, 5], 25.0), ([1.0, 1.5, 2.0], 50.0), ([7], 50.0), ([1, 2, 9], 12.5)],
)
def test_frames_that_are_apart_are_fewer_in_a_second_and_never_more_than_the_scene_has(frames, fps):
    render = bpy.context.scene.render
    render.fps, render.fps_base = 25, 0.5
    assert fps_of(bpy.context.scene, frames) == pytest.approx(fps)


def test_markers_take_the_place_of_their_older_ones_in_the_range_and_go_with_the_undo():
    scene = bpy.context.scene
    for name, frame in (("Missed", 2), ("Missed", 5), ("Missed", 9), ("Other", 5)):
        scene.timeline_markers.new(name, frame=frame).select = frame == 5

    def markers():
        return sorted((marker.name, marker.frame, marker.select) for marker in scene.timeline_markers)

    before = markers()
    with nothing_lost():
        with ExitStack() as undo:
            mark(scene, "Missed", [4.4, 6.0, 3.6], 5, 9, undo)
            kept = [("Missed", 2, False), ("Missed", 4, False), ("Missed", 6, False), ("Other", 5, True)]
            assert markers() == kept
        assert markers() == before


def keyed_strip(**settings):
    """A strip whose action has its own time as the location along X, from frame 2 to 12."""
    ob = empty()
    for frame in (2, 12):
        ob.location.x = frame
        ob.keyframe_insert("location", index=0, frame=frame)
    animation = ob.animation_data
    (curve,) = keyed_curves(animation)
    for key in curve.keyframe_points:
        key.interpolation = "LINEAR"
    track = animation.nla_tracks.new()
    strip = track.strips.new("Strip", 20, animation.action)
    animation.action, ob.location.x = None, -7.0
    for name, value in settings.items():
        setattr(strip, name, value)
    return ob, strip


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"scale": 2.5},
        {"repeat": 3.0},
        {"repeat": 2.5},
        {"repeat": 2.0, "scale": 0.5, "use_reverse": True},
        {"use_reverse": True},
        {"action_frame_start": 4.0, "action_frame_end": 9.0, "repeat": 2.0},
        {"extrapolation": "NOTHING"},
        {"extrapolation": "HOLD_FORWARD"},
        {"extrapolation": "NOTHING", "repeat": 2.0},
    ],
)
def test_the_times_of_a_strip_are_those_at_which_blender_evaluates_its_action(settings):
    ob, strip = keyed_strip(**settings)
    frames = np.arange(10.0, 62.0, 1.5)
    times, played = strip_times(strip, frames)
    shown = []
    for frame in frames:
        bpy.context.scene.frame_set(int(frame), subframe=frame % 1.0)
        shown.append(ob.evaluated_get(bpy.context.evaluated_depsgraph_get()).location.x)
    shown = np.array(shown)
    assert shown[played] == pytest.approx(times[played], abs=1e-3)
    assert (np.abs(shown[~played] - times[~played]) > 0.1).any() == (not played.all())
    expected = {"NOTHING": (False, False), "HOLD_FORWARD": (False, True)}.get(
        settings.get("extrapolation"), (True, True)
    )
    assert (played[0], played[-1]) == expected
    inside = (frames >= strip.frame_start) & (frames <= strip.frame_end)
    assert played[inside].all()


def test_strips_that_replace_what_is_below_them_are_read_in_their_order():
    ob, strip = keyed_strip()
    animation = ob.animation_data
    upper = animation.nla_tracks.new()
    second = upper.strips.new("Second", 5, strip.action)
    assert layered_strips(ob) == [strip, second]
    assert [each.name for each in strips_of(animation)] == ["Second", "Strip"]
    assert actions_of(animation) == [(None, None), *[(each.action, each.action_slot) for each in (second, strip)]]
    second.blend_type = "ADD"
    assert layered_strips(ob) == [strip]
    second.blend_type = "REPLACE"
    second.mute = True
    assert layered_strips(ob) == [strip]
    assert list(strips_of(animation, muted=False)) == [strip]
    second.mute, upper.mute = False, True
    assert layered_strips(ob) == [strip]
    assert list(strips_of(animation, muted=False)) == [strip]
    upper.mute, upper.is_solo = False, True
    assert layered_strips(ob) == [second]
    upper.is_solo, animation.use_nla = False, False
    assert layered_strips(ob) == []
    assert layered_strips(empty("Other")) == []


class Strip(NamedTuple):
    """A strip as Blender makes a meta strip of several, for which it has no call."""

    name: str
    strips: list
    mute: bool = False


class Track(NamedTuple):
    strips: list
    mute: bool = False


class Animation(NamedTuple):
    nla_tracks: list


def test_strips_inside_meta_strips_are_among_all_strips():
    inner = [Strip("a", []), Strip("b", [], mute=True)]
    animation = Animation([Track([Strip("meta", inner)]), Track([Strip("off", [Strip("c", [])], mute=True)])])
    assert sorted(strip.name for strip in strips_of(animation)) == ["a", "b", "c", "meta", "off"]
    assert sorted(strip.name for strip in strips_of(animation, muted=False)) == ["a", "meta"]


def test_curves_that_move_an_object_are_those_of_actions_and_drivers_that_are_not_muted():
    ob, strip = keyed_strip()
    driver = ob.driver_add("location", 1)
    (curve,) = keyed_curves(ob.animation_data)
    assert [each.array_index for each in moving_curves(ob)] == [1, 0]
    curve.mute = True
    assert [each.array_index for each in moving_curves(ob)] == [1]
    driver.mute = True
    assert list(moving_curves(ob)) == list(moving_curves(empty("Other"))) == []
    assert len(list(keyed_curves(ob.animation_data))) == 1
    assert list(curves_in(strip.action, None)) == list(curves_in(None, strip.action_slot)) == []
    assert len(list(curves_in(strip.action, strip.action_slot))) == 1


def test_the_range_of_a_scene_is_that_of_its_preview_while_that_is_on():
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 3, 30
    scene.use_preview_range = True
    scene.frame_preview_start, scene.frame_preview_end = 5, 7
    assert (scene_range(scene), scene_range(scene, False), scene_range(scene, True)) == ((5, 7), (3, 30), (5, 7))
    scene.use_preview_range = False
    assert (scene_range(scene), scene_range(scene, True)) == ((3, 30), (5, 7))
    scene.render.frame_map_old, scene.render.frame_map_new = 100, 400
    assert evaluated_time(scene, 8.0) == 2.0


@pytest.mark.parametrize(
    ("span", "frames"),
    [
        ((1, 5, 1), [1, 2, 3, 4, 5]),
        ((1, 6, 2.0), [1, 3, 5]),
        ((2, 4, 0.5), [2.0, 2.5, 3.0, 3.5, 4.0]),
        ((1, 2, 0.3), [1.0, 1.3, 1.6, 1.9]),
        ((0, 1, 0.1), [number / 10 for number in range(11)]),
        ((4, 4, 0.7), [4.0]),
    ],
)
def test_frames_go_by_the_step_up_to_the_last_one_that_is_in_the_range(span, frames):
    found = frames_from(*span)
    assert list(found) == pytest.approx(frames)
    assert isinstance(found, range) == (span[2] == int(span[2]))


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({}, ""),
        ({"mute": True}, "is muted"),
        ({"blend_type": "ADD"}, "is blended with what is below it"),
        ({"blend_in": 2.0}, "is blended in or out"),
        ({"blend_out": 2.0}, "is blended in or out"),
        ({"use_animated_influence": True}, "is blended in or out"),
        ({"use_reverse": True}, "runs backwards"),
        ({"use_animated_time": True}, "has a time of its own"),
    ],
)
def test_a_strip_that_is_tweaked_is_written_to_only_where_it_shows_its_action_as_it_is(change, why):
    ob, strip = keyed_strip()
    scene = bpy.context.scene
    for name, value in change.items():
        setattr(strip, name, value)
    ob.animation_data.nla_tracks[0].select = True
    strip.select = True
    ob.animation_data.use_tweak_mode = True
    if not ob.animation_data.use_tweak_mode:
        pytest.fail("the strip is not tweaked")
    if why:
        with pytest.raises(AnimationError, match=f"Strip 'Strip', in which 'Target' is tweaked, {why}. Change that"):
            check_nla(ob, scene, 20, 30)
        return
    check_nla(ob, scene, 20, 30)
    for first, last in ((19, 30), (20, 31)):
        with pytest.raises(AnimationError, match=r"shows its action from frame 20 to 30 only\. Keep to that range"):
            check_nla(ob, scene, first, last)


def test_a_solo_track_and_an_nla_that_is_off_hide_what_is_written_elsewhere():
    ob, _ = keyed_strip()
    scene, animation = bpy.context.scene, ob.animation_data
    check_nla(empty("Other"), scene, 1, 9, "NLA_TRACK")
    check_nla(ob, scene, 1, 9)
    animation.nla_tracks[0].is_solo = True
    with pytest.raises(AnimationError, match="NLA track 'NlaTrack' of 'Target' is solo"):
        check_nla(ob, scene, 1, 9)
    animation.nla_tracks[0].is_solo = False
    animation.use_nla = False
    check_nla(ob, scene, 1, 9, "ACTION")
    check_nla(ob, scene, 1, 9, "NEW_ACTION")
    for destination in ("NLA_TRACK", "LAYER"):
        with pytest.raises(AnimationError, match="The NLA of 'Target' is switched off"):
            check_nla(ob, scene, 1, 9, destination)

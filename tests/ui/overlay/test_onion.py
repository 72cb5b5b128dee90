# SPDX-License-Identifier: GPL-3.0-or-later
"""Ghosts are read again only after an edit, and keep what was there before one."""

import bpy
import numpy as np
import pytest

from ik_triangulation.ui.overlay import handlers, onion
from ik_triangulation.ui.overlay.sketch import GHOST
from ik_triangulation.ui.overlay.updates import announce_change

from ...rigs import chain_rig, configure, empty
from .seen import read_to_the_end
from .viewport import pixels, viewport

pytestmark = pytest.mark.usefixtures("addon", "empty_scene")

LAST = 12


@pytest.fixture
def rig():
    made = chain_rig(4)
    configure(made, "Bone 3", target=empty(), chain_count=3)
    made.location.x = 0.3
    bpy.context.scene.frame_end = LAST
    _key(made, {1: 0.0, 6: 0.4, LAST: 1.0})
    yield made
    onion.forget_figures()


def _key(rig, turns):
    bone = rig.pose.bones["Bone 2"]
    for frame, turn in turns.items():
        bone.rotation_quaternion = (1.0, turn, 0.0, 0.0)
        bone.keyframe_insert("rotation_quaternion", frame=frame)
    bpy.context.view_layer.update()


def shown(rig, frame):
    """Heads and tails of the bones as Blender shows them at a frame."""
    bpy.context.scene.frame_set(frame)
    ends = [[rig.matrix_world @ getattr(bone, end) for bone in rig.pose.bones] for end in ("head", "tail")]
    bpy.context.scene.frame_set(1)
    return np.array(ends)


def read(frame=1):
    """Ask for the ghosts, let the timer run to its end, and return them by their frames."""
    bpy.context.scene.frame_set(frame)
    return read_to_the_end(onion, onion.figures_of)


def test_frames_and_keys_around_the_present_one(rig):
    settings = bpy.context.scene.ik_triangulation_ghosts
    assert read() == {}
    settings.show, settings.count, settings.step = True, 2, 2
    assert sorted(read(6)) == [2, 4, 8, 10]
    settings.kind = "KEYS"
    assert sorted(read(5)) == [1, 6, LAST]


def test_they_are_read_again_after_an_edit_alone_and_keep_what_was_before(rig):
    settings = bpy.context.scene.ik_triangulation_ghosts
    settings.show = True
    first, before = read(5)[9], onion._state.figures
    rig.pose.bones["Bone 0"].bone.hide = True  # an edit that moves nothing
    bpy.context.view_layer.update()
    read(5)
    assert onion._state.figures is before
    _key(rig, {9: -1.0})
    handlers._figures_loaded = True
    announce_change(rig)
    assert np.abs(read(5)[9] - first).max() > 0.1
    settings.kind = "BEFORE"
    assert np.abs(read(9)[9] - first).max() == 0.0
    handlers._undone()
    assert read(9) == {}
    assert np.abs(onion._state.figures[9] - shown(rig, 9)).max() < 1e-5


@pytest.mark.skipif(bpy.app.version < (5, 2), reason="without gpu.init()")
def test_past_and_future_have_the_colours_of_motion_paths_and_batches_are_kept(rig):
    settings = bpy.context.scene.ik_triangulation_ghosts
    settings.show, settings.kind = True, "KEYS"
    read(6)
    theme = bpy.context.preferences.themes[0].view_3d
    tints = tuple(theme.before_current_frame), tuple(theme.after_current_frame)
    _, edges = onion.coloured_figures(read(6), 6, *tints)
    assert {tuple(colour[:3]) for colour in edges[1]} == {tuple(np.float32(tint[:3])) for tint in tints}
    assert (pixels(onion.draw_figures)[:, 3] > 0.0).sum() > 50
    batches = onion._state.batches
    pixels(onion.draw_figures)
    assert onion._state.batches is batches


def test_ghosts_are_of_the_active_rig_alone_and_there_in_pose_and_object_mode(rig):
    settings, context = bpy.context.scene.ik_triangulation_ghosts, bpy.context
    settings.show, settings.count = True, 1
    figures = read(6)
    assert figures
    bpy.ops.object.mode_set(mode="OBJECT")
    assert sorted(read(6)) == sorted(figures)
    onion.keep_before(rig)
    settings.kind = "BEFORE"
    assert sorted(read(6)) == [6]
    onion.keep_before(empty("Another"))  # of another character
    assert sorted(read(6)) == [6]
    other = chain_rig(2, name="Other")
    bpy.app.timers.unregister(onion._read_on)
    with viewport() as seen:
        assert onion.figures_of(seen) == {}
    assert onion._state.figures == {}, "of the other rig nothing is read yet"
    onion.keep_before(rig)
    settings.kind = "FRAMES"
    found = read(6)
    assert {len(figure[0]) for figure in found.values()} == {len(other.pose.bones)}
    bpy.ops.object.mode_set(mode="EDIT")
    assert read(6) == {}
    bpy.ops.object.mode_set(mode="OBJECT")
    context.view_layer.objects.active = None
    other.select_set(False)
    assert onion._read_on() is None
    assert read(6) == {}
    settings.show = False
    context.view_layer.objects.active = other
    assert read(6) == {}


@pytest.mark.parametrize("rebuild", [False, True])
def test_ghosts_before_a_change_are_none_while_figures_are_read(rig, rebuild, monkeypatch):
    monkeypatch.setattr(onion, "_SLICE", 0.0)
    settings = bpy.context.scene.ik_triangulation_ghosts
    settings.show, settings.kind = True, "BEFORE"
    read(6)
    _key(rig, {9: -1.0})
    with viewport() as context:
        onion.figures_of(context)
    if rebuild:
        assert onion._read_on() == 0.0, "begun, and not at its end"
    onion.keep_before(rig)
    assert sorted(read(6)) == ([] if rebuild else [6])


def test_figures_fade_with_their_distance_and_short_bones_are_lines():
    bones = np.array([[(0, 0, 0), (0, 0, 1)], [(0, 0, 1), (0, 0.02, 1)]], np.float32)  # (heads, tails) of two bones
    found = {frame: bones + np.float32((frame, 0, 0)) for frame in (1, 3, 4, 6, 8)}
    past, future = (1.0, 0.5, 0.0), (0.0, 0.5, 1.0)
    (faces, of_faces), (edges, of_edges) = onion.coloured_figures(found, 4, past, future)
    fades = {1: 1.0 - 0.65 * 2 / 3, 3: 1.0, 4: 1.0, 6: 1.0 - 0.65 / 3, 8: 0.35}
    for places, colours, opacity, each in ((faces, of_faces, GHOST[1], 24), (edges, of_edges, GHOST[0], 26)):
        assert places.dtype == colours.dtype == np.float32
        assert len(places) == len(colours) == each * len(found)
        owners = np.clip(np.round(places[:, 0]), 1, 8).astype(int)
        for frame, fade in fades.items():
            mine = colours[owners == frame]
            assert len(mine) == each
            tint = past if frame <= 4 else future
            assert np.allclose(mine, (*tint, opacity * fade), atol=1e-6), frame
    sticks = edges[-2 * len(found) :].reshape(-1, 2, 3)
    assert np.allclose(sticks, [figure[:, 1] for figure in found.values()])
    only = onion.coloured_figures({4: bones}, 4, past, future)
    assert np.allclose(only[0][1], (*past, GHOST[1]))


def test_they_are_read_only_after_an_edit_and_not_while_the_shot_plays(rig, monkeypatch):
    bpy.context.scene.ik_triangulation_ghosts.show = True
    timers, asks = bpy.app.timers, onion._read_on
    read(5)

    def is_begun():
        if timers.is_registered(asks):
            timers.unregister(asks)
        with viewport() as context:
            onion.figures_of(context)
        return timers.is_registered(asks)

    bpy.context.scene.frame_set(7)
    assert not is_begun(), "another frame is no edit"
    _key(rig, {9: -1.0})
    with monkeypatch.context() as patch:
        patch.setattr(onion, "is_playing", lambda context: True)
        assert not is_begun()
    assert is_begun()
    read(7)
    assert not is_begun()

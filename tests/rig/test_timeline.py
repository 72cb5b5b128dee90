# SPDX-License-Identifier: GPL-3.0-or-later
"""Frames in a second, and markers that are put on frames and taken back."""

from contextlib import ExitStack

import bpy
import pytest

from ik_triangulation.rig.timeline import fps_of, mark

from ..rigs import nothing_lost

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

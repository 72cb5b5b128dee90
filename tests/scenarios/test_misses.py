# SPDX-License-Identifier: GPL-3.0-or-later
"""Frames that miss the target: named in a warning, and marked on the timeline if so wanted."""

import bpy
import pytest

from ik_triangulation.jobs.bake import bake, bake_limbs
from ik_triangulation.rig.limb import Limb

from ..rigs import chain_rig, configure, empty, key_location, nothing_lost

pytestmark = pytest.mark.usefixtures("empty_scene")

FAR = {4, 5, 6, 9, 12, 13, 15, 17, 19}


def missing(far=FAR, name="Rig"):
    """A rig whose target is out of reach at some frames."""
    rig, target = chain_rig(3, name=name), empty(f"Target of {name}")
    return rig, key_location(target, range(1, 21), lambda f: (0.0, 0.5, 20.0 if f in far else 2.0))


def limb(rig, target, **settings):
    return Limb.from_tip(rig, "Bone 2", target, **settings)


def markers():
    return sorted((marker.frame, marker.name) for marker in bpy.context.scene.timeline_markers)


@pytest.mark.parametrize(
    ("far", "step", "said"),
    [
        ({4}, 1, ["The target is missed at frames 4."]),
        ({4, 5, 6, 9}, 1, ["The target is missed at frames 4 to 6, 9."]),
        (FAR, 1, ["The target is missed at frames 4 to 6, 9, 12 to 13, 15, 17 and others."]),
        ({4, 5, 6, 7}, 2, ["The target is missed at frames 5 to 7."]),
        ({4, 5}, 6, []),
        (set(), 1, []),
    ],
)
def test_the_first_frames_that_miss_are_named(far, step, said):
    rig, target = missing(far)
    report = bake(limb(rig, target), 1, 20, step)
    assert report.warnings == said
    assert report.missed == [frame for frame in range(1, 21, step) if frame in far]


def test_a_single_frame_has_no_such_warning():
    rig, target = missing()
    assert bake(limb(rig, target), 4, 4).warnings == []


def test_frames_that_miss_are_marked_only_if_wanted():
    rig, target = missing()
    bake(limb(rig, target), 1, 20)
    assert markers() == []
    bake(limb(rig, target, mark_misses=True), 1, 20)
    assert markers() == [(frame, "Rig: Bone 2 misses") for frame in sorted(FAR)]


def test_markers_of_the_limb_are_replaced_inside_the_range_and_others_stay():
    scene = bpy.context.scene
    scene.timeline_markers.new("Cut", frame=6)
    limbs = [limb(*missing({4, 9}, name), mark_misses=True) for name in ("Left", "Right")]
    bake_limbs(limbs, 1, 20)
    right = [(4, "Right: Bone 2 misses"), (9, "Right: Bone 2 misses")]
    assert markers() == sorted([(4, "Left: Bone 2 misses"), (6, "Cut"), (9, "Left: Bone 2 misses"), *right])
    limbs[0].target.animation_data_clear()
    limbs[0].target.location = (0.0, 0.5, 2.0)
    bake(limbs[0], 1, 8)
    assert markers() == sorted([(6, "Cut"), (9, "Left: Bone 2 misses"), *right])


def test_a_bake_that_fails_after_that_leaves_the_markers(monkeypatch):
    rig, target = missing()
    bake(limb(rig, target, mark_misses=True), 1, 20)
    bpy.context.scene.timeline_markers[0].select = True
    second = Limb.from_tip(chain_rig(2, name="Other"), "Bone 1", target, mark_misses=True)

    def broken(scene, name, *args):
        if name.startswith("Other"):
            raise ZeroDivisionError
        original(scene, name, *args)

    original = bake_limbs.steps.__globals__["mark"]
    monkeypatch.setitem(bake_limbs.steps.__globals__, "mark", broken)
    with nothing_lost(), pytest.raises(ZeroDivisionError):
        bake_limbs([limb(rig, target, mark_misses=True), second], 3, 12)


def test_the_operator_marks_where_the_limb_is_set_to(capfd):
    rig, target = missing()
    configure(rig, "Bone 2", target=target, mark_misses=True)
    bpy.ops.pose.ik_triangulation_bake(frame_start=8, frame_end=10)
    assert markers() == [(9, "Rig: Bone 2 misses")]
    assert "Warning: The target is missed at frames 9." in capfd.readouterr().out

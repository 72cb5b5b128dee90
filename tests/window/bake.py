# SPDX-License-Identifier: GPL-3.0-or-later
"""A click on Bake keys the limb on every frame; undo takes the keys away, and redo gives the same ones back."""

import bpy

from scripts.windowed.inside import buttons, hands, screen, wait
from scripts.windowed.inside.scene import FRAMES, chain, distance, rig
from tests.rigs import all_keys, curves_of, key_frames


def script():
    chain(tolerance=1e-3)
    yield from screen.sidebar()
    before = bpy.context.scene.frame_current

    yield from buttons.press("pose.ik_triangulation_bake")
    yield from wait.end()
    keys = all_keys(rig())
    assert len(keys) == 4 * len(rig().pose.bones), "not all channels are keyed"
    assert all(key_frames(curve) == list(range(1, FRAMES + 1)) for curve in curves_of(rig()))
    assert bpy.context.scene.frame_current == before
    screen.picture("bake")
    for frame in range(1, FRAMES + 1):
        bpy.context.scene.frame_set(frame)
        assert distance() < 1e-3, (frame, distance())
    bpy.context.scene.frame_set(before)

    yield from hands.press("Z", ctrl=True)
    assert not all_keys(rig()), "undo leaves keys"
    yield from hands.press("Z", ctrl=True, shift=True)
    assert all_keys(rig()) == keys, "redo gives other keys"

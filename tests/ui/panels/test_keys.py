# SPDX-License-Identifier: GPL-3.0-or-later
"""The panel of the keys shows the range that counts, and what belongs to the choice of keys."""

import bpy
import pytest

from ...layouts import drawn
from .states import panel, standard

pytestmark = pytest.mark.usefixtures("empty_scene")
KEYS = panel("_keys")


def test_the_range_of_the_scene_is_said():
    standard()
    assert "Frames 1 to 250" in drawn(KEYS)
    scene = bpy.context.scene
    scene.use_preview_range, scene.frame_preview_start, scene.frame_preview_end = True, 5, 9
    assert "Frames 5 to 9" in drawn(KEYS)


def test_a_range_of_its_own_can_be_set():
    standard(use_scene_range=False)
    assert {"frame_start", "frame_end"} <= set(drawn(KEYS))


@pytest.mark.parametrize(
    ("choice", "settings", "details"),
    [
        ("EVERY", (False, False, 1, "AUTO"), []),
        ("FEW", (True, False, 1, "AUTO"), ["reduce_tolerance"]),
        ("AT_KEYS", (False, True, 1, "AUTO"), ["interpolation"]),
        ("ON_TWOS", (False, False, 2, "CONSTANT"), ["step", "interpolation"]),
    ],
)
def test_one_choice_sets_what_keys_there_are_and_the_panel_has_its_details(choice, settings, details):
    _, _, limb = standard()
    lists = bpy.context.window_manager.ik_triangulation_lists
    limb.reduce, limb.only_target_keys, limb.step = True, True, 3
    lists.keys = choice
    assert (limb.reduce, limb.only_target_keys, limb.step, limb.interpolation) == settings
    assert lists.keys == choice
    assert [name for name in drawn(KEYS) if name in {"reduce_tolerance", "step", "interpolation"}] == details


def test_baked_keys_can_be_deleted_there():
    standard()
    assert "generated_delete" in drawn(KEYS)


def test_the_tolerance_that_is_taken_where_none_is_set_is_told():
    standard(reduce=True)
    assert any("limb's reach" in text for text in drawn(KEYS))
    standard(reduce=True, reduce_tolerance=0.1)
    assert not any("limb's reach" in text for text in drawn(KEYS))

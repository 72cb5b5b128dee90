# SPDX-License-Identifier: GPL-3.0-or-later
"""The panel of the keys shows the range that counts, and what a setting makes idle is greyed out."""

import bpy
import pytest

from ...layouts import drawn
from .states import panel, standard

pytestmark = pytest.mark.usefixtures("empty_scene")
KEYS = panel("_keys")


def test_the_range_of_the_scene_is_shown_greyed_out():
    standard()
    assert {"(frame_start)", "(frame_end)"} <= set(drawn(KEYS))
    bpy.context.scene.use_preview_range = True
    assert {"(frame_preview_start)", "(frame_preview_end)"} <= set(drawn(KEYS))


def test_a_range_of_its_own_can_be_set():
    standard(use_scene_range=False)
    assert {"frame_start", "frame_end", "step"} <= set(drawn(KEYS))


def test_the_step_does_not_count_for_keys_of_the_target():
    standard(only_target_keys=True)
    assert "(step)" in drawn(KEYS)


def test_baked_keys_can_be_deleted_there():
    standard()
    assert "generated_delete" in drawn(KEYS)


@pytest.mark.parametrize(("reduce", "shown"), [(True, "reduce_tolerance"), (False, "(reduce_tolerance)")])
def test_the_tolerance_of_a_reduction_counts_only_with_it(reduce, shown):
    standard(reduce=reduce)
    assert shown in drawn(KEYS)


def test_the_tolerance_that_is_taken_where_none_is_set_is_told():
    standard(reduce=True)
    assert any("limb's reach" in text for text in drawn(KEYS))
    standard(reduce=True, reduce_tolerance=0.1)
    assert not any("limb's reach" in text for text in drawn(KEYS))

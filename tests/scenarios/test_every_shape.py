# SPDX-License-Identifier: GPL-3.0-or-later
"""Every shape of the setting can be reached, is drawn by the overlay, and is named in the manual."""

import re
from pathlib import Path

import pytest

from ik_triangulation.errors import SettingError
from ik_triangulation.goals.target_shapes import TARGET_SHAPES
from ik_triangulation.jobs.pose import solve_pose
from ik_triangulation.rig.limb import Limb
from ik_triangulation.settings import GoalSettings, settings_of
from ik_triangulation.ui.overlay.sketch import Role

from ..ui.overlay.seen import colour_of, colours, settings, standard

pytestmark = pytest.mark.usefixtures("empty_scene")

GOALS = Path(__file__).resolve().parents[2] / "docs" / "goals.md"
# No shapes of their own: the target's appearance or its mesh says which, and a field that is followed has no place.
OTHERWISE = {"AUTO", "FIELD", "SURFACE", "FLOW"}
ITEMS = {item[0]: item[1] for item in settings_of(GoalSettings)["shape"].options["items"]}
SHAPES = sorted(set(ITEMS) - OTHERWISE)
every_shape = pytest.mark.parametrize("shape", SHAPES)


@every_shape
def test_a_shape_that_can_be_chosen_can_be_reached(shape):
    rig, target = standard()
    remedy = f"The setting offers {shape}, and no target is made of it. Give it a row in goals/target_shapes.py."
    assert shape in TARGET_SHAPES, remedy
    try:
        solve_pose(Limb.from_tip(rig, "Bone 3", target, 3, shape=shape))
    except SettingError as error:
        pytest.fail(f"{remedy} ({error})")


@every_shape
def test_a_shape_is_drawn_by_the_overlay(shape):
    standard(shape=shape)
    settings().show_reach = settings().show_joints = settings().show_error = False
    assert colours() == {colour_of(Role.TARGET)}, (
        f"The overlay draws nothing for {shape}. Write a function that makes its strokes and add it, by the class of "
        "its target, to the table at the end of ui/overlay/figure.py."
    )


@every_shape
def test_a_shape_is_named_in_the_manual(shape):
    (section,) = re.findall(r"^## Shapes\n(.*?)^## ", GOALS.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    named = "origin" if shape == "POINT" else ITEMS[shape].lower()
    assert re.search(rf"\b{named}s?\b", section, re.IGNORECASE), (
        f"The manual does not name the shape {ITEMS[shape]}. Say under 'Shapes' in docs/goals.md what of the "
        "target it is, and which empties have it."
    )

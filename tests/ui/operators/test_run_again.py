# SPDX-License-Identifier: GPL-3.0-or-later
"""A job that is too slow for Adjust Last Operation gives up and is run again (see also tests/window/menus.py)."""

from types import SimpleNamespace

import bpy
import pytest

from ik_triangulation.ui.operators import base
from ik_triangulation.ui.operators.bake import POSE_OT_ik_triangulation_bake
from ik_triangulation.ui.operators.base import WM_OT_ik_triangulation_is_held

from ...rigs import all_keys, nothing_lost
from ..test_modal_job import Recorder, event, pressed
from .rebuilt import standard

pytestmark = pytest.mark.usefixtures("empty_scene")


@pytest.fixture
def adjusted():
    """A bake that Blender repeats in a window, because its end was changed; nothing waits afterwards."""
    standard()
    operator, context = pressed(POSE_OT_ik_triangulation_bake, Recorder(), frame_start=1, frame_end=7, step=1)
    operator.options = SimpleNamespace(is_repeat=True)
    context.window = SimpleNamespace(as_pointer=lambda: 1)
    context.region_popup = None
    context.area.as_pointer = lambda: 2
    yield operator, context
    base._changes.clear()
    if bpy.app.timers.is_registered(base._run_if_let_go):
        bpy.app.timers.unregister(base._run_if_let_go)


def test_what_is_quick_is_done_at_once(adjusted, monkeypatch):
    monkeypatch.setattr("ik_triangulation.ui.operators.base._AT_ONCE", 60.0)
    operator, context = adjusted
    assert operator.execute(context) == {"FINISHED"}
    assert all_keys(context.active_object)
    assert base._changes == []


def test_what_is_slow_changes_nothing_and_waits_with_the_last_change(adjusted, monkeypatch):
    monkeypatch.setattr("ik_triangulation.ui.operators.base._AT_ONCE", -1.0)
    operator, context = adjusted
    with nothing_lost():
        for end in (7, 8):
            operator.properties.frame_end = end
            assert operator.execute(context) == {"CANCELLED"}
    (waiting,) = base._changes
    assert waiting.idname == "pose.ik_triangulation_bake"
    assert waiting.properties["frame_end"] == 8
    assert not waiting.in_popup
    assert bpy.app.timers.is_registered(base._run_if_let_go)


def test_what_has_been_slow_is_not_even_begun(adjusted, monkeypatch):
    operator, context = adjusted
    operator._took = 1.0
    monkeypatch.setattr(operator, "job", None)
    assert operator.execute(context) == {"CANCELLED"}
    assert len(base._changes) == 1


@pytest.mark.parametrize(
    ("kind", "value", "held"),
    [("LEFTMOUSE", "PRESS", True), ("LEFTMOUSE", "RELEASE", False), ("RET", "PRESS", False)],
)
def test_a_field_is_held_as_long_as_the_left_button_is(kind, value, held):
    said = WM_OT_ik_triangulation_is_held.invoke(None, None, event(kind, value))
    assert said == ({"FINISHED"} if held else {"CANCELLED"})

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


class Called:
    """Stands for Blender: what is called of its operators, in order, and what each answers."""

    def __init__(self, held=False, begun="RUNNING_MODAL"):
        self.calls, self._answers, self.timers = [], {"is_held": held, "bake": begun}, []
        timers = SimpleNamespace(is_registered=self.timers.__contains__, register=self.timers.append)
        self.app, self.context = SimpleNamespace(timers=timers), bpy.context
        self.ops = SimpleNamespace(
            wm=SimpleNamespace(ik_triangulation_is_held=self._calling("is_held")),
            ed=SimpleNamespace(**{name: self._calling(name) for name in ("undo", "redo", "undo_redo")}),
            pose=SimpleNamespace(ik_triangulation_bake=self._calling("bake")),
        )

    def _calling(self, name):
        def call(*given, **options):
            self.calls.append((name, given, options, base.runs_to_its_end()))
            answer = self._answers.get(name)
            if isinstance(answer, Exception):
                raise answer
            return {{True: "FINISHED", False: "CANCELLED"}.get(answer, answer)}

        return call

    @property
    def names(self):
        return [name for name, *_ in self.calls]


def waiting(monkeypatch, called, in_popup=False):
    """A change of a bake's end that waits."""
    window = bpy.context.window_manager.windows[0]
    area = window.screen.areas[0]
    change = base._Change(
        "pose.ik_triangulation_bake", {"frame_end": 8}, in_popup, window.as_pointer(), area.as_pointer()
    )
    monkeypatch.setattr(base, "bpy", called)
    monkeypatch.setattr(base, "_changes", [change])
    return change


def test_a_change_waits_while_a_field_is_held(monkeypatch):
    called = Called(held=True)
    waiting(monkeypatch, called)
    assert base._run_if_let_go() == base._LOOK
    assert called.calls == [("is_held", ("INVOKE_DEFAULT",), {}, False)]
    assert len(base._changes) == 1


@pytest.mark.parametrize("begun", ["RUNNING_MODAL", "CANCELLED", ValueError("broken")])
def test_a_change_is_made_after_an_undo_and_the_result_comes_back_unless_it_begins(monkeypatch, begun):
    called = Called(begun=begun)
    waiting(monkeypatch, called)
    if isinstance(begun, str):
        assert base._run_if_let_go() is None
    else:
        with pytest.raises(ValueError, match="broken"):
            base._run_if_let_go()
    assert called.names == ["is_held", "undo", "bake"]
    assert called.calls[-1][1:3] == (("INVOKE_DEFAULT", True), {"frame_end": 8, "is_adjusted": True})
    assert called.timers == ([] if begun == "RUNNING_MODAL" else [base._restore])
    base.restore_later()
    assert called.timers == [base._restore], "once"
    base._restore()
    assert called.names[-1] == "redo"
    assert base._changes == []
    base._restore()
    assert called.names.count("redo") == 1


def test_in_a_popup_blender_repeats_the_operator_which_runs_to_its_end_then(monkeypatch):
    called = Called()
    waiting(monkeypatch, called, in_popup=True)
    assert base._run_if_let_go() is None
    assert called.names == ["is_held", "undo_redo"]
    assert [to_the_end for *_, to_the_end in called.calls] == [False, True]
    assert not base.runs_to_its_end()


def test_a_change_is_made_where_it_was_or_in_the_first_place_that_is_left(monkeypatch):
    screen = bpy.context.window_manager.windows[0].screen
    change = waiting(monkeypatch, bpy)
    for area in screen.areas:
        with change._replace(area=area.as_pointer()).place():
            assert bpy.context.area == area
            assert bpy.context.region.type == "WINDOW"
    with change._replace(area=1, window=1).place():
        assert bpy.context.area == screen.areas[0]

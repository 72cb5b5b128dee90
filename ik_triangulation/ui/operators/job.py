# SPDX-License-Identifier: GPL-3.0-or-later
"""Operators that take a while: in a window they run step by step, can be watched and be cancelled."""

import traceback
from math import inf
from time import perf_counter
from typing import Any

import bpy
from bpy.types import Context, Event

from ...cooperative import Job, run_through
from ...errors import IKError
from ..modal_job import Task
from .base import IKOperator

_SLICE = 0.03  # seconds of work between two looks at what has been pressed,
_LONGEST = 0.1  # and where Blender takes longer than that to redraw, up to as long as it does
_PAUSE = 0.001  # seconds from one slice to the next
_NEWS = 0.2  # seconds between two texts: drawing them can take longer than a slice of work


class JobOperator(IKOperator):
    """Runs a job step by step; between two slices only the task is kept."""

    doing = "Working"
    parts = "parts"
    stopped = "Cancelled, nothing was changed"

    def job(self, context: Context, seconds: float) -> Job[Any]:
        """What is to be done, working for no longer than `seconds` between two yields; raises an IKError if it cannot.

        It yields the parts done and those in all.
        """
        raise NotImplementedError

    def tell(self, context: Context, result: Any) -> set[str]:
        """Say what came of the job, by what it returned."""
        raise NotImplementedError

    def act(self, context: Context) -> set[str]:
        wm = context.window_manager
        wm.progress_begin(0, 100)
        try:
            job = self.job(context, inf)
            return self.tell(context, run_through(job, lambda done, of: wm.progress_update(100 * done // of)))
        finally:
            wm.progress_end()

    def invoke(self, context: Context, event: Event) -> set[str]:
        if bpy.app.background or context.window is None:
            return self.execute(context)
        return self.begin(context)

    def begin(self, context: Context) -> set[str]:
        """Start the task, and have modal() called for it."""
        try:
            self._task = Task(self.job(context, _SLICE))
        except IKError as error:
            return self.refuse(error)
        wm = context.window_manager
        self._timer = wm.event_timer_add(_PAUSE, window=context.window)
        wm.modal_handler_add(self)
        wm.progress_begin(0, 100)
        self._shown, self._left = -inf, perf_counter()
        self._show(context)
        return {"RUNNING_MODAL"}

    def modal(self, context: Context, event: Event) -> set[str]:
        """Work on; all other events end here, so that nothing else changes meanwhile."""
        if self._task.stopped or (event.type in {"ESC", "RIGHTMOUSE"} and event.value == "PRESS"):
            self.cancel(context)
            self.report({"INFO"}, self.stopped)
            return {"CANCELLED"}
        if event.type != "TIMER":
            return {"RUNNING_MODAL"}
        away = perf_counter() - self._left
        try:
            result = self._task.work(max(_SLICE, min(away, _LONGEST)))
        except IKError as error:
            self.cancel(context)
            return self.refuse(error)
        except Exception as error:
            # Raised from here Blender would not know that this is over.
            traceback.print_exc()
            self.cancel(context)
            return self.refuse(IKError(f"Internal error, nothing was changed: {error!r}"))
        if result is None:
            self._show(context)
            self._left = perf_counter()
            return {"RUNNING_MODAL"}
        self.cancel(context)
        return self.tell(context, result)

    def cancel(self, context: Context) -> None:
        """Stop, if it is not at its end, and leave neither timer nor progress behind; Blender calls this as well."""
        try:
            self._task.stop()
        finally:
            if self._timer is not None:
                context.window_manager.event_timer_remove(self._timer)
                self._timer = None
                context.window_manager.progress_end()
                _say(context, None)

    def _show(self, context: Context) -> None:
        now, task = perf_counter(), self._task
        if now - self._shown < _NEWS:
            return
        self._shown = now
        context.window_manager.progress_update(100 * task.done // task.of)
        _say(context, f"{self.doing}: {task.done} of {task.of} {self.parts}. Esc or right click: cancel")


def _say(context: Context, text: str | None) -> None:
    """Show a text in the status bar and in the header of the area, or the usual ones again."""
    if context.workspace:
        context.workspace.status_text_set(text)
    if context.area:
        context.area.header_text_set(text)

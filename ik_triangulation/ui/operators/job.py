# SPDX-License-Identifier: GPL-3.0-or-later
"""Base of the operators that take a while: with a window they run as modal operators, with progress and cancelling."""

import traceback
from math import inf
from time import perf_counter
from typing import Any

import bpy
from bpy.types import Context, Event

from ...cooperative import Job, run_through
from ...errors import IKError
from ..modal_job import ModalJob
from .base import IKOperator

_SLICE = 0.03  # seconds of work between two events,
_LONGEST = 0.1  # and where Blender takes longer than that to redraw, up to as long as it does
_PAUSE = 0.001  # seconds from one slice to the next
_NEWS = 0.2  # seconds between two progress texts: drawing them can take longer than a slice of work


class JobOperator(IKOperator):
    """Operator that runs a job: to its end in execute(), in slices of time in modal()."""

    doing = "Working"  # for the progress text, which reads "Baking: 3 of 20 frames"
    parts = "frames"

    def job(self, context: Context, seconds: float) -> Job[Any]:
        """Return the job, which works for at most `seconds` between two yields of (parts done, parts in all).

        Raises an IKError if it cannot be done.
        """
        raise NotImplementedError

    def report_result(self, context: Context, result: Any) -> set[str]:
        """Report the value that the job returned."""
        raise NotImplementedError

    def execute(self, context: Context) -> set[str]:
        wm = context.window_manager
        wm.progress_begin(0, 100)
        try:
            job = self.job(context, inf)
            result = run_through(job, lambda done, of: wm.progress_update(100 * done // of))
        except IKError as error:
            return self.report_error(error)
        finally:
            wm.progress_end()
        return self.report_result(context, result)

    def invoke(self, context: Context, event: Event) -> set[str]:
        if bpy.app.background or context.window is None:
            return self.execute(context)
        return self.begin(context)

    def begin(self, context: Context) -> set[str]:
        """Start the job, and a timer that calls modal() for each slice of it."""
        try:
            self._task = ModalJob(self.job(context, _SLICE))
        except IKError as error:
            return self.report_error(error)
        wm = context.window_manager
        self._timer = wm.event_timer_add(_PAUSE, window=context.window)
        wm.modal_handler_add(self)
        wm.progress_begin(0, 100)
        self._shown, self._left = -inf, perf_counter()
        self._show_progress(context)
        return {"RUNNING_MODAL"}

    def modal(self, context: Context, event: Event) -> set[str]:
        """Work for one slice at each timer event. All other events are swallowed, so that nothing else changes."""
        if self._task.stopped or (event.type in {"ESC", "RIGHTMOUSE"} and event.value == "PRESS"):
            self.cancel(context)
            self.report({"INFO"}, f"{self.bl_label} cancelled, nothing was changed")
            return {"CANCELLED"}
        if event.type != "TIMER":
            return {"RUNNING_MODAL"}
        away = perf_counter() - self._left
        try:
            result = self._task.work(max(_SLICE, min(away, _LONGEST)))
        except IKError as error:
            self.cancel(context)
            return self.report_error(error)
        except Exception as error:
            # If modal() raised, Blender would not know that the operator has ended.
            traceback.print_exc()
            self.cancel(context)
            return self.report_error(IKError(f"Internal error, nothing was changed: {error!r}"))
        if result is None:
            self._show_progress(context)
            self._left = perf_counter()
            return {"RUNNING_MODAL"}
        self.cancel(context)
        return self.report_result(context, result)

    def cancel(self, context: Context) -> None:
        """Stop the job unless it has ended, and remove timer and progress; Blender calls this as well."""
        try:
            self._task.stop()
        finally:
            if self._timer is not None:
                context.window_manager.event_timer_remove(self._timer)
                self._timer = None
                context.window_manager.progress_end()
                _show_text(context, None)

    def _show_progress(self, context: Context) -> None:
        now, task = perf_counter(), self._task
        if now - self._shown < _NEWS:
            return
        self._shown = now
        context.window_manager.progress_update(100 * task.done // task.of)
        _show_text(context, f"{self.doing}: {task.done} of {task.of} {self.parts}. Esc or right click: cancel")


def _show_text(context: Context, text: str | None) -> None:
    """Show a text in the status bar and in the area's header, or restore Blender's own with None."""
    if context.workspace:
        context.workspace.status_text_set(text)
    if context.area:
        context.area.header_text_set(text)

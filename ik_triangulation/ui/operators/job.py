# SPDX-License-Identifier: GPL-3.0-or-later
"""Base of the operators that take a while: with a window they run as modal operators, with progress and cancelling."""

import traceback
from math import inf
from time import perf_counter
from typing import Any

import bpy
from bpy.props import BoolProperty
from bpy.types import Context, Event, WindowManager

from ...cooperative import Job, Progress, run_through
from ...errors import IKError
from ..modal_job import ModalJob
from ..translation import translated
from .adjust import different
from .base import IKOperator
from .run_again import restore_later, run_again_later, runs_to_its_end

_SLICE = 0.03  # seconds of work between two events,
_LONGEST = 0.1  # and where Blender takes longer than that to redraw, up to as long as it does
_PAUSE = 0.001  # seconds from one slice to the next
_AT_ONCE = 0.3  # seconds that a change in Adjust Last Operation may take while its field is held
_NEWS = 0.2  # seconds between two progress texts: drawing them can take longer than a slice of work


class _SlowError(Exception):
    """A job takes longer than it may."""


class JobOperator(IKOperator):
    """Operator that runs a job: to its end in execute(), in slices of time in modal()."""

    is_adjusted: BoolProperty(
        name="Adjusted", description="Run again after a change of its properties", options={"HIDDEN", "SKIP_SAVE"}
    )

    _took = 0.0  # seconds of the last run

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
        """Run the job to its end.

        After a change in Adjust Last Operation Blender has undone the operator, waits, and redoes what was undone if it
        is cancelled. A job that takes longer than a moment gives up at once then, and is run again in the window.
        """
        adjusting = self.options.is_repeat and context.window is not None and not runs_to_its_end()
        if adjusting and self._took > _AT_ONCE:
            return self._run_again(context)
        started, wm = perf_counter(), context.window_manager
        until = started + _AT_ONCE if adjusting else inf
        wm.progress_begin(0, 100)
        try:
            result = run_through(self.job(context, until - started), _told(wm, until))
        except _SlowError:
            return self._run_again(context)
        except IKError as error:
            return self.report_error(error)
        finally:
            wm.progress_end()
        return self._end(context, result, perf_counter() - started)

    def _run_again(self, context: Context) -> set[str]:
        self._took = inf
        run_again_later(self, context, different(self))
        return {"CANCELLED"}

    def _end(self, context: Context, result: Any, seconds: float) -> set[str]:
        """Report the result of a job that took so many `seconds`."""
        self._took = seconds
        return self.conclude(lambda: self.report_result(context, result))

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
        self._shown, self._left, self._took = -inf, perf_counter(), 0.0
        self._show_progress(context)
        return {"RUNNING_MODAL"}

    def modal(self, context: Context, event: Event) -> set[str]:
        """Work for one slice at each timer event. All other events are swallowed, so that nothing else changes."""
        result = self._go_on(context, event)
        if result == {"CANCELLED"} and self.is_adjusted:
            restore_later()
        return result

    def _go_on(self, context: Context, event: Event) -> set[str]:
        if self._task.stopped or (event.type in {"ESC", "RIGHTMOUSE"} and event.value == "PRESS"):
            self.cancel(context)
            self.tell({"INFO"}, f"{self.bl_label} cancelled, nothing was changed")
            return {"CANCELLED"}
        if event.type != "TIMER":
            return {"RUNNING_MODAL"}
        away, started = perf_counter() - self._left, perf_counter()
        try:
            result = self._task.work(max(_SLICE, min(away, _LONGEST)))
            self._took += perf_counter() - started
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
        return self._end(context, result, self._took)

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
        text = f"{self.doing}: {task.done} of {task.of} {self.parts}. Esc or right click: cancel"
        _show_text(context, translated(text))


def _told(wm: WindowManager, until: float) -> Progress:
    """Return the function that shows progress by the mouse cursor, and ends a job that goes on after `until` [s]."""

    def tell(done: int, of: int) -> None:
        if perf_counter() > until:
            raise _SlowError
        wm.progress_update(100 * done // of)

    return tell


def _show_text(context: Context, text: str | None) -> None:
    """Show a text in the status bar and in the area's header, or restore Blender's own with None."""
    if context.workspace:
        context.workspace.status_text_set(text)
    if context.area:
        context.area.header_text_set(text)

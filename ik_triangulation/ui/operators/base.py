# SPDX-License-Identifier: GPL-3.0-or-later
"""Bases of all operators: errors reported instead of raised; jobs with progress, cancelling and a report.

A job runs in slices of time. It can be stopped between two slices, and then leaves no changes behind.

An operator is run again in the window when a change in Adjust Last Operation takes long: with progress and Esc. Blender
calls execute() for every change of a field, also while it is dragged, and hears no key until that returns. A job that
is too slow for this cancels, on which Blender restores what the operator had made before. As soon as the field is let
go, this is undone and the operator is invoked with the changed values, which gives what a first run with these values
gives. Esc restores the result before the change.

An undo removes the last operator, which the popup of F9 still refers to. There the operator is run by Blender's own
repetition instead, to its end.
"""

from __future__ import annotations

import traceback
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from math import inf
from time import perf_counter
from typing import Any, Generic, NamedTuple, TypeVar

import bpy
from bpy.app.handlers import persistent
from bpy.props import BoolProperty
from bpy.types import Context, Event, Object, Operator, UILayout, WindowManager

from ...cooperative import Job, Progress, no_garbage_collection, run_through
from ...errors import IKError, RigError, TargetError
from ...jobs.shots import report as reporting
from ...jobs.shots import writing
from ..context import active_armature, active_bone, cannot_edit
from ..last_result import remember_result
from ..overlay.updates import announce_change
from ..translation import translated
from .adjust import different

Result = TypeVar("Result")
_running: list[ModalJob] = []


class ModalJob(Generic[Result]):
    """A job, such as a bake, that runs in slices: each call of work() advances it by at least one part.

    `done` and `of` are the parts done and the parts in all.
    """

    def __init__(self, job: Job[Result]) -> None:
        self._job = job
        self.done, self.of = 0, 1
        _running.append(self)

    @property
    def stopped(self) -> bool:
        """True when the job has ended: finished, failed or stopped."""
        return self not in _running

    def work(self, seconds: float) -> Result | None:
        """Run the job for about this long; return its result when it is finished, else None.

        Raises the job's own errors, and RigError if something it needs was removed in the meantime; nothing is changed
        then.
        """
        until = perf_counter() + seconds
        try:
            with no_garbage_collection():
                while True:
                    self.done, self.of = next(self._job)
                    if perf_counter() > until:
                        return None
        except StopIteration as finished:
            _running.remove(self)
            result: Result = finished.value
            return result
        except ReferenceError as error:
            self.stop()
            raise RigError("Something that this needs has been removed in the meantime. Start it again.") from error
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """Stop the job and undo its changes, unless it has ended."""
        if self.stopped:
            return
        _running.remove(self)
        with suppress(ReferenceError):  # removed data need not be restored
            self._job.close()


@persistent  # type: ignore[untyped-decorator]
def _stop_all(*_: object) -> None:
    """Stop all running jobs before undo, redo or loading a file replaces the data they refer to."""
    while _running:
        _running[-1].stop()


def _before_replacing() -> list[list]:
    handlers = bpy.app.handlers
    return [handlers.undo_pre, handlers.redo_pre, handlers.load_pre]


_LOOK = 0.05  # seconds from one look at the mouse to the next

_SLICE = 0.03  # seconds of work between two events,
_LONGEST = 0.1  # and where Blender takes longer than that to redraw, up to as long as it does
_PAUSE = 0.001  # seconds from one slice to the next
_AT_ONCE = 0.3  # seconds that a change in Adjust Last Operation may take while its field is held
_NEWS = 0.2  # seconds between two progress texts: drawing them can take longer than a slice of work


class IKOperator(Operator):
    """Base of the operators: act() reads the context, calls one plain function and reports the outcome; one undo step.

    An operator that takes a while is a JobOperator, which has job() and report_result() instead of act().
    """

    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll_problem(cls, context: Context) -> str | None:
        """Return why the operator is not available, None if it is. By default it needs an active bone to edit."""
        return cannot_edit(context) or (None if active_bone(context) else "Make the bone at the end of the limb active")

    @classmethod
    def poll(cls, context: Context) -> bool:
        problem = cls.poll_problem(context)
        if problem:
            cls.poll_message_set(translated(problem))
        return problem is None

    def execute(self, context: Context) -> set[str]:
        try:
            return self.act(context)
        except IKError as error:
            return self.report_error(error)

    @abstractmethod
    def act(self, context: Context) -> set[str]:
        """Do the work and report it. Raises an IKError before anything is changed."""

    def conclude(self, tell: Callable[[], object]) -> set[str]:
        """Tell the result of work that is done, and return FINISHED, so that Blender can undo it.

        What goes wrong in telling must not look as if nothing had been done.
        """
        try:
            tell()
        except (Exception, KeyboardInterrupt) as error:
            traceback.print_exc()
            self.report({"WARNING"}, f"IK Triangulation: Done, but the result cannot be shown: {error!r}")
        return {"FINISHED"}

    def column(self) -> UILayout:
        """Return a column for draw(), with labels left and values right."""
        self.layout.use_property_split = True
        self.layout.use_property_decorate = False
        return self.layout.column()

    def tell(self, kind: set[str], text: str) -> None:
        """Report a message in the language of the interface."""
        self.report(kind, translated(text))

    def report_error(self, error: IKError) -> set[str]:
        """Report the error and cancel the operator."""
        self.tell({"ERROR"}, f"IK Triangulation: {error}")
        return {"CANCELLED"}


def named_object(context: Context, name: str) -> Object:
    """Return the object of the scene with a name. Raises TargetError if there is none."""
    found = context.scene.objects.get(name)
    if found is None:
        raise TargetError(f"'{name}' is no object of this scene. Choose one of it.")
    return found


def report_outcome(operator: Operator, context: Context, reports: Sequence[reporting.Report]) -> set[str]:
    """Report notes, a line for each body and one for all limbs together, and then all warnings; return FINISHED.

    Blender shows the last of them in its status bar. The outcome is kept for the panel.
    """
    armature, scene = active_armature(context), context.scene
    announce_change(armature)
    limbs = [report for report in reports if not report.hips]
    said = list[str]()
    for report in reports:
        remember_result(report, armature, scene)
        name = f"{report.tip}: " if not report.hips and len(limbs) > 1 else ""
        said += (f"{name}{warning}" for warning in report.warnings if not writing.is_note(warning))
        for note in filter(writing.is_note, report.warnings):
            operator.tell({"INFO"}, f"{name}{note}")
    for reached, line in reporting.summaries(reports, scene):
        operator.tell({"INFO" if reached else "WARNING"}, line)
    for warning in said:
        operator.tell({"WARNING"}, warning)
    return {"FINISHED"}


class _Change(NamedTuple):
    """The operator to run again, the properties to give to it, and where it was changed."""

    idname: str
    properties: Mapping[str, Any]
    in_popup: bool
    window: int
    area: int

    def place(self) -> AbstractContextManager[None]:
        """Return the context of the window and the area, which are the same after an undo."""
        windows = bpy.context.window_manager.windows
        window = next((each for each in windows if each.as_pointer() == self.window), windows[0])
        areas = window.screen.areas
        area = next((each for each in areas if each.as_pointer() == self.area), areas[0])
        region = next((each for each in area.regions if each.type == "WINDOW"), None)
        return bpy.context.temp_override(window=window, area=area, region=region)


_changes: list[_Change] = []  # the one that waits, and then the one that runs
_to_the_end: list[_Change] = []  # the one that Blender repeats now


class WM_OT_ik_triangulation_is_held(Operator):
    """Returns FINISHED if the left mouse button is held down, which only an event knows."""

    bl_idname = "wm.ik_triangulation_is_held"
    bl_label = "Mouse Is Held"
    bl_description = "Tell whether the left mouse button is held down"
    bl_options = {"INTERNAL"}

    def invoke(self, context: Context, event: Event) -> set[str]:
        held = event.type == "LEFTMOUSE" and event.value == "PRESS"
        return {"FINISHED"} if held else {"CANCELLED"}


def run_again_later(operator: Operator, context: Context, properties: Mapping[str, Any]) -> None:
    """Run the operator with these properties when no field is held."""
    popup, area = context.region_popup is not None, context.area.as_pointer() if context.area else 0
    _changes[:] = [_Change(type(operator).bl_idname, properties, popup, context.window.as_pointer(), area)]
    if not bpy.app.timers.is_registered(_run_if_let_go):
        bpy.app.timers.register(_run_if_let_go, first_interval=_LOOK)


def runs_to_its_end() -> bool:
    """Tell whether execute() is called by _run_if_let_go(), and has all the time that it needs."""
    return bool(_to_the_end)


def restore_later() -> None:
    """Restore the result before the change, as the operator that was run again has been cancelled."""
    if not bpy.app.timers.is_registered(_restore):
        bpy.app.timers.register(_restore)


def _run_if_let_go() -> float | None:
    change = _changes[0]
    with change.place():
        if bpy.ops.wm.ik_triangulation_is_held("INVOKE_DEFAULT") == {"FINISHED"}:
            return _LOOK
        if change.in_popup:
            _to_the_end.append(change)
            try:
                bpy.ops.ed.undo_redo()
            finally:
                _to_the_end.clear()
            return None
        bpy.ops.ed.undo()
    begun, (group, name) = False, change.idname.split(".")
    with change.place():
        try:
            options = {**change.properties, "is_adjusted": True}
            begun = getattr(getattr(bpy.ops, group), name)("INVOKE_DEFAULT", True, **options) != {"CANCELLED"}
        finally:
            if not begun:
                restore_later()
    return None


def _restore() -> None:
    if _changes:
        with _changes.pop().place():
            bpy.ops.ed.redo()


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

    @abstractmethod
    def job(self, context: Context, seconds: float) -> Job[Any]:
        """Return the job, which works for at most `seconds` between two yields of (parts done, parts in all).

        Raises an IKError if it cannot be done.
        """

    @abstractmethod
    def report_result(self, context: Context, result: Any) -> set[str]:
        """Report the value that the job returned."""

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
            result = run_through(self.job(context, until - started), _progress_until(wm, until))
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
        """Report the result of a job that took `seconds`."""
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


def _progress_until(wm: WindowManager, until: float) -> Progress:
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


def register() -> None:
    bpy.utils.register_class(WM_OT_ik_triangulation_is_held)
    for handlers in _before_replacing():
        handlers.append(_stop_all)


def unregister() -> None:
    _stop_all()
    for handlers in _before_replacing():
        handlers.remove(_stop_all)
    bpy.utils.unregister_class(WM_OT_ik_triangulation_is_held)

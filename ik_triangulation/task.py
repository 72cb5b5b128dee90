# SPDX-License-Identifier: GPL-3.0-or-later
"""A bake in slices of time, which can be stopped between any two of them and then leaves nothing behind."""

from contextlib import suppress
from time import perf_counter

import bpy
from bpy.app.handlers import persistent

from .bake import Job
from .errors import RigError
from .job import no_garbage_collection
from .report import Report

_under_way: list["Task"] = []


class Task:
    """What baking() does, at least a frame of it at each call of work(). `done` and `of` count frames."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self.done, self.of = 0, 1
        _under_way.append(self)

    @property
    def stopped(self) -> bool:
        """Whether it has come to its end, one way or another."""
        return self not in _under_way

    def work(self, seconds: float) -> list[Report] | None:
        """Go on for about so long: the reports if that was the last of it, else None.

        Raises what the bake does, and RigError if something it needs has been removed since; nothing has changed then.
        """
        until = perf_counter() + seconds
        try:
            with no_garbage_collection():
                while True:
                    self.done, self.of = next(self._job)
                    if perf_counter() > until:
                        return None
        except StopIteration as finished:
            _under_way.remove(self)
            reports: list[Report] = finished.value
            return reports
        except ReferenceError as error:
            self.stop()
            raise RigError("What was being baked has been removed. Bake again.") from error
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """Take back everything, unless it has come to its end."""
        if self.stopped:
            return
        _under_way.remove(self)
        with suppress(ReferenceError):  # what has been removed needs not be put back
            self._job.close()


@persistent  # type: ignore[untyped-decorator]
def _stop_all(*_: object) -> None:
    """Stop what is under way before Blender replaces all that it holds on to: by undo, redo, or another file."""
    while _under_way:
        _under_way[-1].stop()


def _before_replacing() -> list[list]:
    handlers = bpy.app.handlers
    return [handlers.undo_pre, handlers.redo_pre, handlers.load_pre]


def register() -> None:
    for handlers in _before_replacing():
        handlers.append(_stop_all)


def unregister() -> None:
    _stop_all()
    for handlers in _before_replacing():
        handlers.remove(_stop_all)

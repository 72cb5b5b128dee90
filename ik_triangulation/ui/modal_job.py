# SPDX-License-Identifier: GPL-3.0-or-later
"""Run a job in slices of time. It can be stopped between two slices, and then leaves no changes behind."""

from contextlib import suppress
from time import perf_counter
from typing import Generic, TypeVar

import bpy
from bpy.app.handlers import persistent

from ..cooperative import Job, no_garbage_collection
from ..errors import RigError

Result = TypeVar("Result")
_running: list["ModalJob"] = []


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


def register() -> None:
    for handlers in _before_replacing():
        handlers.append(_stop_all)


def unregister() -> None:
    _stop_all()
    for handlers in _before_replacing():
        handlers.remove(_stop_all)

# SPDX-License-Identifier: GPL-3.0-or-later
"""Work in slices of time, which can be stopped between any two of them and then leaves nothing behind."""

from contextlib import suppress
from time import perf_counter
from typing import Generic, TypeVar

import bpy
from bpy.app.handlers import persistent

from ..cooperative import Job, no_garbage_collection
from ..errors import RigError

T = TypeVar("T")
_under_way: list["Task"] = []


class Task(Generic[T]):
    """What a job does that yields how far it is, such as bake.steps(): at least a part of it at each call of work().

    `done` and `of` count its parts.
    """

    def __init__(self, job: Job[T]) -> None:
        self._job = job
        self.done, self.of = 0, 1
        _under_way.append(self)

    @property
    def stopped(self) -> bool:
        """Whether it has come to its end, one way or another."""
        return self not in _under_way

    def work(self, seconds: float) -> T | None:
        """Go on for about so long: what the job returns if that was the last of it, else None.

        Raises what the job does, and RigError if something it needs has been removed since; nothing has changed then.
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
            result: T = finished.value
            return result
        except ReferenceError as error:
            self.stop()
            raise RigError("What this needs has been removed meanwhile. Start it again.") from error
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

# SPDX-License-Identifier: GPL-3.0-or-later
"""Work that tells how far it is: a generator that yields the parts done and those in all, and returns what came of it.

Closed before its end it takes back what it has done.
"""

import gc
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from typing import TypeVar

T = TypeVar("T")
Progress = Callable[[int, int], None]  # parts done, parts in all


def run_through(job: Generator[tuple[int, int], None, T], progress: Progress | None = None) -> T:
    """Do a job at one go. If `progress` raises, nothing has changed."""
    with no_garbage_collection():
        told = None
        try:
            while True:
                done = next(job)
                if progress and done != told:
                    progress(*done)
                told = done
        except StopIteration as finished:
            result: T = finished.value
            return result
        finally:
            job.close()


@contextmanager
def no_garbage_collection() -> Iterator[None]:
    """A bake leaves no cycles behind, and walking over all of Blender's Python objects takes a tenth of its time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()

# SPDX-License-Identifier: GPL-3.0-or-later
"""Work in parts, so that between any two of them others get their turn, or it is given up."""

from __future__ import annotations

import gc
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from typing import TypeVar

S = TypeVar("S")
T = TypeVar("T")
Work = Generator[None, None, T]  # stops between two parts; returns what was found
Job = Generator[tuple[int, int], None, T]  # the same, telling the parts done and those in all
Progress = Callable[[int, int], None]  # is told them


def finished(work: Work[T]) -> T:
    """Do all the work at once."""
    while True:
        try:
            next(work)
        except StopIteration as end:
            result: T = end.value
            return result


def telling(work: Work[T], what: S) -> Generator[S, None, T]:
    """The work as a part of a greater one, to which `what` is told each time it stops."""
    while True:
        try:
            next(work)
        except StopIteration as end:
            result: T = end.value
            return result
        yield what


def run_through(job: Job[T], progress: Progress | None = None) -> T:
    """Do a job at once. If `progress` raises, the job is closed, which takes back what it has done."""
    with no_garbage_collection():
        told = None
        try:
            while True:
                done = next(job)
                if progress and done != told:
                    progress(*done)
                told = done
        except StopIteration as end:
            result: T = end.value
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
            # What was made meanwhile becomes old at once; else the next object made would have it all walked over.
            gc.freeze()
            gc.unfreeze()
            gc.enable()

# SPDX-License-Identifier: GPL-3.0-or-later
"""Work in parts, so that between any two of them others get their turn, or it is given up."""

from __future__ import annotations

import gc
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from typing import Generic, TypeVar

S = TypeVar("S")
T = TypeVar("T")
Work = Generator[None, None, T]  # stops between two parts; returns what was found
Job = Generator[tuple[int, int], None, T]  # the same, telling the parts done and those in all
Progress = Callable[[int, int], None]  # is told them


class _Parts(Generic[S, T]):
    """The parts of a work, to go through; after the last one `result` is what it returned."""

    result: T

    def __init__(self, work: Generator[S, None, T]) -> None:
        self._work = work

    def __iter__(self) -> Iterator[S]:
        return self

    def __next__(self) -> S:
        try:
            return next(self._work)
        except StopIteration as end:
            self.result = end.value
            raise


def finished(work: Work[T]) -> T:
    """Do all the work at once."""
    parts = _Parts(work)
    for _ in parts:
        pass
    return parts.result


def telling(work: Work[T], what: S) -> Generator[S, None, T]:
    """The work as a part of a greater one, to which `what` is told each time it stops; it is closed with that."""
    parts = _Parts(work)
    try:
        for _ in parts:
            yield what
        return parts.result
    finally:
        work.close()


def run_through(job: Job[T], progress: Progress | None = None) -> T:
    """Do a job at once. If `progress` raises, the job is closed, which takes back what it has done."""
    with no_garbage_collection():
        parts, told = _Parts(job), None
        try:
            for done in parts:
                if progress and done != told:
                    progress(*done)
                told = done
            return parts.result
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

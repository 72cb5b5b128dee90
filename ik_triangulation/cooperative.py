# SPDX-License-Identifier: GPL-3.0-or-later
"""Cooperative jobs: generators that give way between two parts of their work, and plain functions made of them."""

from __future__ import annotations

import gc
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from functools import wraps
from inspect import Parameter, signature
from typing import Any, Generic, ParamSpec, Protocol, TypeVar, cast, get_args, overload

P = ParamSpec("P")
S = TypeVar("S")
T = TypeVar("T")
R_co = TypeVar("R_co", covariant=True)
Work = Generator[None, None, T]  # yields between two parts; returns the result
Job = Generator[tuple[int, int], None, T]  # the same, yielding the parts done and the parts in all
Progress = Callable[[int, int], None]  # called with these two numbers


class Cooperative(Protocol[P, R_co]):
    """A plain function made of a job by @cooperative: called, it runs the job to its end and returns the result.

    Besides the arguments of the job it takes the keyword `progress`, which is called with the parts done and the parts
    in all each time they change. If it raises, the job is closed, which undoes what the job has done.
    """

    @property
    def steps(self) -> Callable[P, Job[R_co]]:
        """The job itself: a generator that gives way between two parts; closing it undoes what it has done."""

    @overload
    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R_co: ...
    @overload
    def __call__(self, *args: Any, progress: Progress | None, **kwargs: Any) -> R_co: ...


def cooperative(steps: Callable[P, Job[T]]) -> Cooperative[P, T]:
    """Decorate a job so that it is called as a plain function, while `steps` of that function is the job itself."""

    @wraps(steps)
    def run(*args: Any, progress: Progress | None = None, **kwargs: Any) -> T:
        return run_through(steps(*args, **kwargs), progress)

    taken = signature(steps)
    option = Parameter("progress", Parameter.KEYWORD_ONLY, default=None, annotation="Progress | None")
    returned = taken.return_annotation
    result = returned[len("Job[") : -1] if isinstance(returned, str) else get_args(returned)[-1]
    vars(run).update(
        steps=steps,
        __signature__=taken.replace(parameters=[*taken.parameters.values(), option], return_annotation=result),
    )
    return cast(Cooperative[P, T], run)


class _Parts(Generic[S, T]):
    """The parts of a generator as an iterator; after the last one `result` is the value that it returned."""

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
    """Run the work to its end and return its result."""
    parts = _Parts(work)
    for _ in parts:
        pass
    return parts.result


def relay(work: Work[T], value: S) -> Generator[S, None, T]:
    """Run work as a part of a larger job: yield `value` whenever it yields. Closing the generator closes the work."""
    parts = _Parts(work)
    try:
        for _ in parts:
            yield value
        return parts.result
    finally:
        work.close()


def run_through(job: Job[T], progress: Progress | None = None) -> T:
    """Run a job to its end and return its result. If `progress` raises, the job is closed, which undoes its work."""
    parts, told, was_on = _Parts(job), None, gc.isenabled()
    gc.disable()
    # Not as a context manager of ours: nothing that could fail comes between the end of the job and the return.
    try:
        for done in parts:
            if progress and done != told:
                progress(*done)
            told = done
        return parts.result
    finally:
        job.close()
        _collect_again(was_on)


@contextmanager
def no_garbage_collection() -> Iterator[None]:
    """Suspend garbage collection: a bake leaves no cycles, and scanning Blender's objects takes a tenth of its time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        _collect_again(was_on)


def _collect_again(was_on: bool) -> None:
    """Resume garbage collection if it was on; what was made meanwhile is old at once, or it would be walked over."""
    if was_on:
        gc.freeze()
        gc.unfreeze()
        gc.enable()

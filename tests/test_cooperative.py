# SPDX-License-Identifier: GPL-3.0-or-later
"""A job is a plain function and its own steps at once, tells its progress, and is undone when it is closed."""

from __future__ import annotations

import gc
import inspect
import pydoc

import pytest

from ik_triangulation.cooperative import Job, cooperative, finished, no_garbage_collection, run_through

DONE = []


@cooperative
def count(upto: int, by: int = 1) -> Job[list[int]]:
    """Count upwards."""
    found: list[int] = []
    try:
        for number in range(0, upto, by):
            found.append(number)
            yield number, upto
    except GeneratorExit:
        DONE.append(len(found))
        raise
    return found


def test_a_job_that_is_called_runs_to_its_end():
    assert count(6, by=2) == [0, 2, 4]


def test_progress_is_told_of_each_change():
    told = []
    count(3, progress=lambda *numbers: told.append(numbers))
    assert told == [(0, 3), (1, 3), (2, 3)]


def test_the_steps_of_a_job_give_way_between_its_parts():
    steps = count.steps(2)
    assert [next(steps), next(steps)] == [(0, 2), (1, 2)]
    with pytest.raises(StopIteration) as end:
        next(steps)
    assert end.value.value == [0, 1]


def test_progress_that_raises_closes_the_job():
    DONE.clear()
    with pytest.raises(ZeroDivisionError):
        count(3, progress=lambda done, of: 1 // (1 - done))
    assert DONE == [2]


def test_help_shows_the_signature_of_the_plain_function():
    assert str(inspect.signature(count)) == (
        "(upto: 'int', by: 'int' = 1, *, progress: 'Progress | None' = None) -> 'list[int]'"
    )
    assert "Count upwards." in pydoc.render_doc(count)
    assert count.__name__ == "count"


def work(parts, log):
    """Work that notes its parts, and that it was closed before its end."""
    try:
        for part in range(parts):
            log.append(part)
            yield
        log.append("done")
        return parts
    finally:
        log.append("closed" if log[-1:] != ["done"] else "left")


def test_all_the_work_is_done_and_its_result_returned():
    log = []
    assert finished(work(3, log)) == 3
    assert log == [0, 1, 2, "done", "left"]


def steps(parts, log):
    try:
        for number in range(parts):
            log.append(number)
            yield number // 2, parts
        return "found"
    finally:
        log.append("closed")


def test_progress_is_told_once_for_each_step():
    told = []
    assert run_through(steps(6, []), lambda *done: told.append(done)) == "found"
    assert told == [(0, 6), (1, 6), (2, 6)]


def test_a_progress_that_raises_closes_the_steps():
    log = []

    def give_up(done, parts):
        if done == 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_through(steps(6, log), give_up)
    assert log == [0, 1, 2, "closed"]


def test_the_garbage_collector_is_off_meanwhile_and_afterwards_as_it_was():
    seen = []

    def looking():
        seen.append(gc.isenabled())
        yield 1, 1

    was_on = gc.isenabled()
    try:
        for before in (True, False):
            (gc.enable if before else gc.disable)()
            run_through(looking())
            assert gc.isenabled() is before
        gc.enable()
        with pytest.raises(ValueError, match="stopped"), no_garbage_collection():
            raise ValueError("stopped")
        assert gc.isenabled()
    finally:
        (gc.enable if was_on else gc.disable)()
    assert seen == [False, False]

# SPDX-License-Identifier: GPL-3.0-or-later
"""A job is a plain function and its own steps at once, and closing it undoes what it has done."""

from __future__ import annotations

import gc
import inspect
import pydoc

import pytest

from ik_triangulation.cooperative import Job, Work, cooperative, finished, no_garbage_collection, relay

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


def test_the_garbage_collector_is_off_meanwhile_and_afterwards_as_it_was():
    seen = []

    @cooperative
    def look() -> Job[None]:
        seen.append(gc.isenabled())
        yield 1, 1

    was_on = gc.isenabled()
    try:
        for before in (True, False):
            (gc.enable if before else gc.disable)()
            look()
            assert gc.isenabled() is before
    finally:
        (gc.enable if was_on else gc.disable)()
    assert seen == [False, False]


def test_progress_is_told_of_no_part_twice_and_a_job_without_parts_has_a_result():
    @cooperative
    def repeat(*parts: tuple[int, int]) -> Job[str]:
        yield from parts
        return "done"

    told = []
    assert repeat((0, 2), (0, 2), (1, 2), (1, 2), (1, 3), progress=lambda *numbers: told.append(numbers)) == "done"
    assert told == [(0, 2), (1, 2), (1, 3)]
    assert repeat(progress=None) == "done"


def test_work_is_run_to_its_end_or_relayed_part_by_part():
    log = []

    def work(parts: int) -> Work[int]:
        try:
            for number in range(parts):
                log.append(number)
                yield
            return 7 * parts
        finally:
            log.append("closed")

    assert finished(work(2)) == 14
    assert log == [0, 1, "closed"]
    relayed = relay(work(2), "part")
    assert [next(relayed), next(relayed)] == ["part", "part"]
    with pytest.raises(StopIteration) as end:
        next(relayed)
    assert end.value.value == 14
    log.clear()
    relayed = relay(work(5), "part")
    next(relayed)
    relayed.close()
    assert log == [0, "closed"], "what is stopped stops the work"


@pytest.mark.parametrize("before", [True, False])
def test_what_is_made_without_garbage_collection_is_old_at_once(before):
    made = []

    @cooperative
    def make() -> Job[None]:
        made.append([])
        yield 1, 1

    was_on = gc.isenabled()
    try:
        (gc.enable if before else gc.disable)()
        with no_garbage_collection():
            assert not gc.isenabled()
            made.append([])
        assert gc.isenabled() is before
        assert gc.get_freeze_count() == 0
        make()
        assert gc.isenabled() is before
        old = {id(each) for each in gc.get_objects(generation=2)}
        assert [id(each) in old for each in made] == [before, before]
    finally:
        (gc.enable if was_on else gc.disable)()
        gc.collect()

# SPDX-License-Identifier: GPL-3.0-or-later
"""A job is a plain function and its own steps at once, and closing it undoes what it has done."""

from __future__ import annotations

import inspect
import pydoc

import pytest

from ik_triangulation.cooperative import Job, cooperative

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

# SPDX-License-Identifier: GPL-3.0-or-later
"""Work in parts tells how far it is, returns what it found, and is taken back where it is given up."""

import gc

import pytest

from ik_triangulation.cooperative import finished, no_garbage_collection, run_through


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


def test_a_progress_that_raises_closes_the_job():
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

# SPDX-License-Identifier: GPL-3.0-or-later
"""Targets on a grid are finished from their neighbours' poses, and by restarts where there are none."""

import numpy as np
import pytest

from ik_triangulation.cooperative import finished
from ik_triangulation.kinematics.batch import Geometry, Tree
from ik_triangulation.maps.many_targets import Grid, Search
from ik_triangulation.maps.metric_map import pixels
from ik_triangulation.solvers.batch.descent import Descent

from ..limited import limited_chains
from .discs import disc


def search_of(name, size=10):
    chain = limited_chains()[name]
    start, tree = chain.rest_pose(), Tree.of(chain)
    targets = disc(start, size)
    enough = np.full(targets.shape[1], 0.02 * chain.reach)
    return Search(tree, targets, tree.states([start]), enough, 20), Grid(pixels(size)[1], 2.0 / size)


def is_sound(search):
    away = np.linalg.norm(search.targets - Geometry(search.tree, search.states).tip(), axis=0)
    kept = np.isfinite(search.error)
    assert search.error[kept] == pytest.approx(away[kept], abs=1e-9)
    assert (search.states.angles >= search.tree.lower).all()
    assert (search.states.angles <= search.tree.upper).all()


def test_one_target_that_is_reached_leads_to_all_around_it():
    search, grid = search_of("hinges")
    bent = search.tree.inside(np.full((4, 1), 0.6))
    search.states.angles[:, :1] = bent  # of some target: its end effector tells which one is surely within reach
    tip = Geometry(search.tree, search.states).tip()[:, :1]
    one = np.array([np.linalg.norm(search.targets - tip, axis=0).argmin()])
    search.keep(one, search.states.take(one))
    finished(search.restart(one, 64, 0, search.bounds))
    assert search.done.tolist() == [n == one[0] for n in range(len(search.done))]
    finished(search.spread(grid.neighbours(), one))
    assert search.done.mean() > 0.6
    assert search.steps[one[0]] > 0
    assert np.isfinite(search.error).all()
    is_sound(search)


def test_what_is_finished_is_never_farther_than_before():
    search, grid = search_of("arm")
    every = np.arange(len(search.error))
    search.keep(every, search.states.take(every))
    before = search.error.copy()
    shares = list(search.finish(grid, 0))
    assert shares == sorted(shares)
    assert (search.error <= before).all()
    assert 0.2 < search.done.mean() < 1.0
    is_sound(search)


def test_only_steps_are_counted():
    search, _ = search_of("sideways")
    every = np.arange(len(search.error))
    search.keep(every, search.states.take(every))
    still = Descent(iterations=0)
    for count in (1, 8, 30):
        finished(search.restart(every[~search.done], count, 0, still))
    finished(search.descend(every, every, Descent(iterations=1)))
    assert search.steps.max() == 1
    assert (search.steps >= 0).all()


def test_a_restart_helps_where_no_neighbour_does():
    search, _ = search_of("sideways")
    every = np.arange(len(search.error))
    search.keep(every, search.states.take(every))
    missed = every[~search.done]
    nearer = finished(search.restart(missed, 8, 1, search.bounds))
    assert len(nearer)
    assert search.done.mean() > 0.5
    is_sound(search)


@pytest.mark.parametrize(
    ("name", "done", "steps", "error"),
    [("hinges", 74, 3944, 4.9713), ("arm", 52, 17180, 3.22), ("sideways", 56, 16255, 15.401)],
)
def test_a_search_takes_as_many_steps_as_its_rounds_and_their_grids_ask_for(name, done, steps, error):
    search, grid = search_of(name)
    some = np.arange(0, len(search.error), 5)
    search.keep(some, search.states.take(some))
    finished(search.finish(grid, 0))
    assert search.done.sum() == done
    assert search.steps.sum() == pytest.approx(steps, rel=0.02)  # processors round differently
    assert search.error.sum() == pytest.approx(error, rel=0.02)
    is_sound(search)


@pytest.mark.parametrize(
    ("count", "tries", "columns", "size"), [(300, 1, 4, 1280), (300, 8, 4, 160), (300, 64, 400, 2)]
)
def test_a_job_can_be_stopped_after_so_many_columns_or_states(count, tries, columns, size):
    search, _ = search_of("hinges")
    search.tree = type("Columns", (), {"columns": columns})
    slices = list(search._parts(count, tries))
    assert [part.stop - part.start for part in slices] == [size] * -(-count // size)
    assert np.concatenate([np.arange(count)[part] for part in slices]).tolist() == list(range(count))

# SPDX-License-Identifier: GPL-3.0-or-later
"""Targets on a grid know those beside them."""

import numpy as np

from ik_triangulation.maps.many_targets import Grid
from ik_triangulation.maps.metric_map import pixels


def test_neighbours_are_the_cells_around_and_outside_there_is_none():
    _, inside = pixels(9)
    places = np.argwhere(inside)
    neighbours = Grid(inside, 2.0 / 9.0).neighbours()
    assert neighbours.shape == (8, len(places))
    for number, around in enumerate(neighbours.T):
        found = {tuple(places[n]) for n in around if n >= 0}
        near = np.abs(places - places[number]).max(1) == 1
        assert found == {tuple(place) for place in places[near]}


def test_a_cube_has_26_neighbours_around_its_centre():
    neighbours = Grid(np.ones((3, 3, 3), bool), 0.5).neighbours()
    assert sorted(neighbours[:, 13]) == [n for n in range(27) if n != 13]
    assert (neighbours[:, 0] >= 0).sum() == 7


def test_a_coarse_grid_leaves_nothing_far_from_it():
    grid = Grid(np.ones((10, 10), bool), 0.01)
    chosen = np.argwhere(grid.coarse(0.035).reshape(10, 10))
    for cell in np.argwhere(grid.mask):
        assert np.abs(chosen - cell).max(1).min() <= 2
    assert grid.coarse(0.035).sum() == 9
    assert grid.coarse(0.001).all()

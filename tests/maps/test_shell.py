# SPDX-License-Identifier: GPL-3.0-or-later
"""A shell goes between the points that are inside and those that are not."""

import numpy as np
import pytest

from ik_triangulation.maps.shell import shell_around

SPACING, FIRST = 0.25, np.array((3.0, -2.0, 1.0))


def ball(radius, count=14):
    """Distances of cells from a ball in their middle."""
    cells = np.stack(np.meshgrid(*[np.arange(count)] * 3, indexing="ij"), axis=-1)
    return np.maximum(np.linalg.norm(cells - (count - 1) / 2.0, axis=-1) - radius, 0.0) * SPACING


def blob(seed):
    """Random cells that are reached, of which some touch along edges or corners only."""
    random = np.random.default_rng(seed)
    distances = np.full((7, 7, 7), SPACING)
    distances[1:-1, 1:-1, 1:-1] = np.where(random.random((5, 5, 5)) < 0.5, 0.0, random.random((5, 5, 5)) * SPACING)
    return distances


def points(distances, reached):
    return np.argwhere((distances == 0.0) == reached) * SPACING + FIRST


def shell_of(distances):
    return shell_around(distances, FIRST, SPACING)


def windings(shell, places):
    """How often the surface goes round each place: 1 inside, 0 outside (van Oosterom and Strackee 1983)."""
    triangles = np.concatenate((shell.faces[:, [0, 1, 2]], shell.faces[:, [0, 2, 3]]))
    a, b, c = (shell.corners[triangles[:, i]][None] - places[:, None] for i in range(3))
    la, lb, lc = (np.linalg.norm(each, axis=-1) for each in (a, b, c))
    volume = (a * np.cross(b, c)).sum(-1)
    rest = la * lb * lc + (a * b).sum(-1) * lc + (b * c).sum(-1) * la + (c * a).sum(-1) * lb
    return np.arctan2(volume, rest).sum(1) / (2.0 * np.pi)


@pytest.mark.parametrize("seed", range(5))
def test_every_reached_cell_is_inside_and_every_other_outside(seed):
    distances = blob(seed)
    shell = shell_of(distances)
    assert windings(shell, points(distances, True)) == pytest.approx(1.0, abs=1e-6)
    assert windings(shell, points(distances, False)) == pytest.approx(0.0, abs=1e-6)


@pytest.mark.parametrize("distances", [ball(5.3), blob(7)], ids=["ball", "blob"])
def test_it_is_closed_and_each_edge_is_passed_as_often_in_one_direction_as_in_the_other(distances):
    faces = shell_of(distances).faces
    onward = np.stack((faces, np.roll(faces, -1, axis=1)), axis=-1).reshape(-1, 2)
    count = {}
    for begin, end in onward.tolist():
        count[begin, end] = count.get((begin, end), 0) + 1
    assert all(count.get((end, begin)) == number for (begin, end), number in count.items())


@pytest.mark.parametrize("radius", [3.0, 4.4, 5.8])
def test_a_ball_is_round_and_as_large_as_it_is(radius):
    shell = shell_of(ball(radius))
    away = np.linalg.norm(shell.corners - FIRST - 6.5 * SPACING, axis=1) / SPACING
    assert away.mean() == pytest.approx(radius, abs=0.15)
    assert away.std() < 0.06


def test_a_cell_alone_does_not_vanish():
    distances = np.full((3, 3, 3), 0.5 * SPACING)
    distances[1, 1, 1] = 0.0
    shell = shell_of(distances)
    assert (len(shell.corners), len(shell.faces)) == (8, 6)
    assert (np.ptp(shell.corners, axis=0) > 0.2 * SPACING).all()


def test_corners_have_the_mean_of_the_cells_around_them():
    distances = ball(4.4)
    shell, heights = shell_of(distances), points(distances, True)[:, 2]
    assert shell.spread(np.full(len(heights), 0.7)) == pytest.approx(0.7)
    assert np.abs(shell.spread(heights) - shell.corners[:, 2]).max() < 1.1 * SPACING
    assert shell.spread(heights)[shell.corners[:, 2].argmax()] == pytest.approx(heights.max())


def test_where_nothing_is_reached_there_is_no_shell():
    shell = shell_of(np.ones((3, 3, 3)))
    assert (len(shell.corners), len(shell.faces), len(shell.spread(np.zeros(0)))) == (0, 0, 0)


@pytest.mark.parametrize(("away", "crossing"), [(0.5, 0.5), (0.3, 0.3), (0.01, 0.05), (3.0, 0.95)])
def test_the_corners_of_a_cell_alone_are_where_its_edges_are_crossed_and_then_smoothed(away, crossing):
    """Of the three edges at a corner each is crossed on one axis; a cube stays one, by the factors of the filter."""
    distances = np.full((4, 4, 4), away * SPACING)
    distances[1, 2, 1] = 0.0
    shell = shell_of(distances)
    half = (1.0 - crossing) / 3.0
    for factor in (0.5, -0.53) * 4:
        half *= 1.0 - 2.0 / 3.0 * factor
    centre = FIRST + SPACING * np.array((1.0, 2.0, 1.0))
    assert np.abs(shell.corners - centre) == pytest.approx(np.full((8, 3), half * SPACING))
    quads = shell.corners[shell.faces] - centre
    outwards = np.cross(quads[:, 1] - quads[:, 0], quads[:, 2] - quads[:, 1])
    assert (np.einsum("ni,ni->n", outwards, quads.mean(1)) > 0.0).all()
    assert (np.sort(shell.around, axis=0) == [[-1]] * 7 + [[0]]).all()

# SPDX-License-Identifier: GPL-3.0-or-later
"""The two general minimisers find known lowest points, and those of chains within their limits."""

from itertools import pairwise
from random import Random

import numpy as np
import pytest

from ik_triangulation.goals import Point
from ik_triangulation.solvers import solve
from ik_triangulation.solvers.direct_search import FIRST_STEP, Rosenbrock, Simplex

from ..chains import bits, hinged, limited, mixed, random_chain, random_direction, random_pose

both = pytest.mark.parametrize("search", [Simplex, Rosenbrock])


def minimised(search, distance, least, most, rounds):
    """Where the method comes to from 0 when a plain function is asked instead of a chain; and its distances."""

    class Asked(search):
        def distance(self, place):
            return float(distance(place))

    asked = Asked()
    asked.least, asked.most = np.array(least), np.array(most)
    asked.start()
    places = [asked.iterate() for _ in range(rounds)]
    return places[-1], [distance(place) for place in places]


def banana(place):
    """Rosenbrock's own example, lowest at (1, 1), from where he starts it."""
    x, y = place[0] - 1.2, place[1] + 1.0
    return 100.0 * (y - x * x) ** 2 + (1.0 - x) ** 2


@both
def test_the_end_of_a_curved_valley_is_found(search):
    place, distances = minimised(search, banana, [-9.0, -9.0], [9.0, 9.0], 400)
    assert place == pytest.approx([2.2, 0.0], abs=1e-2)
    assert all(after <= before for before, after in pairwise(distances))


@both
def test_the_lowest_point_of_a_bowl_in_many_directions_is_found(search):
    centre = np.array([0.3, -0.8, 1.1, 0.5, -0.2])
    slopes = np.diag([1.0, 2.0, 3.0, 4.0, 5.0]) + 0.5
    place, _ = minimised(search, lambda at: np.linalg.norm(slopes @ (at - centre)), [-9.0] * 5, [9.0] * 5, 200)
    assert place == pytest.approx(centre, abs=1e-3)


@both
def test_a_bound_is_kept_and_the_rest_found_along_it(search):
    place, _ = minimised(search, lambda at: np.linalg.norm(at - [2.0, 0.4, 0.0]), [-1.0] * 3, [0.5, 1.0, 0.0], 100)
    assert place == pytest.approx([0.5, 0.4, 0.0], abs=1e-3)
    assert place[0] <= 0.5


def test_the_first_simplex_stands_away_from_near_bounds():
    simplex = Simplex()
    simplex.least, simplex.most = np.array([-9.0, -9.0, -0.1]), np.array([9.0, 0.1, 0.2])
    simplex.distance = lambda place: float(np.abs(place).sum())
    simplex.start()
    assert simplex.places.tolist() == [[0.0] * 3, [FIRST_STEP, 0.0, 0.0], [0.0, -FIRST_STEP, 0.0], [0.0, 0.0, 0.2]]


def test_directions_turn_along_the_way_gone_and_stay_orthonormal():
    search, way = Rosenbrock(), np.array([3.0, 1.0, -2.0])
    search.least, search.most = np.full(3, -9.0), np.full(3, 9.0)
    search.distance = lambda place: float(np.linalg.norm(place - way))
    search.start()
    while np.array_equal(search.directions, np.eye(3)):
        place = search.iterate()
    assert search.directions @ search.directions.T == pytest.approx(np.eye(3), abs=1e-12)
    assert abs(search.directions[0] @ place) == pytest.approx(np.linalg.norm(place))


@both
@pytest.mark.parametrize("make", [random_chain, hinged, limited, mixed])
def test_no_step_leads_farther_away_and_the_aim_may_move(search, make):
    random = Random(1)
    for seed in range(6):
        pose = random_pose(make(seed, random.randint(1, 4)), random)
        pose.project()
        call = search()
        for _ in range(2):
            aim = random_direction(random) * pose.chain.reach * random.random()
            for _ in range(10):
                before = (aim - pose.tip).length
                call(pose, aim)
                assert (aim - pose.tip).length <= before + 2e-6 * pose.chain.reach


@both
def test_trials_are_no_turns(search):
    random = Random(2)
    pose = random_pose(random_chain(1, 4), random)
    search()(pose, random_direction(random))
    assert len(pose.turns) == 4


@both
def test_each_solve_begins_anew(search):
    random, chain = Random(3), random_chain(2, 4)
    start, target = random_pose(chain, random), Point(random_direction(random) * 2.0)
    name = search.__name__.upper()
    first, second = (solve(start, target, solver=name, iterations=5, finish=False) for _ in range(2))
    assert bits(first.pose.rotations) == bits(second.pose.rotations)


@both
# Which of the limited chains are reached depends on how the processor rounds, so there are many of them.
@pytest.mark.parametrize(("make", "share", "count"), [(random_chain, 1.0, (6, 20)), (limited, 0.75, (28, 100))])
def test_most_targets_within_the_limits_are_reached_without_any_help(search, make, share, count, long):
    random, reached, count = Random(4), 0, count[long]
    for seed in range(count):
        chain = make(seed, 4)
        there, start = random_pose(chain, random), random_pose(chain, random)
        there.project()
        target, name = Point(there.tip), search.__name__.upper()
        reached += solve(start, target, solver=name, tolerance=1e-3 * chain.reach, iterations=300, finish=False).reached
    assert reached >= share * count


A, B, C = (0.0, 0.0), (1.0, 0.0), (0.0, 1.0)  # the best, the second and the worst place, of distances 1, 2 and 3
REFLECTED, EXPANDED, OUTSIDE, INSIDE = (1.0, -1.0), (1.5, -2.0), (0.75, -0.5), (0.25, 0.5)


@pytest.mark.parametrize(
    ("found", "last"),
    [
        ({REFLECTED: 0.5, EXPANDED: 0.2}, EXPANDED),
        ({REFLECTED: 0.5, EXPANDED: 0.7}, REFLECTED),
        ({REFLECTED: 1.5}, REFLECTED),
        ({REFLECTED: 2.5, OUTSIDE: 2.2}, OUTSIDE),
        ({REFLECTED: 3.5, INSIDE: 2.9}, INSIDE),
        ({REFLECTED: 3.5, INSIDE: 4.0}, None),
        ({REFLECTED: 2.0, OUTSIDE: 3.0}, None),
    ],
)
def test_the_worst_corner_of_a_simplex_goes_where_nelder_and_mead_have_it_go(found, last):
    search = Simplex()
    search.least, search.most = np.full(2, -9.0), np.full(2, 9.0)
    measured = {A: 1.0, B: 2.0, C: 3.0, (0.5, 0.0): 1.2, (0.0, 0.5): 1.1} | found
    search.distance = lambda place: measured[tuple(place.tolist())]
    search.places = np.array([C, A, B])
    search.measure()
    search._once()
    shrunk = [[0.0, 0.0], [0.5, 0.0], [0.0, 0.5]]
    assert search.places.tolist() == ([[*A], [*B], [*last]] if last else shrunk)
    assert search.distances.tolist() == [measured[tuple(place)] for place in search.places.tolist()]

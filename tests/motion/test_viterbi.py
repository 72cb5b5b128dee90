# SPDX-License-Identifier: GPL-3.0-or-later
"""The cheapest path through candidates is found."""

from itertools import pairwise, product
from random import Random

from ik_triangulation.cooperative import finished
from ik_triangulation.kinematics import Free
from ik_triangulation.motion.viterbi import cheapest


def test_the_cheapest_way_is_that_of_all_ways():
    random = Random(2)
    frames = [[[Free().random(random) for _ in range(2)] for _ in range(3)] for _ in range(5)]

    def cost(way):
        return sum(sum(1.0 - abs(p.dot(q)) for p, q in zip(a, b, strict=True)) ** 2 for a, b in pairwise(way))

    best = min(product(*frames), key=cost)
    assert finished(cheapest(frames)) == list(best)

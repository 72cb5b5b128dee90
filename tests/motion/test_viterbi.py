# SPDX-License-Identifier: GPL-3.0-or-later
"""The cheapest path through candidates is found."""

from itertools import pairwise, product
from random import Random

from mathutils import Quaternion

from ik_triangulation.cooperative import finished
from ik_triangulation.kinematics import Free
from ik_triangulation.motion.jumps import cheapest


def test_the_cheapest_way_is_that_of_all_ways():
    random = Random(2)
    frames = [[[Free().random(random) for _ in range(2)] for _ in range(3)] for _ in range(5)]

    def cost(way):
        return sum(sum(1.0 - abs(p.dot(q)) for p, q in zip(a, b, strict=True)) ** 2 for a, b in pairwise(way))

    best = min(product(*frames), key=cost)
    assert finished(cheapest(frames, paid=0.0)) == list(best)


def test_what_is_far_from_the_path_given_pays_for_it():
    """A jump in the middle of 60 frames is avoided by another pose in 30 of them."""
    rest, turned = [Quaternion()], [Quaternion((1.0, 0.0, 0.0), 0.6)]
    given = [turned if k >= 30 else rest for k in range(60)]
    frames = [[pose, turned] for pose in given]
    assert finished(cheapest(frames, paid=0.9 / 30.0)) == [turned] * 60
    assert finished(cheapest(frames, paid=1.1 / 30.0)) == given

# SPDX-License-Identifier: GPL-3.0-or-later
"""States are taken and put back pose by pose."""

import numpy as np

from ...chains import mixed
from ...trees import batch_of, drawn, random_tree, rest_of

ARRAYS = ("angles", "balls", "held", "root", "place")


def test_some_poses_are_taken_and_put_back():
    for tree, states in (batch_of(mixed(2, 6), 8, 2), batch_of(mixed(2, 6), 8, 2, moving=False), body_states()):
        some = np.array([0, 3, 7])
        other = drawn(tree, states, np.random.default_rng(1))
        mixture = states.copy()
        mixture.put(some, other.take(some))
        for n in range(8):
            source = other if n in some else states
            for name in ("angles", "balls", *(("place",) if tree.moves_root else ())):
                assert np.array_equal(getattr(mixture, name)[..., n], getattr(source, name)[..., n])


def body_states():
    tree = random_tree(1, moves_root=True)
    return tree, drawn(tree, rest_of(tree, 8), np.random.default_rng(2))


def test_a_copy_leaves_the_poses_as_they_are():
    tree, states = batch_of(mixed(2, 6), 8, 2)
    before = [getattr(states, name).copy() for name in ARRAYS]
    copy = states.copy()
    copy.put(np.arange(8), drawn(tree, states, np.random.default_rng(1)))
    assert all(np.array_equal(getattr(states, name), array) for name, array in zip(ARRAYS, before, strict=True))


def test_rotations_are_put_on_the_bases_of_other_poses():
    _, states = batch_of(mixed(2, 6), 8, 2)
    _, other = batch_of(mixed(2, 6), 8, 3)
    both = states.like(other)
    assert both.angles is states.angles
    assert both.root is other.root
    assert both.place is other.place
